/**
 * `Progress:` of STATE.md. Only its author knows what it counts (all plans, a milestone's, a phase's): Ralph carries a
 * value on in the meaning that its own numbers have, or leaves it alone. Pure.
 *
 * @module
 */

/** A plan that has become complete, or is no longer. */
export interface ProgressChange {
  /** The value when the plan was taken up; written from it, twice is once. */
  readonly value: string;
  /** Plans of all phases that were complete then. */
  readonly before: number;
  /** Plans of all phases that are complete now. */
  readonly after: number;
  readonly total: number;
}

const FRACTION_REGEXP = /\b(\d+)(\s*(?:\/|\bof\b)\s*)(\d+)\b/gi;
/** All but one or two words of it say that plans are counted. */
const PLANS_REGEXP = /^\s+(?:[\w.]+\s+){0,2}?plans\b/i;
const PERCENT_REGEXP = /\b\d+(?:\.(\d+))?%/g;
const BAR_REGEXP = /[█▓▒░■□▪▫●○]{2,}|(?<=\[)[█▓▒░#=>.\-–—_ ■□▪▫●○]+(?=\])/u;
/** Bar and percentage may have this beside them if nothing says what is counted. */
const BARE_REGEXP = /^[\s[\]~]*(?:\(overall\))?\s*$/i;

/** The value one plan further on, or back: fraction, percentage and bar agree afterwards. */
export function progressValue({ value, before, after, total }: ProgressChange): string {
  if (after === before) return value;
  const fractions = [...value.matchAll(FRACTION_REGEXP)];
  const percents = [...value.matchAll(PERCENT_REGEXP)];
  if (percents.length > 1 || fractions.length > 1) return value;
  const [percent] = percents;
  const [fraction] = fractions;
  if (fraction !== undefined) {
    const [whole, part = "", between = "", all = ""] = fraction;
    if (!PLANS_REGEXP.test(value.slice((fraction.index ?? 0) + whole.length))) return value;
    const [count, most] = [Number(part), Number(all)];
    if (most === 0 || !agrees(percent?.[0], count / most)) return value;
    const next = count + after - before;
    if (next < 0 || next > most) return value;
    return drawn(value.replace(whole, `${next}${between}${most}`), next / most);
  }
  const rest = value.replace(BAR_REGEXP, "").replace(PERCENT_REGEXP, "");
  if (percent === undefined || total === 0 || !BARE_REGEXP.test(rest) || !agrees(percent[0], before / total)) {
    return value;
  }
  return drawn(value, after / total);
}

/** Rounded either way. */
function agrees(percent: string | undefined, share: number): boolean {
  return percent === undefined || Math.abs(Number.parseFloat(percent) - share * 100) <= 1;
}

/** The value with the bar and the percentage of a share. */
function drawn(value: string, share: number): string {
  return value
    .replace(BAR_REGEXP, (cells) => barOf(cells, share))
    .replace(PERCENT_REGEXP, (_, decimals?: string) => `${percentOf(share, decimals?.length ?? 0)}%`);
}

/** 100 only where all is done. */
function percentOf(share: number, decimals: number): string {
  const rounded = (share * 100).toFixed(decimals);
  if (Number(rounded) < 100 || share >= 1) return rounded;
  return (100 - 10 ** -decimals).toFixed(decimals);
}

/** A bar of the same width and characters. */
function barOf(cells: string, share: number): string {
  const width = [...cells].length;
  const filled = cells.includes("█") ? "█" : [...cells].find((cell) => "#=■▓●▪".includes(cell)) ?? "█";
  const empty = [...cells].find((cell) => cell !== filled && cell !== ">") ?? (filled === "█" ? "░" : "-");
  const count = Math.floor(share * width + 1e-9);
  return filled.repeat(count) + empty.repeat(width - count);
}
