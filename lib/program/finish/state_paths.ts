/**
 * Paths of the workflows' state: what a run writes beside its work.
 *
 * @module
 */
import { ownStateOf, stateOf } from "../../cli/own_state.ts";
import type { Config } from "../../config/load.ts";
import { ARCHIVE_REFS } from "../../git/archive.ts";
import { behindLinks, entriesOf } from "../../git/index_entries.ts";
import { refsBelow } from "../../git/refs.ts";
import { requireRepository, type RootedRepository, rootPaths, topLevelPaths } from "../../git/repository.ts";
import { NAMES_AT, partsOf } from "../../git/run_git.ts";
import { presentPaths } from "../../host/files.ts";
import { workflowRow, WORKFLOWS } from "../../workflows/table.ts";
import type { WorkflowRow } from "../../workflows/workflow.ts";

/** A workflow's row; without its state where that stays in the request. */
export function stateRow({ finish }: Pick<Config, "finish">, workflow: string): Pick<WorkflowRow, "runState"> {
  return finish.state === "keep" ? {} : workflowRow(workflow);
}

/** State that a workflow takes off a branch, relative to the root. */
export interface StatePaths {
  readonly files: readonly string[];
  /** Below a symbolic link, which git follows for nothing: it is here and stays, or a commit has it. */
  readonly linked: readonly string[];
}

/** A branch, and the commit that it began on. */
export interface Begun {
  readonly branch: string | null;
  readonly base: string;
}

/** Finds it by name: a file that was taken off the branch is state all the same. */
export async function stateFiles(
  place: RootedRepository,
  { runState }: Pick<WorkflowRow, "runState">,
  begun: Begun,
): Promise<StatePaths> {
  if (runState === undefined) return { files: [], linked: [] };
  const all = [...await runFiles(place, begun), ...await runState.unused(place.root)];
  const behind = new Set(behindLinks(requireRepository(place).topLevel, topLevelPaths(place, all)));
  const isLinked = (path: string): boolean => behind.has(topLevelPaths(place, [path])[0]!);
  const below = all.filter(isLinked);
  const here = await presentPaths(place.root, below);
  const committed = await entriesOf(requireRepository(place), "HEAD", topLevelPaths(place, below));
  const linked = below.filter((path, index) => here.includes(path) || committed[index] !== null);
  return { files: all.filter((path) => !isLinked(path)), linked };
}

/** The same, relative to the top level. */
export async function statePaths(
  place: RootedRepository,
  row: Pick<WorkflowRow, "runState">,
  begun: Begun,
): Promise<readonly string[]> {
  return topLevelPaths(place, (await stateFiles(place, row, begun)).files);
}

/** The files of runs, and those of the archives that the branch has, or had before they were taken off it. */
export async function runFiles(place: RootedRepository, { branch, base }: Begun): Promise<readonly string[]> {
  const repository = requireRepository(place);
  const states = WORKFLOWS.flatMap(({ runState }) => runState ?? []);
  const folders = topLevelPaths(place, states.map(({ archive }) => archive));
  const isState = ownState(place);
  const named = async (tip: string): Promise<readonly string[]> =>
    partsOf((await repository.git([...NAMES_AT, tip, "--", ...folders])).stdout).filter(isState);
  const kept = branch === null ? [] : await refsBelow(repository, `${ARCHIVE_REFS}/${branch}/`);
  const archived = new Set((await Promise.all([branch ?? "HEAD", ...kept].map(named))).flat());
  for (const path of archived.size === 0 ? [] : await named(base)) archived.delete(path);
  return [...states.flatMap(({ files }) => files), ...rootPaths(place, [...archived])];
}

/** Folders and files of all workflows' state: their changes are Ralph's. */
export function ownPaths(place: RootedRepository): (path: string) => boolean {
  const states = WORKFLOWS.flatMap(({ state }) => state === undefined || state.includes("<") ? [] : [state]);
  const own = topLevelPaths(place, [...states, ".ralph"]);
  return (path) => own.some((one) => path === one || path.startsWith(`${one}/`));
}

/** True for what the workflows keep as their state, relative to the top level. */
export function ownState(place: RootedRepository): (path: string) => boolean {
  const isState = ownStateOf(WORKFLOWS);
  return (path) => isState(rootPaths(place, [path])[0]!);
}

/** Paths that hold all of it. */
export function ownStatePaths(place: RootedRepository): readonly string[] {
  return topLevelPaths(place, WORKFLOWS.flatMap((row) => [...stateOf(row), row.runState?.archive ?? []].flat()));
}
