import type { RalphContext } from "../../../context/context.ts";
import { type CodebaseMap, type MapTopic, parseCodebaseMap } from "./codebase_map.ts";
import { CODEBASE_MAP_FILE, UNDERSTAND_PROMPT_FILE } from "../types.ts";
import { CODEBASE_MAP } from "../../../generated/templates.ts";
import { DEFAULT_TOPICS } from "../scaffold.ts";
import { proseLines } from "../../../backlog/fences.ts";

const NUMBERED_REGEXP = /^(\s*)(\d+)([.)])\s+(\S.*?)\s*$/;

/** The topics to understand, and where they were read. */
export interface Topics {
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
