import { verbOf } from "../../../cli/parse.ts";
import { compileSprint } from "../compile.ts";
import { sprintDirectory } from "../paths.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import { EXIT } from "../../../errors/exit_codes.ts";
import { shippedRecipe } from "../../../recipe/registry.ts";
import type { Invocation } from "../../../cli/command.ts";
import { endWith } from "../../../cli/end_with.ts";
import { findPlace } from "../../../cli/workspace.ts";
import { openSession } from "../../../cli/session.ts";
import { styleFor, toJson } from "../../../cli/show.ts";
import { findSprint } from "./place.ts";
import { readSprintStatus, sprintStatusLines } from "./look.ts";

/** `ralph sprint compile|run|status [DIR]`. */
export async function run(invocation: Invocation): Promise<number> {
  const [named = "", ...words] = invocation.arguments;
  return await verbOf({ compile, run: runSprint, status }, "sprint", named)(invocation, words);
}

async function compile(invocation: Invocation, [named]: readonly string[]): Promise<number> {
  const { flags, out, say } = invocation;
  const { root, host, paths, state, mode } = await findSprint(invocation, named);
  if (mode.status === "inbox") {
    throw new RalphError("run-at-work", { details: { pid: mode.pid, purpose: mode.purpose } });
  }
  const compiled = await compileSprint({ root, host, state }, {
    directory: paths.directory,
    force: flags.has("force"),
  });
  if (flags.has("json")) {
    out(toJson({ status: compiled.status, file: compiled.file, moved: compiled.moved, ...compiled.definition }));
    return EXIT.done;
  }
  const { good, dim, symbols } = styleFor(invocation, "stderr");
  const { workflow, workflowFrom, hooks, warnings } = compiled.definition;
  for (const warning of warnings) say(`warning: ${warning}`);
  if (compiled.moved !== null) say(`moved the old files to ${compiled.moved}`);
  say(`${good(symbols.passed)} ${compiled.file} ${compiled.status} ${dim(`(workflow ${workflow}, ${workflowFrom})`)}`);
  for (const { id, enabled, parallel, when } of hooks) {
    const start = when === "before" ? "before each iteration" : "after each iteration";
    const how = parallel ? `${start}, beside what follows` : `${start}, and waited for`;
    say(`  hook ${id}: ${enabled ? how : dim("off")}`);
  }
  say(`next: \`ralph sprint run ${paths.directory}\``);
  return EXIT.done;
}

async function runSprint(invocation: Invocation, [named]: readonly string[]): Promise<number> {
  const { host } = invocation;
  const workflow = { name: "sprint", why: "`ralph sprint`" };
  const place = { ...await findPlace(invocation), workflow };
  await using session = await openSession(invocation, { asks: false, gates: [], place });
  const { ralph } = session;
  const goal = named === undefined ? "" : await sprintDirectory(ralph.root, host.environment.cwd, named);
  const outcome = await (await shippedRecipe(invocation.program.recipes, "sprint")).run(ralph, { goal });
  const folder = goal === "" ? "" : ` ${goal}`;
  return endWith(invocation, ralph, outcome, `ralph sprint run${folder}`);
}

async function status(invocation: Invocation, [named]: readonly string[]): Promise<number> {
  const report = await readSprintStatus(await findSprint(invocation, named));
  if (invocation.flags.has("json")) invocation.out(toJson(report));
  else for (const line of sprintStatusLines(report, styleFor(invocation, "stdout"))) invocation.out(line);
  return EXIT.done;
}
