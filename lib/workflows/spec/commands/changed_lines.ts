import { specOf } from "../plan_file.ts";
import type { JsonObject, Plan, PlanLine } from "../types.ts";

/** One task or issue that a command has changed. */
export interface ChangedRecord {
  /** `added`, `done`, `accepted` … */
  readonly what: string;
  readonly record: JsonObject;
}

/** More of one kind than this are counted, not listed. */
const MOST_LISTED = 20;

/** What differs between two plans, in the order of the file. Pure. */
export function changedRecords(before: Plan, after: Plan): readonly ChangedRecord[] {
  const [beforeLines, afterLines] = withoutCommon(before.lines, after.lines);
  const old = recordsOf(beforeLines);
  const now = recordsOf(afterLines);
  const removed = [...old].filter(([id]) => !now.has(id)).map(([, record]): ChangedRecord => ({
    what: record["t"] === "issue" ? "done" : record["s"] === "d" ? "accepted" : "removed",
    record,
  }));
  const others = [...now].flatMap(([id, record]): readonly ChangedRecord[] => {
    const was = old.get(id);
    if (was === undefined) return [{ what: "added", record }];
    if (was === record || JSON.stringify(was) === JSON.stringify(record)) return [];
    if (was["s"] === record["s"]) return [{ what: "changed", record }];
    return [{ what: record["s"] === "d" ? "done" : "rejected", record }];
  });
  return [...removed, ...others];
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
  const [id = "", name = ""] = [record["id"], record["name"] ?? record["desc"]].map((value) =>
    typeof value === "string" ? value : ""
  );
  return `${what} ${id}  ${name}`.replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, " ").trimEnd();
}

/** What is left of both when the lines are taken away that both begin and end with. */
function withoutCommon(
  before: readonly PlanLine[],
  after: readonly PlanLine[],
): readonly [readonly PlanLine[], readonly PlanLine[]] {
  const most = Math.min(before.length, after.length);
  let first = 0;
  while (first < most && before[first]?.raw === after[first]?.raw) first += 1;
  let last = 0;
  while (last < most - first && before.at(-1 - last)?.raw === after.at(-1 - last)?.raw) last += 1;
  return [before.slice(first, before.length - last), after.slice(first, after.length - last)];
}

function recordsOf(lines: readonly PlanLine[]): ReadonlyMap<string, JsonObject> {
  const entries = lines.map(({ entry }) => entry);
  return new Map([
    ...entries.flatMap((entry) => entry.type === "task" ? [[entry.task.id, entry.task.record] as const] : []),
    ...entries.flatMap((entry) => entry.type === "issue" ? [[entry.issue.id, entry.issue.record] as const] : []),
  ]);
}
