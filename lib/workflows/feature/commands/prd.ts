import { prd } from "../prd/prd.ts";
import type { Outcome } from "../../../recipe/outcome.ts";
import type { Invocation } from "../../../cli/command.ts";
import { endWith } from "../../../cli/end_with.ts";
import { runFeatureRecipe } from "./run.ts";
import { findPlace } from "../../../cli/workspace.ts";
import { openSession } from "../../../cli/session.ts";

/** `ralph prd FEATURE`: the PRD's state machine. */
export async function run(invocation: Invocation): Promise<number> {
  const [feature = ""] = invocation.arguments;
  const workflow = { name: "feature", why: `\`prd ${feature}\` names a feature` };
  const place = { ...await findPlace(invocation), workflow };
  await using session = await openSession(invocation, { asks: true, gates: ["prd"], place });
  const { ralph } = session;
  const start = async (): Promise<Outcome> => await runFeatureRecipe(invocation, ralph, feature) as Outcome;
  return endWith(invocation, ralph, await prd(ralph, { feature, run: start }), `ralph run ${feature}`);
}
