import { styledText } from "../host/terminal.ts";
import type { Environment } from "../host/types.ts";

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
