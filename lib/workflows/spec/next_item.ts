import type { LoopView, Next, ParkedItem } from "../../backlog/types.ts";
import { isParked } from "../../backlog/attempts.ts";
import { blockedReasons, hopelessReasons } from "./blocked_reasons.ts";
import { readyTasks } from "./graph.ts";
import {
  buildItem,
  decomposeItem,
  fingerprintOfTask,
  investigateItem,
  type SpecItem,
  type SpecItemData,
  verifyItem,
} from "./item.ts";
import { doneOf, issuesOf, pendingOf, tasksOf } from "./plan_file.ts";
import { isDivided, isInvestigated } from "./stage.ts";
import type { Plan, Task } from "./types.ts";

/** The facts beside the plan. */
export interface OfferOptions extends Pick<LoopView, "parked"> {
  readonly inFlight: readonly string[];
  /** Rejections after which a task is given up on. */
  readonly limit: number;
  /** The task was rejected that often. */
  readonly isGivenUp: (plan: Plan, id: string) => boolean;
}

/** The next item of a plan: a stage that nothing else is in flight with, a task, or why there is none. Pure. */
export function offered(plan: Plan, { inFlight, parked, limit, isGivenUp }: OfferOptions): Next<SpecItemData> {
  const hopeless = hopelessReasons(plan);
  if (hopeless.length > 0) return { status: "blocked", reasons: hopeless };
  const stage = stageItem(plan, parked);
  if (stage !== undefined && inFlight.length > 0) return { status: "waiting" };
  if (stage !== undefined && !isParked(stage, parked)) return { status: "item", item: stage };

  const ids = new Set(parked.map(({ id }) => id));
  const free = readyTasks(tasksOf(plan)).find((task) =>
    !isDivided(task) && !inFlight.includes(task.id) && !isGivenUp(plan, task.id) && !isTaskParked(task, parked, ids)
  );
  if (free !== undefined) return { status: "item", item: buildItem(plan, free) };
  if (inFlight.length > 0) return { status: "waiting" };
  const reasons = blockedReasons(plan, limit, parked, stage);
  if (reasons.length === 0) return { status: "done", summary: "COMPLETE" };
  const givenUp = pendingOf(plan).filter((task) => isGivenUp(plan, task.id) && !isTaskParked(task, parked, ids));
  return { status: "blocked", reasons, givenUp: givenUp.length };
}

/**
 * `true` if the loop gave up on a task.
 *
 * @param ids of all that is parked, so that a hash is made only where it is looked at
 */
export function isTaskParked(task: Task, parked: readonly ParkedItem[], ids: ReadonlySet<string>): boolean {
  return ids.has(task.id) && isParked({ id: task.id, fingerprint: fingerprintOfTask(task) }, parked);
}

/** The first task that is to be taken apart, or the stage that comes when no task is pending. */
function stageItem(plan: Plan, parked: readonly ParkedItem[]): SpecItem | undefined {
  for (const task of pendingOf(plan).filter(isDivided)) {
    const item = decomposeItem(plan, task);
    if (!isParked(item, parked)) return item;
  }
  if (pendingOf(plan).length > 0) return undefined;
  if (doneOf(plan).length > 0) return verifyItem(plan);
  return issuesOf(plan).some(isInvestigated) ? investigateItem(plan) : undefined;
}
