import { type Reading, readVerifying } from "./verify_commands.ts";
import type { MarkdownLine } from "../../backlog/fences.ts";
import { type Block, blockAt, blockText, openingAt } from "./tags.ts";
import type { PlanTask, Verifying } from "./types.ts";

/** Elements of a task; the inside of the first three is words, in which a tag is no tag of the task. */
const ELEMENTS = [
  "action",
  "instructions",
  "how-to-verify",
  "verify",
  "done",
  "files",
  "name",
  "title",
  "read_first",
  "acceptance_criteria",
  "behavior",
  "what-built",
  "resume-signal",
  "decision",
  "context",
  "options",
];

/** Reads a `<task>`. */
export function readTask(block: Block, number: number, reading: Reading): PlanTask {
  const elements = new Map<string, Block>();
  const verifies: Block[] = [];
  const { lines } = block;
  const opens = (index: number): boolean => ELEMENTS.includes(openingAt(lines, index)?.name ?? "");
  for (let index = 0; index < lines.length;) {
    const name = openingAt(lines, index)?.name;
    if (name === undefined || !ELEMENTS.includes(name)) {
      // a tag inside an element that is not known is no tag of the task: nothing in there is run
      const other = name === undefined ? null : blockAt(lines, index);
      index = other?.closed === true ? other.end : index + 1;
      continue;
    }
    const found = blockAt(lines, index, { last: true, limit: limitOf(lines, index, name), stop: opens });
    if (found === null) break;
    if (!found.closed) reading.report(found.line, `<${name}> is not closed`);
    if (name === "verify") verifies.push(found);
    else if (!elements.has(name)) elements.set(name, found);
    index = found.end;
  }
  const type = block.attributes["type"] ?? null;
  const named = elements.get("name") ?? elements.get("title");
  const { attributes } = block;
  const checkpoint = type !== null && /^(checkpoint|interactive|manual)/i.test(type);
  return {
    number,
    name: (named === undefined ? "" : oneLine(named)) || attributes["name"] || attributes["title"] ||
      (checkpoint ? subjectOf(elements) : "") || attributes["id"] || `Task ${number}`,
    type,
    checkpoint,
    line: block.line,
    ...mergedVerifying(verifies.map((verify) => readVerifying(verify.lines, reading))),
  };
}

/** The thing that a person is to look at, decide or do: GSD's checkpoints have no name. */
function subjectOf(elements: ReadonlyMap<string, Block>): string {
  for (const name of ["what-built", "decision", "action", "instructions", "how-to-verify"]) {
    const block = elements.get(name);
    const first = block === undefined ? undefined : blockText(block).split("\n").find((line) => line.trim() !== "");
    if (first !== undefined) return shortened(first.trim().replace(/^(?:[-*]|\d+\.)\s+/, ""));
  }
  return "";
}

function shortened(text: string): string {
  return text.length > 100 ? `${text.slice(0, 99)}…` : text;
}

/** How far the last closing tag of an element is looked for: words reach to the next element of the same name, the others to the next one. */
function limitOf(lines: readonly MarkdownLine[], from: number, name: string): number {
  const words = ["action", "instructions", "how-to-verify"].includes(name);
  for (let index = from + 1; index < lines.length; index++) {
    const other = openingAt(lines, index)?.name;
    if (other !== undefined && (words ? other === name : ELEMENTS.includes(other))) return index;
  }
  return lines.length;
}

/** `### Task 2: Title`, where a plan has no `<task>`. */
export function headingTasks(lines: readonly MarkdownLine[], reading: Reading): readonly PlanTask[] {
  const heads = lines.flatMap(({ text, fenced }, index) => {
    const [, marks, rest] = (fenced ? null : /^(#{2,4})\s+Task\s+[\w.-]+\s*(?:[:—–-]\s*)?(.*)$/i.exec(text)) ?? [];
    return marks === undefined ? [] : [{ index, level: marks.length, title: (rest ?? "").trim() }];
  });
  return heads.map(({ index, level, title }, place) => {
    const until = lines.findIndex(({ text, fenced }, at) =>
      at > index && !fenced && new RegExp(`^#{1,${level}}\\s`).test(text)
    );
    const inside = lines.slice(index + 1, until === -1 ? lines.length : until);
    const verifies: Verifying[] = [];
    for (let at = 0; at < inside.length;) {
      const name = openingAt(inside, at)?.name;
      const block = name === undefined ? null : blockAt(inside, at, { stop: () => true });
      if (block !== null && name === "verify") {
        if (!block.closed) reading.report(block.line, "<verify> is not closed");
        verifies.push(readVerifying(block.lines, reading));
      }
      at = block === null || !block.closed ? at + 1 : block.end;
    }
    const line = lines[index]?.number ?? 0;
    return {
      number: place + 1,
      name: title || `Task ${place + 1}`,
      type: null,
      checkpoint: false,
      line,
      ...mergedVerifying(verifies),
    };
  });
}

/** Several verifications as one. */
export function mergedVerifying(parts: readonly Verifying[]): Verifying {
  if (parts.length === 0) return { commands: [], notCheckable: [] };
  return {
    commands: parts.flatMap(({ commands }) => commands),
    notCheckable: parts.flatMap(({ notCheckable }) => notCheckable),
  };
}

function oneLine(block: Block): string {
  return blockText(block).replaceAll(/\s+/g, " ");
}
