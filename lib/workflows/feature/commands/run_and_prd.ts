import type { RalphContext } from "../../../context/context.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import { shippedRecipe } from "../../../recipe/loader.ts";
import type { Invocation } from "../../../cli/command.ts";
import { endWith } from "../../../cli/end_with.ts";
import { openSession } from "../../../cli/session.ts";
import { findPlace, type Place } from "../../../cli/workspace.ts";
import type { Outcome } from "../../../recipe/outcome.ts";

/** `ralph run FEATURE`: the recipe. Typing it is the consent. */
export async function runFeature(invocation: Invocation, place: Place): Promise<number> {
  const name = invocation.arguments[0] ?? "";
  ensureConfigured(invocation, place.file);
  await using session = await openSession(invocation, { asks: false, gates: [], place });
  const outcome = await runFeatureRecipe(invocation, session.ralph, name);
  return endWith(invocation, session.ralph, outcome, `ralph run ${name}`.trimEnd());
}

/** The recipe on a feature, within a session that is open. */
export async function runFeatureRecipe({ program }: Invocation, ralph: RalphContext, name: string): Promise<unknown> {
  return await (await shippedRecipe(program.recipes, "feature")).run(ralph, { goal: name });
}

/** Without a configuration there is neither an agent nor a check, unless the flags give both. */
function ensureConfigured({ flags }: Invocation, file: string | null): void {
  const agent = ["agent", "agent-cmd", "script"].some((name) => flags.has(name) || flags.text(name) !== undefined);
  const checks = flags.has("allow-unverified") || flags.all("verify").length > 0;
  if (file === null && !(agent && checks)) throw new RalphError("config-missing");
}

/** `ralph prd FEATURE`: the PRD's state machine. */
export async function makePrd(invocation: Invocation): Promise<number> {
  const [feature = ""] = invocation.arguments;
  const why = `\`prd ${feature}\` names a feature`;
  const place = { ...await findPlace(invocation), workflow: { name: "feature", why } };
  await using session = await openSession(invocation, { asks: true, gates: ["prd"], place });
  const { ralph } = session;
  const start = async (): Promise<Outcome> => await runFeatureRecipe(invocation, ralph, feature) as Outcome;
  const { prd } = await import("../prd/prd.ts");
  return endWith(invocation, ralph, await prd(ralph, { feature, run: start }), `ralph run ${feature}`);
}
