/**
 * What in an agent's words can be a signal: whole lines, outside code fences, not an echo of the prompt. Pure.
 *
 * @module
 */
import { type Fence, nextFence } from "./fences.ts";

/** How many signal lines of a turn are kept. */
const SIGNAL_LINES: number = 2000;

/** What is known about the words before the lines are looked at. */
export interface SignalOptions {
  /** The prompt of the turn: an echo of it is no signal. @default "" */
  readonly prompt?: string;
  /** The code fence that is open at the start of the text. @default null */
  readonly fence?: Fence;
  /** The text begins in the middle of a line: its first line is left out. @default false */
  readonly midLine?: boolean;
  /** How many lines are kept, from the end. @default 2000 */
  readonly limit?: number;
}

/**
 * The lines of an agent's words that can be a signal, oldest first.
 *
 * @example A marker counts as a line of its own
 * ```ts
 * import { signalLines } from "ralph/backlog";
 *
 * console.log(signalLines("All done.\n**<ralph>DONE</ralph>**\n")); // ["All done.", "<ralph>DONE</ralph>"]
 * ```
 */
export function signalLines(text: string, options: SignalOptions = {}): string[] {
  const lines = text.split("\n");
  const echoes = findEchoes(lines, options.prompt ?? "");
  const found: string[] = [];
  let fence = options.fence ?? null;
  for (const [index, line] of lines.entries()) {
    if (echoes.has(index) || (index === 0 && options.midLine === true)) continue;
    const step = nextFence(fence, line.trimEnd());
    fence = step.fence;
    if (step.inside) continue;
    const bare = stripMarks(line);
    if (bare !== "" && unquoted(line) !== "") found.push(bare);
  }
  return found.slice(-(options.limit ?? SIGNAL_LINES));
}

/** A line without the white space, `*`, `_` and back-ticks around it. */
export function stripMarks(line: string): string {
  let start = 0;
  let end = line.length;
  while (start < end && isMark(line, start)) start += 1;
  while (end > start && isMark(line, end - 1)) end -= 1;
  return line.slice(start, end);
}

/**
 * The text without an echo of the whole prompt, quoted (`> `) or not. Parts of the prompt that an agent repeats are
 * its own words: a corrected document shares most of its lines with the one in the prompt.
 */
export function withoutEcho(text: string, prompt: string): string {
  const wanted = prompt.split("\n").map(unquoted).filter((line) => line !== "");
  if (wanted.length < 2) return text;
  const lines = text.split("\n");
  const bare = lines.map(unquoted);
  let attempts = 0;
  for (let start = 0; start < bare.length && attempts < 100; start += 1) {
    if (bare[start] !== wanted[0]) continue;
    attempts += 1;
    const end = endOfRun(bare, start, wanted);
    if (end !== null) return [...lines.slice(0, start), ...lines.slice(end)].join("\n");
  }
  return text;
}

function endOfRun(lines: readonly string[], start: number, wanted: readonly string[]): number | null {
  let matched = 0;
  for (let index = start; index < lines.length; index += 1) {
    if (lines[index] === "") continue;
    if (lines[index] !== wanted[matched]) return null;
    matched += 1;
    if (matched === wanted.length) return index + 1;
  }
  return null;
}

/** Indexes of the lines that stand, together with a neighbour, next to each other in the prompt too. */
function findEchoes(lines: readonly string[], prompt: string): ReadonlySet<number> {
  const echoes = new Set<number>();
  const pairs = pairsOf(prompt);
  if (pairs.size === 0) return echoes;
  let previous: { readonly index: number; readonly line: string } | null = null;
  for (const [index, line] of lines.entries()) {
    const bare = unquoted(line);
    if (bare === "") continue;
    if (previous !== null && pairs.has(`${previous.line}\n${bare}`)) echoes.add(previous.index).add(index);
    previous = { index, line: bare };
  }
  return echoes;
}

function pairsOf(prompt: string): ReadonlySet<string> {
  const pairs = new Set<string>();
  let previous: string | null = null;
  for (const line of prompt.split("\n")) {
    const bare = unquoted(line);
    if (bare === "") continue;
    if (previous !== null) pairs.add(`${previous}\n${bare}`);
    previous = bare;
  }
  return pairs;
}

const QUOTE_REGEXP = /^(?:[\s>|│┃]|\/\/|#(?= ))+/;

/** A line without a quotation mark in front, by which an echo is recognised. */
function unquoted(line: string): string {
  return line.replace(QUOTE_REGEXP, "").trim();
}

function isMark(line: string, index: number): boolean {
  const code = line.charCodeAt(index);
  // space and below, `*`, `_`, back-tick, no-break space, byte order mark
  return code <= 32 || code === 42 || code === 95 || code === 96 || code === 160 || code === 0xfeff;
}
