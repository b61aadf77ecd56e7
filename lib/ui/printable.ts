/**
 * Text of agents, files and commands, made safe for a terminal: nothing that it holds moves the cursor, sets a colour
 * or turns the direction of the text. If a person decides by a text, it is shown with the hidden characters spelled
 * out.
 *
 * @module
 */
import { mapTexts, words } from "../host/data.ts";
import type { RalphEvent } from "../events/types.ts";
import type { ViewState } from "./view_state.ts";
import type { Question } from "../context/context.ts";
import { styledText } from "../host/terminal.ts";
import type { Environment } from "../host/types.ts";

const SEQUENCE_REGEXP = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\^_])/g;
const CONTROL_REGEXP = /[^\P{Cc}\n\t]|[\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;

/** More than any terminal is wide. */
const LONGEST = 2000;

/** `createStyle()` writes these. */
const PAINT_REGEXP = /(\u001b\[(?:1|2|22|3[1-69])m)/;

/** Fields that a person decides by, or distinguishes items by. */
const EXACT: ReadonlySet<string> = new Set(words("title id subject name lines message question findings"));
const ONE_LINE: ReadonlySet<string> = new Set(["title", "id", "subject", "findings"]);

/** The text without colours, cursor moves and control characters: for output that is only looked at. */
export function plainText(text: string): string {
  return text.replaceAll(SEQUENCE_REGEXP, "").replaceAll(/[^\S\n]*\r?\n/g, "\n").replaceAll(CONTROL_REGEXP, "");
}

/** The text with control characters spelled out: `\u001b`. */
export function printable(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll(
    CONTROL_REGEXP,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The same for lines that Ralph has painted: the colours of `createStyle()` stay. Pure. */
export function printablePainted(text: string): string {
  return text.split(PAINT_REGEXP).map((part, index) => index % 2 === 1 ? part : printable(part)).join("");
}

/** The text on one line. The command line's own text is made printable where it is written. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

/** An event whose texts can be shown. A check's tail stays: its lines are taken apart where they are drawn. */
export function printableEvent(event: RalphEvent): RalphEvent {
  return mapTexts(event, (text, key) => {
    if (key === "tail") return text;
    return ONE_LINE.has(key) ? printable(oneLine(text)) : EXACT.has(key) ? printable(text) : plainText(text);
  }) as RalphEvent;
}

/** The live view's state with texts that can be shown, each on one line; of the words the last line. Pure. */
export function printableView({ words, ...state }: ViewState): ViewState {
  const shown = (text: string): string => oneLine(plainText(text.slice(0, LONGEST)));
  // of a bar of progress what it was drawn over with
  const last = words.split(/[\r\n]+/).map(shown).findLast((line) => line !== "") ?? "";
  return { ...mapTexts(state, shown) as typeof state, words: last };
}

/** A question whose texts can be shown. Values stay as they are: answers are made of them. */
export function printableQuestion(question: Question): Question {
  const shown = {
    ...question,
    message: printable(question.message),
    ...(question.details === undefined ? {} : { details: question.details.map(printable) }),
  };
  if (shown.kind !== "select") return shown;
  return { ...shown, choices: shown.choices.map((choice) => ({ ...choice, label: printable(choice.label) })) };
}

/** How text for people is drawn: a function per meaning, and the symbols. */
export type Style =
  & Readonly<Record<"bold" | "dim" | "good" | "bad" | "warn" | "accent", (text: string) => string>>
  & { readonly symbols: Symbols };

/** Marks at the start of a line. */
export type Symbols = Readonly<Record<"passed" | "failed" | "open" | "warning" | "start" | "bar" | Joint, string>>;
type Joint = "commit" | "dot" | "ellipsis";

const UNICODE: Symbols = {
  passed: "✓",
  failed: "✗",
  open: "○",
  warning: "▲",
  start: "◆",
  bar: "│",
  commit: "●",
  dot: "·",
  ellipsis: "…",
};

const ASCII: Symbols = {
  passed: "+",
  failed: "x",
  open: "o",
  warning: "!",
  start: "*",
  bar: "|",
  commit: "@",
  dot: "-",
  ellipsis: "...",
};

/** Draws with or without colours, with or without characters beyond ASCII. */
export function createStyle({ colour, ascii }: Readonly<Record<"colour" | "ascii", boolean>>): Style {
  const paint = (format: Parameters<typeof styledText>[0]) => (text: string): string =>
    colour && text !== "" ? styledText(format, text) : text;
  return {
    bold: paint("bold"),
    dim: paint("dim"),
    good: paint("green"),
    bad: paint("red"),
    warn: paint("yellow"),
    accent: paint("cyan"),
    symbols: ascii ? ASCII : UNICODE,
  };
}

/** Colours suit a terminal that can show them, unless they were refused (`--no-color`, `NO_COLOR`). */
export function wantsColour(
  terminal: boolean,
  { variables }: Pick<Environment, "variables">,
  refused: boolean,
): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = variables;
  if (refused || (NO_COLOR !== undefined && NO_COLOR !== "")) return false;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== "" && FORCE_COLOR !== "0") return true;
  return terminal && TERM !== "dumb";
}

/** `0.4s`, `12s`, `3m 05s`, `1h 02m`: as exact as is worth reading. */
export function formatDuration(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 9.95) return `${Math.max(0, seconds).toFixed(1)}s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${two(whole % 60)}s`;
  return `${Math.floor(whole / 3600)}h ${two(Math.floor((whole % 3600) / 60))}m`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
