/** Characters of it that are quoted. */
const LAST_LINE = 200;

/** How an agent ended, quoted: the shortest true thing about an answer that claims nothing. Pure. */
export function endedWith(lines: readonly string[]): string {
  const last = lines.at(-1)?.replaceAll(/[\s\p{Cc}\p{Cf}\uFFFD]+/gu, " ").trim() ?? "";
  return last === "" ? "" : `; it ended with: "${last.length > LAST_LINE ? `${last.slice(0, LAST_LINE)}…` : last}"`;
}
