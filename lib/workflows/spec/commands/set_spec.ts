import { findSpec, SPEC_FOLDERS } from "../find_spec.ts";
import type { Invocation } from "../../../cli/command.ts";
import { changePlan, claimLine, openPlan } from "./open_plan.ts";
import { usage } from "../../../cli/parse.ts";

/** `ralph set-spec FILE`: makes a spec the current one. */
export async function run(invocation: Invocation): Promise<number> {
  const given = invocation.arguments[0]?.trim() ?? "";
  if (given === "") throw usage("the name of the spec is empty", "`ralph set-spec coverage.md`");
  const open = await openPlan(invocation);
  const found = await findSpec(open.root, given, invocation.host.environment.cwd);
  if (found === null) {
    invocation.say(`warning: ${given} does not exist, neither here nor in ${SPEC_FOLDERS.slice(1).join(" or ")}`);
  }
  return await changePlan(invocation, open, () => [
    claimLine(invocation, "set-spec", { text: found?.name ?? given }),
  ]);
}
