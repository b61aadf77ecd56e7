import { RalphError } from "../../errors/ralph_error.ts";
import { circleIn } from "./graph.ts";
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
  const conflict = parts.findIndex((line) => MARKER_REGEXP.test(line));
  if (conflict >= 0) {
    throw new RalphError("state-invalid", {
      details: { path: `${file}:${conflict + 1}`, problem: "git left a merge conflict here" },
      hint: "`ralph query --repair` merges both sides, task by task",
    });
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

/** Lines that cannot be read, ids that occur twice, and tasks that wait for each other. */
export function problemsOf(plan: Plan): readonly PlanProblem[] {
  const seen = new Map<string, number>();
  const problems = plan.lines.flatMap(({ entry, number }) => {
    if (entry.type === "invalid") return [{ line: number, problem: entry.problem }];
    const id = entry.type === "spec" ? "spec" : recordIn(entry)?.id;
    if (id === undefined) return [];
    const first = seen.get(id);
    if (first === undefined) seen.set(id, number);
    return first === undefined ? [] : [{ line: number, problem: `${id} is on line ${first} already; both are kept` }];
  });
  return [...problems, circleOf(plan)].filter((one) => one !== null).toSorted((one, other) => one.line - other.line);
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

/** `true` if git left its conflict markers in the file. */
export function hasConflict(text: string): boolean {
  return text.split("\n").some((line) => MARKER_REGEXP.test(line));
}
