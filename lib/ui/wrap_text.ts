import stringWidth from "fast-string-width";

/** A word: text in back-ticks is one, so that a command can be copied; a colour belongs to the word that it paints. */
const WORD_REGEXP = /(?:`[^`\n]*`|[^\s`])+|`/g;
/**
 * A line begins with this, and the rest hangs behind it: its indentation, a mark, and a name that two spaces follow.
 */
const HANG_REGEXP = /^(\s*)(?:(?:\u001b\[\d+m)*[^\w\s`'"(<[{](?:\u001b\[\d+m)* +)?(?:[\w.-]+ {2,})?/u;

/**
 * The text in lines of at most so many columns, broken between words: what follows hangs below the beginning. A word that
 * is wider than a line, a path for one, is left whole. Pure.
 */
export function wrapText(text: string, columns: number): string {
  return text.split("\n").map((line) => stringWidth(line) <= columns ? line : wrapLine(line, columns)).join("\n");
}

function wrapLine(line: string, columns: number): string {
  const hang = " ".repeat(Math.min(stringWidth(HANG_REGEXP.exec(line)?.[0] ?? ""), Math.floor(columns / 2)));
  const lines: string[] = [];
  let current = "";
  let width = 0;
  let end = 0;
  for (const match of line.matchAll(WORD_REGEXP)) {
    const part = line.slice(end, match.index) + match[0];
    const wide = stringWidth(part);
    end = match.index + match[0].length;
    if (current.trim() === "" || width + wide <= columns) {
      current += part;
      width += wide;
    } else {
      lines.push(current);
      current = hang + match[0];
      width = stringWidth(current);
    }
  }
  return [...lines, current].join("\n");
}
