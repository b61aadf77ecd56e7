import { layEntries } from "./index_entries.ts";
import { join } from "node:path";
import { copyTarget, pathExists, temporaryDirectory } from "../host/files.ts";
import { ownCommit } from "./refs.ts";
import { lineFrom, outputFrom } from "./run_git.ts";
import type { WithGit, WithIndex } from "./repository.ts";

/** Lends an index of its own. @param content that of the real one, or none */
export async function withOwnIndex<Value>(
  repository: WithIndex,
  content: "copied" | "empty",
  use: (environment: Readonly<Record<string, string>>) => Promise<Value>,
): Promise<Value> {
  await using folder = await temporaryDirectory("ralph-index-");
  const index = join(folder.path, "index");
  const real = join(repository.gitDirectory, "index");
  // by the time of its index git knows which files it has to read again: those written in the same second
  if (content === "copied" && await pathExists(real)) await copyTarget(real, index, { times: true });
  return await use({ GIT_INDEX_FILE: index });
}

/** The tree of an index of its own, once `stage` has changed that. */
export async function ownTree(
  repository: WithIndex,
  content: "copied" | "empty",
  stage: (environment: Readonly<Record<string, string>>) => Promise<unknown>,
): Promise<string> {
  return await withOwnIndex(repository, content, async (environment) => {
    await stage(environment);
    return await lineFrom(repository, ["write-tree"], { environment });
  });
}

/** A tree with entries of an index laid over it. @param base `null`: over nothing */
export async function treeWith(repository: WithIndex, base: string | null, entries: string): Promise<string> {
  return await ownTree(repository, "empty", async (environment) => {
    if (base !== null) await outputFrom(repository, ["read-tree", base], { environment });
    await layEntries(repository, entries, environment);
  });
}

/** The whole working tree, untracked files included; HEAD and index stay as they are. */
export async function wholeTree(repository: WithIndex): Promise<string> {
  const stage = ["add", "--all"];
  return await ownTree(repository, "copied", (environment) => outputFrom(repository, stage, { environment }));
}

/** Makes a commit of a tree that only a ref of Ralph's names. */
export async function saveCommit(
  repository: WithGit,
  ref: string,
  tree: string,
  parents: readonly string[],
): Promise<void> {
  const commit = await ownCommit(repository, tree, { parents, message: `ralph: ${ref}\n` });
  await outputFrom(repository, ["update-ref", ref, commit]);
}
