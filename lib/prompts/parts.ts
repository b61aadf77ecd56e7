/**
 * Parts of prompts: lists that stay short however long they are, and texts of others that stay quotes.
 *
 * @module
 */

/** Bytes that a list takes in a prompt, at most. */
export const LIST_BYTES = 8000;

/** For the lines that say how many entries are left out. */
const MARKER_BYTES = 400;

/** Which part of a list is shown. */
export interface WindowOptions {
  /** The entry that the work is about: as many as fit are shown around it. @default 0 */
  readonly at?: number;
  /** The others are found here: ``ralph step list``, or a file. */
  readonly rest: string;
  /** Between two entries. @default "\n" */
  readonly separator?: string;
}

/** The entries around the one at hand, and how many come before and behind them. Pure. */
export function windowed(entries: readonly string[], { at = 0, rest, separator = "\n" }: WindowOptions): string {
  const center = Math.max(0, Math.min(at, entries.length - 1));
  const own = entries[center];
  if (own === undefined) return "";
  const budget = LIST_BYTES - MARKER_BYTES;
  const size = (index: number): number => Buffer.byteLength(`${entries[index] ?? ""}${separator}`);
  const shown = [cut(own, budget, rest)];
  let [first, last] = [center, center];
  let left = budget - Buffer.byteLength(`${shown[0]}${separator}`);
  for (let grows = true; grows;) {
    grows = false;
    if (last + 1 < entries.length && size(last + 1) <= left) {
      last += 1;
      left -= size(last);
      shown.push(entries[last] ?? "");
      grows = true;
    }
    if (first > 0 && size(first - 1) <= left) {
      first -= 1;
      left -= size(first);
      shown.unshift(entries[first] ?? "");
      grows = true;
    }
  }
  const behind = entries.length - 1 - last;
  return [
    ...(first === 0 ? [] : [`… ${first} before: ${rest}`]),
    ...shown,
    ...(behind === 0 ? [] : [`… ${behind} more: ${rest}`]),
  ].join(separator);
}

/** A text in a code fence that nothing in it can close: no line of it is one of the prompt's own. Pure. */
export function quoted(text: string, language = ""): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\s+$/, "")}\n${fence}`;
}

/** A text behind words of the prompt's own: on the same line where it has only one, else quoted below them. Pure. */
export function afterWords(words: string, text: string): string {
  return text.trim().includes("\n") ? `${words}\n\n${quoted(text.trim())}` : `${words} ${text.trim()}`;
}

/** On one line, for a heading, a list or the subject of a commit. Pure. */
export function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

function cut(text: string, bytes: number, rest: string): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  const marker = `… (cut; whole: ${rest})`;
  const room = bytes - Buffer.byteLength(marker) - 1;
  return `${Buffer.from(text).subarray(0, room).toString().replace(/\uFFFD+$/, "")}${marker}`;
}
