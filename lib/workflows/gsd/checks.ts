import type { Check } from "../../backlog/types.ts";
import type { PlanCommand, Verifying } from "./types.ts";

/** The label of the checks that a plan names for itself, and of those that hold for every item. */
const PLAN_SCOPE = "plan";

/** What of a plan its checks are made of. */
export interface Checkable {
  readonly tasks: readonly (Verifying & { readonly number: number; readonly checkpoint: boolean })[];
  readonly verification: Verifying;
}

/**
 * The checks of a plan: every task's, then the plan's, then those for every item. Tasks that are left out are not
 * checked. `task:2` and `plan` distinguish their failures.
 */
export function planChecks(
  { tasks, verification }: Checkable,
  always: readonly string[],
  skipCheckpoints: boolean,
): readonly Check[] {
  const done = tasks.filter(({ checkpoint }) => !(checkpoint && skipCheckpoints));
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
