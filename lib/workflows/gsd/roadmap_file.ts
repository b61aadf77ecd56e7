import type { Report } from "./verify_commands.ts";
import { type MarkdownLine, markdownLines } from "../../backlog/fences.ts";
import { canonical, compareNumbers, NUMBER_SOURCE, sameNumber } from "./numbers.ts";

/** A phase as ROADMAP.md has it, from its heading, its check box or its row in a table. */
interface RoadmapPhase {
  readonly number: string;
  readonly name: string;
  /** State of its check box, `null` where there is none. */
  readonly mark: string | null;
  /** Its milestone is called shipped. */
  readonly shipped: boolean;
  readonly line: number;
}

/** A line that names a phase. */
type Mention = Omit<RoadmapPhase, "shipped">;

/** A plan's check box. */
export interface RoadmapPlan {
  /** As written: `01-02`, `02.1-01`; in a phase's section also just `02`. */
  readonly phase: string;
  readonly number: string;
  readonly mark: string;
  readonly description: string;
  readonly line: number;
}

/** A row of the progress table. */
interface RoadmapRow {
  readonly phase: string;
  readonly name: string;
  /** `2/3`, `null` where there is no such cell. */
  readonly plans: string | null;
  readonly status: string | null;
  readonly line: number;
}

/** ROADMAP.md, as far as Ralph reads it. */
export interface Roadmap {
  /** In the order of the file, each once. */
  readonly phases: readonly RoadmapPhase[];
  readonly plans: readonly RoadmapPlan[];
  readonly rows: readonly RoadmapRow[];
  /** The check boxes of phases. */
  readonly boxes: readonly { readonly phase: string; readonly mark: string; readonly line: number }[];
  /** Lines `**Plans**: 2/3 …` by their phase. */
  readonly counts: readonly { readonly phase: string; readonly line: number }[];
  /** How many plans the lines `**Plans**: 3 plans …` give their phases; `null` where that is not said. */
  readonly totals: readonly { readonly phase: string; readonly total: number | null }[];
  /** A line `**Status**: …` below their heading, or their row, says this of phases in words. */
  readonly called: readonly { readonly phase: string; readonly done: boolean }[];
  readonly milestones: Milestones;
}

const STRIKE = "(?:~~)?";
const HEADING_REGEXP = new RegExp(
  `^#{2,5}\\s+(?:[^\\w\\s#]+\\s+)?\\**${STRIKE}Phase\\s+(${NUMBER_SOURCE})(?:\\s*[–—-]\\s*(${NUMBER_SOURCE})(?=\\s*[:(]))?\\s*(?:\\([^)]*\\)\\s*)?(?:[:–—-]+\\s*(.*))?$`,
  "i",
);
const BULLET_REGEXP = new RegExp(
  `^\\s*(?:[-*+]|\\d+[.)])\\s+(?:\\[(.)\\]\\s+)?(?:[^\\w\\s[*~]+\\s+)?${STRIKE}\\**${STRIKE}Phase\\s+(${NUMBER_SOURCE})${STRIKE}\\**\\s*(?:\\([^)]*\\)\\s*)?[:–—-]+\\s*(.+)$`,
  "i",
);
const PLAN_REGEXP = new RegExp(
  `^\\s*[-*+]\\s+\\[(.)\\]\\s+(?:~~)?(?:\\*\\*|\`|\\[)*(?!\\d{4}-)(?:[A-Z][A-Z0-9]{0,7}-)?(?:Plan\\s+(?:(${NUMBER_SOURCE})-)?(${NUMBER_SOURCE})|(${NUMBER_SOURCE})-(${NUMBER_SOURCE}))(?:-[\\w.-]+?)?(?:-PLAN)?(?:\\.md)?(?:\\*\\*|\`|\\](?:\\([^)]*\\))?|~~)*(?=[\\s:]|$)\\s*(?::|--|—|–|-)?\\**\\s*(.*)$`,
  "i",
);
const ROW_PHASE_REGEXP = new RegExp(
  `^\\**${STRIKE}(?:Phase\\s+)?(${NUMBER_SOURCE})(?:[.:)]|\\s*[–—-])?\\s*(.*?)${STRIKE}\\**$`,
  "i",
);
const STATUS_REGEXP = /^\s*(?:[-*]\s+)?\*\*Status(?::\*\*|\*\*:)\s*(.+)$/i;
/** Behind marks such as a tick or an emoji. */
const DONE_REGEXP = /^[^a-z]*(?:done|completed?|shipped|cancell?ed|deferred|dropped|skipped|superseded)\b/i;
const OPEN_REGEXP = /^[^a-z]*(?:not started|not planned|planned|planning|pending|in progress|todo|tbd)\b/i;
/** `0-6`: a milestone's phases in one row. */
const RANGE_REGEXP = /^\**\d+\s*[–—-]\s*\d+\**$/;
const COUNT_REGEXP = /^\s*(?:[-*]\s+)?\*\*Plans(?::\*\*|\*\*:|\*\*)\s*(.*)$/i;
/** `2/4 …`, `2 of 4`, `4`, `4 plans`, `4 new plans`; no estimate such as `2-3` or `~4`. */
const TOTAL_REGEXP = /^(?:\d+\s*(?:\/|of)\s*)?(\d+)(?=\s*$|\s*[(;,]|\s+(?:[a-z]+\s+)?plans?\b)/i;

/** Reads ROADMAP.md: phases in headings, bullets and tables, also inside `<details>`; nothing in code fences. */
export function parseRoadmap(text: string, report: Report = () => {}): Roadmap {
  const plans: RoadmapPlan[] = [];
  const rows: RoadmapRow[] = [];
  const boxes: { phase: string; mark: string; line: number }[] = [];
  const counts: { phase: string; line: number }[] = [];
  const totals: { phase: string; total: number | null }[] = [];
  const { lines, unclosedFence } = markdownLines(text);
  if (unclosedFence !== null) report(unclosedFence, "this code fence is never closed: all that follows is code");
  const mentions: Mention[] = [];
  let section: string | null = null;
  let columns: readonly string[] = [];

  for (const { text: content, number: line, fenced } of lines) {
    if (fenced) continue;
    if (!content.trim().startsWith("|")) columns = [];
    const heading = HEADING_REGEXP.exec(content);
    if (heading !== null) {
      const [, from = "", to, name = ""] = heading;
      section = from;
      const numbers = to === undefined ? [from] : [from, to];
      mentions.push(...numbers.map((number) => ({ number, name: plainName(name), mark: null, line })));
      continue;
    }
    if (/^#{1,2}\s/.test(content)) section = null;
    const bullet = BULLET_REGEXP.exec(content);
    if (bullet !== null) {
      const [, mark = null, number = "", rest = ""] = bullet;
      mentions.push({ number, name: plainName(rest), mark, line });
      if (mark !== null) boxes.push({ phase: number, mark, line });
      continue;
    }
    const plan = PLAN_REGEXP.exec(content);
    if (plan !== null) {
      const [, mark = " ", named = plan[4], worded = "", , , description = ""] = plan;
      const phase = named ?? section;
      const number = plan[5] ?? worded;
      if (phase === null) report(line, "this check box names a plan without its phase");
      else plans.push({ phase, number, mark, description: description.trim(), line });
      continue;
    }
    const [, count] = section === null ? [] : COUNT_REGEXP.exec(content) ?? [];
    if (section !== null && count !== undefined) {
      if (/^\d+\s*\/\s*\d+/.test(count)) counts.push({ phase: section, line });
      totals.push({ phase: section, total: Number(TOTAL_REGEXP.exec(count)?.[1] ?? 0) || null });
    }
    if (content.trim().startsWith("|")) {
      const cells = cellsOf(content);
      if (columns.length === 0) columns = cells.map((cell) => cell.toLowerCase());
      const row = rowOf(cells, columns, line);
      if (row !== null) {
        rows.push(row);
        mentions.push({ number: row.phase, name: row.name, mark: null, line });
      }
    }
  }
  const milestones = milestonesOf(lines);
  const phases = phasesOf(mentions, milestones);
  return { phases, plans, rows, boxes, counts, totals, called: called(lines, rows), milestones };
}

/** The phases of a ROADMAP.md, each once, from all the lines that name it. */
function phasesOf(mentions: readonly Mention[], milestones: Milestones): readonly RoadmapPhase[] {
  const groups = new Map<string, [Mention, ...Mention[]]>();
  for (const mention of mentions) {
    const known = groups.get(canonical(mention.number));
    if (known === undefined) groups.set(canonical(mention.number), [mention]);
    else known.push(mention);
  }
  const markOf = (some: readonly Mention[]): string | null => some.find(({ mark }) => mark !== null)?.mark ?? null;
  return [...groups.values()].map((all) => {
    const outside = all.filter(({ line }) => !milestones.lines.has(line));
    const listed = { inside: outside.length < all.length, outside: outside.length > 0, mark: markOf(outside) };
    const shipped = isShipped(all[0].number, listed, milestones);
    return { ...all[0], name: all.find(({ name }) => name !== "")?.name ?? "", mark: markOf(all), shipped };
  });
}

/** Reads what a line `**Status**:` below a phase's heading, the heading itself, or its row says of it. */
function called(lines: readonly MarkdownLine[], rows: readonly RoadmapRow[]): Roadmap["called"] {
  const found: { phase: string; status: string }[] = rows.map(({ phase, status }) => ({ phase, status: status ?? "" }));
  let section: string | null = null;
  for (const { text } of lines.filter(({ fenced }) => !fenced)) {
    if (text.startsWith("#")) {
      section = HEADING_REGEXP.exec(text)?.[1] ?? null;
      if (section !== null && /~~|✅/.test(text)) found.push({ phase: section, status: "done" });
    } else if (section !== null) found.push({ phase: section, status: STATUS_REGEXP.exec(text)?.[1] ?? "" });
  }
  return found.flatMap(({ phase, status }) => {
    const done = DONE_REGEXP.test(status);
    return done || OPEN_REGEXP.test(status) ? [{ phase, done }] : [];
  });
}

function rowOf(cells: readonly string[], columns: readonly string[], line: number): RoadmapRow | null {
  const at = columns.findIndex((column) => column.startsWith("phase"));
  if (at === -1 || !columns.some((column) => /plan|status/.test(column))) return null;
  if (RANGE_REGEXP.test(cells[at] ?? "")) return null;
  const [, phase, name = ""] = ROW_PHASE_REGEXP.exec(cells[at] ?? "") ?? [];
  if (phase === undefined) return null;
  const plans = cells.find((cell, index) => index !== at && /^\d+\s*\/\s*\d+/.test(cell)) ?? null;
  const status = columns.findIndex((column) => /status/.test(column));
  return { phase, name, plans, status: status === -1 ? null : cells[status] ?? null, line };
}

/** The cells of a table's row, white space taken off. */
export function cellsOf(row: string): readonly string[] {
  return row.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
}

/** `Foundation** - File discovery (3/3 plans) -- completed …` is the phase `Foundation`. */
function plainName(text: string): string {
  const [name = ""] = text.split(/\*\*|~~| -- | — | – | - /);
  const plain = name.replace(/\s*\((?:INSERTED|\d+\/\d+ plans?)\)\s*/gi, " ");
  return plain.replace(/[*~✅✓\s]+$/u, "").replace(/^[*~\s]+/, "");
}

/** True for the mark of a check box that counts as done; `-` is one that was left out. */
export function isTicked(mark: string | null): boolean {
  return mark !== null && /^[xX✓✔]$/.test(mark);
}

/** The first and the last phase of a milestone. */
type PhaseRange = readonly [from: string, to: string];

/** ROADMAP.md says this of whole milestones. */
interface Milestones {
  /** `**v1.0 MVP** - Phases 1-10 (shipped 2026-02-04)`. */
  readonly shipped: readonly PhaseRange[];
  /** `**v1.1** - Phases 11-14 (in progress)`: its numbers may be those of a shipped milestone, begun again. */
  readonly open: readonly PhaseRange[];
  /** Phases of shipped milestones that are only counted: `**v1** — 3 phases, archived`. */
  readonly counted: number;
  /** Numbers of the lines in the sections and `<details>` of shipped milestones. */
  readonly lines: ReadonlySet<number>;
}

const SHIPPED_REGEXP = /✅|\b(?:shipped|archived|completed?)\b/i;
const OPEN_WORDS = [
  "not|until|when|once|after|before|to be|partially",
  "in progress|planned|pending|next|current|active",
];
const UNSHIPPED_REGEXP = new RegExp(String.raw`\b(?:${OPEN_WORDS.join("|")})\b|[🚧📋]`, "iu");
const LEAD_REGEXP = /^\s*(?:#{2,6}\s|[-*+]\s|\d+[.)]\s|\*\*|<summary>|<details>|\||[^\w\s<>`'"([])/u;
const PHASE_LINE_REGEXP = new RegExp(
  `^\\s*(?:#{2,6}|[-*+]|\\d+[.)])\\s+(?:\\[.\\]\\s+)?[^\\w]*Phase\\s+${NUMBER_SOURCE}`,
  "i",
);
const MILESTONE_RANGE_REGEXP = new RegExp(
  `(?:\\bPhases?\\s+|\\|\\s*)(${NUMBER_SOURCE})\\s*(?:-|–|—|to|through)\\s*(${NUMBER_SOURCE})(?![\\w/-])`,
  "i",
);
const SINGLE_REGEXP = new RegExp(`[–—:(-]\\s*Phase\\s+(${NUMBER_SOURCE})(?![\\w/-])`, "i");
const PHASE_COUNT_REGEXP = /\b(\d+)\s+phases\b/i;

/** Finds the milestones that ROADMAP.md calls shipped: a line for each, a section, or `<details>`. Pure. */
function milestonesOf(all: readonly MarkdownLine[]): Milestones {
  const shipped: PhaseRange[] = [];
  const open: PhaseRange[] = [];
  const lines = new Set<number>();
  let counted = 0;
  let level: number | null = null;
  let isFolded = false;
  for (const { text, number, fenced } of all) {
    if (fenced) continue;
    const isOver = SHIPPED_REGEXP.test(text) && !UNSHIPPED_REGEXP.test(text);
    const depth = /^#{2,6}(?=\s)/.exec(text)?.[0].length ?? null;
    const isPhase = PHASE_LINE_REGEXP.test(text);
    if (depth !== null && level !== null && depth <= level) level = null;
    if (depth !== null && level === null && isOver && !isPhase) level = depth;
    if (/<summary>/i.test(text) && isOver) isFolded = true;
    if (/<\/details>/i.test(text)) isFolded = false;
    if (level !== null || isFolded) lines.add(number);
    if (isPhase || !LEAD_REGEXP.test(text)) continue;
    const [, from, to] = MILESTONE_RANGE_REGEXP.exec(text) ?? SINGLE_REGEXP.exec(text) ?? [];
    const isInside = isOver || (lines.has(number) && !UNSHIPPED_REGEXP.test(text));
    if (from !== undefined) (isInside ? shipped : open).push([from, to ?? from]);
    else if (isInside && /\bv\d|milestone/i.test(text)) counted += Number(PHASE_COUNT_REGEXP.exec(text)?.[1] ?? 0);
  }
  return { shipped, open, counted, lines };
}

/** A phase as ROADMAP.md lists it. */
interface ListedPhase {
  /** It stands in the part of a shipped milestone. */
  readonly inside: boolean;
  /** It stands elsewhere too. */
  readonly outside: boolean;
  /** The state of its box outside; `null` without one. */
  readonly mark: string | null;
}

/** True for a phase of a milestone that ROADMAP.md calls shipped. Pure. */
export function isShipped(number: string, { inside, outside, mark }: ListedPhase, milestones: Milestones): boolean {
  const { shipped, open, counted } = milestones;
  const within = ([from, to]: PhaseRange): boolean =>
    compareNumbers(from, number) <= 0 &&
    (compareNumbers(number, to) <= 0 || (!outside && sameNumber(number.split(".")[0] ?? "", to)));
  if (open.some(within)) return false;
  if (shipped.some(within)) return true;
  if (inside) return mark !== " ";
  const last = Math.max(0, ...shipped.map(([, to]) => Number.parseInt(to, 10))) + counted;
  return counted > 0 && !outside && Number.parseInt(number, 10) <= last;
}
