/**
 * Characters and terminal sequences that show nothing of themselves, as text and as the bytes of UTF-8.
 *
 * @module
 */

type Range = readonly [first: number, last: number];

/** Colours, cursor moves, titles and links. A title ends with its line. */
const SEQUENCE = "(?:\\[[0-9;?]*[ -/]*[@-~]|\\][^\\u0007\\u001b\\n]*(?:\\u0007|\\u001b\\\\)?|[@-Z\\\\^_])";
export const SEQUENCE_REGEXP: RegExp = new RegExp(`\\u001b${SEQUENCE}`, "g");

/** Control characters but line ends and tabs, of no width, and those that turn the direction. */
const CONTROLS: readonly Range[] = [
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  [0x200b, 0x200b],
  [0x200e, 0x200f],
  [0x202a, 0x202e],
  [0x2066, 0x2069],
  [0xfeff, 0xfeff],
];

/** Scripts and emoji need these, so that they are shown as they are. */
const JOINERS: readonly Range[] = [
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x200c, 0x200d],
  [0x2060, 0x2064],
  [0xfe00, 0xfe0f],
];

export const CONTROL_REGEXP: RegExp = new RegExp(`[${CONTROLS.map(classOf).join("")}]`, "g");

/** JSON doubles a backslash for each text that is within another. */
const ESCAPED = escapedIn([...CONTROLS, ...JOINERS]);
const CUT = "[\\u00c2-\\u00df]|[\\u00e0-\\u00ef][\\u0080-\\u00bf]?|\\\\+(?:u[\\da-fA-F]{0,3})?|" +
  "(?:\\u001b|\\\\+u001[bB])(?:\\[[0-9;?]*[ -/]*)?";

/** All of this shows nothing in a string of a character for each byte, a line end `\r\n` aside; also as JSON writes it. */
export const HIDDEN_BYTES: string = [
  `\\u001b${SEQUENCE}`,
  `\\\\+u001[bB](?:\\[[0-9;?]*[ -/]*[@-~]|\\][^\\u0007\\u001b\\n"\\\\]*(?:\\\\+u0007|\\\\+u001[bB]\\\\+)?|[@-Z^_])`,
  "[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f]+",
  "\\r(?!\\n)",
  ...bytesOf([...CONTROLS, ...JOINERS]),
  `\\\\+(?:${ESCAPED}|[bf]|r(?!\\\\+n))`,
].join("|");

/** The end of a string of bytes in which one of them may have begun. */
export const CUT_REGEXP: RegExp = new RegExp(`(?:${CUT})$`);
/** More of a sequence than this is not looked for. */
export const LONGEST_CUT = 64;

function classOf([first, last]: Range): string {
  return `${unit(first)}-${unit(last)}`;
}

function unit(code: number): string {
  return `\\u${code.toString(16).padStart(4, "0")}`;
}

function codesOf(ranges: readonly Range[]): readonly number[] {
  return ranges.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, index) => first + index));
}

/** Characters beyond ASCII as bytes, the last one as a class. */
function bytesOf(ranges: readonly Range[]): readonly string[] {
  const byLead = new Map<string, string>();
  for (const code of codesOf(ranges).filter((one) => one > 0x7f)) {
    const units = [...Buffer.from(String.fromCharCode(code), "utf8")].map(unit);
    const lead = units.slice(0, -1).join("");
    byLead.set(lead, `${byLead.get(lead) ?? ""}${units.at(-1)}`);
  }
  return [...byLead].map(([lead, last]) => `${lead}[${last}]`);
}

/** `u00(?:0[0-8bc]|…)`, by the first three digits. */
function escapedIn(ranges: readonly Range[]): string {
  const byLead = new Map<string, Set<string>>();
  for (const code of codesOf(ranges)) {
    const digits = code.toString(16).padStart(4, "0");
    const lead = Array.from(digits.slice(0, 3), eitherCase).join("");
    byLead.set(lead, (byLead.get(lead) ?? new Set()).add(digits.slice(3)).add(digits.slice(3).toUpperCase()));
  }
  return [...byLead].map(([lead, last]) => `u${lead}[${[...last].join("")}]`).join("|");
}

function eitherCase(digit: string): string {
  return /[a-f]/.test(digit) ? `[${digit}${digit.toUpperCase()}]` : digit;
}
