import { openDependencies, openIds, readyTasks } from "./graph.ts";
import { rejectionCounts } from "./mutations/reject_task.ts";
import { doneOf, issuesOf, pendingOf, problemsOf, rejectsOf, specOf, tasksOf } from "./plan_file.ts";
import { isDivided, isInvestigated, type Stage, stageOf } from "./stage.ts";
import { type JsonObject, type Plan, PLAN_FILE, type PlanProblem, type Task } from "./types.ts";

/** What `ralph query` prints. */
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

/** What `ralph query tasks` prints. */
export interface TasksView {
  readonly pending: readonly JsonObject[];
  readonly done: readonly JsonObject[];
}

/** What `ralph query next` prints. */
export type NextAction =
  | { readonly action: "DECOMPOSE"; readonly task: JsonObject }
  /** `task` is `null` when every pending task waits; `blocked` then says for what. */
  | { readonly action: "BUILD"; readonly task: JsonObject | null; readonly blocked?: readonly string[] }
  | { readonly action: "VERIFY"; readonly item: string }
  | { readonly action: "INVESTIGATE"; readonly items: readonly JsonObject[]; readonly count: number }
  | { readonly action: "PLAN" | "COMPLETE"; readonly item: null };

/** How a plan is looked at. */
export interface ViewOptions {
  /** Tasks rejected so often are given up on. @default no limit */
  readonly rejections?: number;
  /** Why the loop gave up on tasks, by their ids: the plan does not say it. @default it gave up on none */
  readonly givenUp?: ReadonlyMap<string, string>;
}

/** The whole state. */
export function viewPlan(plan: Plan, options: ViewOptions = {}): PlanView {
  return {
    spec: specOf(plan),
    tasks: viewTasks(plan),
    issues: issuesOf(plan).map(({ record }) => record),
    rejects: rejectsOf(plan).map(({ record }) => record),
    stage: stageOf(plan),
    next: nextAction(plan, options),
    problems: problemsOf(plan),
  };
}

/** Pending and done tasks, each as it is in the file. */
export function viewTasks(plan: Plan): TasksView {
  return { pending: pendingOf(plan).map(recordOf), done: doneOf(plan).map(recordOf) };
}

/** What comes next. */
export function nextAction(plan: Plan, { rejections = Infinity, givenUp = new Map() }: ViewOptions = {}): NextAction {
  const action = stageOf(plan);
  switch (action) {
    case "PLAN":
    case "COMPLETE":
      return { action, item: null };
    case "DECOMPOSE":
      return { action, task: recordOf(pendingOf(plan).find(isDivided) as Task) };
    case "BUILD": {
      const counts = rejectionCounts(plan);
      const task = readyTasks(tasksOf(plan)).find(({ id }) => (counts.get(id) ?? 0) < rejections && !givenUp.has(id));
      return task === undefined
        ? { action, task: null, blocked: [...waitingReasons(plan, rejections, givenUp), ...unreadableReasons(plan)] }
        : { action, task: recordOf(task) };
    }
    case "VERIFY": {
      const count = doneOf(plan).length;
      return { action, item: `Verify ${count} completed task${count === 1 ? "" : "s"} against spec` };
    }
    case "INVESTIGATE": {
      const items = issuesOf(plan).filter(isInvestigated).map(({ record }) => record);
      return { action, items, count: items.length };
    }
  }
}

/** Why each pending task waits, one line each. */
export function waitingReasons(
  plan: Plan,
  rejections: number,
  givenUp: ReadonlyMap<string, string> = new Map(),
): readonly string[] {
  const pending = openIds(tasksOf(plan));
  const counts = rejectionCounts(plan);
  return pendingOf(plan).map((task) => {
    const times = counts.get(task.id) ?? 0;
    const why = givenUp.get(task.id);
    if (why !== undefined) return `${task.id}: ${firstLine(why)}`;
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

/** The record, with the name that an older writer put under `desc`. */
function recordOf({ record, name }: Task): JsonObject {
  return typeof record["name"] === "string" ? record : { ...record, name };
}

function firstLine(text: string): string {
  return text.split("\n")[0] ?? "";
}
