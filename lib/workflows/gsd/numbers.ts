/**
 * Numbers of phases and plans: `2`, `02.1`, `12A`, `10.1.1`. Never read as a decimal: 2.10 comes after 2.2. Pure.
 *
 * @module
 */

/** Source of a regular expression for one number, without groups. */
export const NUMBER_SOURCE: string = String.raw`\d+[A-Za-z]?(?:\.\d+[A-Za-z]?)*`;

const NUMBER_REGEXP = new RegExp(`^${NUMBER_SOURCE}$`);

/** True for a phase as the command line takes it. */
export function isNumber(text: string): boolean {
  return NUMBER_REGEXP.test(text);
}

/** A project has few numbers and compares them often. */
const CANONICAL = new Map<string, string>();

/** The same for `02.1`, `2.01` and `2.1`; letters in upper case. */
export function canonical(number: string): string {
  const known = CANONICAL.get(number);
  if (known !== undefined) return known;
  const made = number.toUpperCase().split(".").map((segment) => segment.replace(/^0+(?=\d)/, "")).join(".");
  CANONICAL.set(number, made);
  return made;
}

/** Integer, letter, then segment by segment: 2 < 2.1 < 2.2 < 2.10 < 3 < 12 < 12A. */
export function compareNumbers(one: string, other: string): number {
  const [left, right] = [canonical(one).split("."), canonical(other).split(".")];
  for (const [index, a] of left.entries()) {
    const b = right[index];
    if (b === undefined) return 1;
    const [before, behind] = [valueOf(a), valueOf(b)];
    if (before !== behind) return before < behind ? -1 : 1;
    const letters = a.replace(/^\d+/, "").localeCompare(b.replace(/^\d+/, ""));
    if (letters !== 0) return letters;
  }
  return left.length < right.length ? -1 : 0;
}

/** Words, such as the number of `01-setup-PLAN.md`, come after all numbers. */
function valueOf(segment: string): number {
  const value = Number.parseInt(segment, 10);
  return Number.isNaN(value) ? Number.MAX_SAFE_INTEGER : value;
}

/** True when both name the same phase or plan. */
export function sameNumber(one: string, other: string): boolean {
  return one === other || canonical(one) === canonical(other);
}
