import type { Check, Verification } from "../../../backlog/types.ts";
import { verify } from "../../../checks/verify.ts";
import type { RalphContext } from "../../../context/context.ts";
import { planChecks } from "../checks.ts";
import { readPlanning } from "../read_planning.ts";

/** The checks of every plan that is complete, then `verify.default`. Checkpoints are a person's. */
export async function verifyPlans(ralph: RalphContext): Promise<Verification> {
  const { phases } = await readPlanning(ralph);
  const complete = phases.flatMap(({ plans }) => plans).filter(({ completion }) => completion.done);
  const checks = complete.flatMap((plan) =>
    planChecks(plan, [], true).map((check): Check => ({ ...check, name: `${plan.id} ${check.name}`, scope: plan.id }))
  );
  const shared = ralph.config.verify.default.map((command): Check => ({ name: command, command }));
  return await verify(ralph, [...checks, ...shared]);
}
