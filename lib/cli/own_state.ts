import { posix } from "node:path";
import type { KnownWorkflow } from "./command.ts";

const { basename, dirname } = posix;

/** Tells by its path, relative to the root, whether a file holds state of one of these workflows. Pure. */
export function ownStateOf(workflows: readonly KnownWorkflow[]): (path: string) => boolean {
  const own = workflows.flatMap(stateOf);
  const archives = workflows.flatMap(({ runState }) => runState ?? []);
  return (path) =>
    own.some((one) => path === one || path.startsWith(`${one}/`)) ||
    archives.some(({ archive, files }) =>
      dirname(dirname(path)) === archive && files.some((file) => basename(file) === basename(path))
    );
}

/** A person's script in a folder of state is no state: where a workflow lists its files, these alone are. */
export function stateOf({ state, runState }: KnownWorkflow): readonly string[] {
  if (runState !== undefined) return [...runState.files, ...runState.kept];
  return state.includes("<") ? [] : [state];
}
