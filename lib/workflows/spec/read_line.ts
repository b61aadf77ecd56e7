import { isPlain } from "../plain.ts";
import type { Entry, Issue, JsonObject, PlanLine, Priority, Reject, Task } from "./types.ts";

/** Reads one line. Never throws: what cannot be read says why. */
export function readLine(raw: string, number: number): PlanLine {
  return { number, raw, entry: entryOf(raw, number) };
}

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
  switch (record["t"]) {
    case "task":
      return taskOf(record, line);
    case "issue":
      return issueOf(record, line);
    case "reject":
      return rejectOf(record, line);
    case "spec":
      return typeof record["spec"] === "string"
        ? { type: "spec", spec: record["spec"], planned: record["planned"] !== false }
        : wrong("spec", "a string", record["spec"]);
    case undefined:
      return wrong("t", "a string", undefined);
    default:
      return { type: "other" };
  }
}

function taskOf(record: JsonObject, line: number): Entry {
  const { id, spec = "", s = "p", name = record["desc"], deps = [] } = record;
  if (!isId(id)) return wrong("id", "a string", id);
  if (typeof name !== "string") return wrong("name", "a string", name);
  if (typeof s !== "string") return wrong("s", '"p" or "d"', s);
  if (typeof spec !== "string") return wrong("spec", "a string", spec);
  if (deps !== null && !(Array.isArray(deps) && deps.every((one) => typeof one === "string"))) {
    return wrong("deps", "a list of task ids", deps);
  }
  const decompose = record["decompose"] === true ? "decompose" : textOf(record["decompose"]);
  const task: Task = {
    line,
    record,
    id,
    spec,
    name,
    s,
    notes: textOf(record["notes"]) ?? "",
    accept: textOf(record["accept"]) ?? "",
    deps: deps as readonly string[] | null ?? [],
    doneAt: textOf(record["done_at"]),
    priority: priorityOf(record["priority"]),
    reject: textOf(record["reject"]),
    kill: textOf(record["kill"]) ?? decompose,
    killLog: textOf(record["kill_log"]),
    parent: textOf(record["parent"]),
    createdFrom: textOf(record["created_from"]),
    supersedes: textOf(record["supersedes"]),
    depth: countOf(record["decompose_depth"]),
    rounds: countOf(record["issue_rounds"]),
  };
  return { type: "task", task };
}

function issueOf(record: JsonObject, line: number): Entry {
  const { id, spec = "", desc } = record;
  if (!isId(id)) return wrong("id", "a string", id);
  if (typeof desc !== "string") return wrong("desc", "a string", desc);
  if (typeof spec !== "string") return wrong("spec", "a string", spec);
  const issue: Issue = { line, record, id, spec, desc, rounds: countOf(record["issue_rounds"]) };
  return { type: "issue", issue };
}

function rejectOf(record: JsonObject, line: number): Entry {
  const { id } = record;
  if (!isId(id)) return wrong("id", "a string", id);
  const reject: Reject = {
    line,
    record,
    id,
    doneAt: textOf(record["done_at"]) ?? "",
    reason: textOf(record["reason"]) ?? "",
  };
  return { type: "reject", reject };
}

function priorityOf(value: unknown): Priority {
  return value === "high" || value === "low" ? value : "medium";
}

function countOf(value: unknown): number {
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : 0;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function isId(value: unknown): value is string {
  return typeof value === "string" && value !== "";
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
