import { readVerifying, type Report } from "./commands.ts";
import { list, readFrontMatter, scalar } from "./front_matter.ts";
import { type Line, scanLines } from "./lines.ts";
import { type Block, blockAt, blockText, closingAt, openingAt } from "./tags.ts";
import type { Diagnostic, PlanDocument, PlanTask, Verifying } from "./types.ts";

const NOTHING: Verifying = { commands: [], notCheckable: [] };

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
  const { lines: all, unclosedFence } = scanLines(text.replace(/^\uFEFF/, ""));
  const front = readFrontMatter(all);
  if (front.unclosed) report(1, "the front matter is not closed by a line of `---`");
  if (unclosedFence !== null) report(unclosedFence, "this code fence is never closed: what follows is read as text");
  const lines = all.slice(front.end);

  const { tasks, verifications, blocks } = readBody(lines, report);
  const headings = tasks.length > 0 ? [] : headingTasks(lines, report);
  const body = lines.filter(({ text: words }) => words.trim() !== "" && !/^#\s/.test(words));
  const plan: PlanDocument = {
    frontMatter: front.values,
    tasks: tasks.length > 0 ? tasks : headings,
    verification: merged(verifications.map((block) => readVerifying(block.lines, report))),
    title: titleOf(lines, blocks, scalar(front.values, "objective")),
    context: contextOf(blocks.get("context")),
    successCriteria: criteriaOf(blocks.get("success_criteria")),
    empty: tasks.length === 0 && headings.length === 0 && body.length === 0,
  };
  return { plan, diagnostics };
}

/** Front matter lists, for whoever reads dependencies. */
export function planList(plan: Pick<PlanDocument, "frontMatter">, key: string): readonly string[] {
  return list(plan.frontMatter, key);
}

interface Body {
  readonly tasks: readonly PlanTask[];
  readonly verifications: readonly Block[];
  readonly blocks: ReadonlyMap<string, Block>;
}

/** What holds tasks and verification, so that its inside is looked at. */
const WRAPPERS = new Set(["tasks", "plan", "phase", "wave", "details", "task"]);
/** Blocks that hold words up to their closing tag, whatever stands in between. */
const WORDS = new Set([
  "objective",
  "execution_context",
  "context",
  "interfaces",
  "success_criteria",
  "output",
  "feature",
  "threat_model",
]);

function readBody(lines: readonly Line[], report: Report): Body {
  const tasks: PlanTask[] = [];
  const verifications: Block[] = [];
  const blocks = new Map<string, Block>();
  let index = 0;
  while (index < lines.length) {
    const name = openingAt(lines, index)?.name;
    if (name === "task") {
      const limit = nextTask(lines, index);
      const block = blockAt(lines, index, { limit, last: true, stop: (at) => endsTasks(lines[at]) });
      if (block === null) break;
      if (!block.closed) report(block.line, "<task> is not closed");
      tasks.push(readTask(block, tasks.length + 1, report));
      index = block.end;
    } else if (name === "verification") {
      const block = blockAt(lines, index, {
        stop: (at) => /^[ \t]*<(success_criteria|output)\b/.test(lines[at]?.text ?? ""),
      });
      if (block === null) break;
      if (!block.closed) report(block.line, "<verification> is not closed");
      verifications.push(block);
      index = block.end;
    } else if (name !== undefined && !WRAPPERS.has(name)) {
      // A tag inside other words (an example, the context) is no tag of the plan: nothing in there is run.
      const block = blockAt(lines, index, { limit: wordsEnd(lines, index, name), stop: () => true });
      if (block === null) break;
      if (!block.closed && WORDS.has(name)) report(block.line, `<${name}> is not closed`);
      if (!blocks.has(name)) blocks.set(name, block);
      index = block.closed ? block.end : index + 1;
    } else {
      index += 1;
    }
  }
  return { tasks, verifications, blocks };
}

/** How far the end of a block of words is looked for. */
function wordsEnd(lines: readonly Line[], from: number, name: string): number {
  if (!WORDS.has(name)) return nextTask(lines, from);
  for (let index = from; index < lines.length; index++) {
    if (index > from && openingAt(lines, index)?.name === name) return nextTask(lines, from); // the first was never closed
    if (closingAt(lines[index], name) !== null) return index + 1;
  }
  return nextTask(lines, from);
}

/** Index of the next line with `<task`, or of the end. */
function nextTask(lines: readonly Line[], from: number): number {
  for (let index = from + 1; index < lines.length; index++) {
    if (openingAt(lines, index)?.name === "task") return index;
  }
  return lines.length;
}

function endsTasks(line: Line | undefined): boolean {
  return line !== undefined && !line.fenced &&
    /^[ \t]*<(\/tasks|verification|success_criteria|output)\b/.test(line.text);
}

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

function readTask(block: Block, number: number, report: Report): PlanTask {
  const elements = new Map<string, Block>();
  const verifies: Block[] = [];
  const { lines } = block;
  const opens = (index: number): boolean => ELEMENTS.includes(openingAt(lines, index)?.name ?? "");
  for (let index = 0; index < lines.length;) {
    const name = openingAt(lines, index)?.name;
    if (name === undefined || !ELEMENTS.includes(name)) {
      index += 1;
      continue;
    }
    const found = blockAt(lines, index, { last: true, limit: limitOf(lines, index, name), stop: opens });
    if (found === null) break;
    if (!found.closed) report(found.line, `<${name}> is not closed`);
    if (name === "verify") verifies.push(found);
    else if (!elements.has(name)) elements.set(name, found);
    index = found.end;
  }
  const type = block.attributes["type"] ?? null;
  const named = elements.get("name") ?? elements.get("title");
  const { attributes } = block;
  return {
    number,
    name: (named === undefined ? "" : oneLine(named)) || attributes["name"] || attributes["title"] ||
      attributes["id"] || `Task ${number}`,
    type,
    checkpoint: type !== null && /^(checkpoint|interactive|manual)/i.test(type),
    line: block.line,
    ...merged(verifies.map((verify) => readVerifying(verify.lines, report))),
  };
}

/** How far the last closing tag of an element is looked for: words reach to the next element of the same name, the others to the next one. */
function limitOf(lines: readonly Line[], from: number, name: string): number {
  const words = ["action", "instructions", "how-to-verify"].includes(name);
  for (let index = from + 1; index < lines.length; index++) {
    const other = openingAt(lines, index)?.name;
    if (other !== undefined && (words ? other === name : ELEMENTS.includes(other))) return index;
  }
  return lines.length;
}

/** `### Task 2: Title`, where a plan has no `<task>`. */
function headingTasks(lines: readonly Line[], report: Report): readonly PlanTask[] {
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
        if (!block.closed) report(block.line, "<verify> is not closed");
        verifies.push(readVerifying(block.lines, report));
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
      ...merged(verifies),
    };
  });
}

function merged(parts: readonly Verifying[]): Verifying {
  if (parts.length === 0) return NOTHING;
  return {
    commands: parts.flatMap(({ commands }) => commands),
    notCheckable: parts.flatMap(({ notCheckable }) => notCheckable),
  };
}

function titleOf(lines: readonly Line[], blocks: ReadonlyMap<string, Block>, inFront: string | null): string | null {
  const objective = blocks.get("objective");
  const first = objective === undefined
    ? undefined
    : blockText(objective).split("\n").find((text) => text.trim() !== "");
  const heading = lines.find(({ text, fenced }) => !fenced && /^#\s+\S/.test(text))?.text.replace(/^#\s+/, "");
  const title = first?.trim() ?? inFront ?? heading?.trim() ?? null;
  return title === null ? null : title.length > 160 ? `${title.slice(0, 159)}…` : title;
}

function contextOf(block: Block | undefined): readonly string[] {
  return (block?.lines ?? []).flatMap(({ text }) => {
    const [, path] = /^\s*(?:[-*]\s+)?@(\S+)/.exec(text) ?? [];
    return path === undefined ? [] : [path];
  });
}

function criteriaOf(block: Block | undefined): readonly string[] {
  return (block?.lines ?? []).map(({ text }) => text.replace(/^\s*(?:[-*]\s+)?(?:\[.\]\s+)?/, "").trim()).filter((
    text,
  ) => text !== "");
}

function oneLine(block: Block): string {
  return blockText(block).replaceAll(/\s+/g, " ");
}
