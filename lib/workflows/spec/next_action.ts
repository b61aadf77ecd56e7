import type { Next, ParkedItem } from "../../backlog/types.ts";
import { issuesIn, type SpecItemData, tasksIn } from "./item.ts";
import { offered } from "./next_item.ts";
import { issuesOf, problemsOf, rejectionCounts, rejectsOf, specOf } from "./plan_file.ts";
import { stageOf } from "./stage.ts";
import type { Plan } from "./types.ts";
import { type NextAction, type PlanView, recordOf, viewTasks } from "./view.ts";

/** How a plan is looked at. */
export interface ViewOptions {
  /** Tasks rejected so often are given up on. @default no limit */
  readonly rejections?: number;
  /** The items that the loop gave up on: the plan does not name them. @default nothing */
  readonly parked?: readonly ParkedItem[];
}

/** The item that the loop would take, or why it would take nothing. */
export function nextOf(plan: Plan, { rejections = Infinity, parked = [] }: ViewOptions = {}): Next<SpecItemData> {
  const counts = rejectionCounts(plan);
  const isGivenUp = (_plan: Plan, id: string): boolean => (counts.get(id) ?? 0) >= rejections;
  return offered(plan, { inFlight: [], parked, limit: rejections, isGivenUp });
}

/** The same as `ralph query next` prints it. */
export function nextAction(plan: Plan, options: ViewOptions = {}): NextAction {
  const next = nextOf(plan, options);
  if (next.status === "done") return { action: "COMPLETE", item: null };
  if (next.status !== "item") {
    if (stageOf(plan) === "PLAN") return { action: "PLAN", item: null };
    return { action: "BUILD", task: null, blocked: next.status === "blocked" ? next.reasons : [] };
  }
  const { item } = next;
  const [task = {}] = tasksIn(item).map(recordOf);
  switch (item.data.stage) {
    case "DECOMPOSE":
      return { action: "DECOMPOSE", task };
    case "BUILD":
      return { action: "BUILD", task };
    case "VERIFY":
      return { action: "VERIFY", item: `Verify ${item.title.replace("done", "completed")} against spec` };
    case "INVESTIGATE": {
      const items = issuesIn(item).map(({ record }) => record);
      return { action: "INVESTIGATE", items, count: items.length };
    }
  }
}

/** The whole state. */
export function viewPlan(plan: Plan, options: ViewOptions = {}): PlanView {
  const next = nextAction(plan, options);
  return {
    spec: specOf(plan),
    tasks: viewTasks(plan),
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
