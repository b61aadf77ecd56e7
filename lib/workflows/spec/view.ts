import { issuesIn, offered, type OfferOptions, type Stage, stageOf, tasksIn } from "./item.ts";
import { doneOf, issuesOf, pendingOf, problemsOf, rejectsOf, specOf } from "./plan_file.ts";
import type { JsonObject, Plan, PlanProblem, Task } from "./types.ts";

/** `ralph query` prints this. */
export interface PlanView {
  readonly spec: string | null;
  /** `ralph query tasks` prints this. */
  readonly tasks: { readonly pending: readonly JsonObject[]; readonly done: readonly JsonObject[] };
  readonly issues: readonly JsonObject[];
  readonly rejects: readonly JsonObject[];
  readonly stage: Stage;
  readonly next: NextAction;
  /** Lines that cannot be read, and ids that occur twice. */
  readonly problems: readonly PlanProblem[];
}

/** `ralph query next` prints this. */
export type NextAction =
  | { readonly action: "DECOMPOSE"; readonly task: JsonObject }
  /** `task` is `null` when every pending task waits; `blocked` then says for what. */
  | { readonly action: "BUILD"; readonly task: JsonObject | null; readonly blocked?: readonly string[] }
  | { readonly action: "VERIFY"; readonly item: string }
  | { readonly action: "INVESTIGATE"; readonly items: readonly JsonObject[]; readonly count: number }
  | { readonly action: "PLAN" | "COMPLETE"; readonly item: null };

/** The item that the loop would take, or why it would take nothing, as `ralph query next` prints it. */
export function nextAction(plan: Plan, options: OfferOptions = {}): NextAction {
  const next = offered(plan, options);
  if (next.status === "done") return { action: "COMPLETE", item: null };
  if (next.status !== "item") {
    if (stageOf(plan) === "PLAN") return { action: "PLAN", item: null };
    return { action: "BUILD", task: null, blocked: next.status === "blocked" ? next.reasons : [] };
  }
  const { item } = next;
  const [task = {}] = tasksIn(item).map(recordOf);
  switch (item.data.stage) {
    case "VERIFY":
      return { action: "VERIFY", item: `Verify ${item.title.replace("done", "completed")} against spec` };
    case "INVESTIGATE": {
      const items = issuesIn(item).map(({ record }) => record);
      return { action: "INVESTIGATE", items, count: items.length };
    }
    default:
      return { action: item.data.stage, task };
  }
}

/** The whole state. */
export function viewPlan(plan: Plan, options: OfferOptions = {}): PlanView {
  const next = nextAction(plan, options);
  return {
    spec: specOf(plan),
    tasks: { pending: pendingOf(plan).map(recordOf), done: doneOf(plan).map(recordOf) },
    issues: issuesOf(plan).map(({ record }) => record),
    rejects: rejectsOf(plan).map(({ record }) => record),
    stage: isWaiting(next) ? stageOf(plan) : next.action,
    next,
    problems: problemsOf(plan),
  };
}

/** Nothing can be taken up although something is left. */
export function isWaiting(next: NextAction): boolean {
  return next.action === "BUILD" && next.task === null;
}

/** A task's record, with the name that an older writer put under `desc`. */
function recordOf({ record, name }: Task): JsonObject {
  return typeof record["name"] === "string" ? record : { ...record, name };
}
