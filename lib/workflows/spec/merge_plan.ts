import { editRecord } from "./json.ts";
import { formatPlan, MARKER_REGEXP, parsePlan, readLine, recordIn, withLine } from "./plan_file.ts";
import type { Entry, JsonObject, Plan, PlanLine } from "./types.ts";

/** A plan without git's conflict markers. */
export interface MergedPlan {
  readonly text: string;
  /** The changes that both sides made, and which of them was kept. */
  readonly warnings: readonly string[];
}

/** A side's records by what they are: a task or an issue by its id, a tombstone by what it says. */
type Side = ReadonlyMap<string, PlanLine>;

/**
 * Resolves the conflict that git left in a plan, record by record: what one side changed or removed is changed or removed,
 * and where both changed the same field this branch's side holds, and is named. Pure.
 *
 * @param base the file as it was before both sides; `null` where it is not known: then nothing was removed, and of two
 * states of a task the pending one holds
 */
export function mergeConflict(text: string, base: string | null, file: string): MergedPlan {
  const sides = sidesOf(text);
  const known = base ?? sides.base;
  const [ours, theirs] = [parsePlan(sides.ours, file), parsePlan(sides.theirs, file)];
  const [mine, other] = [sideOf(ours), sideOf(theirs)];
  const before = known === null ? null : sideOf(parsePlan(known, file));
  const warnings: string[] = [];
  const lines = [...mine].flatMap(([key, own]) => {
    const raw = before === null
      ? eitherOf(own, other.get(key), warnings)
      : mergedOf(own, other.get(key), before.get(key), warnings);
    return raw === null ? [] : [readLine(raw, 0)];
  });
  let plan: Plan = { ...ours, lines };
  for (const [key, { raw, entry }] of other) {
    if (mine.has(key) || before?.get(key)?.raw === raw) continue; // removed on this side, and unchanged on the other
    if (before?.has(key) === true) warnings.push(`${nameOf(entry)}: removed on one side, changed on the other: kept`);
    plan = withLine(plan, raw);
  }
  return { text: formatPlan(plan), warnings };
}

/** The whole file as each side has it, and as it was before where git wrote that between the markers. */
function sidesOf(text: string): { readonly ours: string; readonly theirs: string; readonly base: string | null } {
  const kept: Record<"base" | "ours" | "theirs", string[]> = { ours: [], base: [], theirs: [] };
  let side: keyof typeof kept | null = null;
  let hasBase = true;
  let sawBase = true;
  for (const line of text.split("\n")) {
    const marker = MARKER_REGEXP.exec(line)?.[1]?.[0];
    if (marker === "<") [side, sawBase] = ["ours", false];
    else if (marker === "|" && side !== null) [side, sawBase] = ["base", true];
    else if (marker === "=" && side !== null) side = "theirs";
    else if (marker === ">") [side, hasBase] = [null, hasBase && sawBase];
    else if (marker !== undefined) continue; // a marker without its beginning
    else if (side !== null) kept[side].push(line);
    else for (const lines of Object.values(kept)) lines.push(line);
  }
  const joined = (lines: readonly string[]): string => lines.join("\n");
  return { ours: joined(kept.ours), theirs: joined(kept.theirs), base: hasBase ? joined(kept.base) : null };
}

function sideOf({ lines }: Plan): Side {
  const side = new Map<string, PlanLine>();
  const seen = new Map<string, number>();
  for (const line of lines) {
    const key = keyOf(line);
    const times = (seen.get(key) ?? 0) + 1;
    seen.set(key, times);
    side.set(times === 1 ? key : `${key} ${times}`, line);
  }
  return side;
}

function keyOf({ raw, entry }: PlanLine): string {
  if (entry.type === "spec") return "spec";
  const record = recordIn(entry);
  return record === null ? `line ${raw.trimEnd()}` : `${entry.type} ${record.id}`;
}

function nameOf(entry: Entry): string {
  return recordIn(entry)?.id ?? entry.type;
}

/** @returns the line, or `null` where it goes */
function mergedOf(own: PlanLine, other: PlanLine | undefined, before: PlanLine | undefined, warnings: string[]) {
  if (other === undefined) {
    if (before?.raw === own.raw) return null;
    if (before !== undefined) warnings.push(`${nameOf(own.entry)}: changed on one side, removed on the other: kept`);
    return own.raw;
  }
  if (other.raw === own.raw || other.raw === before?.raw) return own.raw;
  return before?.raw === own.raw ? other.raw : bothChanged(own, other, recordOf(before?.entry), warnings);
}

/** Field by field. A task that is done on one side stays whole, whatever became of its turn on the other. */
function bothChanged(own: PlanLine, other: PlanLine, before: JsonObject, warnings: string[]): string {
  const [mine, theirs] = [recordOf(own.entry), recordOf(other.entry)];
  const same = (one: unknown, another: unknown): boolean => JSON.stringify(one) === JSON.stringify(another);
  const changes: Record<string, unknown> = {};
  const disputed: string[] = [];
  for (const key of new Set([...Object.keys(mine), ...Object.keys(theirs)])) {
    if (same(mine[key], theirs[key]) || same(theirs[key], before[key])) continue;
    if (same(mine[key], before[key])) changes[key] = theirs[key];
    else disputed.push(key);
  }
  if ((changes["s"] ?? mine["s"]) === "d") Object.assign(changes, { kill: undefined, kill_log: undefined });
  if (disputed.length > 0) {
    warnings.push(`${nameOf(own.entry)}: both sides changed ${disputed.join(", ")}: this branch's is kept`);
  }
  return editRecord(own.raw, changes) + (own.raw.endsWith("\r") ? "\r" : "");
}

/** The state before is not known: Ralph takes nothing as done that may be open. */
function eitherOf(own: PlanLine, other: PlanLine | undefined, warnings: string[]): string {
  if (other === undefined || other.raw === own.raw) return own.raw;
  const isOpen = recordOf(own.entry)["s"] !== "p" && recordOf(other.entry)["s"] === "p";
  const kept = isOpen ? "it stays pending" : "this branch's is kept";
  warnings.push(`${nameOf(own.entry)}: the sides differ, and what it was before is not known: ${kept}`);
  return isOpen ? other.raw : own.raw;
}

function recordOf(entry: Entry | undefined): JsonObject {
  if (entry?.type === "spec") return { t: "spec", spec: entry.spec, ...(entry.planned ? {} : { planned: false }) };
  return entry === undefined ? {} : recordIn(entry)?.record ?? {};
}
