/**
 * A hook's own tree: a git worktree made from a snapshot, and the way of its changes back into the working tree.
 *
 * @module
 */
import { dirname, join, relative } from "node:path";
import { discardPaths, mergeChange, type TreeChange } from "../git/merge_change.ts";
import { gitFailed } from "../git/run_git.ts";
import type { Repository } from "../git/types.ts";
import type { Host } from "../host/types.ts";
import { copyPath, ensureDirectory, hashText, pathExists, removePath, temporaryDirectory } from "../host/files.ts";
import { createSlots } from "../host/slots.ts";

/** A worktree of the snapshot. */
export interface HookTree extends AsyncDisposable {
  /** Absolute path of the root in it. */
  readonly cwd: string;
  /** Writes what was changed as a patch, and as a commit that no branch has. @returns `null` where nothing was changed */
  collect(file: string): Promise<TreeChange | null>;
}

/** Makes the worktrees of one run. */
export interface HookTrees {
  /** The working tree as it is now, untracked files included, as a commit; HEAD and index stay as they are. */
  snapshot(): Promise<string>;
  open(commit: string): Promise<HookTree>;
  /** Takes away what a killed run left. Call with the run lock held. */
  sweep(): Promise<void>;
}

const HINT = "set `isolated: false` to run the hook in the tree";

/** @param left paths relative to the top level that a patch never holds: Ralph's own state */
export function createHookTrees(
  { host, root }: { readonly host: Host; readonly root: string },
  repository: Repository,
  left: readonly string[],
): HookTrees {
  // By this name a later run knows its own: other worktrees of the repository may have a Ralph at work.
  const prefix = `ralph-hook-${hashText(`${repository.gitDirectory}\0${root}`).slice(0, 12)}-`;
  const oneAtATime = createSlots(1); // git takes no lock around the list of worktrees

  async function git(
    arguments_: readonly string[],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const end = await repository.git(arguments_, { environment });
    if (end.exitCode === 0) return end.stdout;
    throw gitFailed(arguments_, end.stderr.trim().split("\n").at(-1) ?? "", HINT);
  }

  return {
    async snapshot() {
      const { head, changed } = await repository.status();
      if (head !== null && changed.length === 0) return head;
      const index = join(repository.ralphDirectory, `hook-index.${host.ids.random(8)}`);
      const real = join(repository.gitDirectory, "index");
      try {
        if (await pathExists(real)) await copyPath(real, index);
        else await ensureDirectory(dirname(index));
        const environment = { GIT_INDEX_FILE: index };
        await git(["add", "--all"], environment);
        const tree = (await git(["write-tree"], environment)).trim();
        return (await git([
          "commit-tree",
          tree,
          ...(head === null ? [] : ["-p", head]),
          "-m",
          "ralph: snapshot",
        ])).trim();
      } finally {
        await removePath(index);
      }
    },

    async open(commit) {
      const folder = await temporaryDirectory(prefix);
      const { path } = folder;
      try {
        await oneAtATime.run(() => git(["worktree", "add", "--quiet", "--detach", path, commit]));
      } catch (error) {
        await folder[Symbol.asyncDispose]();
        throw error;
      }
      return {
        cwd: join(path, relative(repository.topLevel, root)),
        async collect(file) {
          await git(["-C", path, "add", "--all"]);
          const tree = (await git(["-C", path, "write-tree"])).trim();
          const what = [commit, tree, "--", ":/", ...left.map((one) => `:(exclude,top,literal)${one}`)];
          const names = await git(["-C", path, "diff", "--name-only", "-z", "--no-renames", ...what]);
          const paths = names.split("\0").filter((name) => name !== "");
          if (paths.length === 0) return null;
          await ensureDirectory(dirname(file));
          const form = ["--binary", "--full-index", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv"];
          await git(["-C", path, "diff", ...form, `--output=${file}`, ...what]);
          const made = (await git(["commit-tree", tree, "-p", commit, "-m", "ralph: hook"])).trim();
          return { base: commit, commit: made, paths };
        },
        async [Symbol.asyncDispose]() {
          await oneAtATime.run(() => repository.git(["worktree", "remove", "--force", "--force", path]));
          await folder[Symbol.asyncDispose]();
        },
      };
    },

    async sweep() {
      const list = (await git(["worktree", "list", "--porcelain"])).split("\n");
      for (
        const path of list.filter((line) => line.startsWith("worktree ")).map((line) => line.slice("worktree ".length))
      ) {
        if (!path.includes(`/${prefix}`)) continue;
        await repository.git(["worktree", "remove", "--force", "--force", path]);
        await removePath(path);
      }
    },
  };
}

/** What became of a patch. */
export type Applied = { readonly status: "committed"; readonly commit: string } | { readonly status: "applied" } | {
  readonly status: "kept";
  readonly reason: string;
};

/** Brings a hook's change into the tree and commits it; an obstacle leaves the tree as it is. */
export async function applyTreeChange(
  { config }: { readonly config: { readonly commits: { readonly work: boolean } } },
  repository: Repository,
  change: TreeChange,
  subject: string,
): Promise<Applied> {
  const { paths } = change;
  const dirty = new Set((await repository.status()).changed.map(({ path }) => path));
  const mixed = paths.filter((path) => dirty.has(path));
  if (mixed.length > 0) return { status: "kept", reason: `changed in the working tree as well: ${mixed.join(", ")}` };
  const differs = await mergeChange(repository, change);
  if (differs !== null) {
    return { status: "kept", reason: `it does not apply: ${differs} has changed in the same place` };
  }
  if (!config.commits.work) return { status: "applied" };
  const result = await repository.commit({ paths, subject, hooks: true });
  if (result.status === "committed") return { status: "committed", commit: result.commit };
  if (result.status === "nothing") return { status: "applied" };
  await discardPaths(repository, paths);
  return {
    status: "kept",
    reason: `a hook of the repository refused the commit: ${result.output.trim().split("\n").at(-1) ?? ""}`,
  };
}
