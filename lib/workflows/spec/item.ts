import { onOneLine } from "../../prompts/render.ts";
import { textsOf } from "../plain.ts";
import { changesTests } from "../../backlog/changes_tests.ts";
import { fingerprintOf, isParked } from "../../backlog/attempts.ts";
import type { Item, Next, ParkedItem } from "../../backlog/types.ts";
import * as plans from "./plan_file.ts";
import { type Issue, type Plan, PLAN_FILE, type Task } from "./types.ts";

/** An item of the spec workflow carries the plan as it was when the item was given, as far as it matters. */
export interface SpecItemData {
  readonly stage: Exclude<Stage, "PLAN" | "COMPLETE">;
  readonly spec: string;
  /** Lines of the records that the turn is about, as they are in the file. */
  readonly lines: readonly string[];
  /** Ids of the tasks that were there (DECOMPOSE). */
  readonly ids: readonly string[];
  /** How often the task had been rejected. */
  readonly rejections: number;
}

/** One iteration of the staged loop. */
export type SpecItem = Item<SpecItemData>;

/** The tasks that an item is about. */
export function tasksIn({ data }: SpecItem): readonly Task[] {
  return plans.tasksOf(plans.parsePlan(data.lines.join("\n"), PLAN_FILE));
}

/** The issues that an item is about. */
export function issuesIn({ data }: SpecItem): readonly Issue[] {
  return plans.issuesOf(plans.parsePlan(data.lines.join("\n"), PLAN_FILE));
}

/** As `provider.route` has it. */
const PRIORITIES = { high: 1, medium: 2, low: 3 } as const;

export function buildItem(plan: Plan, task: Task): SpecItem {
  const rejections = plans.rejectionsOf(plan, task.id);
  return {
    id: task.id,
    kind: "BUILD",
    title: onOneLine(task.name),
    criteria: [task.notes, task.accept].filter((text) => text !== ""),
    changesTests: testsChangedBy(task),
    priority: PRIORITIES[task.priority],
    ...(isAdded(task) ? { isAdded: true } : {}),
    fingerprint: fingerprintOfTask(task),
    ...(task.parent === null ? {} : { continues: [task.parent] }),
    data: { stage: "BUILD", spec: task.spec, lines: linesOf(plan, [task]), ids: [], rejections },
  };
}

/** A hash of the task's request. */
export function fingerprintOfTask({ spec, name, notes, accept }: Task): string {
  return fingerprintOf([spec, name, notes, accept]);
}

/** The globs of tests that a task may change: what it was given when a turn added it, or what its own text says. */
export function testsChangedBy(task: Task): readonly string[] {
  const given = task.record["changes_tests"];
  if (Array.isArray(given)) return textsOf(given);
  return isAdded(task) ? [] : changesTests([task.notes, task.accept]);
}

/** By a turn that took a task apart, replaced one, or looked into an issue. */
function isAdded({ record, parent, createdFrom, supersedes }: Task): boolean {
  return parent !== null || createdFrom !== null || supersedes !== null || record["changes_tests"] !== undefined;
}

export function decomposeItem(plan: Plan, task: Task): SpecItem {
  return stageItem(plan, [task], {
    id: decomposeId(task),
    title: onOneLine(task.name),
    fingerprint: fingerprintOf([task.name, task.killLog ?? ""]),
  }, { stage: "DECOMPOSE", spec: task.spec, ids: plans.tasksOf(plan).map(({ id }) => id) });
}

export function decomposeId({ id }: Pick<Task, "id">): string {
  return `DECOMPOSE:${id}`;
}

export function verifyItem(plan: Plan): SpecItem {
  const done = plans.doneOf(plan);
  const fingerprint = fingerprintOf(done.flatMap(({ id, doneAt }) => [id, doneAt ?? ""]));
  const title = `${done.length} done task${done.length === 1 ? "" : "s"}`;
  return stageItem(plan, done, { id: "VERIFY", review: true, title, fingerprint }, { stage: "VERIFY" });
}

export function investigateItem(plan: Plan): SpecItem {
  const issues = plans.issuesOf(plan).filter(isInvestigated);
  const fingerprint = fingerprintOf(issues.map(({ id }) => id));
  const title = `${issues.length} issue${issues.length === 1 ? "" : "s"}`;
  return stageItem(plan, issues, { id: "INVESTIGATE", review: true, title, fingerprint }, { stage: "INVESTIGATE" });
}

/** An item that no other one is worked on beside, and that builds nothing. */
function stageItem(
  plan: Plan,
  records: readonly (Task | Issue)[],
  item: Pick<SpecItem, "fingerprint" | "id" | "review" | "title">,
  data: Pick<SpecItemData, "stage"> & Partial<SpecItemData>,
): SpecItem {
  const known = { spec: plans.specOf(plan) ?? "", lines: linesOf(plan, records), ids: [], rejections: 0 };
  const form = { kind: data.stage, exclusive: true, preparatory: true, commitsNothing: true } as const;
  return { ...item, ...form, data: { ...known, ...data } };
}

function linesOf({ lines }: Plan, records: readonly (Task | Issue)[]): readonly string[] {
  const rawOf = new Map(lines.map(({ entry, raw }) => [plans.recordIn(entry), raw]));
  return records.map((record) => rawOf.get(record) ?? "");
}

/** The stage of a plan. */
export type Stage = "PLAN" | "DECOMPOSE" | "BUILD" | "VERIFY" | "INVESTIGATE" | "COMPLETE";

/** How often a task is cut into parts, and they again: a part that is still too large is a person's. */
export const MOST_PARTINGS = 3;

/** How often an issue leads to a task, and that to an issue: what is found then is a person's. */
export const MOST_ROUNDS = 3;

/** The stage of a plan: computed, never stored. A line that cannot be read may be a task. */
export function stageOf(plan: Plan): Stage {
  const pending = plans.pendingOf(plan);
  if (plans.specOf(plan) === null || isUnplanned(plan)) return "PLAN";
  if (pending.some(isDivided)) return "DECOMPOSE";
  if (pending.length > 0) return "BUILD";
  if (plans.doneOf(plan).length > 0) return "VERIFY";
  if (plans.issuesOf(plan).length > 0) return "INVESTIGATE";
  return plan.lines.some(({ entry }) => entry.type === "invalid") ? "BUILD" : "COMPLETE";
}

/** The current spec was set, and nothing has been planned for it. */
export function isUnplanned(plan: Plan): boolean {
  return plans.specLine(plan)?.planned === false && plans.pendingOf(plan).length + plans.doneOf(plan).length === 0;
}

/** The task is to be taken apart: its turn ran out of time or context, and it is no part of parts of parts. */
export function isDivided({ kill, depth }: Task): boolean {
  return kill !== null && depth < MOST_PARTINGS;
}

/** An agent looks into the issue; one that the tasks of issues have led to too often is left to a person. */
export function isInvestigated({ rounds }: Issue): boolean {
  return rounds < MOST_ROUNDS;
}

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
export function offered(plan: Plan, options: OfferOptions): Next<SpecItemData> {
  const { parked = [], inFlight = [], limit = Infinity } = options;
  const hopeless = hopelessReason(plan);
  if (hopeless !== null) return { status: "blocked", reasons: [hopeless] };
  const stage = itemOfStage(plan, parked);
  if (stage !== undefined && inFlight.length > 0) return { status: "waiting" };
  if (stage !== undefined && !isParked(stage, parked)) return { status: "item", item: stage };

  const free = plans.readyTasks(plans.pendingOf(plan)).find((task) =>
    !isDivided(task) && !inFlight.includes(task.id) && !isGivenUp(plan, task.id, options) &&
    !isTaskParked(task, parked)
  );
  if (free !== undefined) return { status: "item", item: buildItem(plan, free) };
  if (inFlight.length > 0) return { status: "waiting" };
  const reasons = blockedReasons(plan, limit, parked, stage);
  if (reasons.length === 0) return { status: "done", summary: "COMPLETE" };
  const givenUp = plans.pendingOf(plan).filter((task) =>
    isGivenUp(plan, task.id, options) && !isTaskParked(task, parked)
  );
  return { status: "blocked", reasons, givenUp: givenUp.length };
}

/** `true` if a task was rejected too often. */
export function isGivenUp(plan: Plan, id: string, { limit = Infinity, forgiven }: OfferOptions): boolean {
  return plans.rejectionsOf(plan, id) - (forgiven?.get(id) ?? 0) >= limit;
}

/** `true` if the loop gave up on a task. A hash is made only where its id is parked. */
export function isTaskParked(task: Task, parked: readonly ParkedItem[]): boolean {
  return parked.some(({ id, fingerprint }) => id === task.id && fingerprint === fingerprintOfTask(task));
}

/** Why the loop gave up on pending tasks, by their ids: `ralph build` does not take these up, and the plan does not show it. */
export function givenUpIn(plan: Plan, parked: readonly ParkedItem[]): ReadonlyMap<string, string> {
  return new Map(
    plans.pendingOf(plan).flatMap((task) => {
      const whole = isDivided(task) ? reasonOf(decomposeId(task), parked) : undefined;
      const reason = whole ?? (isTaskParked(task, parked) ? reasonOf(task.id, parked) : undefined);
      return reason === undefined ? [] : [[task.id, reason] as const];
    }),
  );
}

function reasonOf(id: string, parked: readonly ParkedItem[]): string | undefined {
  return parked.findLast((one) => one.id === id)?.reason;
}

/** The first task that is to be taken apart, or the stage that comes when no task is pending. */
function itemOfStage(plan: Plan, parked: readonly ParkedItem[]): SpecItem | undefined {
  for (const task of plans.pendingOf(plan).filter(isDivided)) {
    const item = decomposeItem(plan, task);
    if (!isParked(item, parked)) return item;
  }
  if (plans.pendingOf(plan).length > 0) return undefined;
  if (plans.doneOf(plan).length > 0) return verifyItem(plan);
  return plans.issuesOf(plan).some(isInvestigated) ? investigateItem(plan) : undefined;
}

/** Why no turn is worth its price: nothing was planned, or the plan can never be complete as it is. */
function hopelessReason(plan: Plan): string | null {
  const spec = plans.specOf(plan);
  if (spec === null) return "no spec is set: `ralph plan SPEC.md` plans one";
  if (isUnplanned(plan)) return `nothing is planned for ${spec}: \`ralph plan ${spec}\` does so`;
  return plans.circleOf(plan)?.problem ?? null;
}

/** Why nothing can be taken up although something is left. */
function blockedReasons(plan: Plan, limit: number, parked: readonly ParkedItem[], stage: SpecItem | undefined) {
  if (stage !== undefined) return [`${stage.id}: ${firstLine(reasonOf(stage.id, parked) ?? "was given up on")}`];
  const pending = plans.pendingOf(plan);
  const ids = new Set(pending.map(({ id }) => id));
  const tasks = pending.map((task) => {
    const reason = reasonOf(isDivided(task) ? decomposeId(task) : task.id, parked) ??
      waitingReason(plan, task, ids, limit);
    return `${task.id}: ${firstLine(reason)}`;
  });
  const issues = pending.length > 0 ? [] : plans.issuesOf(plan).filter((issue) => !isInvestigated(issue));
  return [
    ...tasks,
    ...issues.map(({ id, desc }) =>
      `${id}: ${firstLine(desc)}: found by the task of an issue, ${MOST_ROUNDS} times in a row: decide it yourself ` +
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
  const times = plans.rejectionsOf(plan, id);
  if (times >= limit) return `rejected ${times} times: ${reject ?? "no reason given"}`;
  const open = deps.filter((one) => pending.has(one));
  return open.length > 0 ? `waits for ${open.join(", ")}` : reject ?? "was given up on";
}

function firstLine(text: string): string {
  return text.split("\n")[0] ?? "";
}
