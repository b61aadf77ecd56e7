import { type Reading, readVerifying } from "./verify_commands.ts";
import type { MarkdownLine } from "../../backlog/fences.ts";
import { type Block, elementsIn, firstWords, openingAt, shortened } from "./tags.ts";
import type { PlanTask, Verifying } from "./types.ts";

/** Elements of a task whose inside is words, in which a tag is no tag of the task. */
const WORDS = ["action", "instructions", "how-to-verify"];
const PARTS = ["verify", "done", "files", "name", "title", "read_first", "acceptance_criteria", "behavior"];
const CHECKPOINT_PARTS = ["what-built", "resume-signal", "decision", "context", "options"];
const ELEMENTS = [...WORDS, ...PARTS, ...CHECKPOINT_PARTS];

/** Reads a `<task>`. */
export function readTask({ attributes, line, lines }: Block, number: number, reading: Reading): PlanTask {
  const elements = new Map<string, Block>();
  const verifies: Block[] = [];
  const isElement = (index: number): boolean => ELEMENTS.includes(openingAt(lines, index)?.name ?? "");
  const found = elementsIn(
    lines,
    reading.report,
    (name, index) =>
      ELEMENTS.includes(name)
        ? { last: true, limit: limitOf(lines, index, name), stop: isElement }
        // a tag inside an element that is not known is no tag of the task: nothing in there is run
        : { stop: () => true, mayBeOpen: true },
  );
  for (const element of found) {
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
export function headingTasks(lines: readonly MarkdownLine[], reading: Reading): readonly PlanTask[] {
  const heads = lines.flatMap(({ text, number, fenced }, index) => {
    const [, marks, rest = ""] = (fenced ? null : /^(#{2,4})\s+Task\s+[\w.-]+\s*(?:[:—–-]\s*)?(.*)$/i.exec(text)) ?? [];
    return marks === undefined ? [] : [{ index, line: number, level: marks.length, title: rest.trim() }];
  });
  return heads.map(({ index, line, level, title }, place) => {
    const until = lines.findIndex(({ text, fenced }, at) =>
      at > index && !fenced && new RegExp(`^#{1,${level}}\\s`).test(text)
    );
    const inside = lines.slice(index + 1, until === -1 ? lines.length : until);
    const found = elementsIn(inside, reading.report, (name) => ({ stop: () => true, mayBeOpen: name !== "verify" }));
    const verifies = [...found].filter(({ name }) => name === "verify");
    return {
      number: place + 1,
      name: title || `Task ${place + 1}`,
      type: null,
      checkpoint: false,
      line,
      ...mergedVerifying(verifies, reading),
    };
  });
}

/** Several verifications as one. */
export function mergedVerifying(blocks: readonly Block[], reading: Reading): Verifying {
  const parts = blocks.map(({ lines }) => readVerifying(lines, reading));
  return {
    commands: parts.flatMap(({ commands }) => commands),
    notCheckable: parts.flatMap(({ notCheckable }) => notCheckable),
  };
}
