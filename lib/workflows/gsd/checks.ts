import type { Check } from "../../backlog/types.ts";
import type { GsdItemData } from "./item_data.ts";
import { CHECK_FORM, type Plan, type PlanCommand } from "./types.ts";

/** The label of the checks that a plan names for itself, and of those that hold for every item. */
const PLAN_SCOPE = "plan";

/**
 * The checks of a plan: every task's, then the plan's, then those for every item. Tasks that are left out are not
 * checked. `task:2` and `plan` distinguish their failures.
 */
export function planChecks(
  { tasks, verification }: Pick<GsdItemData, "tasks" | "verification">,
  always: readonly string[],
  checkpoints: { readonly skip: boolean },
): readonly Check[] {
  const done = tasks.filter(({ checkpoint }) => !(checkpoint && checkpoints.skip));
  return [
    ...done.flatMap(({ number, commands }) =>
      commands.map((command) => checkOf(command, `task ${number}`, `task:${number}`))
    ),
    ...verification.commands.map((command) =>
      checkOf(command, command.name === null ? "plan" : `plan ${command.name}`, PLAN_SCOPE)
    ),
    ...always.map((command) => ({ name: command, command, scope: PLAN_SCOPE })),
  ];
}

function checkOf({ command, expect }: PlanCommand, label: string, scope: string): Check {
  const [first = "", ...more] = command.split("\n");
  const plain = expect.exit === undefined && expect.output === undefined;
  const name = `${label}: ${first}${more.length === 0 ? "" : " …"}`;
  return { name, command, scope, own: true, ...(plain ? {} : { expect }) };
}

/** The plans that cannot pass: an agent is to do something in them, and they name no check. */
export function uncheckedPlans(plans: readonly Plan[], always: readonly string[]): readonly string[] {
  return plans.filter((plan) =>
    !plan.empty && !(plan.tasks.length > 0 && plan.tasks.every(({ checkpoint }) => checkpoint)) &&
    planChecks(plan, always, { skip: true }).length === 0
  ).map(({ id }) => id);
}

/** `3 of 5 open plans name no check and cannot pass: 01-01, …`, and how a plan names one; nothing where all do. */
export function uncheckedLines(unchecked: readonly string[], open: number): readonly string[] {
  if (unchecked.length === 0) return [];
  const plans = unchecked.length === 1 ? "plan names" : "plans name";
  return [
    `${unchecked.length} of ${open} open ${plans} no check and cannot pass: ${unchecked.join(", ")}`,
    `name one ${CHECK_FORM}; or for all plans in \`verify.default\` of ralph.config.json`,
  ];
}
