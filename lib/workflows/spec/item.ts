import { onOneLine } from "../../prompts/parts.ts";
import { textsOf } from "../plain.ts";
import { changesTests } from "../../backlog/changes_tests.ts";
import { fingerprintOf } from "../../backlog/attempts.ts";
import type { Item } from "../../backlog/types.ts";
import {
  doneOf,
  issuesOf,
  parsePlan,
  pendingOf,
  recordIn,
  rejectionsOf,
  specLine,
  specOf,
  tasksOf,
} from "./plan_file.ts";
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
  return tasksOf(parsePlan(data.lines.join("\n"), PLAN_FILE));
}

/** The issues that an item is about. */
export function issuesIn({ data }: SpecItem): readonly Issue[] {
  return issuesOf(parsePlan(data.lines.join("\n"), PLAN_FILE));
}

/** As `provider.route` has it. */
const PRIORITIES = { high: 1, medium: 2, low: 3 } as const;

export function buildItem(plan: Plan, task: Task): SpecItem {
  const rejections = rejectionsOf(plan, task.id);
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
  const ids = tasksOf(plan).map(({ id }) => id);
  return stageItem(plan, [task], {
    id: decomposeId(task),
    title: onOneLine(task.name),
    fingerprint: fingerprintOf([task.name, task.killLog ?? ""]),
  }, { stage: "DECOMPOSE", spec: task.spec, ids });
}

export function decomposeId({ id }: Pick<Task, "id">): string {
  return `DECOMPOSE:${id}`;
}

export function verifyItem(plan: Plan): SpecItem {
  const done = doneOf(plan);
  const fingerprint = fingerprintOf(done.flatMap(({ id, doneAt }) => [id, doneAt ?? ""]));
  const title = `${done.length} done task${done.length === 1 ? "" : "s"}`;
  return stageItem(plan, done, { id: "VERIFY", review: true, title, fingerprint }, { stage: "VERIFY" });
}

export function investigateItem(plan: Plan): SpecItem {
  const issues = issuesOf(plan).filter(isInvestigated);
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
  const known = { spec: specOf(plan) ?? "", lines: linesOf(plan, records), ids: [], rejections: 0 };
  const form = { kind: data.stage, exclusive: true, preparatory: true, commitsNothing: true } as const;
  return { ...item, ...form, data: { ...known, ...data } };
}

function linesOf({ lines }: Plan, records: readonly (Task | Issue)[]): readonly string[] {
  const rawOf = new Map(lines.map(({ entry, raw }) => [recordIn(entry), raw]));
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
  const pending = pendingOf(plan);
  if (specOf(plan) === null || isUnplanned(plan)) return "PLAN";
  if (pending.some(isDivided)) return "DECOMPOSE";
  if (pending.length > 0) return "BUILD";
  if (doneOf(plan).length > 0) return "VERIFY";
  if (issuesOf(plan).length > 0) return "INVESTIGATE";
  return plan.lines.some(({ entry }) => entry.type === "invalid") ? "BUILD" : "COMPLETE";
}

/** The current spec was set, and nothing has been planned for it. */
export function isUnplanned(plan: Plan): boolean {
  return specLine(plan)?.planned === false && pendingOf(plan).length + doneOf(plan).length === 0;
}

/** The task is to be taken apart: its turn ran out of time or context, and it is no part of parts of parts. */
export function isDivided({ kill, depth }: Task): boolean {
  return kill !== null && depth < MOST_PARTINGS;
}

/** An agent looks into the issue; one that the tasks of issues have led to too often is left to a person. */
export function isInvestigated({ rounds }: Issue): boolean {
  return rounds < MOST_ROUNDS;
}
