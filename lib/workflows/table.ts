/**
 * The workflows. A row loads nothing of its workflow before a command uses it.
 *
 * @module
 */
import { EXEC } from "./exec/row.ts";
import { FEATURE } from "./feature/row.ts";
import { GSD } from "./gsd/row.ts";
import { SPEC } from "./spec/row.ts";
import { SPRINT } from "./sprint/row.ts";
import { TRACKERS } from "./trackers/row.ts";
import type { RunPartName } from "../cli/command.ts";
import type { WorkflowRow } from "./workflow.ts";

/** Runs go here if their backlog says nothing else; relative to the root. */
const DEFAULT_RUNS = ".ralph/runs";

/** The workflow where nothing says which. */
export const DEFAULT_WORKFLOW: WorkflowRow = EXEC;

/** Every workflow, the default one first. */
export const WORKFLOWS: readonly WorkflowRow[] = [DEFAULT_WORKFLOW, FEATURE, SPEC, SPRINT, GSD, TRACKERS];

/** The row of a workflow that was chosen. */
export function workflowRow(name: string): WorkflowRow {
  return WORKFLOWS.find((row) => row.name === name) ?? DEFAULT_WORKFLOW;
}

/** Every folder that holds runs, relative to the root. */
export async function runFolders(root: string): Promise<readonly string[]> {
  const own = await Promise.all(WORKFLOWS.map(async (row) => await row.runs?.(root) ?? []));
  return [...new Set([DEFAULT_RUNS, ...own.flat()])];
}

/** The command that continues a part of a run; `null` where only its user knows it. */
export async function resumeCommand(part: RunPartName): Promise<string | null> {
  for (const row of WORKFLOWS) {
    const command = await row.resume(part);
    if (command !== null) return command;
  }
  return null;
}
