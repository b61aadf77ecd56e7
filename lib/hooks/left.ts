import { basename, dirname, join, relative } from "node:path";
import type { RalphContext } from "../context/context.ts";
import { listDirectory, renamePath } from "../host/files.ts";

/** What a hook changed and is not brought in yet, by the end of its file's name. */
const PENDING = ".pending.patch";
const KEPT = ".patch";

/** Where a hook's changes are until they are brought in. Pure. */
export function pendingPatch(logs: string, iteration: number, hook: string): string {
  return join(logs, `hook-iter${iteration}-${hook}${PENDING}`);
}

/** Keeps a patch for a person. @returns its path */
export async function keepPatch(file: string): Promise<string> {
  const kept = join(dirname(file), `${basename(file, PENDING)}${KEPT}`);
  await renamePath(file, kept);
  return kept;
}

/**
 * Reports which changes of hooks a killed run did not bring in. They are kept: the tree has changed since.
 *
 * @param shared the folder of logs that every run shares, or `null` where each run's folder has its own
 * @param folder absolute path of this run's folder
 */
export async function reportLeftPatches(ralph: RalphContext, shared: string | null, folder: string): Promise<void> {
  const runs = dirname(folder);
  const folders = shared === null ? (await listDirectory(runs)).map((name) => join(runs, name)) : [shared];
  for (const one of folders) {
    for (const name of (await listDirectory(one)).filter((entry) => entry.endsWith(PENDING))) {
      const kept = relative(ralph.root, await keepPatch(join(one, name)));
      const message = `a killed run did not bring in what a hook changed: \`git apply ${kept}\` does`;
      ralph.events.emit({ type: "note", level: "warn", message });
    }
  }
}
