import { failureOf } from "../../backlog/attempts.ts";
import { join, relative } from "node:path";
import { readText } from "../../host/files.ts";
import type { Attempt, Check, Verification } from "../../backlog/types.ts";
import { fillPrompt, findPrompt } from "../../prompts/render.ts";
import { findSpec } from "./find_spec.ts";
import { issuesIn, type SpecItem, tasksIn } from "./item.ts";
import type { Task } from "./types.ts";

const LOG_CHARACTERS = 4000;

/** What the prompt of a stage is made of, beside the item. */
export interface StagePromptContext {
  readonly root: string;
  readonly cwd: string;
  readonly attempt: number;
  readonly nonce: string;
  readonly previous: Attempt | null;
  readonly checks: readonly Check[];
}

/** The prompt of a stage. VERIFY's holds the checks' results from before the turn. */
export async function stagePrompt(
  item: SpecItem,
  context: StagePromptContext,
): Promise<(first: Verification | null) => string> {
  const { root, cwd, attempt, nonce, previous, checks } = context;
  const { text } = await findPrompt(`spec_${item.data.stage.toLowerCase()}`, { root });
  const tasks = tasksIn(item);
  const [task] = tasks;
  const values = {
    stage: item.data.stage,
    spec: await specPlace(root, item.data.spec),
    id: task?.id ?? item.id,
    name: task?.name ?? item.title,
    item: [...tasks.map(describeTask), ...issuesIn(item).map(({ id, desc }) => `${id}: ${desc}`)].join("\n\n"),
    attempt: String(attempt),
    nonce,
    failure: [failureOf(previous), ...tasks.flatMap(rejectedBefore)].join("\n\n"),
    log: task?.killLog === null || task === undefined ? "None was kept." : await endOf(cwd, task.killLog),
  };
  return (first) => fillPrompt(text, { ...values, checks: checksOf(checks, first) });
}

/** A task as an agent reads it. */
export function describeTask(task: Task): string {
  return [
    `${task.id}: ${task.name}`,
    ...(task.notes === "" ? [] : [`Notes: ${task.notes}`]),
    ...(task.accept === "" ? [] : [`Accepted when: ${task.accept}`]),
    ...(task.deps.length === 0 ? [] : [`Depends on: ${task.deps.join(", ")}`]),
    ...(task.parent === null ? [] : [`Part of: ${task.parent}`]),
    ...(task.doneAt === null ? [] : [`Done on top of commit: ${task.doneAt}`]),
    ...(task.kill === null ? [] : [`Was ended by: ${task.kill}`]),
  ].join("\n");
}

/** Where an agent finds the spec. */
export async function specPlace(root: string, name: string): Promise<string> {
  const found = await findSpec(root, name);
  return found === null ? `${name} (the file was not found)` : relative(root, found.path).replaceAll("\\", "/");
}

function rejectedBefore({ id, s, reject }: Task): readonly string[] {
  return s === "p" && reject !== null ? [`${id} was done before and rejected: ${reject}`] : [];
}

function checksOf(checks: readonly Check[], first: Verification | null): string {
  if (checks.length === 0) return "Nothing: no check is named, so that your word will be shown as unverified.";
  return checks.map(({ name, scope }) => {
    const result = first?.results.find((one) => one.name === name && one.scope === (scope ?? ""));
    if (result === undefined) return `- \`${name}\``;
    return result.ok
      ? `- \`${name}\`: passed just now`
      : `- \`${name}\`: FAILED just now (exit ${result.exitCode})\n\n${indent(result.tail)}`;
  }).join("\n");
}

function indent(text: string): string {
  return text.trimEnd().split("\n").map((line) => `      ${line}`).join("\n");
}

async function endOf(cwd: string, path: string): Promise<string> {
  const text = await readText(join(cwd, path));
  return text === null ? `\`${path}\` (gone)` : `\`${path}\` ends with:\n\n${indent(text.slice(-LOG_CHARACTERS))}`;
}
