/**
 * How wide text stands in a terminal. Where terminals differ (flags, families of emoji) the wider answer is given: a
 * line that is cut by it never wraps.
 *
 * @module
 */

/** First and last code points that take two columns: East Asian Wide and Fullwidth, emoji among them. */
const WIDE: readonly (readonly [first: number, last: number])[] = [
  [0x1100, 0x115f],
  [0x231a, 0x231b],
  [0x2329, 0x232a],
  [0x23e9, 0x23ec],
  [0x23f0, 0x23f0],
  [0x23f3, 0x23f3],
  [0x25fd, 0x25fe],
  [0x2600, 0x27bf], // most of them are narrow, and rare
  [0x2b1b, 0x2b1c],
  [0x2b50, 0x2b55],
  [0x2e80, 0x303e],
  [0x3041, 0xa4cf],
  [0xa960, 0xa97c],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18dff],
  [0x1b000, 0x1b2ff],
  [0x1f000, 0x1faff],
  [0x20000, 0x3fffd],
];
const MARK_REGEXP = /[\p{Mn}\p{Me}\u200b-\u200f\u2060-\u2064]/u;
/** Makes an emoji of the character before it, which may thereby become wide. */
const EMOJI_SELECTOR = 0xfe0f;

/** Columns that a text without control characters takes. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += widthOf(character);
  return width;
}

/** The text, or its beginning and the ellipsis, in no more than so many columns. */
export function cutToWidth(text: string, width: number, ellipsis: string): string {
  if (displayWidth(text) <= width) return text;
  const mark = displayWidth(ellipsis) < width ? ellipsis : "";
  let room = width - displayWidth(mark);
  let kept = "";
  for (const character of text) {
    room -= widthOf(character);
    if (room < 0) break;
    kept += character;
  }
  return kept + mark;
}

/** What is drawn each second (Latin, lines, dots) comes by without a table and a regular expression: those wake slowly. */
function widthOf(character: string): 0 | 1 | 2 {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x300 || (code >= 0x2010 && code < 0x2060) || (code >= 0x2500 && code < 0x25fd)) return 1;
  if (code === EMOJI_SELECTOR) return 1;
  if (WIDE.some(([first, last]) => code >= first && code <= last)) return 2;
  return MARK_REGEXP.test(character) ? 0 : 1;
}
