/**
 * How wide text stands in a terminal. Where terminals differ (flags, families of emoji) the wider answer is given: a
 * line that is cut by it never wraps.
 *
 * @module
 */

const ASCII_REGEXP = /^[\u0020-\u007e]*$/;
const NO_WIDTH_REGEXP = /[\p{Mn}\p{Me}\p{Cc}\u200b-\u200f\u2060-\u2064\ufeff\ufe00-\ufe0e]/u;
const WIDE_REGEXP = new RegExp(
  "[\\u1100-\\u115f\\u2329\\u232a\\u2e80-\\u303e\\u3041-\\ua4cf\\ua960-\\ua97c\\uac00-\\ud7a3\\uf900-\\ufaff" +
    "\\ufe10-\\ufe19\\ufe30-\\ufe6f\\uff00-\\uff60\\uffe0-\\uffe6\\u{16fe0}-\\u{18dff}\\u{1b000}-\\u{1b2ff}" +
    "\\u{1f000}-\\u{1faff}\\u{20000}-\\u{3fffd}\\p{Emoji_Presentation}]",
  "u",
);

/** Columns that a text without control characters takes. */
export function displayWidth(text: string): number {
  if (ASCII_REGEXP.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += NO_WIDTH_REGEXP.test(character) ? 0 : WIDE_REGEXP.test(character) ? 2 : 1;
  return width;
}

/** The text, or its beginning and the ellipsis, in no more than so many columns. */
export function cutToWidth(text: string, width: number, ellipsis: string): string {
  if (displayWidth(text) <= width) return text;
  const mark = displayWidth(ellipsis) < width ? ellipsis : "";
  let room = width - displayWidth(mark);
  let kept = "";
  for (const character of text) {
    room -= displayWidth(character);
    if (room < 0) break;
    kept += character;
  }
  return kept + mark;
}
