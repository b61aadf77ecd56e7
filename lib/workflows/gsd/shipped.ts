import type { MarkdownLine } from "../../backlog/fences.ts";
import { compareNumbers, NUMBER_SOURCE, sameNumber } from "./numbers.ts";

/** The first and the last phase of a milestone. */
type PhaseRange = readonly [from: string, to: string];

/** ROADMAP.md says this of whole milestones. */
export interface Milestones {
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
const OPEN_REGEXP = new RegExp(String.raw`\b(?:${OPEN_WORDS.join("|")})\b|[🚧📋]`, "iu");
const LEAD_REGEXP = /^\s*(?:#{2,6}\s|[-*+]\s|\d+[.)]\s|\*\*|<summary>|<details>|\||[^\w\s<>`'"([])/u;
const PHASE_LINE_REGEXP = new RegExp(
  `^\\s*(?:#{2,6}|[-*+]|\\d+[.)])\\s+(?:\\[.\\]\\s+)?[^\\w]*Phase\\s+${NUMBER_SOURCE}`,
  "i",
);
const RANGE_REGEXP = new RegExp(
  `(?:\\bPhases?\\s+|\\|\\s*)(${NUMBER_SOURCE})\\s*(?:-|–|—|to|through)\\s*(${NUMBER_SOURCE})(?![\\w/-])`,
  "i",
);
const SINGLE_REGEXP = new RegExp(`[–—:(-]\\s*Phase\\s+(${NUMBER_SOURCE})(?![\\w/-])`, "i");
const COUNT_REGEXP = /\b(\d+)\s+phases\b/i;

/** Finds the milestones that ROADMAP.md calls shipped: a line for each, a section, or `<details>`. Pure. */
export function milestonesOf(all: readonly MarkdownLine[]): Milestones {
  const shipped: PhaseRange[] = [];
  const open: PhaseRange[] = [];
  const lines = new Set<number>();
  let counted = 0;
  let level: number | null = null;
  let isFolded = false;
  for (const { text, number, fenced } of all) {
    if (fenced) continue;
    const isOver = SHIPPED_REGEXP.test(text) && !OPEN_REGEXP.test(text);
    const depth = /^#{2,6}(?=\s)/.exec(text)?.[0].length ?? null;
    const isPhase = PHASE_LINE_REGEXP.test(text);
    if (depth !== null && level !== null && depth <= level) level = null;
    if (depth !== null && level === null && isOver && !isPhase) level = depth;
    if (/<summary>/i.test(text) && isOver) isFolded = true;
    if (/<\/details>/i.test(text)) isFolded = false;
    if (level !== null || isFolded) lines.add(number);
    if (isPhase || !LEAD_REGEXP.test(text)) continue;
    const [, from, to] = RANGE_REGEXP.exec(text) ?? SINGLE_REGEXP.exec(text) ?? [];
    const isInside = isOver || (lines.has(number) && !OPEN_REGEXP.test(text));
    if (from !== undefined) (isInside ? shipped : open).push([from, to ?? from]);
    else if (isInside && /\bv\d|milestone/i.test(text)) counted += Number(COUNT_REGEXP.exec(text)?.[1] ?? 0);
  }
  return { shipped, open, counted, lines };
}

/** A phase as ROADMAP.md lists it. */
export interface ListedPhase {
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
