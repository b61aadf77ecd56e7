import { relative, resolve } from "node:path";
import { EXIT, RalphError } from "../../../errors/ralph_error.ts";
import type { ExecArgs } from "../types.ts";
import { findOwnRecipe, shippedRecipe } from "../../../recipe/loader.ts";
import type { Invocation } from "../../../cli/command.ts";
import { endWith } from "../../../cli/end_with.ts";
import { goalOf } from "../../../cli/goal.ts";
import { validateArgs } from "../../../cli/recipe_args.ts";
import { resolveRoot } from "../../../cli/workspace.ts";
import { openSession, type Session } from "../../../cli/session.ts";
import { GATES, optional, parseCap } from "../../../cli/settings.ts";

/** `ralph exec "<goal>"`: the exec recipe, or the project's own. */
export async function run(invocation: Invocation): Promise<number> {
  const { flags, host, say } = invocation;
  const named = flags.text("recipe");
  const own = named === undefined ? await findOwnRecipe(await resolveRoot(invocation)) : null;
  const file = named === undefined ? own : resolve(host.environment.cwd, named);
  const args = await argsOf(invocation, file);
  const options = { gates: file === null ? GATES : null, ...optional("recipe", file ?? undefined) };
  if (flags.has("dry-run")) {
    await using looking = await openSession(invocation, { ...options, asks: false, silent: true, data: true });
    const { showDryRun } = await import("./dry_run.ts");
    return await showDryRun(invocation, looking.ralph, args, file);
  }
  await using session = await openSession(invocation, { ...options, asks: true });
  if (file !== null) say(`recipe ${file}`);
  if (own !== null && !await agreed(own, session)) {
    say("not run; `--recipe FILE` names another recipe");
    return EXIT.done;
  }
  const { recipes } = invocation.program;
  const recipe = file === null
    ? await shippedRecipe(recipes, "exec")
    : await (await import("../../../recipe/loader.ts")).loadRecipe(file, { ...host, modules: recipes.modules });
  const value = recipe.args === undefined ? args : await validateArgs(recipe, args);
  const outcome = await recipe.run(session.ralph, value);
  return endWith(invocation, session.ralph, outcome, file === null ? "ralph run" : null, session.used());
}

/** A recipe of one's own may need no goal; where it does, its schema or `plan()` says so. */
async function argsOf(invocation: Invocation, own: string | null): Promise<ExecArgs> {
  const { flags } = invocation;
  const mayLackGoal = own !== null && invocation.arguments.length === 0 && !flags.has("goal-file") &&
    !flags.has("issue");
  return {
    goal: mayLackGoal ? "" : await goalIn(invocation),
    resume: flags.has("resume"),
    ...optional("base", flags.text("base")),
    ...optional("understand", flags.text("understand") as ExecArgs["understand"]),
    maxUnderstandIterations: parseCap("--max-understand-iterations", flags.text("max-understand-iterations")),
    maxRunIterations: parseCap("--max-run-iterations", flags.text("max-run-iterations")),
  };
}

/** In words, or an issue's. */
async function goalIn(invocation: Invocation): Promise<string> {
  return invocation.flags.has("issue")
    ? await (await import("./issue_goal.ts")).issueGoal(invocation)
    : await goalOf(invocation);
}

/**
 * A recipe in the root runs with the person's rights: in a terminal they are asked once for each content. If no one
 * can be asked, it must be one that the last run knew and git tracks.
 *
 * @throws {RalphError} recipe-untrusted
 */
async function agreed(path: string, { ralph }: Session): Promise<boolean> {
  const { isTrusted, trust, untrustedBecause } = await import("../../../recipe/trust.ts");
  if (!ralph.prompter.interactive) {
    const problem = await untrustedBecause(ralph, path);
    if (problem === null) return true;
    throw new RalphError("recipe-untrusted", { details: { path: relative(ralph.root, path), problem } });
  }
  if (await isTrusted(ralph, path)) return true;
  const answer = await ralph.prompter.ask({
    id: "recipe.trust",
    kind: "confirm",
    message: "Run this recipe?",
    details: [`${path} is a program that has not run on this machine before`],
    initial: false,
  });
  if (answer.value !== "yes") return false;
  await trust(ralph, path);
  return true;
}
