import type { MarkdownLine } from "../../backlog/fences.ts";

/** An element found by its tags at the start of a line, outside code fences. */
export interface Block {
  readonly name: string;
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

/** An opening tag. */
interface Opening extends Pick<Block, "attributes" | "line" | "name"> {
  /** The line that it ends on, and what follows it there. */
  readonly index: number;
  readonly rest: string;
}

/** The opening tag at the start of a line. */
export function openingAt(lines: readonly MarkdownLine[], index: number): Opening | null {
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
    return { name, line: first.number, attributes, rest: text.slice(match[0].length), index: at };
  }
  return null;
}

/** True where the line holds this closing tag; the text before it. */
export function closingAt(line: MarkdownLine | undefined, name: string): string | null {
  if (line === undefined || line.fenced) return null;
  const at = line.text.lastIndexOf(`</${name}>`);
  return at === -1 ? null : line.text.slice(0, at);
}

/** How far an element reaches. */
export interface Reach {
  /** Index of the line before which its closing tag is looked for. @default the end */
  readonly limit?: number;
  /** It ends with the last closing tag of its name, not with the first. */
  readonly last?: boolean;
  /** One that is not closed ends before the first line that this names. */
  readonly stop: (index: number) => boolean;
  /** One that is not closed is no mistake. */
  readonly mayBeOpen?: boolean;
}

/** The elements of these lines, one behind the other; those without a reach are taken for lines like others. */
export function* elementsIn(
  lines: readonly MarkdownLine[],
  report: (line: number, message: string) => void,
  reachOf: (name: string, index: number) => Reach | null,
): Generator<Block> {
  for (let index = 0; index < lines.length;) {
    const open = openingAt(lines, index);
    const reach = open === null ? null : reachOf(open.name, index);
    if (open === null || reach === null) {
      index += 1;
      continue;
    }
    const block = blockOf(lines, open, reach);
    if (!block.closed && reach.mayBeOpen !== true) report(block.line, `<${open.name}> is not closed`);
    yield block;
    index = block.end;
  }
}

function blockOf(
  lines: readonly MarkdownLine[],
  { name, line, attributes, rest, index }: Opening,
  { limit = lines.length, last = false, stop }: Reach,
): Block {
  const head: MarkdownLine = { text: rest, number: lines[index]?.number ?? line, fenced: false };
  let close: MarkdownLine | null = null;
  let at = index;
  for (let next = index; next < limit && (close === null || last); next++) {
    const candidate = next === index ? head : lines[next];
    const before = closingAt(candidate, name);
    if (candidate === undefined || before === null) continue;
    const behind = candidate.text.slice(before.length + name.length + 3).trim();
    if (last && behind !== "" && !behind.startsWith("<")) continue; // a tag that the words speak of
    close = { ...candidate, text: before };
    at = next;
  }
  const closed = close !== null;
  if (close === null) { while (at + 1 < limit && !stop(at + 1)) at += 1; }
  const inside = lines.slice(index + 1, closed ? at : at + 1);
  const tail = close === null ? [] : [close];
  return {
    name,
    line,
    attributes,
    lines: closed && at === index ? tail : [head, ...inside, ...tail],
    closed,
    end: at + 1,
  };
}

/** The first line of a block that says something. */
export function firstWords(block: Block | undefined): string | undefined {
  return block?.lines.map(({ text }) => text.trim()).find((text) => text !== "");
}

/** A text of at most so many characters. */
export function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
