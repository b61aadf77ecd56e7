import { failureOf } from "../../backlog/attempts.ts";
import { join, relative, sep } from "node:path";
import { readText } from "../../host/files.ts";
import type { Check, Verification, WorkContext } from "../../backlog/types.ts";
import { isResultOf } from "../../backlog/verify_commands.ts";
import * as prompts from "../../prompts/render.ts";
import type { PromptFacts } from "../stories.ts";
import { findSpec } from "./find_spec.ts";
import { issuesIn, type SpecItem, tasksIn } from "./item.ts";
import type { Issue, Task } from "./types.ts";

const LOG_CHARACTERS = 4000;
/** The most characters of one check's output in a prompt. */
const FAILURE_CHARACTERS = 2000;

const ENDS: Readonly<Record<SpecItem["data"]["stage"], string>> = {
  BUILD: "When the task is done, run `ralph task done ID`, once, at the end.",
  VERIFY:
    'Run `ralph task reject TASK "why"` for each task that falls short, and `ralph task accept` when none does. End ' +
    "with the line `[RALPH] SPEC_COMPLETE`, or `[RALPH] SPEC_INCOMPLETE` when something of the spec is missing.",
  INVESTIGATE:
    'Settle each issue by `ralph issue done ISSUE`, after `ralph task add "…" --created-from ISSUE` where it ' +
    "is real.",
  DECOMPOSE: 'Add the parts by `ralph task add "…" --parent ID`. When nothing is left to do, run `ralph task done ID`.',
};

/** The prompt of a stage. VERIFY's holds the checks' results from before the turn. */
export async function stagePrompt(
  item: SpecItem,
  context: PromptFacts & Pick<WorkContext, "cwd">,
): Promise<(first: Verification | null) => string> {
  const { root, cwd, attempt, nonce, previous, checks } = context;
  const { text } = await prompts.findPrompt(`spec_${item.data.stage.toLowerCase()}`, { root });
  const tasks = tasksIn(item);
  const [task] = tasks;
  const id = task?.id ?? item.id;
  const spec = await specPlace(root, item.data.spec);
  // for a prompt of the user's own without placeholders: without these commands no turn of the stage comes to anything
  const toEnd = `The spec is \`${spec}\`. ${ENDS[item.data.stage].replaceAll("ID", id)} ` +
    `When you cannot, end with ${blockedLine(nonce)}.`;
  const values: Omit<prompts.PromptValuesOf<"spec_build">, "checks"> = {
    stage: item.data.stage,
    spec,
    id,
    name: prompts.onOneLine(task?.name ?? item.title),
    item: itemOf(item, tasks),
    attempt: String(attempt),
    nonce,
    failure: [...(previous === null ? [] : [failureOf(previous)]), ...tasks.flatMap(rejectedBefore)].join("\n\n"),
    log: task?.killLog === null || task === undefined ? "None was kept." : await endOf(cwd, task.killLog),
    toEnd,
  };
  return (first) => prompts.fillPrompt(text, { ...values, checks: checksOf(checks, first) });
}

/** One task whole; of many tasks or issues what there is room for. */
function itemOf(item: SpecItem, tasks: readonly Task[]): string {
  if (item.data.stage === "BUILD" || item.data.stage === "DECOMPOSE") {
    return prompts.quoted(tasks.map(describeTask).join("\n\n"));
  }
  const issues = issuesIn(item).map((issue) => describeIssue(issue, item.data.spec));
  const rest = issues.length > 0 ? "`ralph query issues`" : "`ralph query tasks`";
  return prompts.quoted(prompts.windowed([...tasks.map(describeTask), ...issues], { rest, separator: "\n\n" }));
}

/** The signal by which a turn gives up, as a prompt asks for it. */
export function blockedLine(nonce: string): string {
  return `\`<ralph ${nonce}>BLOCKED: [why]</ralph>\` on a line of its own`;
}

/** A task as an agent reads it. */
export function describeTask(task: Task): string {
  return [
    `${task.id}: ${prompts.onOneLine(task.name)}`,
    ...(task.notes === "" ? [] : [`Notes: ${task.notes}`]),
    ...(task.accept === "" ? [] : [`Accepted when: ${task.accept}`]),
    ...(task.deps.length === 0 ? [] : [`Depends on: ${task.deps.join(", ")}`]),
    ...(task.parent === null ? [] : [`Part of: ${task.parent}`]),
    ...(task.doneAt === null ? [] : [`Done in commit: ${task.doneAt}`]),
    ...(task.kill === null ? [] : [`Was ended by: ${task.kill}`]),
  ].join("\n");
}

/** The path at which an agent finds the spec. */
export async function specPlace(root: string, name: string): Promise<string> {
  const found = await findSpec(root, name);
  return found === null ? `${name} (the file was not found)` : relative(root, found.path).replaceAll(sep, "/");
}

/** One that an earlier spec left is no matter of this one's text alone. */
function describeIssue({ id, desc, spec }: Issue, current: string): string {
  return spec === "" || spec === current ? `${id}: ${desc}` : `${id} (found under the spec ${spec}): ${desc}`;
}

function rejectedBefore({ id, s, reject }: Task): readonly string[] {
  return s === "p" && reject !== null ? [prompts.afterWords(`${id} was done before and rejected:`, reject)] : [];
}

function checksOf(checks: readonly Check[], first: Verification | null): string {
  if (checks.length === 0) return "Nothing: no check is named, so that your word will be shown as unverified.";
  const lines = checks.map((check) => {
    const { name, scope = "" } = check;
    const result = first?.results.find((one) => one.scope === scope && isResultOf(one, check));
    if (result === undefined) return { ok: true, line: `- \`${name}\`` };
    if (result.ok) return { ok: true, line: `- \`${name}\`: passed just now` };
    const tail = prompts.quoted(result.tail.slice(-FAILURE_CHARACTERS));
    return { ok: false, line: `- \`${name}\`: FAILED just now (exit ${result.exitCode})\n\n${tail}\n` };
  });
  const failedFirst = lines.toSorted((one, other) => Number(one.ok) - Number(other.ok));
  return prompts.windowed(failedFirst.map(({ line }) => line), { rest: "`ralph verify`" });
}

async function endOf(cwd: string, path: string): Promise<string> {
  const text = await readText(join(cwd, path));
  return text === null
    ? `\`${path}\` (gone)`
    : `\`${path}\` ends with:\n\n${prompts.quoted(text.slice(-LOG_CHARACTERS))}`;
}
