import { type Reading, readVerifying, type Report } from "./verify_commands.ts";
import { readFrontMatter, scalar } from "./front_matter.ts";
import { shortened } from "../../host/data.ts";
import { type MarkdownLine, markdownLines, sectionEnd } from "../../backlog/fences.ts";
import type { Diagnostic, PlanDocument, PlanTask, Verifying } from "./types.ts";

/**
 * Reads a PLAN.md by lines: it is Markdown with tags in it, not XML. Never throws; what it could not make sense of is
 * among the diagnostics.
 *
 * @param file the name that diagnostics carry
 */
export function parsePlan(
  text: string,
  file: string,
): { readonly plan: PlanDocument; readonly diagnostics: readonly Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const report: Report = (line, message) => void diagnostics.push({ file, line, message });
  const { lines: all, unclosedFence } = markdownLines(text.replace(/^\uFEFF/, ""));
  const front = readFrontMatter(all);
  if (front.unclosed) report(1, "the front matter is not closed by a line of `---`");
  if (unclosedFence !== null) report(unclosedFence, "this code fence is never closed: all that follows is code");
  const lines = tagsApart(all.slice(front.end));
  const seen: number[] = [];
  const reading: Reading = { report, seen: (line) => void seen.push(line) };

  const { tasks, verifications, blocks } = readBody(lines, reading);
  const headings = tasks.length > 0 ? [] : headingTasks(lines, reading);
  const body = lines.filter(({ text: words }) => words.trim() !== "" && !/^#\s/.test(words));
  const heading = lines.find(({ text: words, fenced }) => !fenced && /^#\s+\S/.test(words));
  const title = firstWords(blocks.get("objective")) ?? scalar(front.values, "objective") ??
    heading?.text.replace(/^#\s+/, "").trim();
  const plan: PlanDocument = {
    frontMatter: front.values,
    tasks: tasks.length > 0 ? tasks : headings,
    verification: mergedVerifying(verifications, reading),
    title: title === undefined ? null : shortened(title, 160),
    empty: tasks.length === 0 && headings.length === 0 && body.length === 0,
  };
  for (const [line, count] of checkTags(lines)) {
    if (seen.filter((one) => one === line).length >= count) continue;
    report(line, "a check outside of `<verify>` and `<verification>`, or behind other text on its line: not run");
  }
  return { plan, diagnostics };
}

/** These tags hold tasks and verification, so that their inside is looked at. */
const WRAPPERS = ["tasks", "plan", "phase", "wave", "details"];
/** Blocks that hold words up to their closing tag, whatever is in between. */
const WORDS_REGEXP =
  /^(?:objective|execution_context|context|interfaces|success_criteria|output|feature|threat_model)$/;

function readBody(lines: readonly MarkdownLine[], reading: Reading) {
  const tasks: PlanTask[] = [];
  const verifications: Block[] = [];
  const blocks = new Map<string, Block>();
  const starts = lines.flatMap((_, index) => openingAt(lines, index)?.name === "task" ? [index] : []);
  for (const block of elementsIn(lines, reading.report, reachOf)) {
    if (block.name === "task") tasks.push(readTask(block, tasks.length + 1, reading));
    else if (block.name === "verification") verifications.push(block);
    else if (!blocks.has(block.name)) blocks.set(block.name, block);
  }
  return { tasks, verifications, blocks };

  function reachOf(name: string, index: number): Reach | null {
    const nextTask = starts.find((start) => start > index) ?? lines.length;
    if (name === "task") return { limit: nextTask, last: true, stop: endsTasks };
    if (name === "verification") {
      return { stop: (at) => /^[ \t]*<(success_criteria|output)\b/.test(lines[at]?.text ?? "") };
    }
    if (WRAPPERS.includes(name)) return null;
    // A tag inside other words (an example, the context) is no tag of the plan: nothing in there is run.
    const isWords = WORDS_REGEXP.test(name);
    return { limit: (isWords ? wordsEnd(index, name) : null) ?? nextTask, stop: () => true, mayBeOpen: !isWords };
  }

  function endsTasks(index: number): boolean {
    const { text = "", fenced = true } = lines[index] ?? {};
    return !fenced && /^[ \t]*<(\/tasks|verification|success_criteria|output)\b/.test(text);
  }

  /** How far the end of a block of words is looked for; `null` where the first one was never closed. */
  function wordsEnd(from: number, name: string): number | null {
    for (let index = from; index < lines.length; index++) {
      if (index > from && openingAt(lines, index)?.name === name) return null;
      if (closingAt(lines[index], name) !== null) return index + 1;
    }
    return null;
  }
}

/** Elements of a task whose inside is words, in which a tag is no tag of the task. */
const WORDS = ["action", "instructions", "how-to-verify"];
const PARTS = ["verify", "done", "files", "name", "title", "read_first", "acceptance_criteria", "behavior"];
const CHECKPOINT_PARTS = ["what-built", "resume-signal", "decision", "context", "options"];
const ELEMENTS = [...WORDS, ...PARTS, ...CHECKPOINT_PARTS];

/** Reads a `<task>`. */
function readTask({ attributes, line, lines }: Block, number: number, reading: Reading): PlanTask {
  const elements = new Map<string, Block>();
  const verifies: Block[] = [];
  const isElement = (index: number): boolean => ELEMENTS.includes(openingAt(lines, index)?.name ?? "");
  const reachOf = (name: string, index: number): Reach => {
    // a tag inside an element that is not known is no tag of the task: nothing in there is run
    if (!ELEMENTS.includes(name)) return { stop: () => true, mayBeOpen: true };
    return { last: true, limit: limitOf(lines, index, name), stop: isElement };
  };
  for (const element of elementsIn(lines, reading.report, reachOf)) {
    if (element.name === "verify") verifies.push(element);
    else if (!elements.has(element.name)) elements.set(element.name, element);
  }
  const type = attributes["type"] ?? null;
  const named = (elements.get("name") ?? elements.get("title"))?.lines.map(({ text }) => text).join(" ");
  const checkpoint = type !== null && /^(checkpoint|interactive|manual)/i.test(type);
  return {
    number,
    name: named?.trim().replaceAll(/\s+/g, " ") || attributes["name"] || attributes["title"] ||
      (checkpoint ? subjectOf(elements) : "") || attributes["id"] || `Task ${number}`,
    type,
    checkpoint,
    line,
    ...mergedVerifying(verifies, reading),
  };
}

/** The thing that a person is to look at, decide or do: GSD's checkpoints have no name. */
function subjectOf(elements: ReadonlyMap<string, Block>): string {
  const words = ["what-built", "decision", ...WORDS].map((name) => firstWords(elements.get(name)));
  const first = words.find((text) => text !== undefined) ?? "";
  return shortened(first.replace(/^(?:[-*]|\d+\.)\s+/, ""), 100);
}

/** How far the last closing tag of an element is looked for: words reach to the next element of the same name, the others to the next one. */
function limitOf(lines: readonly MarkdownLine[], from: number, name: string): number {
  for (let index = from + 1; index < lines.length; index++) {
    const other = openingAt(lines, index)?.name;
    if (other !== undefined && (WORDS.includes(name) ? other === name : ELEMENTS.includes(other))) return index;
  }
  return lines.length;
}

/** `### Task 2: Title`, where a plan has no `<task>`. */
function headingTasks(lines: readonly MarkdownLine[], reading: Reading): readonly PlanTask[] {
  const heads = lines.flatMap(({ text, number, fenced }, index) => {
    const [whole, rest = ""] = (fenced ? null : /^#{2,4}\s+Task\s+[\w.-]+\s*(?:[:—–-]\s*)?(.*)$/i.exec(text)) ?? [];
    return whole === undefined ? [] : [{ index, line: number, title: rest.trim() }];
  });
  return heads.map(({ index, line, title }, place) => {
    const inside = lines.slice(index + 1, sectionEnd(lines, index));
    const found = elementsIn(inside, reading.report, (name) => ({ stop: () => true, mayBeOpen: name !== "verify" }));
    return {
      number: place + 1,
      name: title || `Task ${place + 1}`,
      type: null,
      checkpoint: false,
      line,
      ...mergedVerifying([...found].filter(({ name }) => name === "verify"), reading),
    };
  });
}

/** Several verifications as one. */
function mergedVerifying(blocks: readonly Block[], reading: Reading): Verifying {
  const parts = blocks.map(({ lines }) => readVerifying(lines, reading));
  return {
    commands: parts.flatMap(({ commands }) => commands),
    notCheckable: parts.flatMap(({ notCheckable }) => notCheckable),
  };
}

/** An element found by its tags at the start of a line, outside code fences. */
interface Block {
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
function tagsApart(lines: readonly MarkdownLine[]): readonly MarkdownLine[] {
  return lines.flatMap((line) => {
    if (line.fenced || !line.text.includes(">")) return [line];
    const apart = line.text.replace(JOINT_REGEXP, (tag, _, at: number) => isQuoted(line.text, at) ? tag : `${tag}\n`);
    return apart === line.text ? [line] : apart.split("\n").map((text) => ({ ...line, text }));
  });
}

/** How many checks each line opens, outside of code. Pure. */
function checkTags(lines: readonly MarkdownLine[]): ReadonlyMap<number, number> {
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
function openingAt(lines: readonly MarkdownLine[], index: number): Opening | null {
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
function closingAt(line: MarkdownLine | undefined, name: string): string | null {
  if (line === undefined || line.fenced) return null;
  const at = line.text.lastIndexOf(`</${name}>`);
  return at === -1 ? null : line.text.slice(0, at);
}

/** How far an element reaches. */
interface Reach {
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
function* elementsIn(
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
function firstWords(block: Block | undefined): string | undefined {
  return block?.lines.map(({ text }) => text.trim()).find((text) => text !== "");
}
