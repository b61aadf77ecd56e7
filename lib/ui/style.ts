import { styledText } from "../host/terminal.ts";
import type { Environment } from "../host/types.ts";

/** How text for people is drawn: a function per meaning, and the symbols. */
export interface Style {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly warn: (text: string) => string;
  readonly accent: (text: string) => string;
  readonly symbols: Symbols;
}

/** Marks at the start of a line. */
export interface Symbols {
  readonly passed: string;
  readonly failed: string;
  readonly open: string;
  readonly warning: string;
  readonly start: string;
  readonly bar: string;
  readonly commit: string;
  readonly dot: string;
  readonly times: string;
  readonly ellipsis: string;
}

/** The person asked for this. */
export interface StyleOptions {
  readonly colour: boolean;
  readonly ascii: boolean;
}

const UNICODE: Symbols = {
  passed: "✓",
  failed: "✗",
  open: "○",
  warning: "▲",
  start: "◆",
  bar: "│",
  commit: "●",
  dot: "·",
  times: "×",
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
  times: "x",
  ellipsis: "...",
};

/** Draws with or without colours, with or without characters beyond ASCII. */
export function createStyle({ colour, ascii }: StyleOptions): Style {
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
