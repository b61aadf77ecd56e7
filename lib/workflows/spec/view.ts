import { issuesIn, offered, type OfferOptions, type Stage, stageOf, tasksIn } from "./item.ts";
import { doneOf, issuesOf, pendingOf, problemsOf, recordIn, rejectsOf, specOf } from "./plan_file.ts";
import type { JsonObject, Plan, PlanProblem, Task } from "./types.ts";
import { oneLine, type Style } from "../../ui/text.ts";

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
type NextAction =
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

/** The plan for a reader: `ralph query --text`. */
export function planLines(view: PlanView, style: Style, givenUp: ReadonlyMap<string, string>): readonly string[] {
  return [
    `spec: ${view.spec ?? "none"}`,
    `stage: ${style.bold(view.stage)}`,
    ...taskLines(view.tasks, style, givenUp),
    ...issueLines(view.issues, style),
    `next: ${nextLine(view.next)}`,
  ];
}

/** Pending and done tasks, a line each. */
export function taskLines(
  { pending, done }: PlanView["tasks"],
  style: Style,
  givenUp: ReadonlyMap<string, string> = new Map(),
): readonly string[] {
  const { good, symbols, warn } = style;
  const pendingLine = (task: JsonObject): string => {
    const why = givenUp.get(textIn(task, "id"));
    return why === undefined
      ? `${symbols.open} ${taskLine(task, style)}`
      : `${warn(symbols.warning)} ${taskLine(task, style)}${warn(` parked: ${oneLine(why.split("\n")[0] ?? "")}`)}`;
  };
  return [
    ...section(`pending (${pending.length})`, pending.map(pendingLine)),
    ...section(`done (${done.length})`, done.map((task) => `${good(symbols.passed)} ${taskLine(task, style)}`)),
  ];
}

/** Issues, a line each. */
export function issueLines(issues: readonly JsonObject[], { warn, symbols }: Style): readonly string[] {
  return section(
    `issues (${issues.length})`,
    issues.map((issue) => `${warn(symbols.warning)} ${textIn(issue, "id")}  ${textIn(issue, "desc")}`),
  );
}

/** The next action in one line. */
export function nextLine(next: NextAction): string {
  switch (next.action) {
    case "DECOMPOSE":
      return `DECOMPOSE ${textIn(next.task, "id")}  ${textIn(next.task, "name")}`;
    case "BUILD":
      return next.task === null
        ? `BUILD, but every task waits: ${(next.blocked ?? []).join("; ")}`
        : `BUILD ${textIn(next.task, "id")}  ${textIn(next.task, "name")}`;
    case "VERIFY":
      return next.item;
    case "INVESTIGATE":
      return `INVESTIGATE ${next.count} issue${next.count === 1 ? "" : "s"}`;
    case "PLAN":
      return "PLAN: `ralph plan SPEC.md`";
    case "COMPLETE":
      return "COMPLETE: nothing is left to do";
  }
}

function taskLine(task: JsonObject, { dim, warn }: Style): string {
  const deps = Array.isArray(task["deps"]) && task["deps"].length > 0 ? dim(` after ${task["deps"].join(", ")}`) : "";
  const priority = task["priority"] === "high" || task["priority"] === "low" ? dim(` ${task["priority"]}`) : "";
  const reject = typeof task["reject"] === "string" ? warn(` rejected: ${task["reject"].split("\n")[0]}`) : "";
  const kill = typeof task["kill"] === "string" ? warn(` killed: ${task["kill"]}`) : "";
  return `${textIn(task, "id")}  ${textIn(task, "name")}${priority}${deps}${reject}${kill}`;
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`)];
}

/** A text of a record on one line: anybody may have written the file. */
function textIn(record: JsonObject, key: string): string {
  const value = record[key];
  return typeof value === "string" ? oneLine(value) : "";
}

/** One task or issue that a command has changed. */
interface ChangedRecord {
  /** `added`, `done`, `accepted` … */
  readonly what: string;
  readonly record: JsonObject;
}

/** More of one kind than this are counted, not listed. */
const MOST_LISTED = 20;

/** The records that differ between two plans, in the order of the file. Pure. */
export function changedRecords(before: Plan, after: Plan): readonly ChangedRecord[] {
  const old = recordsOf(before);
  const now = recordsOf(after);
  const removed = [...old].filter(([id]) => !now.has(id)).map(([, record]) => ({ what: goneBy(record), record }));
  const others = [...now].flatMap(([id, record]): readonly ChangedRecord[] => {
    const was = old.get(id);
    if (was === undefined) return [{ what: "added", record }];
    if (was === record || JSON.stringify(was) === JSON.stringify(record)) return [];
    if (was["s"] === record["s"]) return [{ what: "changed", record }];
    return [{ what: record["s"] === "d" ? "done" : "rejected", record }];
  });
  return [...removed, ...others];
}

/** An issue leaves the file when it is done, a task when it is accepted. */
function goneBy({ t, s }: JsonObject): string {
  if (t === "issue") return "done";
  return s === "d" ? "accepted" : "removed";
}

/** A line each: `done t-1a2b  write the parser`; many of a kind are one line. Pure. */
export function changedLines(before: Plan, after: Plan): readonly string[] {
  const changed = changedRecords(before, after);
  const lines = [...new Set(changed.map(({ what }) => what))].flatMap((kind) => {
    const those = changed.filter(({ what }) => what === kind);
    if (those.length > MOST_LISTED) return [`${kind} ${those.length}`];
    return those.map(({ record }) =>
      `${kind} ${textIn(record, "id")}  ${textIn(record, "name") || textIn(record, "desc")}`.trimEnd()
    );
  });
  const spec = specOf(after);
  return spec === specOf(before) ? lines : [`spec: ${spec ?? "none"}`, ...lines];
}

function recordsOf({ lines }: Plan): ReadonlyMap<string, JsonObject> {
  return new Map(lines.flatMap(({ entry }) => {
    const found = recordIn(entry);
    return found === null ? [] : [[found.id, found.record] as const];
  }));
}
