import type { JsonObject } from "./types.ts";

/** One key of a record with its value as it is written. */
interface Field {
  readonly key: string;
  readonly raw: string;
}

/** The order in which keys are written. */
const KEYS: readonly string[] = [
  "t",
  "id",
  "spec",
  "name",
  "desc",
  "notes",
  "accept",
  "deps",
  "s",
  "done_at",
  "reason",
  "priority",
  "reject",
  "kill",
  "kill_log",
  "parent",
  "created_from",
  "supersedes",
];

/** JSON in the spacing of the plan's first writer: `", "`, `": "`, nothing outside ASCII. */
export function formatJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatJson).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).filter(([, one]) => one !== undefined);
    return `{${fields.map(([key, one]) => `${formatJson(key)}: ${formatJson(one)}`).join(", ")}}`;
  }
  return (JSON.stringify(value) ?? "null").replaceAll(/[^ -~]/g, (character) => `\\u${hex(character)}`);
}

/** A new record, its keys in their order, those without a value left out. */
export function formatRecord(record: JsonObject): string {
  const keys = Object.keys(record).filter((key) => record[key] !== undefined).toSorted((one, other) =>
    rank(one) - rank(other)
  );
  return formatJson(Object.fromEntries(keys.map((key) => [key, record[key]])));
}

/** A record's line with some keys changed (`undefined` takes one away); the values of all others stay as they are written. */
export function editRecord(raw: string, changes: JsonObject): string {
  let fields: readonly Field[] = readFields(raw);
  for (const [key, value] of Object.entries(changes)) {
    const at = fields.findIndex((field) => field.key === key);
    const without = fields.filter((field) => field.key !== key);
    if (value === undefined) fields = without;
    else fields = without.toSpliced(at >= 0 ? at : placeOf(key, without), 0, { key, raw: formatJson(value) });
  }
  return `{${fields.map((field) => `${formatJson(field.key)}: ${field.raw}`).join(", ")}}`;
}

function placeOf(key: string, fields: readonly Field[]): number {
  if (!KEYS.includes(key)) return fields.length;
  return fields.findLastIndex((field) => KEYS.includes(field.key) && rank(field.key) < rank(key)) + 1;
}

function rank(key: string): number {
  const place = KEYS.indexOf(key);
  return place < 0 ? KEYS.length : place;
}

/** The keys of a JSON object that is known to be valid, each value in its own spelling (`1.0` stays `1.0`). */
function readFields(raw: string): readonly Field[] {
  const fields: Field[] = [];
  let at = raw.indexOf("{") + 1;
  for (;;) {
    const start = raw.indexOf('"', at);
    const close = raw.indexOf("}", at);
    if (start < 0 || close < start) return fields;
    const end = endOfText(raw, start);
    const key = JSON.parse(raw.slice(start, end)) as string;
    const from = raw.indexOf(":", end) + 1;
    at = endOfValue(raw, from);
    fields.push({ key, raw: raw.slice(from, at).trim() });
    if (raw[at] === "}") return fields;
    at += 1;
  }
}

function endOfText(raw: string, start: number): number {
  let at = start + 1;
  while (raw[at] !== '"') at += raw[at] === "\\" ? 2 : 1;
  return at + 1;
}

function endOfValue(raw: string, from: number): number {
  let depth = 0;
  for (let at = from;; at++) {
    const character = raw[at];
    if (character === undefined) return at;
    if (character === '"') at = endOfText(raw, at) - 1;
    else if (character === "{" || character === "[") depth += 1;
    else if (depth === 0 && (character === "," || character === "}")) return at;
    else if (character === "}" || character === "]") depth -= 1;
  }
}

function hex(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(4, "0");
}
