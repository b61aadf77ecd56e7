import stringWidth from "fast-string-width";

const CHARACTERS = new Intl.Segmenter();

/** Columns that a text takes in a terminal. */
export function displayWidth(text: string): number {
  return stringWidth(text);
}

/** The text, or its beginning and the ellipsis, in no more than so many columns. */
export function cutToWidth(text: string, width: number, ellipsis: string): string {
  if (stringWidth(text) <= width) return text;
  const mark = stringWidth(ellipsis) < width ? ellipsis : "";
  let room = width - stringWidth(mark);
  let beginning = "";
  for (const { segment } of CHARACTERS.segment(text)) {
    room -= stringWidth(segment);
    if (room < 0) break;
    beginning += segment;
  }
  return beginning + mark;
}
