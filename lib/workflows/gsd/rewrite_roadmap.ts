import { localDate } from "../../host/local_date.ts";
import { changeLines } from "./change_lines.ts";
import { sameNumber } from "./numbers.ts";
import { cellsOf, isTicked, parseRoadmap, type Roadmap } from "./roadmap_file.ts";

/** ROADMAP.md is to say this of a plan. */
export interface RoadmapUpdate {
  readonly phase: string;
  readonly plan: string;
  readonly done: boolean;
  /** The number of the phase's plans that are complete. */
  readonly complete: number;
  readonly total: number;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * ROADMAP.md with one plan ticked, or not: its check box, the counts of its phase, nothing else. The phase's own box is
 * left to GSD, which ticks it after it has verified the phase. Pure.
 */
export function rewriteRoadmap(text: string, update: RoadmapUpdate): string {
  const roadmap = parseRoadmap(text);
  const changes = new Map<number, string>();
  const lines = text.split(/\r?\n/);
  const box = boxOf(roadmap, update);
  if (!update.done && box === null) return text;
  if (box !== null) changes.set(box, (lines[box - 1] ?? "").replace(/\[.\]/, update.done ? "[x]" : "[ ]"));
  for (const { phase, line } of roadmap.counts) {
    if (!sameNumber(phase, update.phase)) continue;
    changes.set(line, (lines[line - 1] ?? "").replace(/\d+(\s*\/\s*)\d+/, `${update.complete}$1${update.total}`));
  }
  const row = roadmap.rows.find(({ phase, plans }) => plans !== null && sameNumber(phase, update.phase));
  if (row !== undefined) {
    const line = lines[row.line - 1] ?? "";
    changes.set(row.line, rowWith(line, columnsAbove(lines, row.line), roadmap, update));
  }
  return changeLines(text, changes);
}

/** The line of the check box that has to change. */
function boxOf({ plans }: Roadmap, { phase, plan, done }: RoadmapUpdate): number | null {
  const own = plans.filter((one) => sameNumber(one.phase, phase) && sameNumber(one.number, plan));
  const listed = done ? own[0] : own.find(({ mark }) => isTicked(mark));
  return listed === undefined || isTicked(listed.mark) === done ? null : listed.line;
}

function columnsAbove(lines: readonly string[], row: number): readonly string[] {
  let at = row - 1;
  while (at > 0 && (lines[at - 1] ?? "").trim().startsWith("|")) at -= 1;
  return cellsOf(lines[at] ?? "").map((cell) => cell.toLowerCase());
}

function rowWith(
  line: string,
  columns: readonly string[],
  roadmap: Roadmap,
  { complete, total, now }: RoadmapUpdate,
): string {
  const status = columns.findIndex((column) => /status/.test(column));
  const date = columns.findIndex((column) => /complet|date/.test(column) && !/plan/.test(column));
  const ended = complete >= total;
  const cells = line.split("|");
  const first = line.trim().startsWith("|") ? 1 : 0;
  const put = (index: number, to: (old: string) => string): void => {
    const cell = index === -1 ? undefined : cells[index + first];
    if (cell === undefined) return;
    const old = cell.trim();
    const next = to(old);
    if (next === old) return;
    const [, before = " ", after = " "] = old === ""
      ? ["", " ", cell.length > 1 ? " " : ""]
      : /^(\s*)[^]*?(\s*)$/.exec(cell) ?? [];
    const padding = Math.max(
      after === "" ? 0 : 1,
      before.length + old.length + after.length - before.length - next.length,
    );
    cells[index + first] = before + next + (old === "" ? after : after.length > 1 ? " ".repeat(padding) : after);
  };
  const plans = cells.slice(first).findIndex((cell) => /^\s*\d+\s*\/\s*\d+/.test(cell));
  put(plans, (old) => old.replace(/^\d+(\s*\/\s*)\d+/, `${complete}$1${total}`));
  const was = cells[status + first]?.trim() ?? "";
  put(status, (old) => {
    if (ended) return wordFor(roadmap, /complete/i) ?? "Complete";
    return complete === 0 || /progress/i.test(old) ? old : wordFor(roadmap, /progress/i) ?? "In progress";
  });
  // Once complete the row keeps its date; a pass that is reverted removes it again.
  if (ended && !/complete/i.test(was)) put(date, () => localDate(now));
  if (!ended && /complete/i.test(was)) put(date, () => "-");
  return cells.join("|");
}

/** The word that this file itself has for a status. */
function wordFor({ rows }: Roadmap, regexp: RegExp): string | null {
  return rows.map(({ status }) => status ?? "").find((status) => regexp.test(status) && !/\(/.test(status)) ?? null;
}
