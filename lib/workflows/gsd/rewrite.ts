import { localDate } from "../../host/local_date.ts";
import { canonical, sameNumber } from "./numbers.ts";
import { type ProgressChange, progressValue } from "./progress_value.ts";
import { findSection, parseState, type StateField } from "./state_file.ts";
import { cellsOf, isTicked, parseRoadmap, type Roadmap } from "./roadmap_file.ts";
import { saidOf } from "./phase_standing.ts";

/** STATE.md is to say this of the current position. */
export interface StateUpdate {
  /** Written only where STATE.md is at another phase. */
  readonly phase: string;
  readonly phaseName: string;
  /** The last phase that there is: phases may have been added. */
  readonly lastPhase?: string;
  /** The plan's place in its phase, from 1, and how many there are. */
  readonly plan: number;
  readonly plans: number;
  readonly status: string;
  /** The work that was done, without the date. */
  readonly activity: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** `Progress:` as it was, and what has changed since; `null`: it stays. */
  readonly progress: ProgressChange | null;
  /** The plan is older than the position: that stays, only the activity is written. @default false */
  readonly behind?: boolean;
}

/**
 * STATE.md with another position, in its own style: only lines under `## Current Position` change. A field that is
 * missing there is put behind the one before it. Without that section nothing is changed. Pure.
 */
export function rewriteState(text: string, update: StateUpdate): string {
  const section = findSection(text);
  if (section === null) return text;
  const changes = new Map<number, string>();
  const insertions = new Map<number, string[]>();
  const set = (label: StateField["label"], value: (old: string) => string): void => {
    const field = section.fields.find((one) => one.label === label);
    if (field !== undefined) return void changes.set(field.line, `${field.before}${value(field.value)}${field.after}`);
    const earlier = ORDER.slice(0, ORDER.indexOf(label)).toReversed();
    const behind = earlier.map((one) => section.fields.find((other) => other.label === one)).find((one) => one) ??
      section.fields[0];
    const line = behind?.line ?? section.heading;
    insertions.set(line, [...insertions.get(line) ?? [], labelled(label, behind?.before ?? "Plan: ") + value("")]);
  };
  if (update.behind !== true) {
    const { phase } = parseState(text);
    if (phase === null || !sameNumber(phase, update.phase)) set("phase", (old) => phaseValue(old, update));
    set("plan", (old) => planValue(old, update));
    set("status", () => update.status);
  }
  set("last activity", (old) => activityValue(old, update));
  const { progress } = update;
  if (progress !== null && update.behind !== true && section.fields.some(({ label }) => label === "progress")) {
    set("progress", () => progressValue(progress));
  }
  return changeLines(text, changes, insertions);
}

/** The agent's STATE.md with Ralph's own current position in it: the other sections are the agent's. Pure. */
export function withSectionOf(found: string, written: string): string {
  const theirs = findSection(found);
  const ours = findSection(written);
  if (theirs === null || ours === null) return written;
  const lines = linesOf(written).slice(ours.heading - 1, ours.end);
  const all = linesOf(found);
  const last = lines.length - 1;
  const lineEnd = found.includes("\r\n") ? "\r\n" : "\n";
  const end = theirs.end === all.length ? "" : lineEnd;
  // The last line of a file may have no end; in the middle of one it needs it, and the other way round.
  const fitted = lines.map((line, index) => index === last ? line.replace(/\r?\n$/, "") + end : line);
  return [...all.slice(0, theirs.heading - 1), ...fitted, ...all.slice(theirs.end)].join("");
}

function linesOf(text: string): readonly string[] {
  return text.split(/(?<=\n)/).concat(text.endsWith("\n") || text === "" ? [""] : []);
}

const ORDER: readonly StateField["label"][] = ["phase", "plan", "status", "last activity"];

/** All before a field's value, in the style of another field. */
function labelled(label: string, model: string): string {
  const mark = /^\s*(?:[-*]\s+)?(?=\*\*|\w)/.exec(model)?.[0] ?? "";
  const name = label.slice(0, 1).toUpperCase() + label.slice(1);
  if (model.includes("**:")) return `${mark}**${name}**: `;
  return model.includes(":**") ? `${mark}**${name}:** ` : `${mark}${name}: `;
}

function phaseValue(old: string, { phase, phaseName, lastPhase = phase }: StateUpdate): string {
  const match = /^(Phase\s+)?(\d+[A-Za-z]?(?:\.\d+)*)((?:\s*(?:of|\/)\s*[\w.?]+)?)(\s*\(|\s*[–—-]+\s*)?(.*?)(\)?)$/i
    .exec(old);
  const number = /^0\d/.test(match?.[2] ?? "") ? phase.padStart(2, "0") : phase.replace(/^0+(?=\d)/, "");
  if (match === null) return phaseName === "" ? number : `${number} (${phaseName})`;
  const [, word = "", , of = "", open = "", , close = ""] = match;
  const total = of.replace(
    /\d+$/,
    (count) => Number(count) < Number.parseInt(phase, 10) ? `${Number.parseInt(lastPhase, 10)}` : count,
  );
  if (open === "" || phaseName === "") return `${word}${number}${total}`;
  return `${word}${number}${total}${open}${phaseName}${open.includes("(") ? close || ")" : ""}`;
}

function planValue(old: string, { plan, plans }: StateUpdate): string {
  const match = /^(0?\d+)(\s*(?:of|\/)\s*)([\w?]+)(.*)$/i.exec(old);
  if (match === null) return `${plan} of ${plans}`;
  const [, number = "", between = " of ", , rest = ""] = match;
  const tail = /^\s+in current phase/i.exec(rest)?.[0] ?? "";
  return `${/^0\d/.test(number) ? String(plan).padStart(2, "0") : plan}${between}${plans}${tail}`;
}

function activityValue(old: string, { activity, now }: StateUpdate): string {
  const [, stamp, separator = " — "] = /^(\d{4}-\d\d-\d\d(?:T[\d:.]+Z?)?)?(\s+[–—-]+\s+)?/.exec(old) ?? [];
  const date = stamp?.includes("T") === true ? new Date(now).toISOString() : localDate(now);
  return `${date}${separator}${activity}`;
}

/** ROADMAP.md is to say this of a plan. */
interface RoadmapUpdate {
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

function rowWith(lines: readonly string[], at: number, { rows }: Roadmap, { complete, total, now }: RoadmapUpdate) {
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

/**
 * ROADMAP.md as it was found, with what Ralph keeps in it as Ralph wrote it last: the boxes of plans and phases, the
 * counts and the rows of the table. Everything else that a person or an agent has written meanwhile stays; boxes that
 * are new are not ticked. If a phase or a plan is gone, another phase is called done or shipped, or one is to have
 * fewer plans, all of Ralph's version comes back. Pure.
 */
export function withTicksOf(found: string, written: string): string {
  const [theirs, ours] = [parseRoadmap(found), parseRoadmap(written)];
  if (lacks(theirs, ours)) return written;
  const lines = found.split(/\r?\n/);
  const own = written.split(/\r?\n/);
  const changes = new Map<number, string>();
  const change = (line: number, to: (text: string) => string): void =>
    void changes.set(line, to(changes.get(line) ?? lines[line - 1] ?? ""));
  const mark = (line: number, kept: string | undefined, now: string): void => {
    const next = kept ?? (isTicked(now) || now === "-" ? " " : now);
    if (next !== now) change(line, (text) => text.replace(/\[.\]/, `[${next}]`));
  };
  for (const plan of theirs.plans) mark(plan.line, matching(plan, theirs.plans, ours.plans)?.mark, plan.mark);
  for (const box of theirs.boxes) {
    mark(box.line, ours.boxes.find(({ phase }) => sameNumber(phase, box.phase))?.mark, box.mark);
  }
  for (const kind of ["counts", "rows"] as const) {
    for (const entry of theirs[kind]) {
      const kept = ours[kind].find(({ phase }) => sameNumber(phase, entry.phase));
      if (kept !== undefined) change(entry.line, () => own[kept.line - 1] ?? "");
    }
  }
  return changeLines(found, changes);
}

type PlanBox = Roadmap["plans"][number];

/** The same box in the other file: a plan may be listed several times. */
function matching(box: PlanBox, among: readonly PlanBox[], others: readonly PlanBox[]): PlanBox | undefined {
  const isSame = (one: PlanBox): boolean => sameNumber(one.phase, box.phase) && sameNumber(one.number, box.number);
  const same = others.filter(isSame);
  return same[among.filter(isSame).indexOf(box)] ?? same[0];
}

/** True where something is gone that was there, or a phase is closed or made shorter that was not. */
function lacks(found: Roadmap, written: Roadmap): boolean {
  return written.phases.some(({ number }) => !found.phases.some((phase) => sameNumber(phase.number, number))) ||
    written.plans.some((plan) => matching(plan, written.plans, found.plans) === undefined) ||
    closing(found).some((one) => !closing(written).includes(one)) ||
    written.phases.some(({ number }) =>
      (saidOf(found, number).inRoadmap ?? 0) < (saidOf(written, number).inRoadmap ?? 0)
    );
}

/** All that closes phases, beside the boxes. */
function closing({ called, milestones: { counted, shipped }, phases }: Roadmap): readonly string[] {
  return [
    ...called.filter(({ done }) => done).map(({ phase }) => `done ${canonical(phase)}`),
    ...phases.filter((phase) => phase.shipped).map(({ number }) => `shipped ${canonical(number)}`),
    ...shipped.map(([from, to]) => `shipped ${from}-${to}`),
    `archived ${counted}`,
  ];
}

/** Puts other texts in the place of lines (numbers from 1), or after them, in the text's own line ends. */
export function changeLines(
  text: string,
  changes: ReadonlyMap<number, string>,
  insertions: ReadonlyMap<number, readonly string[]> = new Map(),
): string {
  const parts = text.split(/(\r?\n)/);
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  let result = "";
  for (let index = 0; index < parts.length; index += 2) {
    const number = index / 2 + 1;
    result += changes.get(number) ?? parts[index];
    for (const inserted of insertions.get(number) ?? []) result += end + inserted;
    result += parts[index + 1] ?? "";
  }
  return result;
}
