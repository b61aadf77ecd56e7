/**
 * Bytes as they read: without what a terminal, or a person, does not see of them.
 *
 * @module
 */
import { CUT_REGEXP, HIDDEN_BYTES, LONGEST_CUT } from "../host/invisible.ts";

const HIDDEN_REGEXP = new RegExp(HIDDEN_BYTES);

/** A text without the invisible, and where each of its characters is in the whole one. */
export interface Readable {
  readonly text: string;
  /** The place of the character in the whole text. */
  at(index: number): number;
  /** The end of the characters before this one in the whole text: the invisible between them comes after it. */
  endAt(index: number): number;
  /** The first character that is here or later in the whole text. */
  from(position: number): number;
  /** True where something invisible comes just before. */
  isBroken(index: number): boolean;
}

/** True where something in the text does not show. */
export function hidesSomething(text: string): boolean {
  return HIDDEN_REGEXP.test(text);
}

/** How the text reads; `null`: as it is. An invisible end may be cut, and then shows nothing either. */
export function readableOf(text: string): Readable | null {
  const cut = CUT_REGEXP.exec(text.slice(-LONGEST_CUT));
  const end = cut === null ? text.length : text.length - cut[0].length;
  const hidden = new RegExp(HIDDEN_REGEXP, "g");
  const first = hidden.exec(text);
  if (first === null && end === text.length) return null;
  const starts: number[] = []; // of each visible part, in what is read
  const places: number[] = []; // and in the whole
  const parts: string[] = [];
  let length = 0;
  let position = 0;
  for (let hit = first; hit !== null || position < end; hit = hit === null ? null : hidden.exec(text)) {
    const until = Math.min(end, hit?.index ?? end);
    if (until > position) {
      starts.push(length);
      places.push(position);
      parts.push(text.slice(position, until));
      length += until - position;
    }
    position = hit === null ? end : Math.max(position, hidden.lastIndex);
  }
  const partOf = (index: number): number => lastUpTo(starts, index);
  const at = (index: number): number =>
    index >= length ? text.length : places[partOf(index)]! + index - starts[partOf(index)]!;
  return {
    text: parts.join(""),
    at,
    endAt: (index) => index === 0 ? 0 : at(index - 1) + 1,
    from(position) {
      const part = lastUpTo(places, position);
      if (part < 0) return 0;
      return Math.min(starts[part]! + position - places[part]!, starts[part + 1] ?? length);
    },
    isBroken: (index) => index > 0 && index < length && starts[partOf(index)] === index,
  };
}

/** The index of the last number that is not greater, in numbers that grow; -1 without one. */
function lastUpTo(numbers: readonly number[], limit: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (numbers[middle]! <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
