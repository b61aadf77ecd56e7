import { join } from "node:path";
import { createGit, outputOfGit, QUIET } from "../../git/run_git.ts";
import { copyTarget, pathExists, temporaryDirectory, writeAtomic } from "../../host/files.ts";
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
  await using folder = await temporaryDirectory("ralph-cassette-");
  const index = join(folder.path, "index");
  const own = (await git(host, cwd, ["rev-parse", "--git-path", "index"])).trim();
  const path = own.startsWith("/") ? own : join(cwd, own);
  // With the repository's own index only what changed is read.
  if (await pathExists(path)) await copyTarget(path, index);
  const environment = { GIT_INDEX_FILE: index };
  const top = (await git(host, cwd, ["rev-parse", "--show-toplevel"])).trim();
  await git(host, top, ["add", "-A"], environment);
  const tree = (await git(host, top, ["write-tree"], environment)).trim();
  const head = (await createGit(host, cwd)(["rev-parse", "-q", "--verify", "HEAD"])).stdout.trim();
  return { tree, head: head === "" ? null : head };
}

/** The change between two moments. */
export async function changeBetween(host: Host, cwd: string, before: TreeMark, after: TreeMark): Promise<TreeChange> {
  const patch = await git(host, cwd, [
    "diff",
    "--binary",
    "--full-index",
    "--no-color",
    "--no-ext-diff",
    before.tree,
    after.tree,
  ]);
  if (before.head === after.head || after.head === null) return { patch, commits: [] };
  const range = before.head === null ? after.head : `${before.head}..${after.head}`;
  const ids = (await git(host, cwd, ["rev-list", "--reverse", range])).split("\n").filter((id) => id !== "");
  const commits = [];
  for (const id of ids) {
    const message = await git(host, cwd, ["log", "-1", "--format=%B", id]);
    const names = await git(host, cwd, ["diff-tree", "--root", "--no-commit-id", "-r", "-z", "--name-only", id]);
    commits.push({ message: message.trim(), paths: names.split("\0").filter((name) => name !== "") });
  }
  return { patch, commits };
}

/** Makes the same change again. @throws {RalphError} git-failed when it does not apply */
export async function applyChange(host: Host, cwd: string, { patch, commits }: TreeChange): Promise<void> {
  const top = (await git(host, cwd, ["rev-parse", "--show-toplevel"])).trim();
  if (patch !== "") {
    await using folder = await temporaryDirectory("ralph-cassette-");
    const file = join(folder.path, "change.patch");
    await writeAtomic(file, patch);
    await git(host, top, ["apply", "--binary", "--whitespace=nowarn", file]);
  }
  for (const { message, paths } of commits) {
    if (paths.length > 0) await git(host, top, ["add", "-A", "--", ...paths]);
    await git(host, top, [
      "commit",
      "-q",
      "--no-verify",
      "--allow-empty",
      "-m",
      message,
      ...(paths.length > 0 ? ["--", ...paths] : []),
    ]);
  }
}

const HINT = "look at the working tree";

async function git(
  host: Host,
  cwd: string,
  arguments_: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const options = { environment: { ...QUIET, ...environment }, timeoutMs: TIMEOUT_MS, hint: HINT };
  return await outputOfGit(createGit(host, cwd), arguments_, options);
}
