import { countOf, isPlain, textOf, textsOf } from "../plain.ts";
import type { Entry, JsonObject, PlanLine, Task } from "./types.ts";

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
