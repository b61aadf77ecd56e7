import { join } from "node:path";
import { openRepository } from "../../git/open_repository.ts";
import { ownTree } from "../../git/own_index.ts";
import { type Repository, requireRepository } from "../../git/repository.ts";
import { commitFields, outputFrom, pathsFrom } from "../../git/run_git.ts";
import { temporaryDirectory, writeAtomic } from "../../host/files.ts";
import type { Host } from "../../host/types.ts";

const TIMEOUT_MS = 300_000;

/** The change that a turn made to a working tree. */
export interface TreeChange {
  /** Everything that changed, committed or not; a binary patch for `git apply`, "" for nothing. */
  readonly patch: string;
  /** The commits that the turn made, oldest first. */
  readonly commits: readonly { readonly message: string; readonly paths: readonly string[] }[];
}

/** A working tree at one moment. */
export interface TreeMark {
  readonly tree: string;
  readonly head: string | null;
}

/** Notes what the working tree holds, ignored files aside. Nothing in the repository is moved. */
export async function markTree(host: Host, cwd: string): Promise<TreeMark> {
  const repository = await repositoryOf(host, cwd);
  // With a copy of the repository's own index only what changed is read.
  const tree = await ownTree(
    repository,
    "copied",
    (environment) => outputFrom(repository, ["add", "--all"], { environment, timeoutMs: TIMEOUT_MS }),
  );
  return { tree, head: (await repository.head()).head };
}

/** The change between two moments. */
export async function changeBetween(host: Host, cwd: string, before: TreeMark, after: TreeMark): Promise<TreeChange> {
  const repository = await repositoryOf(host, cwd);
  const diff = ["diff", "--binary", "--full-index", "--no-color", "--no-ext-diff", before.tree, after.tree];
  const patch = await outputFrom(repository, diff, { timeoutMs: TIMEOUT_MS });
  if (before.head === after.head || after.head === null) return { patch, commits: [] };
  const range = before.head === null ? after.head : `${before.head}..${after.head}`;
  const commits = [];
  for (const [id = "", message = ""] of await commitFields(repository, ["%H", "%B"], ["--reverse", range])) {
    const names = ["diff-tree", "--root", "--no-commit-id", "-r", "-z", "--name-only", id.trim()];
    commits.push({ message: message.trim(), paths: await pathsFrom(repository, names) });
  }
  return { patch, commits };
}

/** Makes the same change again. @throws {RalphError} git-failed when it does not apply */
export async function applyChange(host: Host, cwd: string, { patch, commits }: TreeChange): Promise<void> {
  const repository = await repositoryOf(host, cwd);
  if (patch !== "") {
    await using folder = await temporaryDirectory("ralph-cassette-");
    const file = join(folder.path, "change.patch");
    await writeAtomic(file, patch);
    await outputFrom(repository, ["apply", "--binary", "--whitespace=nowarn", file], { timeoutMs: TIMEOUT_MS });
  }
  for (const { message, paths } of commits) {
    const named = paths.length > 0 ? ["--", ...paths] : [];
    if (paths.length > 0) await outputFrom(repository, ["add", "-A", ...named]);
    await outputFrom(repository, ["commit", "-q", "--no-verify", "--allow-empty", "-m", message, ...named]);
  }
}

async function repositoryOf(host: Host, cwd: string): Promise<Repository> {
  return requireRepository({ repository: await openRepository(host, cwd), root: cwd });
}
