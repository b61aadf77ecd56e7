/**
 * Markdown by lines: which of them are inside code fences, and how lines are changed without touching another byte.
 *
 * @module
 */

/** A line as a scanner sees it. */
export interface Line {
  readonly text: string;
  /** From 1. */
  readonly number: number;
  /** In a code fence, its ends included. */
  readonly fenced: boolean;
}

const FENCE_REGEXP = /^[ \t]*(`{3,}|~{3,})([^\n]*)$/;

/** The lines of a text without their ends. A fence that is never closed fences nothing; its line number is given. */
export function scanLines(text: string): { readonly lines: readonly Line[]; readonly unclosedFence: number | null } {
  const texts = text.split(/\r?\n/);
  const fenced: boolean[] = texts.map(() => false);
  let unclosed: number | null = null;
  for (let index = 0; index < texts.length; index++) {
    const [, run, rest = ""] = FENCE_REGEXP.exec(texts[index] as string) ?? [];
    if (run === undefined || (run[0] === "`" && rest.includes("`"))) continue;
    const close = closingFence(texts, index + 1, run);
    if (close === null) {
      unclosed ??= index + 1;
      continue;
    }
    fenced.fill(true, index, close + 1);
    index = close;
  }
  const lines = texts.map((line, index) => ({ text: line, number: index + 1, fenced: fenced[index] as boolean }));
  return { lines, unclosedFence: unclosed };
}

function closingFence(texts: readonly string[], from: number, run: string): number | null {
  for (let index = from; index < texts.length; index++) {
    const [, other, rest = ""] = FENCE_REGEXP.exec(texts[index] as string) ?? [];
    if (other !== undefined && other[0] === run[0] && other.length >= run.length && rest.trim() === "") return index;
  }
  return null;
}

/** Puts other texts in the place of lines (numbers from 1), or after them, in the text's own line ends. */
export function changeLines(
  text: string,
  changes: ReadonlyMap<number, string>,
  insertions: ReadonlyMap<number, readonly string[]> = new Map(),
): string {
  const parts = text.split(/(\r?\n)/);
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  let result = "";
  for (let index = 0; index < parts.length; index += 2) {
    const number = index / 2 + 1;
    result += changes.get(number) ?? parts[index];
    for (const inserted of insertions.get(number) ?? []) result += end + inserted;
    result += parts[index + 1] ?? "";
  }
  return result;
}
