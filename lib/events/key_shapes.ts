/**
 * The shapes of well-known keys, wherever they are in a line.
 *
 * @module
 */

/** A key: characters `[from, to)`. It continues as long as `more`, a sticky expression, matches at its end. */
export interface KeySpan {
  readonly from: number;
  readonly to: number;
  readonly more: RegExp | null;
}

/** No key needs more text than this to be recognised. */
export const LONGEST_SHAPE = 512;

/** A rare character of each key with what is cheap to check around it; `prefix` ends with it. */
const ANCHOR_REGEXP = new RegExp(
  [
    "-----BEGIN ",
    "[-_.](?<=(?<prefix>(?:sk|[rs]k_(?:live|test)|whsec|gh[oprsu]|github_pat|gl(?:pat|ptt|dt|rt|soat|cbt)|npm|pypi|hf|" +
    "ya29|GOCSPX|xox[abeoprs]|xapp|SG|shp(?:at|ca|pa|ss)|do[opr]_v1|dckr_pat|hv[bs]|lin_api)[-_.]))",
    "A(?=KIA|SIA|Iza)",
    "J(?<=eyJ)",
    "[Bb](?=earer |asic )",
    ":(?=\\/\\/)",
  ].join("|"),
  "g",
);

const KEY_REGEXP = new RegExp(
  [
    "(?:sk-|[rs]k_(?:live|test)_|whsec_|github_pat_|gl[a-z]{2,4}-|pypi-|xox[abeoprs]-|xapp-)[\\w.-]{12}",
    "(?:ya29\\.|GOCSPX-|SG\\.|dckr_pat_|hv[bs]\\.|lin_api_|AIza)[\\w-]{16}",
    "(?:gh[oprsu]|npm|hf)_[A-Za-z0-9]{20}",
    "(?:shp(?:at|ca|pa|ss)|do[opr]_v1)_[A-Fa-f0-9]{16}",
    "A[KS]IA[A-Z0-9]{16}",
    "eyJ[\\w.-]{27}",
  ].join("|"),
  "y",
);
/** A digit distinguishes a token from prose: "basic understanding". */
const BEARER_REGEXP = /[Bb](?:earer|asic) {1,4}(?=[\w.~+/=-]{0,64}\d)[\w.~+/=-]{16}/y;
const LOGIN_REGEXP = /:\/\/[^\s/:@"'\\]{0,64}:[^\s/@"'\\]{1,256}(?=@)/y;
const PEM_HEAD = /-----BEGIN [A-Z ]{0,24}PRIVATE KEY(?: BLOCK)?-----/;
const PEM_FIELDS = /(?:(?:\s|\\[nr]){1,4}[\w-]{1,20}: [^\r\n\\"]{0,80}){0,3}/;
const PEM_DATA = /(?:\s|\\[nr]){1,8}[A-Za-z0-9+/=]{40}/;
const PEM_REGEXP = new RegExp(PEM_HEAD.source + PEM_FIELDS.source + PEM_DATA.source, "y");

const KEY_MORE_REGEXP = /[\w.-]*/y;
const BEARER_MORE_REGEXP = /[\w.~+/=-]*/y;
const PEM_MORE_REGEXP = /(?:[A-Za-z0-9+/=\s]|\\[nr])*(?:\\$)?/y;

/**
 * Calls `found` with each key of the text from `start` on. Linear: a failed attempt costs a bounded number of steps.
 *
 * @param free where a key that was found before ends: none is looked for inside of it
 * @param isBroken tells of a character that is not in the word before it. @default none is
 */
export function findKeys(
  text: string,
  start: number,
  free: number,
  found: (span: KeySpan) => void,
  isBroken: (index: number) => boolean = () => false,
): void {
  const anchor = ANCHOR_REGEXP;
  anchor.lastIndex = Math.max(start, free);
  for (let hit = anchor.exec(text); hit !== null; hit = anchor.exec(text)) {
    const span = keyAt(text, hit, isBroken);
    if (span === null || span.from < start) continue;
    found(span);
    anchor.lastIndex = Math.max(anchor.lastIndex, span.to);
  }
}

/** The end of the characters that continue a key. */
export function endOfKey(text: string, from: number, more: RegExp): number {
  more.lastIndex = from;
  more.test(text);
  return Math.max(from, more.lastIndex);
}

/** The index at which text may begin a key with spaces in it, but is too short to show it; `end` without one. */
export function undecidedKey(text: string, end: number): number {
  const token = /[Bb](?:earer|asic) {1,4}$/.exec(text.slice(Math.max(0, end - 12), end));
  const from = token === null ? end : Math.max(0, end - 12) + token.index;
  const nearEnd = Math.max(0, text.length - LONGEST_SHAPE + 1);
  const begin = text.slice(nearEnd).lastIndexOf("-----BEGIN "); // in all of the text it is looked for a byte at a time
  return begin >= 0 ? Math.min(from, nearEnd + begin) : from;
}

function keyAt(
  text: string,
  { 0: anchor, index, groups }: RegExpExecArray,
  isBroken: (index: number) => boolean,
): KeySpan | null {
  const isWithin = (from: number): boolean => isInWord(text, from) && !isBroken(from);
  switch (anchor[0]) {
    case ":": {
      const to = endOf(text, index, LOGIN_REGEXP);
      return to === null ? null : { from: index + 3, to, more: null };
    }
    case "B":
    case "b":
      return spanOf(text, index, BEARER_REGEXP, BEARER_MORE_REGEXP);
    case "A":
      return isWithin(index) ? null : spanOf(text, index, KEY_REGEXP, KEY_MORE_REGEXP);
    case "J":
      return isWithin(index - 2) ? null : spanOf(text, index - 2, KEY_REGEXP, KEY_MORE_REGEXP);
    default: {
      const { prefix } = groups ?? {};
      if (prefix === undefined) return spanOf(text, index, PEM_REGEXP, PEM_MORE_REGEXP);
      const from = index + 1 - prefix.length;
      return isWithin(from) ? null : spanOf(text, from, KEY_REGEXP, KEY_MORE_REGEXP);
    }
  }
}

function spanOf(text: string, from: number, shape: RegExp, more: RegExp): KeySpan | null {
  const end = endOf(text, from, shape);
  return end === null ? null : { from, to: endOfKey(text, end, more), more };
}

function endOf(text: string, from: number, shape: RegExp): number | null {
  shape.lastIndex = from;
  return shape.test(text) ? shape.lastIndex : null;
}

/** A key does not begin in the middle of a word: `task-force` holds no `sk-`. In JSON, `\n` is not part of a word. */
function isInWord(text: string, from: number): boolean {
  if (from === 0 || !/[A-Za-z0-9]/.test(text[from - 1]!)) return false;
  return !(text[from - 2] === "\\" && /[nrtbf]/.test(text[from - 1]!));
}
