/**
 * Names of phase folders, plans and summaries. Pure.
 *
 * @module
 */
import { NUMBER_SOURCE, sameNumber } from "./numbers.ts";

/** The parts of a plan's or a summary's file name. */
export interface PlanName {
  /** As the file name writes it; `null` where it names none (`PLAN.md`). */
  readonly phase: string | null;
  readonly number: string | null;
  readonly slug: string;
  /** A `-FIX`, gap closure or other by-product: it completes nothing. */
  readonly side: boolean;
}

const PREFIX = "(?:[A-Z][A-Z0-9]{0,7}-)?";
const PHASE_REGEXP = new RegExp(`^${PREFIX}(${NUMBER_SOURCE})(?:[-_](.*))?$`);

/** `02.1-auth`, `CK-01-name`, `12A`; `null` for other folders. */
export function parsePhaseName(folder: string): { readonly number: string; readonly name: string } | null {
  const [, number, name = ""] = PHASE_REGEXP.exec(folder) ?? [];
  return number === undefined ? null : { number, name };
}

function regexpsOf(word: "PLAN" | "SUMMARY"): readonly RegExp[] {
  return [
    new RegExp(
      `^${PREFIX}(?<phase>${NUMBER_SOURCE})-(?<number>${NUMBER_SOURCE})(?:-(?<slug>[\\w.-]+?))?-${word}\\.md$`,
      "i",
    ),
    new RegExp(
      `^${PREFIX}(?<phase>${NUMBER_SOURCE})-${word}-(?<number>${NUMBER_SOURCE})(?:-(?<slug>[\\w.-]+))?\\.md$`,
      "i",
    ),
    new RegExp(`^${word}-(?<number>${NUMBER_SOURCE})(?:-(?<slug>[\\w.-]+))?\\.md$`, "i"),
    new RegExp(`^(?<number>${NUMBER_SOURCE})-${word}\\.md$`, "i"),
    new RegExp(`^${word}\\.md$`, "i"),
    new RegExp(`^${PREFIX}(?<phase>${NUMBER_SOURCE})-(?<number>[A-Za-z][\\w.-]*?)-${word}\\.md$`, "i"),
  ];
}

const REGEXPS = { PLAN: regexpsOf("PLAN"), SUMMARY: regexpsOf("SUMMARY") };

const SIDE_REGEXP = /(^|-)(fix|gap-?closure|review|outline|pre-bounce)(-|$)/i;

/** Reads a file's name; `null` if it is no plan (or summary) by its name. */
export function parsePlanName(file: string, word: "PLAN" | "SUMMARY"): PlanName | null {
  for (const regexp of REGEXPS[word]) {
    const match = regexp.exec(file);
    if (match === null) continue;
    const { phase = "", number = "", slug = "" } = match.groups ?? {};
    return {
      phase: phase || null,
      number: number || null,
      slug,
      side: SIDE_REGEXP.test(slug) || SIDE_REGEXP.test(number),
    };
  }
  return null;
}

/** True where a summary of that name is the plan's own: same numbers, and the same slug or none. */
export function isOwnSummary(summary: PlanName, plan: PlanName): boolean {
  if (summary.side) return false;
  if ((summary.number === null) !== (plan.number === null)) return false;
  if (summary.number !== null && plan.number !== null && !sameNumber(summary.number, plan.number)) return false;
  if (summary.phase === null && plan.phase !== null) return false; // `04-SUMMARY.md` is the phase's
  if (summary.phase !== null && plan.phase !== null && !sameNumber(summary.phase, plan.phase)) return false;
  return summary.slug === "" || summary.slug.toLowerCase() === plan.slug.toLowerCase();
}

/** The name that a plan's own summary is given: `01-02-SUMMARY.md`. */
export function summaryNameOf(file: string): string {
  const atEnd = /plan\.md$/i.test(file);
  return file.replace(atEnd ? /plan(?=\.md$)/i : /plan(?=-[^/]*$)/i, (word) => word === "plan" ? "summary" : "SUMMARY");
}
