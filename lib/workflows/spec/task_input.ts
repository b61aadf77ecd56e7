import type { NewTask } from "./mutations.ts";
import { usage } from "../../cli/command.ts";
import type { JsonObject } from "./types.ts";

const isText = (value: unknown): boolean => typeof value === "string";
const TEXTS = ["name", "spec", "notes", "accept", "parent", "created_from", "supersedes"];

type Rule = readonly [isRight: (value: unknown) => boolean, expected: string];

/** The keys of a new task with what each must be; `t` and `s` are those that the file has, and no news. */
const KEYS: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ["t", [(value) => value === "task", 'be "task"']],
  ["s", [(value) => value === "p", 'be "p": a new task is pending']],
  ["id", [(value) => isText(value) && /^t-[A-Za-z0-9][\w.-]*$/.test(String(value)), 'begin with "t-"']],
  ...TEXTS.map((key): [string, Rule] => [key, [isText, "be a string"]]),
  ["deps", [(value) => Array.isArray(value) && value.every(isText), "be a list of task ids"]],
  ["priority", [(value) => value === "high" || value === "medium" || value === "low", "be high, medium or low"]],
]);

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
export function checkTask({ desc, ...given }: JsonObject, place: string): NewTask {
  const keys = Object.entries({ name: desc, ...given }).filter(([, value]) => value !== null && value !== undefined);
  const unknown = keys.map(([key]) => key).filter((key) => !KEYS.has(key));
  if (unknown.length > 0) throw wrong(place, `unknown key ${unknown.join(", ")}`);
  for (const [key, value] of keys) {
    const [isRight, expected] = KEYS.get(key) ?? [isText, ""];
    if (!isRight(value)) throw wrong(place, `${key} must ${expected} (got: ${JSON.stringify(value)})`);
  }
  const { t: _, s: __, name, ...rest } = Object.fromEntries(keys);
  if (!isText(name)) throw wrong(place, "name must be a string (got: nothing)");
  return { name: String(name), ...rest };
}

function wrong(place: string, problem: string): Error {
  const known = [...KEYS.keys()].slice(2).join(", ");
  return usage(`${place}: ${problem}`, `known keys: ${known}; \`ralph schema plan\` describes them`);
}
