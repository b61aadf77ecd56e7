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
import type { WorkflowRow } from "./workflow.ts";

/** The workflow where nothing says which. */
export const DEFAULT_WORKFLOW: WorkflowRow = EXEC;

/** Every workflow, the default one first. */
export const WORKFLOWS: readonly WorkflowRow[] = [DEFAULT_WORKFLOW, FEATURE, SPEC, SPRINT, GSD];

/** The row of a workflow that was chosen. */
export function workflowRow(name: string): WorkflowRow {
  return WORKFLOWS.find((row) => row.name === name) ?? DEFAULT_WORKFLOW;
}
