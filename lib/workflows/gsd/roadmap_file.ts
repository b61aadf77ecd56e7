import type { Report } from "./verify_commands.ts";
import { type MarkdownLine, markdownLines } from "../../backlog/fences.ts";
import { canonical, NUMBER_SOURCE } from "./numbers.ts";
import { isShipped, type Milestones, milestonesOf } from "./shipped.ts";

/** A phase as ROADMAP.md has it, from its heading, its check box or its row in a table. */
export interface RoadmapPhase {
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
export interface RoadmapRow {
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
  return name.replace(/\s*\((?:INSERTED|\d+\/\d+ plans?)\)\s*/gi, " ").replace(/[*~✅✓\s]+$/u, "").replace(
    /^[*~\s]+/,
    "",
  ).trim();
}

/** True for the mark of a check box that counts as done; `-` is one that was left out. */
export function isTicked(mark: string | null): boolean {
  return mark !== null && /^[xX✓✔]$/.test(mark);
}
