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
  const own = roadmap.plans.filter(({ phase, number }) =>
    sameNumber(phase, update.phase) && sameNumber(number, update.plan)
  );
  const listed = update.done ? own[0] : own.find(({ mark }) => isTicked(mark));
  const box = listed === undefined || isTicked(listed.mark) === update.done ? null : listed.line;
  if (!update.done && box === null) return text;
  if (box !== null) changes.set(box, (lines[box - 1] ?? "").replace(/\[.\]/, update.done ? "[x]" : "[ ]"));
  for (const { phase, line } of roadmap.counts) {
    if (!sameNumber(phase, update.phase)) continue;
    changes.set(line, (lines[line - 1] ?? "").replace(/\d+(\s*\/\s*)\d+/, `${update.complete}$1${update.total}`));
  }
  const row = roadmap.rows.find(({ phase, plans }) => plans !== null && sameNumber(phase, update.phase));
  if (row !== undefined) changes.set(row.line, rowWith(lines, row.line - 1, roadmap, update));
  return changeLines(text, changes);
}

function rowWith(
  lines: readonly string[],
  at: number,
  { rows }: Roadmap,
  { complete, total, now }: RoadmapUpdate,
): string {
  const line = lines[at] ?? "";
  const above = lines.slice(0, at).findLastIndex((one) => !one.trim().startsWith("|"));
  const columns = cellsOf(lines[above + 1] ?? "").map((cell) => cell.toLowerCase());
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
    const [, before = "", after = ""] = /^(\s*)[^]*?(\s*)$/.exec(cell) ?? [];
    if (old === "") cells[index + first] = ` ${next}${cell.length > 1 ? " " : ""}`;
    else cells[index + first] = (before + next).padEnd(after.length > 1 ? cell.length - 1 : 0) + after.slice(0, 1);
  };
  /** The word that this file itself has for a status. */
  const wordFor = (regexp: RegExp): string | undefined =>
    rows.map((row) => row.status ?? "").find((word) => regexp.test(word) && !/\(/.test(word));
  const plans = cells.slice(first).findIndex((cell) => /^\s*\d+\s*\/\s*\d+/.test(cell));
  put(plans, (old) => old.replace(/^\d+(\s*\/\s*)\d+/, `${complete}$1${total}`));
  const was = cells[status + first]?.trim() ?? "";
  put(status, (old) => {
    if (ended) return wordFor(/complete/i) ?? "Complete";
    return complete === 0 || /progress/i.test(old) ? old : wordFor(/progress/i) ?? "In progress";
  });
  // Once complete the row keeps its date; a pass that is reverted removes it again.
  if (ended && !/complete/i.test(was)) put(date, () => localDate(now));
  if (!ended && /complete/i.test(was)) put(date, () => "-");
  return cells.join("|");
}
