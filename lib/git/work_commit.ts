/**
 * Work of an item that is not on the branch: a commit that only a ref of Ralph's names, so that it outlives the tree that
 * it was done in and every crash. `git log --all` shows it.
 *
 * @module
 */
import { deleteRefs, readRefs } from "./refs.ts";
import { hashText } from "../host/files.ts";
import { outputFrom, WORK_REFS } from "./run_git.ts";
import type { WithIndex } from "./repository.ts";

/** The ref that keeps the work of an item, one for each text of what is asked for. @param key the backlog's in the journal */
export function workRef(key: string, item: { readonly id: string; readonly fingerprint?: string }): string {
  return `${folderOf(key)}/${hashText(`${item.id}\0${item.fingerprint ?? ""}`).slice(0, 32)}`;
}

function folderOf(key: string): string {
  return `${WORK_REFS}${hashText(key).slice(0, 16)}`;
}

/** The commits that are kept for a backlog, by their refs. @throws {RalphError} git-failed */
export async function keptWork(repository: WithIndex, key: string): Promise<ReadonlyMap<string, string>> {
  return await readRefs(repository, [`${folderOf(key)}/`]);
}

/** The work of a backlog as one process knows it. */
export interface KeptWork {
  /** The commit that is kept under a ref; `null`: none is. */
  of(ref: string): Promise<string | null>;
  keep(ref: string, commit: string): Promise<void>;
  drop(ref: string): Promise<void>;
}

/** @param alone nothing else keeps or drops work of this backlog meanwhile: git is asked once */
export function createKeptWork(repository: WithIndex, key: string, { alone }: { readonly alone: boolean }): KeptWork {
  let known: Map<string, string> | null = null;
  const all = async () => known = known !== null && alone ? known : new Map(await keptWork(repository, key));
  return {
    of: async (ref) => (await all()).get(ref) ?? null,
    async keep(ref, commit) {
      await outputFrom(repository, ["update-ref", ref, commit]);
      known?.set(ref, commit);
    },
    async drop(ref) {
      if (!alone || (await all()).has(ref)) await deleteRefs(repository, [ref]);
      known?.delete(ref);
    },
  };
}
