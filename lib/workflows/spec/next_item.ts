import { isParked } from "../../backlog/attempts.ts";
import type { Next, ParkedItem } from "../../backlog/types.ts";
import { readyTasks } from "./graph.ts";
import * as items from "./item.ts";
import { circleOf, doneOf, issuesOf, pendingOf, rejectionsOf, specOf } from "./plan_file.ts";
import { type Plan, PLAN_FILE, type Task } from "./types.ts";

/** The facts beside the plan. */
export interface OfferOptions {
  /** The items that the loop gave up on: the plan does not name them. @default none */
  readonly parked?: readonly ParkedItem[];
  /** @default none */
  readonly inFlight?: readonly string[];
  /** Rejections after which a task is given up on. @default no limit */
  readonly limit?: number;
  /** Rejections that do not count, by task. @default none */
  readonly forgiven?: ReadonlyMap<string, number>;
}

/** The next item of a plan: a stage that nothing else is in flight with, a task, or why there is none. Pure. */
export function offered(plan: Plan, options: OfferOptions): Next<items.SpecItemData> {
  const { parked = [], inFlight = [], limit = Infinity } = options;
  const hopeless = hopelessReason(plan);
  if (hopeless !== null) return { status: "blocked", reasons: [hopeless] };
  const stage = stageItem(plan, parked);
  if (stage !== undefined && inFlight.length > 0) return { status: "waiting" };
  if (stage !== undefined && !isParked(stage, parked)) return { status: "item", item: stage };

  const free = readyTasks(pendingOf(plan)).find((task) =>
    !items.isDivided(task) && !inFlight.includes(task.id) && !isGivenUp(plan, task.id, options) &&
    !isTaskParked(task, parked)
  );
  if (free !== undefined) return { status: "item", item: items.buildItem(plan, free) };
  if (inFlight.length > 0) return { status: "waiting" };
  const reasons = blockedReasons(plan, limit, parked, stage);
  if (reasons.length === 0) return { status: "done", summary: "COMPLETE" };
  const givenUp = pendingOf(plan).filter((task) => isGivenUp(plan, task.id, options) && !isTaskParked(task, parked));
  return { status: "blocked", reasons, givenUp: givenUp.length };
}

/** `true` if a task was rejected too often. */
export function isGivenUp(plan: Plan, id: string, { limit = Infinity, forgiven }: OfferOptions): boolean {
  return rejectionsOf(plan, id) - (forgiven?.get(id) ?? 0) >= limit;
}

/** `true` if the loop gave up on a task. A hash is made only where its id is parked. */
export function isTaskParked(task: Task, parked: readonly ParkedItem[]): boolean {
  return parked.some(({ id, fingerprint }) => id === task.id && fingerprint === items.fingerprintOfTask(task));
}

/** Why the loop gave up on pending tasks, by their ids: `ralph build` does not take these up, and the plan does not show it. */
export function givenUpIn(plan: Plan, parked: readonly ParkedItem[]): ReadonlyMap<string, string> {
  return new Map(
    pendingOf(plan).flatMap((task) => {
      const whole = items.isDivided(task) ? reasonOf(items.decomposeId(task), parked) : undefined;
      const reason = whole ?? (isTaskParked(task, parked) ? reasonOf(task.id, parked) : undefined);
      return reason === undefined ? [] : [[task.id, reason] as const];
    }),
  );
}

function reasonOf(id: string, parked: readonly ParkedItem[]): string | undefined {
  return parked.findLast((one) => one.id === id)?.reason;
}

/** The first task that is to be taken apart, or the stage that comes when no task is pending. */
function stageItem(plan: Plan, parked: readonly ParkedItem[]): items.SpecItem | undefined {
  for (const task of pendingOf(plan).filter(items.isDivided)) {
    const item = items.decomposeItem(plan, task);
    if (!isParked(item, parked)) return item;
  }
  if (pendingOf(plan).length > 0) return undefined;
  if (doneOf(plan).length > 0) return items.verifyItem(plan);
  return issuesOf(plan).some(items.isInvestigated) ? items.investigateItem(plan) : undefined;
}

/** Why no turn is worth its price: nothing was planned, or the plan can never be complete as it is. */
function hopelessReason(plan: Plan): string | null {
  const spec = specOf(plan);
  if (spec === null) return "no spec is set: `ralph plan SPEC.md` plans one";
  if (items.isUnplanned(plan)) return `nothing is planned for ${spec}: \`ralph plan ${spec}\` does so`;
  return circleOf(plan)?.problem ?? null;
}

/** Why nothing can be taken up although something is left. */
function blockedReasons(
  plan: Plan,
  limit: number,
  parked: readonly ParkedItem[],
  stage: items.SpecItem | undefined,
): readonly string[] {
  if (stage !== undefined) return [`${stage.id}: ${firstLine(reasonOf(stage.id, parked) ?? "was given up on")}`];
  const pending = pendingOf(plan);
  const ids = new Set(pending.map(({ id }) => id));
  const tasks = pending.map((task) => {
    const reason = reasonOf(items.isDivided(task) ? items.decomposeId(task) : task.id, parked) ??
      waitingReason(plan, task, ids, limit);
    return `${task.id}: ${firstLine(reason)}`;
  });
  const issues = pending.length > 0 ? [] : issuesOf(plan).filter((issue) => !items.isInvestigated(issue));
  return [
    ...tasks,
    ...issues.map(({ id, desc }) =>
      `${id}: ${
        firstLine(desc)
      }: found by the task of an issue, ${items.MOST_ROUNDS} times in a row: decide it yourself ` +
      `(\`ralph issue done ${id}\`, or \`ralph task add "…" --created-from ${id}\`)`
    ),
    // a line that cannot be read may be a task: such a plan is never complete
    ...plan.lines.flatMap(({ entry, number }) =>
      entry.type === "invalid" ? [`${PLAN_FILE}:${number}: ${entry.problem}`] : []
    ),
  ];
}

/** Why a pending task waits. */
function waitingReason(plan: Plan, { id, deps, reject }: Task, pending: ReadonlySet<string>, limit: number): string {
  const times = rejectionsOf(plan, id);
  if (times >= limit) return `rejected ${times} times: ${reject ?? "no reason given"}`;
  const open = deps.filter((one) => pending.has(one));
  return open.length > 0 ? `waits for ${open.join(", ")}` : reject ?? "was given up on";
}

function firstLine(text: string): string {
  return text.split("\n")[0] ?? "";
}
