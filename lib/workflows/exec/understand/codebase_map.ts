import { isCalendarDay } from "../../../host/local_date.ts";
import { type MarkdownLine, proseLines } from "../../../backlog/fences.ts";
import type { RalphContext } from "../../../context/context.ts";
import { CODEBASE_MAP_FILE, UNDERSTAND_PROMPT_FILE } from "../types.ts";
import { CODEBASE_MAP } from "../../../generated/templates.ts";
import { DEFAULT_TOPICS } from "../scaffold.ts";

/** One item of the map's checklist. */
interface MapTopic {
  readonly text: string;
  readonly checked: boolean;
  /** Index of its line in the file, from 0. */
  readonly line: number;
}

/** A note that the map holds: `## 2026-01-17 - Topic`. */
interface MapEntry {
  readonly date: string;
  readonly topic: string;
}

/** The content of `codebase_map.md`. */
export interface CodebaseMap {
  /** The checklist under the first `Next Topics` heading, or `null` when that is missing or holds no item. */
  readonly topics: readonly MapTopic[] | null;
  readonly entries: readonly MapEntry[];
}

/** How old a map is. */
export interface MapAge {
  readonly stale: boolean;
  /** The most recent day of an entry that is not in the future, or `null`. */
  readonly lastEntry: string | null;
  readonly warnings: readonly string[];
}

/** Also a heading that an edit damaged by a `-` or `*` glued before it. */
const HEADING_REGEXP = /^[-*\s]*(#{1,6})\s*(\S.*?)(?:\s+#+)?\s*$/;
const ENTRY_REGEXP = /^\[?(\d{4}-\d{2}-\d{2})\]?\s*[-–—:]\s*(.*)$/;
const ITEM_REGEXP = /^\s*[-*+]\s+\[([ xX])\]\s+(\S.*?)\s*$/;
const NEXT_TOPICS_REGEXP = /^next topics\b/i;

/** Reads a codebase map. Never throws: whatever it does not know it leaves out. Code fences do not count. */
export function parseCodebaseMap(text: string): CodebaseMap {
  const lines = proseLines(text);
  return { topics: parseTopics(lines), entries: lines.flatMap(parseEntry) };
}

/**
 * A map is stale when its last entry is older than today, or when it has none.
 *
 * @param today local day, `YYYY-MM-DD`
 */
export function mapAge(map: CodebaseMap, today: string): MapAge {
  const dates = [...new Set(map.entries.map((entry) => entry.date))].toSorted();
  const lastEntry = dates.findLast((date) => date <= today) ?? null;
  const future = dates.filter((date) => date > today);
  return {
    stale: lastEntry === null || lastEntry < today,
    lastEntry,
    warnings: future.map((date) => `an entry dated ${date} is in the future and is ignored`),
  };
}

/** The map with one topic ticked or open again; the same text when it is so already or not there. */
export function tickTopic(
  text: string,
  topic: string,
  { checked = true }: { readonly checked?: boolean } = {},
): string {
  const found = parseCodebaseMap(text).topics?.find((item) => item.text === topic && item.checked !== checked);
  if (found === undefined) return text;
  const lines = text.split("\n");
  lines[found.line] = (lines[found.line] ?? "").replace(/\[[ xX]\]/, checked ? "[x]" : "[ ]");
  return lines.join("\n");
}

function parseTopics(lines: readonly MarkdownLine[]): readonly MapTopic[] | null {
  const start = lines.findIndex(({ text }) => {
    const heading = headingOf(text);
    return heading !== null && (heading.level === 2 || heading.level === 3) && NEXT_TOPICS_REGEXP.test(heading.title);
  });
  const level = headingOf(lines[start]?.text ?? "")?.level ?? 0;
  const rest = lines.slice(start + 1);
  const end = rest.findIndex(({ text }) => (headingOf(text)?.level ?? Infinity) <= level);
  const section = start < 0 ? [] : rest.slice(0, end < 0 ? undefined : end);
  const topics = section.flatMap(({ text, number }) => {
    const match = ITEM_REGEXP.exec(text);
    return match === null ? [] : [{ text: match[2] ?? "", checked: match[1] !== " ", line: number - 1 }];
  });
  return topics.length === 0 ? null : topics;
}

/** The heading on a line. `#tag` glued to a word is one only where it is a `##` or deeper. */
function headingOf(line: string): { readonly level: number; readonly title: string } | null {
  const match = HEADING_REGEXP.exec(line);
  if (match === null) return null;
  const level = (match[1] ?? "").length;
  const title = match[2] ?? "";
  if (level === 1 && !/^[-*\s]*#\s/.test(line)) return null;
  return { level, title };
}

function parseEntry({ text }: MarkdownLine): readonly MapEntry[] {
  const heading = headingOf(text);
  if (heading === null || heading.level < 2 || heading.level > 3) return [];
  const match = ENTRY_REGEXP.exec(heading.title);
  const date = match?.[1] ?? "";
  return isCalendarDay(date) ? [{ date, topic: (match?.[2] ?? "").replace(/^\[(.*)\]$/, "$1").trim() }] : [];
}

const NUMBERED_REGEXP = /^(\s*)(\d+)([.)])\s+(\S.*?)\s*$/;

/** The topics to understand, and where they were read. */
interface Topics {
  /** A checked one was looked at. */
  readonly all: readonly Pick<MapTopic, "checked" | "text">[];
  readonly open: number;
  /** How the number came about, for a person: `12 unchecked topics under …`. */
  readonly counted: string;
}

/**
 * The topics of a map: its checklist, or where it has none the default order of the understanding prompt. A missing map
 * counts as the template that will be made of it.
 *
 * @param map text of the codebase map, `null` when there is none
 * @param prompt text of `understand_prompt.md`, `null` when there is none
 */
export function readTopics(map: string | null, prompt: string | null): Topics {
  const parsed = parseCodebaseMap(map ?? CODEBASE_MAP);
  if (parsed.topics !== null) {
    const all = parsed.topics;
    const open = all.filter(({ checked }) => !checked).length;
    const where = map === null ? "in the template of the map" : `under \`## Next Topics\` in ${CODEBASE_MAP_FILE}`;
    return { all, open, counted: `${open} unchecked ${open === 1 ? "topic" : "topics"} ${where}` };
  }
  const named = defaultOrder(prompt ?? "");
  const topics = named.length > 0 ? named : DEFAULT_TOPICS;
  const all = topics.map((text) => ({ text, checked: isCovered(parsed, text) }));
  const where = named.length > 0 ? UNDERSTAND_PROMPT_FILE : "the built-in list";
  return {
    all,
    open: topics.length,
    counted: `${topics.length} default topics of ${where}: the map has no checklist under \`## Next Topics\``,
  };
}

/** The same of the files that are here, and the map's text. */
export async function loadTopics(
  { state }: Pick<RalphContext, "state">,
): Promise<Topics & { readonly map: string | null }> {
  const map = await state.read(CODEBASE_MAP_FILE);
  return { ...readTopics(map, await state.read(UNDERSTAND_PROMPT_FILE)), map };
}

/** Without a checklist a topic counts as understood when a dated entry carries its name. */
export function isCovered(map: CodebaseMap, topic: string): boolean {
  const plain = (text: string): string => text.replace(/\(.*$/, "").trim().toLowerCase();
  return map.entries.some((entry) => plain(entry.topic) === plain(topic));
}

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
