import type { RalphContext } from "../../../context/context.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import { BUILT_IN_RECIPES } from "../../../recipe/built_in_recipes.ts";
import type { Invocation } from "../../../cli/command.ts";
import { endWith } from "../../../cli/end_with.ts";
import { openSession } from "../../../cli/session.ts";
import type { FeatureArgument } from "./argument.ts";

/** `ralph run FEATURE`: the recipe. Typing it is the consent. */
export async function runFeature(invocation: Invocation, { name, place }: FeatureArgument): Promise<number> {
  ensureConfigured(invocation, place.file);
  await using session = await openSession(invocation, { asks: false, gates: [], workflow: place.workflow });
  return endWith(invocation, session.ralph, await runFeatureRecipe(session.ralph, name));
}

/** The recipe on a feature, within a session that is open. */
export async function runFeatureRecipe(ralph: RalphContext, name: string): Promise<unknown> {
  const recipe = BUILT_IN_RECIPES.find((one) => one.name === "feature");
  if (recipe === undefined) throw new Error("the feature recipe is not built in");
  return await (await recipe.load()).default.run(ralph, { goal: name });
}

/** Without a configuration there is neither an agent nor a check, unless the flags give both. */
function ensureConfigured({ flags }: Invocation, file: string | null): void {
  const agent = ["agent", "agent-cmd", "script"].some((name) => flags.has(name) || flags.text(name) !== undefined);
  const checks = flags.has("allow-unverified") || flags.all("verify").length > 0;
  if (file === null && !(agent && checks)) throw new RalphError("config-missing");
}
