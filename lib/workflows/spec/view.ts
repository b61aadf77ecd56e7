import { openDependencies, openIds } from "./graph.ts";
import { doneOf, pendingOf, rejectionCounts, tasksOf } from "./plan_file.ts";
import type { Stage } from "./stage.ts";
import { type JsonObject, type Plan, PLAN_FILE, type PlanProblem, type Task } from "./types.ts";

/** `ralph query` prints this. */
export interface PlanView {
  readonly spec: string | null;
  readonly tasks: TasksView;
  readonly issues: readonly JsonObject[];
  readonly rejects: readonly JsonObject[];
  readonly stage: Stage;
  readonly next: NextAction;
  /** Lines that cannot be read, and ids that occur twice. */
  readonly problems: readonly PlanProblem[];
}

/** `ralph query tasks` prints this. */
export interface TasksView {
  readonly pending: readonly JsonObject[];
  readonly done: readonly JsonObject[];
}

/** `ralph query next` prints this. */
export type NextAction =
  | { readonly action: "DECOMPOSE"; readonly task: JsonObject }
  /** `task` is `null` when every pending task waits; `blocked` then says for what. */
  | { readonly action: "BUILD"; readonly task: JsonObject | null; readonly blocked?: readonly string[] }
  | { readonly action: "VERIFY"; readonly item: string }
  | { readonly action: "INVESTIGATE"; readonly items: readonly JsonObject[]; readonly count: number }
  | { readonly action: "PLAN" | "COMPLETE"; readonly item: null };

/** Pending and done tasks, each as it is in the file. */
export function viewTasks(plan: Plan): TasksView {
  return { pending: pendingOf(plan).map(recordOf), done: doneOf(plan).map(recordOf) };
}

/** Why each pending task waits, one line each. */
export function waitingReasons(plan: Plan, rejections: number): readonly string[] {
  const pending = openIds(tasksOf(plan));
  const counts = rejectionCounts(plan);
  return pendingOf(plan).map((task) => {
    const times = counts.get(task.id) ?? 0;
    if (times >= rejections) {
      return `${task.id}: rejected ${times} times: ${firstLine(task.reject ?? "no reason given")}`;
    }
    const open = openDependencies(task, pending);
    return open.length > 0
      ? `${task.id}: waits for ${open.join(", ")}`
      : `${task.id}: ${firstLine(task.reject ?? "was given up on")}`;
  });
}

/** A line that cannot be read may be a task: such a plan is never complete. */
export function unreadableReasons(plan: Plan): readonly string[] {
  return plan.lines.flatMap(({ entry, number }) =>
    entry.type === "invalid" ? [`${PLAN_FILE}:${number}: ${entry.problem}`] : []
  );
}

/** A task's record, with the name that an older writer put under `desc`. */
export function recordOf({ record, name }: Task): JsonObject {
  return typeof record["name"] === "string" ? record : { ...record, name };
}

function firstLine(text: string): string {
  return text.split("\n")[0] ?? "";
}
