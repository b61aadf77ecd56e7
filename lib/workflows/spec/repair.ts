const MARKER_REGEXP = /^(<{7}|\|{7}|={7}|>{7})(?: |\r?$)/;

/** Number of the first line, from 1, that is a conflict marker of git's, or `null`. */
export function conflictLine(lines: readonly string[]): number | null {
  const at = lines.findIndex((line) => MARKER_REGEXP.test(line));
  return at < 0 ? null : at + 1;
}

/** A file without its conflict markers: both sides' lines, each once; what both had in common before is left out. Pure. */
export function withoutConflicts(text: string): string {
  const kept: string[] = [];
  let conflict: { side: "ours" | "base" | "theirs"; readonly lines: Set<string> } | null = null;
  for (const line of text.split("\n")) {
    const marker = MARKER_REGEXP.exec(line)?.[1]?.[0];
    if (marker === "<") conflict = { side: "ours", lines: new Set() };
    else if (marker === "|" && conflict !== null) conflict.side = "base";
    else if (marker === "=" && conflict !== null) conflict.side = "theirs";
    else if (marker === ">") conflict = null;
    else if (marker !== undefined) continue; // a marker without its beginning
    else if (conflict === null) kept.push(line);
    else if (conflict.side !== "base" && !conflict.lines.has(line)) {
      conflict.lines.add(line);
      kept.push(line);
    }
  }
  return kept.join("\n");
}
