/**
 * Signals in an agent's output: whole lines, outside code fences, not an echo of the prompt. Pure.
 *
 * One that speaks for passing counts with the attempt's nonce, which no file and no quoted output holds, or in its plain
 * form as the last line. The others (LEARNING, RESET, BLOCKED, FAILED, REJECT) count plain.
 *
 * @module
 */
import { type Fence, nextFence } from "./fences.ts";

/** Characters of an attempt's nonce. */
export const NONCE_LENGTH = 6;

/** One signal of a turn. */
export interface Signal {
  /** How it is written: `<ralph>`, `<promise>`, `<review>`, `###…###`, a line that begins with the name. */
  readonly form: "ralph" | "promise" | "review" | "hashes" | "line";
  /** `DONE`, `BLOCKED` … */
  readonly name: string;
  /** The text after the colon; "" without one. */
  readonly value: string;
  /** With the attempt's nonce. */
  readonly sealed: boolean;
  /** It may speak for passing: with the nonce, or plain on the last line. */
  readonly counts: boolean;
}

/** Tags, several of which may be on one line. */
const TAGS: readonly (readonly [Signal["form"], RegExp])[] = [
  ["ralph", /<ralph(?: +(?<given>\w+))?>\s*(?<name>[A-Z_]+)\s*(?::(?<value>.*?))?<\/ralph>/g],
  ["promise", /<promise(?: +(?<given>\w+))?>\s*(?<name>[A-Z_]+)\s*<\/promise>/g],
  ["review", /<review(?: +(?<given>\w+))?>\s*(?<name>[A-Za-z]+)\s*(?::(?<value>.*?))?<\/review>/g],
];
/** Whole lines; the second form as a heading, as an item of a list, or with its name in bold too. */
const LINES: readonly (readonly [Signal["form"], RegExp])[] = [
  ["hashes", /^###\s*(?<name>[A-Z_]+)(?: +(?<given>\w+))?\s*(?::(?<value>.*))?###$/gs],
  [
    "line",
    /^(?:#{1,6} +|[-+] +)?[*_]*(?:\[RALPH\] +)?(?<name>[A-Z]+_COMPLETE)(?: +(?<given>\w+))?[*_]*:[*_]*\s*(?<value>.*)$/g,
  ],
];
const TAGS_REGEXP = /^(?:<(ralph|promise|review)\b[^<>]*>(?:(?!<\/\1>).)*<\/\1>\s*)+$/;
/** The prompt's own words, `BLOCKED: [why]`, say nothing. */
const PLACEHOLDER_REGEXP = /^[[<{(][^\])}>]*[\])}>]$/;

/**
 * The signals in the lines of an agent's output, oldest first.
 *
 * @example Only the attempt's nonce, or the last line, speaks for passing
 * ```ts
 * import { signalsOf } from "ralph/backlog";
 *
 * const lines = ["<ralph>DONE</ralph>", "<ralph k3f9ab>DONE</ralph>", "That is all."];
 * console.log(signalsOf(lines, "k3f9ab").map(({ counts }) => counts)); // [ false, true ]
 * ```
 */
export function signalsOf(lines: readonly string[], nonce: string): readonly Signal[] {
  return lines.flatMap((line, index) =>
    partsOf(line).map(({ form, name, value, given }) => {
      const sealed = given !== "" && given === nonce;
      return { form, name, value, sealed, counts: sealed || (given === "" && index === lines.length - 1) };
    })
  );
}

/** True where a signal of this name speaks for passing. */
export function saysPassing(lines: readonly string[], nonce: string, name: string): boolean {
  return signalsOf(lines, nonce).some((signal) => signal.name === name && signal.counts);
}

/** The reason of an item that its agent gave back begins with this; the question follows. */
export const ASKED = "the agent is blocked: ";

/** Why the agent says that it cannot continue, or `null`. */
export function blockedReason(lines: readonly string[]): string | null {
  const found = signalsOf(lines, "").filter(({ form, name }) => form === "ralph" && name === "BLOCKED");
  return found.map(({ value }) => value).findLast((reason) => reason !== "" && !isPlaceholder(reason)) ?? null;
}

/**
 * How the agent of a plain list ends its turn.
 *
 * @example At the end of a prompt
 * ```ts
 * import { howToEnd } from "ralph/backlog";
 *
 * console.log(howToEnd("k3").includes("k3")); // true
 * ```
 */
export function howToEnd(nonce: string): string {
  return [
    `When it is done, end with the line \`<ralph ${nonce}>DONE</ralph>\`.`,
    `When you cannot do it, end with the line \`<ralph ${nonce}>BLOCKED: [why]</ralph>\` instead: a person will look at it.`,
    "The checks are repeated elsewhere: what they do not show counts for nothing.",
  ].join(" ");
}

/** True for the words in brackets by which a prompt shows where something is to be filled in. */
export function isPlaceholder(text: string): boolean {
  return PLACEHOLDER_REGEXP.test(text);
}

/** `given`: the nonce that it carries; "" without one. */
function partsOf(line: string): readonly (Pick<Signal, "form" | "name" | "value"> & { readonly given: string })[] {
  const found = ([form, expression]: readonly [Signal["form"], RegExp]): ReturnType<typeof partsOf> =>
    [...line.matchAll(expression)].map(({ groups: { name = "", value = "", given = "" } = {} }) => ({
      form,
      name: name.toUpperCase(),
      value: value.trim(),
      given,
    }));
  const [whole] = LINES.flatMap(found);
  if (whole !== undefined) return [whole];
  return TAGS_REGEXP.test(line) ? TAGS.flatMap(found) : [];
}

/** How many signal lines of a turn are kept. */
const SIGNAL_LINES: number = 2000;

/** The known facts about the words before the lines are looked at. */
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
  return joinSignals(found).slice(-(options.limit ?? SIGNAL_LINES));
}

/** A signal with a value that is not closed on its line: `<ralph>LEARNING: the first of`. */
const OPENING_REGEXP = /^<(ralph|review)(?: +\w+)?>\s*[A-Za-z_]+\s*:(?!.*<\/\1>)/;
/** A signal's value has so many lines at most: what is not closed by then is no signal. */
const VALUE_LINES = 40;

/** Signals whose value goes over several lines, each as one line; all other lines as they are. */
function joinSignals(lines: readonly string[]): readonly string[] {
  const joined: string[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] as string;
    const form = OPENING_REGEXP.exec(line)?.[1];
    const rest = form === undefined ? [] : lines.slice(index + 1, index + VALUE_LINES);
    const end = rest.findIndex((next) => next.includes(`</${form}>`) || next.startsWith(`<${form}`));
    const isClosed = end >= 0 && rest[end]?.endsWith(`</${form}>`) && !rest[end]?.startsWith(`<${form}`);
    joined.push(isClosed ? lines.slice(index, index + end + 2).join(" ") : line);
    if (isClosed) index += end + 1;
  }
  return joined;
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

/** Indexes of the lines that are next to the same neighbour in the prompt too. */
function findEchoes(lines: readonly string[], prompt: string): ReadonlySet<number> {
  const pairs = new Set([...pairsIn(prompt.split("\n"))].map(({ text }) => text));
  if (pairs.size === 0) return new Set();
  return new Set([...pairsIn(lines)].filter(({ text }) => pairs.has(text)).flatMap(({ indexes }) => indexes));
}

/** Neighbouring lines, blank ones left out. */
function* pairsIn(lines: readonly string[]): Generator<{ readonly indexes: readonly number[]; readonly text: string }> {
  let previous: { readonly index: number; readonly line: string } | null = null;
  for (const [index, whole] of lines.entries()) {
    const line = unquoted(whole);
    if (line === "") continue;
    if (previous !== null) yield { indexes: [previous.index, index], text: `${previous.line}\n${line}` };
    previous = { index, line };
  }
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
