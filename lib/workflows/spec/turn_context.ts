import { issuesOf, tasksOf } from "./plan_file.ts";
import type { NewTask } from "./mutations/add_tasks.ts";
import type { Plan } from "./types.ts";

/** Ids of the items that are stages; a BUILD item has its task's id. */
export const STAGE_ITEMS = {
  plan: "PLAN",
  verify: "VERIFY",
  investigate: "INVESTIGATE",
  decompose: "DECOMPOSE:",
} as const;

type Variables = Readonly<Record<string, string | undefined>>;

/** The item that the agent works on who runs this command, or "" outside a turn at this root. */
function itemOf(root: string, variables: Variables): string {
  return variables["RALPH_ROOT"] === root && variables["RALPH_RUN"] !== undefined ? variables["RALPH_ITEM"] ?? "" : "";
}

/** The task that a BUILD turn is about. */
export function taskOfTurn(plan: Plan, root: string, variables: Variables): string | undefined {
  const item = itemOf(root, variables);
  return tasksOf(plan).some(({ id }) => id === item) ? item : undefined;
}

/** What a task that is added in a turn has from it: DECOMPOSE is its parent, INVESTIGATE its issue, PLAN may come again. */
export function turnDefaults(
  plan: Plan,
  root: string,
  variables: Variables,
): Partial<NewTask> & { readonly upsert: boolean } {
  const item = itemOf(root, variables);
  if (item === STAGE_ITEMS.plan) return { upsert: true };
  if (item.startsWith(STAGE_ITEMS.decompose)) {
    return { upsert: false, parent: item.slice(STAGE_ITEMS.decompose.length) };
  }
  const [issue, another] = issuesOf(plan);
  if (item === STAGE_ITEMS.investigate && issue !== undefined && another === undefined) {
    return { upsert: false, created_from: issue.id };
  }
  return { upsert: false };
}
