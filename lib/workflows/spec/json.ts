import type { JsonObject } from "./types.ts";

/** The order in which keys are written. */
const KEYS: readonly string[] =
  "t id spec name desc notes accept deps s done_at reason priority reject kill kill_log parent created_from supersedes"
    .split(" ");

/** A text, a bracket, a comma, a colon, or another value. */
const TOKEN_REGEXP = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/gs;

/** JSON in the spacing of the plan's first writer: `", "`, `": "`, nothing outside ASCII. */
export function formatJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatJson).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).filter(([, one]) => one !== undefined);
    return `{${fields.map(([key, one]) => `${formatJson(key)}: ${formatJson(one)}`).join(", ")}}`;
  }
  return (JSON.stringify(value) ?? "null").replaceAll(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A new record, its keys in their order, those without a value left out. */
export function formatRecord(record: JsonObject): string {
  return formatJson(Object.fromEntries(Object.entries(record).toSorted(([one], [other]) => rank(one) - rank(other))));
}

/** A record's line with some keys changed (`undefined` takes one away); the values of all others stay as they are written. */
export function editRecord(raw: string, changes: JsonObject): string {
  let fields = readFields(raw);
  for (const [key, value] of Object.entries(changes)) {
    const at = fields.findIndex((field) => field.key === key);
    const without = fields.filter((field) => field.key !== key);
    if (value === undefined) fields = without;
    else fields = without.toSpliced(at >= 0 ? at : placeOf(key, without), 0, { key, raw: formatJson(value) });
  }
  return `{${fields.map((field) => `${formatJson(field.key)}: ${field.raw}`).join(", ")}}`;
}

function placeOf(key: string, fields: readonly Pick<Field, "key">[]): number {
  if (!KEYS.includes(key)) return fields.length;
  return fields.findLastIndex((field) => KEYS.includes(field.key) && rank(field.key) < rank(key)) + 1;
}

function rank(key: string): number {
  const place = KEYS.indexOf(key);
  return place < 0 ? KEYS.length : place;
}

/** One key of a record with its value as it is written. */
interface Field {
  readonly key: string;
  readonly raw: string;
}

/** The keys of a JSON object that is known to be valid, each value in its own spelling (`1.0` stays `1.0`). */
function readFields(raw: string): readonly Field[] {
  const fields: Field[] = [];
  let [depth, from, key] = [0, 0, ""];
  for (const { 0: token, index } of raw.matchAll(TOKEN_REGEXP)) {
    if (depth === 1 && (token === "," || token === "}") && from > 0) {
      fields.push({ key, raw: raw.slice(from, index).trim() });
      from = 0;
    }
    if (depth === 1 && token === ":") from = index + 1;
    else if (depth === 1 && from === 0 && token.startsWith('"')) key = String(JSON.parse(token));
    else if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") depth -= 1;
  }
  return fields;
}
