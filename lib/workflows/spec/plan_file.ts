import { RalphError } from "../../errors/ralph_error.ts";
import { describeCycle, findCycle } from "./graph.ts";
import { editRecord, formatRecord } from "./json.ts";
import { readLine } from "./read_line.ts";
import type { Entry, Issue, JsonObject, Plan, PlanLine, PlanProblem, Reject, Task } from "./types.ts";

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
  const conflict = conflictLine(parts);
  if (conflict !== null) {
    throw new RalphError("state-invalid", {
      details: { path: `${file}:${conflict}`, problem: "git left a merge conflict here" },
      hint: "`ralph query --repair` merges both sides, task by task",
    });
  }
  return {
    file,
    exists: text !== null,
    lines: parts.map((raw, index) => {
      const same = known?.lines[index];
      if (same?.raw === raw && same.number === index + 1) return same;
      return readLine(known === undefined ? raw : ownText(raw), index + 1);
    }),
    newline: content.includes("\r\n") ? "\r\n" : "\n",
    closed,
  };
}

/** A part of a text keeps all of it in memory: lines are taken over from version to version, and each kept its own. */
function ownText(part: string): string {
  return Buffer.from(part, "utf8").toString("utf8");
}

/** The plan as the file's text: what was not changed comes out as it came in. */
export function formatPlan({ lines, closed }: Plan): string {
  return lines.map(({ raw }) => raw).join("\n") + (closed && lines.length > 0 ? "\n" : "");
}

/** What is looked up in a plan; each is found when it is first asked for. */
export interface PlanIndex {
  /** In the order of the file, those with an unknown status included. */
  readonly tasks: readonly Task[];
  readonly pending: readonly Task[];
  readonly done: readonly Task[];
  readonly issues: readonly Issue[];
  readonly rejects: readonly Reject[];
  /** Of several records of an id the first. */
  readonly byId: ReadonlyMap<string, Task>;
  /** Ids of all tasks and issues. */
  readonly ids: ReadonlySet<string>;
  /** How often each task was rejected; tasks that never were are absent. */
  readonly rejections: ReadonlyMap<string, number>;
}

const indexes = new WeakMap<Plan, PlanIndex>();

/** The index of a plan, made once: a plan never changes. */
export function indexOf(plan: Plan): PlanIndex {
  const known = indexes.get(plan);
  if (known !== undefined) return known;
  const index = indexed(plan);
  indexes.set(plan, index);
  return index;
}

function indexed({ lines }: Plan): PlanIndex {
  const records = once(() => {
    const [tasks, issues, rejects]: [Task[], Issue[], Reject[]] = [[], [], []];
    for (const { entry } of lines) {
      if (entry.type === "task") tasks.push(entry.task);
      else if (entry.type === "issue") issues.push(entry.issue);
      else if (entry.type === "reject") rejects.push(entry.reject);
    }
    return { tasks, issues, rejects };
  });
  const pending = once(() => records().tasks.filter(({ s }) => s === "p"));
  const done = once(() => records().tasks.filter(({ s }) => s === "d"));
  const byId = once(() => new Map(records().tasks.toReversed().map((task) => [task.id, task])));
  const ids = once(() => {
    const found = new Set<string>();
    for (const { id } of records().tasks) found.add(id);
    for (const { id } of records().issues) found.add(id);
    return found;
  });
  const rejections = once(() => {
    const counts = new Map<string, number>();
    for (const { id } of records().rejects) counts.set(id, (counts.get(id) ?? 0) + 1);
    return counts;
  });
  return {
    get tasks() {
      return records().tasks;
    },
    get pending() {
      return pending();
    },
    get done() {
      return done();
    },
    get issues() {
      return records().issues;
    },
    get rejects() {
      return records().rejects;
    },
    get byId() {
      return byId();
    },
    get ids() {
      return ids();
    },
    get rejections() {
      return rejections();
    },
  };
}

function once<Value extends object>(find: () => Value): () => Value {
  let found: Value | null = null;
  return () => found ??= find();
}

/** The current spec, or `null`. Of several lines the last holds. */
export function specOf(plan: Plan): string | null {
  const last = plan.lines.findLast(({ entry }) => entry.type === "spec")?.entry;
  return last?.type === "spec" && last.spec !== "" ? last.spec : null;
}

/** All tasks in the order of the file, those with an unknown status included. */
export function tasksOf(plan: Plan): readonly Task[] {
  return indexOf(plan).tasks;
}

/** Pending tasks in the order of the file. */
export function pendingOf(plan: Plan): readonly Task[] {
  return indexOf(plan).pending;
}

/** Done tasks in the order of the file. */
export function doneOf(plan: Plan): readonly Task[] {
  return indexOf(plan).done;
}

export function issuesOf(plan: Plan): readonly Issue[] {
  return indexOf(plan).issues;
}

export function rejectsOf(plan: Plan): readonly Reject[] {
  return indexOf(plan).rejects;
}

/** Lines that cannot be read, ids that occur twice, and tasks that wait for each other. */
export function problemsOf(plan: Plan): readonly PlanProblem[] {
  const cycle = findCycle(pendingOf(plan));
  const [first = ""] = cycle ?? [];
  const circle = cycle === null ? [] : [{
    line: indexOf(plan).byId.get(first)?.line ?? 0,
    problem: `the tasks depend on each other in a circle: ${describeCycle(cycle)}`,
  }];
  return [...lineProblems(plan), ...circle].toSorted((one, other) => one.line - other.line);
}

function lineProblems(plan: Plan): readonly PlanProblem[] {
  if (isClean(plan)) return [];
  const seen = new Map<string, number>();
  return plan.lines.flatMap(({ entry, number }) => {
    if (entry.type === "invalid") return [{ line: number, problem: entry.problem }];
    const id = entry.type === "task"
      ? entry.task.id
      : entry.type === "issue"
      ? entry.issue.id
      : entry.type === "spec"
      ? "spec"
      : null;
    if (id === null) return [];
    const first = seen.get(id);
    if (first === undefined) seen.set(id, number);
    return first === undefined ? [] : [{ line: number, problem: `${id} is on line ${first} already; both are kept` }];
  });
}

/** Every line can be read, and no id occurs twice. */
function isClean(plan: Plan): boolean {
  const { tasks, issues, ids } = indexOf(plan);
  const specs = plan.lines.reduce((count, { entry }) => entry.type === "spec" ? count + 1 : count, 0);
  return ids.size === tasks.length + issues.length && specs <= 1 && !ids.has("spec") &&
    !plan.lines.some(({ entry }) => entry.type === "invalid");
}

/** The plan with one record more, below the last one of its kind. */
export function withRecord(plan: Plan, record: JsonObject): Plan {
  return withLine(plan, formatRecord(record) + (plan.newline === "\r\n" ? "\r" : ""));
}

/** The plan with a line more, as it is, below the last one of its kind. */
export function withLine(plan: Plan, raw: string): Plan {
  const line = readLine(raw, 0);
  const rank = ORDER.indexOf(line.entry.type);
  let at = 0;
  for (const [index, { entry }] of plan.lines.entries()) {
    const found = ORDER.indexOf(entry.type);
    if (found < 0 ? rank > 0 && at === index : found <= rank) at = index + 1;
  }
  return { ...plan, exists: true, lines: plan.lines.toSpliced(at, 0, line), closed: true };
}

/** The plan with some keys of a line's record changed; `undefined` takes a key away. */
export function withChanged(plan: Plan, isMeant: (entry: Entry) => boolean, changes: JsonObject): Plan {
  return mapLines(plan, (line) => {
    if (!isMeant(line.entry)) return [line];
    const end = line.raw.endsWith("\r") ? "\r" : "";
    return [readLine(editRecord(line.raw, changes) + end, line.number)];
  });
}

/** The plan without some of its lines. */
export function without(plan: Plan, isMeant: (entry: Entry) => boolean): Plan {
  return mapLines(plan, (line) => isMeant(line.entry) ? [] : [line]);
}

function mapLines(plan: Plan, change: (line: PlanLine) => readonly PlanLine[]): Plan {
  return { ...plan, lines: plan.lines.flatMap(change), closed: true };
}

/** Whether git left its conflict markers in the file. */
export function hasConflict(text: string): boolean {
  return conflictLine(text.split("\n")) !== null;
}

/** Number of the first line, from 1, that is a conflict marker of git's, or `null`. */
function conflictLine(lines: readonly string[]): number | null {
  const at = lines.findIndex((line) => MARKER_REGEXP.test(line));
  return at < 0 ? null : at + 1;
}
