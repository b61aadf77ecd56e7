import { type MarkdownLine, markdownLines, sectionEnd } from "../../backlog/fences.ts";
import { NUMBER_SOURCE } from "./numbers.ts";
import type { StatePosition } from "./types.ts";

/** A line of the section on the current position: `**Plan:** 2 of 3` in its parts. */
export interface StateField {
  readonly label: "phase" | "plan" | "status" | "last activity" | "progress";
  /** All before the value, as written. */
  readonly before: string;
  readonly value: string;
  /** White space behind the value. */
  readonly after: string;
  readonly line: number;
}

/** The section on the current position: its fields and its lines, numbers from 1. */
export interface StateSection {
  readonly heading: number;
  /** Number of its last line. */
  readonly end: number;
  readonly fields: readonly StateField[];
}

const LABELS = "Phase|Plan|Status|Last activity|Progress";
/** A colon within or behind the bold name, or none. */
const SEPARATOR = String.raw`(?::\*\*|\*\*:|:)[ \t]*|(?=[ \t]+\S)[ \t]+`;
const FIELD_REGEXP = new RegExp(String.raw`^(\s*(?:[-*]\s+)?(\*\*)?(${LABELS})(?:${SEPARATOR}))(.*?)([ \t]*)$`, "i");

/** Finds the section `## Current Position`; `null` where there is none. Nothing in code fences counts. */
export function findSection(text: string): StateSection | null {
  const { lines } = markdownLines(text);
  const at = lines.findIndex(({ text: line, fenced }) => !fenced && /^#{2,3}\s+Current Position\b/i.test(line));
  if (at === -1) return null;
  const end = sectionEnd(lines, at);
  return { heading: at + 1, end, fields: fieldsIn(lines.slice(at + 1, end)) };
}

/** The first one of each name counts. */
function fieldsIn(lines: readonly MarkdownLine[]): readonly StateField[] {
  return lines.filter(({ fenced }) => !fenced).flatMap(({ text, number: line }) => {
    const [, before, , label, value = "", after = ""] = FIELD_REGEXP.exec(text) ?? [];
    if (before === undefined || label === undefined) return [];
    // Without a colon only `Phase 23-slug — …` is known.
    if (!before.includes(":") && !(/^phase$/i.test(label) && /^\d/.test(value))) return [];
    return { label: label.toLowerCase() as StateField["label"], before, value, after, line };
  });
}

/** Reads the project's position from STATE.md. Other sections say `Phase:` too: only the current position counts. */
export function parseState(text: string): StatePosition {
  const fields = findSection(text)?.fields ?? fieldsIn(markdownLines(text).lines);
  const valueOf = (label: StateField["label"]): string | null => {
    const value = fields.find((field) => field.label === label)?.value.trim() ?? "";
    return value === "" ? null : value;
  };
  const plan = valueOf("plan");
  const [, number] = /^(?:Plan\s+)?(?:\d+(?:\.\d+)*-)?(\d+)\b/i.exec(plan ?? "") ?? [];
  const [, total] = /^(?:Plan\s+)?[\w.-]+?\s*(?:of|\/)\s*(\d+)\b/i.exec(plan ?? "") ?? []; // `2 of 4`, `2/4`
  return {
    ...phaseOf(valueOf("phase")),
    plan: number === undefined ? null : Number(number),
    plans: total === undefined || COMPLETE_REGEXP.test(valueOf("status") ?? "") ? null : Number(total),
    planText: plan,
    status: valueOf("status"),
    lastActivity: valueOf("last activity"),
    progress: valueOf("progress"),
  };
}

const PHASE_REGEXP = new RegExp(`^(?:Phase\\s+)?(${NUMBER_SOURCE})(?:\\s*(?:of|/)\\s*([\\w.?]+))?(.*)$`, "i");

/** `None (between milestones)`, `Milestone complete`, `v1.2 COMPLETE`, `Ready for next milestone`, `—`. */
const NO_PHASE = [
  String.raw`^(?:none\b|n\/a|[—–]|-$|all phases|complete|done\b|shipped)`,
  String.raw`\bmilestones?\b`,
  String.raw`^v\d[\w.-]*\s+(?:complete|done|shipped)`,
];
const NO_PHASE_REGEXP = new RegExp(NO_PHASE.join("|"), "i");

function phaseOf(value: string | null): Pick<StatePosition, "kind" | "phase" | "phaseName" | "totalPhases"> {
  const nothing = { phase: null, phaseName: null, totalPhases: null };
  if (value === null) return { ...nothing, kind: "unknown" };
  const [, phase, total = null, rest = ""] = PHASE_REGEXP.exec(value) ?? [];
  if (phase === undefined) {
    if (/^not (yet )?started/i.test(value)) return { ...nothing, kind: "not-started" };
    return { ...nothing, kind: NO_PHASE_REGEXP.test(value) ? "none" : "unknown" };
  }
  const [, bracketed] = /^\s*\((.*?)\)/.exec(rest) ?? [];
  const name = (bracketed ?? /^\s*[–—:-]+\s*(.*)$/.exec(rest)?.[1] ?? "").trim();
  return { phase, kind: "phase", phaseName: name === "" ? null : name, totalPhases: total };
}

/** `Phase complete`, `Phase 2 complete, ready to plan`, `Complete`: how many plans it names counts no more. */
const COMPLETE_REGEXP = /^complete|\bphase(?:\s+[\w.]+)?\s+(?:is\s+)?complete\b/i;
