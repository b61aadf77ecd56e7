import { basename, dirname, join, relative } from "node:path";
import type { RalphContext } from "../context/context.ts";
import { listDirectory } from "../host/files.ts";
import { createHookTrees, type HookTrees, type TreeKind } from "../git/worktree.ts";
import { requireRepository } from "../git/require_repository.ts";

const CHECK_TREES: TreeKind = {
  prefix: "ralph-check",
  hint: "set `verify.isolated` to false to run the checks in the tree",
};

type Place = Pick<RalphContext, "host" | "repository" | "root">;

/**
 * A clean worktree of what the tree holds now: tracked files as they stand, untracked ones, and nothing that git ignores.
 * It is gone when it is disposed of.
 *
 * @throws {RalphError} not-a-repository, git-failed
 */
export async function openCheckTree(
  ralph: Place,
  cwd: string,
): Promise<{ readonly cwd: string } & AsyncDisposable> {
  const trees = treesOf(ralph);
  const tree = await trees.open(await trees.snapshot());
  return {
    cwd: join(tree.cwd, relative(ralph.root, cwd)),
    [Symbol.asyncDispose]: () => tree[Symbol.asyncDispose](),
  };
}

/** Takes away what a killed run left; git is asked only where there is something. Call with the run lock held. */
export async function sweepCheckTrees(ralph: Place): Promise<void> {
  const { gitDirectory } = requireRepository(ralph);
  const parent = dirname(gitDirectory);
  const known = basename(parent) === "worktrees" ? parent : join(gitDirectory, "worktrees");
  const names = await listDirectory(known);
  if (names.some((name) => name.startsWith(`${CHECK_TREES.prefix}-`))) await treesOf(ralph).sweep();
}

function treesOf(ralph: Place): HookTrees {
  return createHookTrees(ralph, requireRepository(ralph), [], CHECK_TREES);
}
