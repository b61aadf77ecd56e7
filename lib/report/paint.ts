import type { Style } from "../ui/style.ts";

/** Colours for headings and marks; the text itself stays as it is. Pure. */
export function paintMarkdown(text: string, { bold, dim, good, bad, warn, symbols }: Style): string {
  const tones = new Map([[symbols.passed, good], [symbols.failed, bad], [symbols.warning, warn], [symbols.open, dim]]);
  let fence = "";
  return text.split("\n").map((line) => {
    const mark = /^\s*(`{3,})$/.exec(line)?.[1];
    if (mark !== undefined && (fence === "" || fence === mark)) {
      fence = fence === "" ? mark : "";
      return dim(line);
    }
    if (fence !== "") return dim(line);
    const [, before = "", symbol = "", rest = ""] = /^(#+ |\s*- )(\S+)( .*)?$/.exec(line) ?? [];
    const tone = tones.get(symbol);
    if (before.startsWith("#")) return tone === undefined ? bold(line) : bold(`${before}${tone(symbol)}${rest}`);
    return tone === undefined ? line : `${before}${tone(symbol)}${rest}`;
  }).join("\n");
}
