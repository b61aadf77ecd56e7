import { stateInvalid } from "../../errors/ralph_error.ts";
import { editRecord, formatRecord } from "./json.ts";
import type { Entry, Issue, JsonObject, Plan, PlanLine, PlanProblem, Priority, Reject, Task } from "./types.ts";
import { countOf, isPlain, textOf, textsOf } from "../plain.ts";
import { circlesOf } from "../dependencies.ts";

/** A conflict marker of git's; the first group is the marker itself. */
export const MARKER_REGEXP: RegExp = /^(<{7}|\|{7}|={7}|>{7})(?: |\r?$)/;

/** The order of the kinds of records in the file. */
const ORDER: readonly Entry["type"][] = ["spec", "task", "issue", "reject"];

/**
 * Reads the plan file. A line that cannot be read is kept and reported by `problemsOf`.
 *
 * @param text the file, or `null` when there is none
 * @param known what was read before: its lines are taken over where the text has them at the same place
 * @throws {RalphError} state-invalid when it holds git's conflict markers
 */
export function parsePlan(text: string | null, file: string, known?: Plan): Plan {
  const content = text ?? "";
  const parts = content.split("\n");
  const closed = parts.at(-1) === "";
  if (closed) parts.pop();
  const conflict = parts.findIndex((line) => MARKER_REGEXP.test(line));
  if (conflict >= 0) {
    const hint = "`ralph query --repair` merges both sides, task by task";
    throw stateInvalid(`${file}:${conflict + 1}`, "git left a merge conflict here", hint);
  }
  return {
    file,
    lines: parts.map((raw, index) => {
      const same = known?.lines[index];
      if (same?.raw === raw && same.number === index + 1) return same;
      // a part of a text keeps all of it in memory: lines are taken over from version to version, and each kept its own
      return readLine(known === undefined ? raw : Buffer.from(raw, "utf8").toString("utf8"), index + 1);
    }),
    newline: content.includes("\r\n") ? "\r\n" : "\n",
    closed,
  };
}

/** The plan as the file's text: what was not changed comes out as it came in. */
export function formatPlan({ lines, closed }: Plan): string {
  return lines.map(({ raw }) => raw).join("\n") + (closed && lines.length > 0 ? "\n" : "");
}

/** Each plan is read once: a plan never changes. */
function once<Found extends object>(find: (plan: Plan) => Found): (plan: Plan) => Found {
  const known = new WeakMap<Plan, Found>();
  return (plan) => {
    const found = known.get(plan) ?? find(plan);
    known.set(plan, found);
    return found;
  };
}

/** All tasks in the order of the file, those with an unknown status included. */
export const tasksOf: (plan: Plan) => readonly Task[] = once(({ lines }) =>
  lines.flatMap(({ entry }) => entry.type === "task" ? [entry.task] : [])
);

/** Pending tasks in the order of the file. */
export const pendingOf: (plan: Plan) => readonly Task[] = once((plan) => tasksOf(plan).filter(({ s }) => s === "p"));

/** Done tasks in the order of the file. */
export const doneOf: (plan: Plan) => readonly Task[] = once((plan) => tasksOf(plan).filter(({ s }) => s === "d"));

export const issuesOf: (plan: Plan) => readonly Issue[] = once(({ lines }) =>
  lines.flatMap(({ entry }) => entry.type === "issue" ? [entry.issue] : [])
);

export const rejectsOf: (plan: Plan) => readonly Reject[] = once(({ lines }) =>
  lines.flatMap(({ entry }) => entry.type === "reject" ? [entry.reject] : [])
);

/** Tasks by their ids: of several with one id the first. */
export const tasksById: (plan: Plan) => ReadonlyMap<string, Task> = once((plan) =>
  new Map(tasksOf(plan).toReversed().map((task) => [task.id, task]))
);

/** Ids of all tasks and issues. */
export const idsOf: (plan: Plan) => ReadonlySet<string> = once((plan) =>
  new Set([...tasksOf(plan), ...issuesOf(plan)].map(({ id }) => id))
);

/** How often each task was rejected, as far as the file says; tasks that never were are absent. */
const rejectionCounts: (plan: Plan) => ReadonlyMap<string, number> = once((plan) => {
  const counts = new Map<string, number>();
  for (const { id } of rejectsOf(plan)) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
});

/** How often a task was rejected, as far as the file says. */
export function rejectionsOf(plan: Plan, id: string): number {
  return rejectionCounts(plan).get(id) ?? 0;
}

/** The task or the issue that a line holds. */
export function recordIn(entry: Entry): Task | Issue | null {
  if (entry.type === "task") return entry.task;
  return entry.type === "issue" ? entry.issue : null;
}

/** True for the line of this very task. */
export function isLineOf(task: Task): (entry: Entry) => boolean {
  return (entry) => entry.type === "task" && entry.task === task;
}

/** The line of the current spec, or `null`. The last of several holds. */
export function specLine(plan: Plan): Extract<Entry, { readonly type: "spec" }> | null {
  const last = plan.lines.findLast(({ entry }) => entry.type === "spec")?.entry;
  return last?.type === "spec" ? last : null;
}

/** The current spec, or `null`. */
export function specOf(plan: Plan): string | null {
  return specLine(plan)?.spec || null;
}

/** The circle in which pending tasks wait for each other, in words, and its first task. */
export function circleOf(plan: Plan): PlanProblem | null {
  const circle = circleIn(pendingOf(plan));
  return circle === null ? null : {
    line: tasksById(plan).get(circle.first)?.line ?? 0,
    problem: `the tasks depend on each other in a circle: ${circle.text}`,
  };
}

/** Tasks and issues whose id another line has. */
export function repeatedIn(plan: Plan): readonly PlanProblem[] {
  return repeatedBy(plan, (entry) => recordIn(entry)?.id);
}

function repeatedBy(plan: Plan, idIn: (entry: Entry) => string | undefined): readonly PlanProblem[] {
  const seen = new Map<string, number>();
  return plan.lines.flatMap(({ entry, number }) => {
    const id = idIn(entry);
    if (id === undefined) return [];
    const first = seen.get(id);
    if (first === undefined) seen.set(id, number);
    return first === undefined ? [] : [{ line: number, problem: `${id} is on line ${first} already; both are kept` }];
  });
}

/** Lines that cannot be read, ids that occur twice, and tasks that wait for each other. */
export function problemsOf(plan: Plan): readonly PlanProblem[] {
  const unread = plan.lines.flatMap(({ entry, number }) =>
    entry.type === "invalid" ? [{ line: number, problem: entry.problem }] : []
  );
  const specs = repeatedBy(plan, ({ type }) => type === "spec" ? "spec" : undefined);
  return [...unread, ...specs, ...repeatedIn(plan), circleOf(plan)].filter((one) => one !== null).toSorted((
    one,
    other,
  ) => one.line - other.line);
}

/** The plan with one record more, below the last one of its kind. */
export function withRecord(plan: Plan, record: JsonObject): Plan {
  return withLine(plan, formatRecord(record) + (plan.newline === "\r\n" ? "\r" : ""));
}

/** The plan with a line more, as it is: below the last one of its kind, or at the end where it has none. */
export function withLine(plan: Plan, raw: string): Plan {
  const line = readLine(raw, 0);
  const rank = ORDER.indexOf(line.entry.type);
  let at = rank < 0 ? plan.lines.length : 0;
  for (const [index, { entry }] of plan.lines.entries()) {
    const found = ORDER.indexOf(entry.type);
    if (found < 0 ? rank > 0 && at === index : found <= rank) at = index + 1;
  }
  return { ...plan, lines: plan.lines.toSpliced(at, 0, line), closed: true };
}

/** The plan with some keys of a line's record changed; `undefined` takes a key away. */
export function withChanged(plan: Plan, isMeant: (entry: Entry) => boolean, changes: JsonObject): Plan {
  return mapLines(plan, (line) => {
    if (!isMeant(line.entry)) return [line];
    return [readLine(editRecord(line.raw, changes) + (line.raw.endsWith("\r") ? "\r" : ""), line.number)];
  });
}

/** The plan without some of its lines. */
export function without(plan: Plan, isMeant: (entry: Entry) => boolean): Plan {
  return mapLines(plan, (line) => isMeant(line.entry) ? [] : [line]);
}

function mapLines(plan: Plan, change: (line: PlanLine) => readonly PlanLine[]): Plan {
  return { ...plan, lines: plan.lines.flatMap(change), closed: true };
}

/** `true` if git left its conflict markers in the file. */
export function hasConflict(text: string): boolean {
  return text.split("\n").some((line) => MARKER_REGEXP.test(line));
}

/** Reads one line. Never throws: what cannot be read says why. */
export function readLine(raw: string, number: number): PlanLine {
  return { number, raw, entry: entryOf(raw, number) };
}

/** Keys that must be texts, by the type of the record. */
const REQUIRED: ReadonlyMap<unknown, readonly string[]> = new Map([
  ["spec", ["spec"]],
  ["task", ["id", "name", "s", "spec"]],
  ["issue", ["id", "desc", "spec"]],
  ["reject", ["id"]],
]);

function entryOf(raw: string, line: number): Entry {
  const text = line <= 1 ? raw.replace(/^\uFEFF/, "") : raw;
  if (text.trim() === "") return { type: "blank" };
  let record: unknown;
  try {
    record = JSON.parse(text);
  } catch (error) {
    return invalid(`expected one JSON object (${error instanceof Error ? error.message : String(error)})`);
  }
  if (!isPlain(record)) return invalid(`expected a JSON object (got: ${kindOf(record)})`);
  const { t } = record;
  const required = REQUIRED.get(t);
  if (required === undefined) return t === undefined ? wrong("t", "a string", t) : { type: "other" };
  const given: JsonObject = t === "spec" ? record : { spec: "", s: "p", name: record["desc"], ...record };
  const bad = required.find((key) => typeof given[key] !== "string" || (key === "id" && given[key] === ""));
  if (bad !== undefined) return wrong(bad, bad === "s" ? '"p" or "d"' : "a string", given[bad]);
  const own = { line, record, id: String(given["id"]), spec: String(given["spec"]) };
  switch (t) {
    case "spec":
      return { type: "spec", spec: own.spec, planned: record["planned"] !== false };
    case "issue":
      return { type: "issue", issue: { ...own, desc: String(given["desc"]), rounds: roundsOf(record) } };
    case "reject": {
      const [doneAt, reason] = [textOf(record["done_at"]) ?? "", textOf(record["reason"]) ?? ""];
      return { type: "reject", reject: { line, record, id: own.id, doneAt, reason } };
    }
    default:
      return taskOf({ ...own, name: String(given["name"]), s: String(given["s"]) });
  }
}

function taskOf(own: Pick<Task, "id" | "line" | "name" | "record" | "s" | "spec">): Entry {
  const { record } = own;
  const { deps, decompose, priority } = record;
  const ids = textsOf(deps);
  if (deps !== undefined && deps !== null && !(Array.isArray(deps) && ids.length === deps.length)) {
    return wrong("deps", "a list of task ids", deps);
  }
  const task: Task = {
    ...own,
    notes: textOf(record["notes"]) ?? "",
    accept: textOf(record["accept"]) ?? "",
    deps: ids,
    doneAt: textOf(record["done_at"]),
    priority: priority === "high" || priority === "low" ? priority : "medium",
    reject: textOf(record["reject"]),
    kill: textOf(record["kill"]) ?? (decompose === true ? "decompose" : textOf(decompose)),
    killLog: textOf(record["kill_log"]),
    parent: textOf(record["parent"]),
    createdFrom: textOf(record["created_from"]),
    supersedes: textOf(record["supersedes"]),
    depth: countOf(record["decompose_depth"]) ?? 0,
    rounds: roundsOf(record),
  };
  return { type: "task", task };
}

function roundsOf(record: JsonObject): number {
  return countOf(record["issue_rounds"]) ?? 0;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : typeof value;
}

function wrong(key: string, expected: string, value: unknown): Entry {
  return invalid(`${key} must be ${expected} (got: ${value === undefined ? "nothing" : JSON.stringify(value)})`);
}

function invalid(problem: string): Entry {
  return { type: "invalid", problem };
}

const RANK: Readonly<Record<Priority, number>> = { high: 0, medium: 1, low: 2 };

/** So many ids of a circle are shown at each of its ends. */
const SHOWN = 6;

/**
 * The tasks that wait for none of the others, the most urgent first, then in their order: the first of them is the first
 * in topological order. A dependency that is not among them counts as done.
 */
export function readyTasks(open: readonly Task[]): readonly Task[] {
  const ids = new Set(open.map(({ id }) => id));
  return open.filter(({ deps }) => !deps.some((id) => ids.has(id)))
    .toSorted((one, other) => RANK[one.priority] - RANK[other.priority]);
}

/** A circle of dependencies, in words; a long one is shortened in its middle. `null`: there is none. Pure. */
export function circleIn(tasks: readonly Task[]): { readonly first: string; readonly text: string } | null {
  const [circle] = circlesOf(tasks.map(({ id, deps }) => ({ id, dependsOn: deps })));
  const [first] = circle ?? [];
  if (circle === undefined || first === undefined) return null;
  const ids = [...circle, first];
  const hidden = ids.length - 2 * SHOWN;
  const shown = hidden <= 1 ? ids : [...ids.slice(0, SHOWN), `… ${hidden} more …`, ...ids.slice(-SHOWN)];
  return { first, text: shown.join(" → ") };
}
