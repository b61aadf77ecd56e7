/**
 * Code fences as CommonMark has them: a fence ends at a run of the same mark that is at least as long and has nothing
 * behind it; one that is never closed reaches to the end. Indentation does not matter: lists indent their fences.
 *
 * @module
 */

/** The fence that is open, or `null` between fences. */
export type Fence = { readonly mark: "`" | "~"; readonly length: number } | null;

const OPENING_REGEXP = /^[ \t]*(`{3,}|~{3,})([^\n]*)$/;

/** The fence that is open after this line, and whether the line is part of a fence (its ends included). */
export function nextFence(fence: Fence, line: string): { readonly fence: Fence; readonly inside: boolean } {
  const match = OPENING_REGEXP.exec(line);
  if (match === null) return { fence, inside: fence !== null };
  const run = match[1]!;
  const mark = run[0] as "`" | "~";
  const rest = match[2]!;
  if (fence === null) {
    // Back-ticks after back-ticks are inline code, no fence.
    if (mark === "`" && rest.includes("`")) return { fence: null, inside: false };
    return { fence: { mark, length: run.length }, inside: true };
  }
  const closes = mark === fence.mark && run.length >= fence.length && rest.trim() === "";
  return { fence: closes ? null : fence, inside: true };
}

/** A line of a Markdown text. */
export interface MarkdownLine {
  /** Without its end. */
  readonly text: string;
  /** From 1. */
  readonly number: number;
  /** In a code fence, its ends included. */
  readonly fenced: boolean;
}

/** The lines of a text, and the number of the line with a fence that is never closed. Pure. */
export function markdownLines(
  text: string,
): { readonly lines: readonly MarkdownLine[]; readonly unclosedFence: number | null } {
  let fence: Fence = null;
  let opened = 0;
  const lines = text.split(/\r?\n/).map((line, index) => {
    const next = nextFence(fence, line);
    if (fence === null) opened = index + 1;
    fence = next.fence;
    return { text: line, number: index + 1, fenced: next.inside };
  });
  return { lines, unclosedFence: fence === null ? null : opened };
}

/** The index of the first line that is no part of the section with the heading at `at`. Pure. */
export function sectionEnd(lines: readonly MarkdownLine[], at: number): number {
  const level = /^#*/.exec(lines[at]?.text ?? "")![0].length;
  const next = lines.findIndex(({ text, fenced }, index) =>
    index > at && !fenced && new RegExp(`^#{1,${level}}\\s`).test(text)
  );
  return next === -1 ? lines.length : next;
}

/** Whole fences, their ends included; one that is never closed is none. Pure. */
export function closedFences(text: string): readonly (readonly string[])[] {
  const found: string[][] = [];
  let fence: Fence = null;
  let lines: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    const next = nextFence(fence, line);
    if (fence === null) lines = [line];
    else lines.push(line);
    if (fence !== null && next.fence === null) found.push(lines);
    fence = next.fence;
  }
  return found;
}

/** The lines of a text outside code fences. Pure. */
export function proseLines(text: string): readonly MarkdownLine[] {
  return markdownLines(text).lines.filter(({ fenced }) => !fenced);
}

const NEWLINE = 10;
const SPACE = 32;
const TAB = 9;
const LINE_BYTES = 4096;

/**
 * The fence that is open after the lines that begin in `bytes[0, cut)`; the first one is left out when it was cut
 * before (`midLine`). Looks only at the places with three marks together, so it keeps up with any stream.
 */
export function fenceAfter(fence: Fence, bytes: Buffer, cut: number, midLine: boolean): Fence {
  let open = fence;
  let position = midLine ? lineEndAt(bytes, 0) + 1 : 0;
  // The line in which the cut falls is judged whole: its rest will not be looked at again.
  const end = bytes[cut - 1] === NEWLINE ? cut : lineEndAt(bytes, cut);
  let ticks = find(bytes, "```", position, end);
  let tildes = find(bytes, "~~~", position, end);
  while (ticks < end || tildes < end) {
    const hit = Math.min(ticks, tildes);
    let start = hit;
    while (start > position && [SPACE, TAB].includes(bytes[start - 1]!)) start -= 1;
    const lineEnd = lineEndAt(bytes, hit);
    if (start === position || bytes[start - 1] === NEWLINE) {
      open = nextFence(open, bytes.toString("latin1", start, Math.min(lineEnd, start + LINE_BYTES))).fence;
    }
    position = lineEnd + 1;
    if (ticks < position) ticks = find(bytes, "```", position, end);
    if (tildes < position) tildes = find(bytes, "~~~", position, end);
  }
  return open;
}

function lineEndAt(bytes: Buffer, from: number): number {
  const newline = bytes.indexOf(NEWLINE, from);
  return newline < 0 ? bytes.length : newline;
}

function find(bytes: Buffer, mark: string, from: number, end: number): number {
  if (from >= end) return end;
  const found = bytes.indexOf(mark, from, "latin1");
  return found < 0 || found >= end ? end : found;
}
