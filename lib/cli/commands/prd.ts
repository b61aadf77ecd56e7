import { prd } from "../../steps/prd/prd.ts";
import type { Outcome } from "../../steps/outcome.ts";
import type { Invocation } from "../command.ts";
import { endWith } from "../end_with.ts";
import { runFeatureRecipe } from "../feature/run.ts";
import { openSession } from "../session.ts";

/** `ralph prd FEATURE`: the PRD's state machine. */
export async function run(invocation: Invocation): Promise<number> {
  const [feature = ""] = invocation.arguments;
  const workflow = { name: "feature", why: `\`prd ${feature}\` names a feature` };
  await using session = await openSession(invocation, { asks: true, gates: ["prd"], workflow });
  const { ralph } = session;
  const start = async (): Promise<Outcome> => await runFeatureRecipe(ralph, feature) as Outcome;
  return endWith(invocation, ralph, await prd(ralph, { feature, run: start }));
}
