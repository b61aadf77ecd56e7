import { type Fence, nextFence } from "../../../backlog/fences.ts";

/** One line of a Markdown text that is not part of a code fence. */
export interface ProseLine {
  /** Index among all lines of the text, from 0. */
  readonly index: number;
  readonly text: string;
}

/** A heading, also one that an edit damaged by a `-` or `*` glued before it. */
export interface Heading {
  readonly level: number;
  readonly title: string;
}

const HEADING_REGEXP = /^[-*\s]*(#{1,6})\s*(\S.*?)(?:\s+#+)?\s*$/;

/** The lines outside code fences. A fence that is never closed reaches to the end. */
export function proseLines(text: string): readonly ProseLine[] {
  const lines: ProseLine[] = [];
  let fence: Fence = null;
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const next = nextFence(fence, line);
    if (!next.inside) lines.push({ index, text: line });
    fence = next.fence;
  }
  return lines;
}

/** The heading on a line, or `null`. `#tag` glued to a word is one only where it is a `##` or deeper. */
export function headingOf(line: string): Heading | null {
  const match = HEADING_REGEXP.exec(line);
  if (match === null) return null;
  const level = (match[1] ?? "").length;
  const title = match[2] ?? "";
  if (level === 1 && !/^[-*\s]*#\s/.test(line)) return null;
  return { level, title };
}
