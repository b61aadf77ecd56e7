/**
 * Paths of the workflows' state: what a run writes beside its work.
 *
 * @module
 */
import type { Config } from "../../config/load.ts";
import { type RootedRepository, topLevelPaths } from "../../git/repository.ts";
import { workflowRow, WORKFLOWS } from "../../workflows/table.ts";
import type { WorkflowRow } from "../../workflows/workflow.ts";

/** A workflow's row; without its state where that stays in the request. */
export function stateRow({ finish }: Pick<Config, "finish">, workflow: string): Pick<WorkflowRow, "runState"> {
  return finish.state === "keep" ? {} : workflowRow(workflow);
}

/** State that a workflow takes off the branch, relative to the root. */
export async function stateFiles(
  { root }: Pick<RootedRepository, "root">,
  { runState }: Pick<WorkflowRow, "runState">,
): Promise<readonly string[]> {
  return runState === undefined ? [] : [...runState.files, ...await runState.unused(root)];
}

/** The same, relative to the top level. */
export async function statePaths(
  place: RootedRepository,
  row: Pick<WorkflowRow, "runState">,
): Promise<readonly string[]> {
  return topLevelPaths(place, await stateFiles(place, row));
}

/** Folders and files of all workflows' state: their changes are Ralph's. */
export function ownPaths(place: RootedRepository): (path: string) => boolean {
  const states = WORKFLOWS.flatMap(({ state }) => state === undefined || state.includes("<") ? [] : [state]);
  const own = topLevelPaths(place, [...states, ".ralph"]);
  return (path) => own.some((one) => path === one || path.startsWith(`${one}/`));
}

/** True for what the workflows keep as their state, relative to the top level. */
export function ownState(ralph: RootedRepository): (path: string) => boolean {
  const own = ownStatePaths(ralph);
  return (path) => own.some((one) => path === one || path.startsWith(`${one}/`));
}

/** The same as paths. */
export function ownStatePaths(ralph: RootedRepository): readonly string[] {
  return topLevelPaths(ralph, WORKFLOWS.flatMap(stateOf));
}

/** A person's script in a folder of state is no state: where a workflow lists its files, these alone are. */
function stateOf({ state, runState }: (typeof WORKFLOWS)[number]): readonly string[] {
  if (runState !== undefined) return [...runState.files, ...runState.kept];
  return state === undefined || state.includes("<") ? [] : [state];
}
