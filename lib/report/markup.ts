import { plainText } from "../ui/text.ts";

/** No markup. */
export const NOTHING: Markup = { markup: "" };

/** Text whose back-ticks set off code. */
export function withCode(text: string): Markup {
  return inline(
    text.split("`").map((part, index) => index % 2 === 0 ? fragment`${part}` : fragment`<code>${part}</code>`),
  );
}

/** Parts of one line, with nothing between them. */
export function inline(parts: readonly Markup[]): Markup {
  return { markup: parts.map(({ markup }) => markup).join("") };
}

/** Markup that was made here. Only `fragment` makes it. */
export interface Markup {
  readonly markup: string;
}

type Part = string | number | Markup | readonly Markup[];

/** Puts texts into markup: every one of them is escaped. */
export function fragment(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return { markup: strings.reduce((before, string, index) => `${before}${shown(parts[index - 1] ?? "")}${string}`) };
}

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
