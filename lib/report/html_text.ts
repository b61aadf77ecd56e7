import { plainText } from "../ui/printable.ts";

/** Markup that was made here. Only `fragment` makes it. */
export interface Markup {
  readonly markup: string;
}

type Part = string | number | Markup | readonly Markup[];

/** Puts texts into markup: every one of them is escaped. */
export function fragment(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return { markup: strings.reduce((before, string, index) => `${before}${shown(parts[index - 1] ?? "")}${string}`) };
}

/** No markup. */
export const NOTHING: Markup = { markup: "" };

function shown(part: Part): string {
  if (typeof part === "string" || typeof part === "number") return escaped(String(part));
  return "markup" in part ? part.markup : part.map(({ markup }) => markup).join("\n");
}

function escaped(text: string): string {
  return plainText(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}
