import type { NewTask } from "./mutations/add_tasks.ts";
import { refused } from "./refused.ts";
import type { JsonObject } from "./types.ts";

const TEXTS = ["id", "name", "spec", "notes", "accept", "parent", "created_from", "supersedes"] as const;
const KNOWN: readonly string[] = [...TEXTS, "deps", "priority"];
const PRIORITIES: readonly string[] = ["high", "medium", "low"];
const ID_REGEXP = /^t-[A-Za-z0-9][\w.-]*$/;

/** Reads what `task add` is given as one argument or one line of input: a JSON object, or a name. @throws {RalphError} usage */
export function readTask(text: string, place: string): NewTask {
  if (!text.trimStart().startsWith("{")) return { name: text.trim() };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw wrong(place, `is no valid JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  return checkTask(value as JsonObject, place);
}

/** Checks the record of a new task. @throws {RalphError} usage */
export function checkTask(given: JsonObject, place: string): NewTask {
  // The record's own keys in the file are no news.
  const { t, s, desc, ...rest } = given;
  if (t !== undefined && t !== "task") throw wrong(place, `t must be "task" (got: ${JSON.stringify(t)})`);
  if (s !== undefined && s !== "p") {
    throw wrong(place, `s must be "p": a new task is pending (got: ${JSON.stringify(s)})`);
  }
  const task: JsonObject = { name: desc, ...rest };
  const unknown = Object.keys(task).filter((key) => !KNOWN.includes(key));
  if (unknown.length > 0) throw wrong(place, `unknown key ${unknown.join(", ")}`);
  for (const key of TEXTS) {
    const value = task[key];
    if (
      key === "name" ? typeof value !== "string" : value !== undefined && value !== null && typeof value !== "string"
    ) {
      throw wrong(place, `${key} must be a string (got: ${value === undefined ? "nothing" : JSON.stringify(value)})`);
    }
  }
  const { id, deps, priority } = task;
  if (typeof id === "string" && !ID_REGEXP.test(id)) throw wrong(place, `id must begin with "t-" (got: ${id})`);
  if (deps !== undefined && deps !== null && !(Array.isArray(deps) && deps.every((one) => typeof one === "string"))) {
    throw wrong(place, `deps must be a list of task ids (got: ${JSON.stringify(deps)})`);
  }
  if (priority !== undefined && priority !== null && !PRIORITIES.some((one) => one === priority)) {
    throw wrong(place, `priority must be high, medium or low (got: ${JSON.stringify(priority)})`);
  }
  return Object.fromEntries(
    Object.entries(task).filter(([, value]) => value !== null && value !== undefined),
  ) as unknown as NewTask;
}

function wrong(place: string, problem: string): Error {
  return refused(`${place}: ${problem}`, `known keys: ${KNOWN.join(", ")}; \`ralph schema plan\` describes them`);
}
