import { textIn } from "./plan_lines.ts";
import { recordIn, specOf } from "../plan_file.ts";
import type { JsonObject, Plan } from "../types.ts";

/** One task or issue that a command has changed. */
export interface ChangedRecord {
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
    return those.length > MOST_LISTED ? [`${kind} ${those.length}`] : those.map(({ record }) => lineOf(kind, record));
  });
  const spec = specOf(after);
  return spec === specOf(before) ? lines : [`spec: ${spec ?? "none"}`, ...lines];
}

function lineOf(what: string, record: JsonObject): string {
  return `${what} ${textIn(record, "id")}  ${textIn(record, "name") || textIn(record, "desc")}`.trimEnd();
}

function recordsOf({ lines }: Plan): ReadonlyMap<string, JsonObject> {
  return new Map(lines.flatMap(({ entry }) => {
    const found = recordIn(entry);
    return found === null ? [] : [[found.id, found.record] as const];
  }));
}
