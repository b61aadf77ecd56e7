/**
 * A hook's own tree: a git worktree made from a snapshot, and the way of its changes back into the working tree.
 *
 * @module
 */
import { dirname, join, relative } from "node:path";
import { discardPaths, mergeChange, type TreeChange } from "../git/merge_change.ts";
import { ownCommit } from "../git/own_commit.ts";
import { gitFailed, partsOf } from "../git/run_git.ts";
import type { Repository } from "../git/repository.ts";
import { ensureDirectory, hashText, removeOwn, temporaryDirectory } from "../host/files.ts";
import { createSlots } from "../host/slots.ts";

/** A worktree of the snapshot. */
export interface HookTree extends AsyncDisposable {
  /** Absolute path of the root in it. */
  readonly cwd: string;
  /** Writes what was changed as a patch, and as a commit that no branch has. @returns `null` where nothing was changed */
  collect(file: string): Promise<TreeChange | null>;
}

const HINT = "set `isolated: false` to run the hook in the tree";

/** Makes the worktrees of one run. */
export class HookTrees {
  readonly #root: string;
  readonly #repository: Repository;
  readonly #left: readonly string[];
  /** By this name a later run knows its own: other worktrees of the repository may have a Ralph at work. */
  readonly #prefix: string;
  readonly #oneAtATime = createSlots(1); // git takes no lock around the list of worktrees

  /** @param left paths relative to the top level that a patch never holds: Ralph's own state */
  constructor(root: string, repository: Repository, left: readonly string[]) {
    this.#root = root;
    this.#repository = repository;
    this.#left = left;
    this.#prefix = `ralph-hook-${hashText(`${repository.gitDirectory}\0${root}`).slice(0, 12)}-`;
  }

  async open(commit: string): Promise<HookTree> {
    const folder = await temporaryDirectory(this.#prefix);
    const { path } = folder;
    try {
      await this.#oneAtATime.run(() => this.#git(["worktree", "add", "--quiet", "--detach", path, commit]));
    } catch (error) {
      await folder[Symbol.asyncDispose]();
      throw error;
    }
    return {
      cwd: join(path, relative(this.#repository.topLevel, this.#root)),
      collect: (file) => this.#collect(path, commit, file),
      [Symbol.asyncDispose]: async () => {
        await this.#oneAtATime.run(() => this.#remove(path));
        await folder[Symbol.asyncDispose]();
      },
    };
  }

  /** Takes away what a killed run left. Call with the run lock held. */
  async sweep(): Promise<void> {
    for (const line of (await this.#git(["worktree", "list", "--porcelain"])).split("\n")) {
      const path = line.slice("worktree ".length);
      if (!line.startsWith("worktree ") || !path.includes(`/${this.#prefix}`)) continue;
      await this.#remove(path);
      await removeOwn(path, dirname(path));
    }
  }

  async #collect(path: string, commit: string, file: string): Promise<TreeChange | null> {
    await this.#git(["-C", path, "add", "--all"]);
    const tree = (await this.#git(["-C", path, "write-tree"])).trim();
    const what = [commit, tree, "--", ":/", ...this.#left.map((one) => `:(exclude,top,literal)${one}`)];
    const paths = partsOf(await this.#git(["-C", path, "diff", "--name-only", "-z", "--no-renames", ...what]));
    if (paths.length === 0) return null;
    await ensureDirectory(dirname(file));
    const form = ["--binary", "--full-index", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv"];
    await this.#git(["-C", path, "diff", ...form, `--output=${file}`, ...what]);
    const made = await ownCommit(this.#repository, tree, { parents: [commit], message: "ralph: hook\n" });
    return { base: commit, commit: made, paths };
  }

  async #remove(path: string): Promise<void> {
    await this.#repository.git(["worktree", "remove", "--force", "--force", path]);
  }

  async #git(arguments_: readonly string[]): Promise<string> {
    const end = await this.#repository.git(arguments_, { environment: {} });
    if (end.exitCode === 0) return end.stdout;
    throw gitFailed(arguments_, end.stderr.trim().split("\n").at(-1) ?? "", HINT);
  }
}

/** The result of applying a patch. */
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
  const differs = await mergeChange(repository, change, { union: true });
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
