import type { MarkdownLine } from "../../backlog/fences.ts";

/** An element found by its tags at the start of a line, outside code fences. */
export interface Block {
  /** Number of the line with the opening tag. */
  readonly line: number;
  readonly attributes: Readonly<Record<string, string>>;
  /** The lines between the tags; the first and the last line without them. */
  readonly lines: readonly MarkdownLine[];
  readonly closed: boolean;
  /** Index of the line behind it. */
  readonly end: number;
}

/** GSD's own tags: a line that holds several of them is taken apart. */
const NAMES =
  "tasks?|plan|phase|wave|name|title|files|read_first|action|instructions|behavior|how-to-verify|what-built|" +
  "decision|context|options|resume-signal|acceptance_criteria|verify|verification|check|done|success_criteria|output";
const JOINT_REGEXP = new RegExp(
  `(</(?:${NAMES})>|<(?:tasks?|plan|phase|wave)(?:\\s[^<>]*)?>)[ \\t]*(?=<(?:${NAMES})[\\s>])`,
  "g",
);
const CHECK_REGEXP = /<automated(?:[ \t][^<>]*)?>|<command(?:[ \t][^<>]*)?>(?=.*<\/command>)/g;

/** Each of GSD's tags that follows another one at the start of a line, as the readers want it; numbers stay. Pure. */
export function tagsApart(lines: readonly MarkdownLine[]): readonly MarkdownLine[] {
  return lines.flatMap((line) => {
    if (line.fenced || !line.text.includes(">")) return [line];
    const apart = line.text.replace(JOINT_REGEXP, (tag, _, at: number) => isQuoted(line.text, at) ? tag : `${tag}\n`);
    return apart === line.text ? [line] : apart.split("\n").map((text) => ({ ...line, text }));
  });
}

/** How many checks each line opens, outside of code. Pure. */
export function checkTags(lines: readonly MarkdownLine[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const { text, number, fenced } of lines) {
    if (fenced) continue;
    const found = [...text.matchAll(CHECK_REGEXP)].filter(({ index }) => !isQuoted(text, index)).length;
    if (found > 0) counts.set(number, (counts.get(number) ?? 0) + found);
  }
  return counts;
}

/** In back-ticks. */
function isQuoted(text: string, at: number): boolean {
  return text.slice(0, at).split("`").length % 2 === 0;
}

const ATTRIBUTE_REGEXP = /([\w:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

/** The opening tag at the start of a line: its name, attributes, and what follows it on the line that it ends on. */
export function openingAt(
  lines: readonly MarkdownLine[],
  index: number,
):
  | { readonly name: string; readonly attributes: Block["attributes"]; readonly rest: string; readonly index: number }
  | null {
  const first = lines[index];
  if (first === undefined || first.fenced) return null;
  const [, name] = /^[ \t]*<([A-Za-z][\w:-]*)(?=[\s>/]|$)/.exec(first.text) ?? [];
  if (name === undefined) return null;
  let text = first.text;
  for (let at = index; at < Math.min(index + 6, lines.length); at++) {
    if (at > index) text += `\n${lines[at]?.text ?? ""}`;
    const match = /^[ \t]*<[A-Za-z][\w:-]*((?:\s+[\w:-]+(?:\s*=\s*(?:"[^"]*"|'[^']*'))?)*)\s*(\/?)>/.exec(text);
    if (match === null) continue;
    const attributes = Object.fromEntries(
      [...(match[1] ?? "").matchAll(ATTRIBUTE_REGEXP)].map(([, key, double, single]) => [key, double ?? single ?? ""]),
    );
    return { name, attributes, rest: text.slice(match[0].length), index: at };
  }
  return null;
}

/** True where the line holds this closing tag; the text before it. */
export function closingAt(line: MarkdownLine | undefined, name: string): string | null {
  if (line === undefined || line.fenced) return null;
  const at = line.text.lastIndexOf(`</${name}>`);
  return at === -1 ? null : line.text.slice(0, at);
}

/**
 * The element that opens on a line. It ends with the first closing tag of its name, or with the last one before
 * `limit`; where there is none, before the first line that `stop` names.
 */
export function blockAt(
  lines: readonly MarkdownLine[],
  index: number,
  options: { readonly limit?: number; readonly last?: boolean; readonly stop?: (index: number) => boolean } = {},
): Block | null {
  const open = openingAt(lines, index);
  const line = lines[index];
  if (open === null || line === undefined) return null;
  const { limit = lines.length, last = false, stop = () => false } = options;
  const head: MarkdownLine = { text: open.rest, number: lines[open.index]?.number ?? line.number, fenced: false };
  const of = { line: line.number, attributes: open.attributes };
  let close: { readonly at: number; readonly before: string } | null = null;
  for (let at = open.index; at < limit; at++) {
    const candidate = at === open.index ? head : lines[at];
    const before = closingAt(candidate, open.name);
    if (before === null || (last && isMention(candidate, before, open.name))) continue;
    close = { at, before };
    if (!last) break;
  }
  if (close === null) {
    let end = open.index + 1;
    while (end < limit && !stop(end)) end += 1;
    return { ...of, lines: [head, ...lines.slice(open.index + 1, end)], closed: false, end };
  }
  const { at, before } = close;
  if (at === open.index) return { ...of, lines: [{ ...head, text: before }], closed: true, end: at + 1 };
  const tail: MarkdownLine = { ...(lines[at] as MarkdownLine), text: before };
  return { ...of, lines: [head, ...lines.slice(open.index + 1, at), tail], closed: true, end: at + 1 };
}

/** A closing tag with words behind it is one that the words speak of. */
function isMention(line: MarkdownLine | undefined, before: string, name: string): boolean {
  const rest = line?.text.slice(before.length + name.length + 3).trim() ?? "";
  return rest !== "" && !rest.startsWith("<");
}

/** The words of a block, without the empty lines around them. */
export function blockText({ lines }: Pick<Block, "lines">): string {
  return lines.map(({ text }) => text).join("\n").trim();
}
