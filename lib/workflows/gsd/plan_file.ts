import { type Reading, readVerifying, type Report } from "./verify_commands.ts";
import { list, readFrontMatter, scalar } from "./front_matter.ts";
import { type MarkdownLine, markdownLines } from "../../backlog/fences.ts";
import { type Block, blockAt, blockText, checkTags, closingAt, openingAt, tagsApart } from "./tags.ts";
import { headingTasks, mergedVerifying, readTask } from "./tasks.ts";
import type { Diagnostic, PlanDocument, PlanTask } from "./types.ts";

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
  const plan: PlanDocument = {
    frontMatter: front.values,
    tasks: tasks.length > 0 ? tasks : headings,
    verification: mergedVerifying(verifications.map((block) => readVerifying(block.lines, reading))),
    title: titleOf(lines, blocks, scalar(front.values, "objective")),
    context: contextOf(blocks.get("context")),
    successCriteria: criteriaOf(blocks.get("success_criteria")),
    empty: tasks.length === 0 && headings.length === 0 && body.length === 0,
  };
  for (const [line, count] of checkTags(lines)) {
    if (seen.filter((one) => one === line).length >= count) continue;
    report(line, "a check outside of `<verify>` and `<verification>`, or behind other text on its line: not run");
  }
  return { plan, diagnostics };
}

/** Front matter lists, for readers of dependencies. */
export function planList(plan: Pick<PlanDocument, "frontMatter">, key: string): readonly string[] {
  return list(plan.frontMatter, key);
}

interface Body {
  readonly tasks: readonly PlanTask[];
  readonly verifications: readonly Block[];
  readonly blocks: ReadonlyMap<string, Block>;
}

/** These tags hold tasks and verification, so that their inside is looked at. */
const WRAPPERS = new Set(["tasks", "plan", "phase", "wave", "details", "task"]);
/** Blocks that hold words up to their closing tag, whatever is in between. */
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

function readBody(lines: readonly MarkdownLine[], reading: Reading): Body {
  const { report } = reading;
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
      tasks.push(readTask(block, tasks.length + 1, reading));
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
function wordsEnd(lines: readonly MarkdownLine[], from: number, name: string): number {
  if (!WORDS.has(name)) return nextTask(lines, from);
  for (let index = from; index < lines.length; index++) {
    if (index > from && openingAt(lines, index)?.name === name) return nextTask(lines, from); // the first was never closed
    if (closingAt(lines[index], name) !== null) return index + 1;
  }
  return nextTask(lines, from);
}

const taskLines = new WeakMap<readonly MarkdownLine[], readonly number[]>();

/** Index of the next line with `<task`, or of the end. The lines are looked through once. */
function nextTask(lines: readonly MarkdownLine[], from: number): number {
  let starts = taskLines.get(lines);
  if (starts === undefined) {
    starts = lines.flatMap((_, index) => openingAt(lines, index)?.name === "task" ? [index] : []);
    taskLines.set(lines, starts);
  }
  return starts.find((index) => index > from) ?? lines.length;
}

function endsTasks(line: MarkdownLine | undefined): boolean {
  return line !== undefined && !line.fenced &&
    /^[ \t]*<(\/tasks|verification|success_criteria|output)\b/.test(line.text);
}

function titleOf(
  lines: readonly MarkdownLine[],
  blocks: ReadonlyMap<string, Block>,
  inFront: string | null,
): string | null {
  const objective = blocks.get("objective");
  const first = objective === undefined
    ? undefined
    : blockText(objective).split("\n").find((text) => text.trim() !== "");
  const heading = lines.find(({ text, fenced }) => !fenced && /^#\s+\S/.test(text))?.text.replace(/^#\s+/, "");
  const title = first?.trim() ?? inFront ?? heading?.trim() ?? null;
  return title === null || title.length <= 160 ? title : `${title.slice(0, 159)}…`;
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
