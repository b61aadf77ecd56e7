import { proseLines } from "../../../backlog/fences.ts";

const NUMBERED_REGEXP = /^(\s*)(\d+)([.)])\s+(\S.*?)\s*$/;

/**
 * The topics that an understanding prompt lists below its "default order" line. Other numbered lines do not count: the
 * list starts at 1, counts up by one, and is indented or not throughout, and keeps its `)` or `.`.
 */
export function defaultOrder(prompt: string): readonly string[] {
  const lines = proseLines(prompt).map((line) => line.text);
  const start = lines.findIndex((line) => /default order/i.test(line));
  if (start < 0) return [];
  const topics: string[] = [];
  let shape: string | null = null;
  for (const line of lines.slice(start + 1)) {
    if (line.trim() === "" && topics.length === 0) continue;
    const match = NUMBERED_REGEXP.exec(line);
    const [, indent = "", number = "", mark = "", text = ""] = match ?? [];
    const found = `${indent === "" ? "flush" : "indented"} ${mark}`;
    shape ??= found;
    if (match === null || Number(number) !== topics.length + 1 || found !== shape) break;
    topics.push(text);
  }
  return topics;
}
