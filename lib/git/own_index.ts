import { join } from "node:path";
import { copyPath, pathExists, temporaryDirectory } from "../host/files.ts";
import { outputFrom } from "./run_git.ts";
import type { Repository } from "./types.ts";

type Indexed = Pick<Repository, "git" | "gitDirectory">;

/** Lends an index of its own; `copied`: with the content of the real one. */
export async function withOwnIndex<Value>(
  repository: Indexed,
  copied: boolean,
  use: (environment: Readonly<Record<string, string>>) => Promise<Value>,
): Promise<Value> {
  await using folder = await temporaryDirectory("ralph-index-");
  const index = join(folder.path, "index");
  const real = join(repository.gitDirectory, "index");
  // by the time of its index git knows which files it has to read again: those written in the same second
  if (copied && await pathExists(real)) await copyPath(real, index, { times: true });
  return await use({ GIT_INDEX_FILE: index });
}

/** Keeps the whole working tree, untracked files included, as a commit under a ref; HEAD and index stay as they are. */
export async function saveTree(repository: Indexed, ref: string, parent: string | null): Promise<void> {
  const tree = await withOwnIndex(repository, true, async (environment) => {
    await outputFrom(repository, ["add", "--all"], { environment });
    return (await outputFrom(repository, ["write-tree"], { environment })).trim();
  });
  await saveCommit(repository, ref, tree, parent);
}

/** Makes a commit of a tree that only a ref of Ralph's names. @returns the commit */
export async function saveCommit(
  repository: Pick<Repository, "git">,
  ref: string,
  tree: string,
  parent: string | null,
): Promise<string> {
  const parents = parent === null ? [] : ["-p", parent];
  const arguments_ = ["commit-tree", tree, ...parents, "-m", `ralph: ${ref}`];
  const commit = (await outputFrom(repository, arguments_)).trim();
  await outputFrom(repository, ["update-ref", ref, commit]);
  return commit;
}
