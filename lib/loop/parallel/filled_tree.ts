import { dirname, join, posix, relative } from "node:path";
import type { WorkspaceConfig } from "../../config/load.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { redactorFor } from "../../events/redact.ts";
import { createGit, type Git } from "../../git/run_git.ts";
import { treeListing } from "../../git/tree_listing.ts";
import { copyTree } from "../../host/copy_tree.ts";
import { ensureDirectory, isDirectory, removeOwn, symbolicLink } from "../../host/files.ts";
import { setAside } from "../../host/remove_path.ts";
import { shellInvocation } from "../../host/shell.ts";
import type { Host } from "../../host/types.ts";
import { dependencyKey, mayChangeKey } from "../../workspace/dependency_key.ts";
import { ignoredPaths } from "../../workspace/ignored_paths.ts";

/** A second working tree of a repository, and what it is filled with. Paths are absolute. */
export interface FilledTreeOptions {
  readonly host: Host;
  /** The top level of the tree that it is filled from. */
  readonly from: string;
  /** The top level of the tree that is filled. */
  readonly to: string;
  /** The project in the tree that is filled: `workspace.setup` runs there. */
  readonly root: string;
  /** The folder that keeps replaced files of `from`. */
  readonly aside: string;
  readonly workspace: WorkspaceConfig;
  readonly signal: AbortSignal;
  /** Called before a folder is copied, which may take long. */
  readonly onCopy: (path: string) => void;
}

/** The needs of a second working tree beside what git has (`node_modules`, `.env`): copied, linked, or installed. */
export interface FilledTree {
  /** Links in it, relative to its top level: `git clean` is to leave them. */
  readonly links: readonly string[];
  /** Brings it up to what a commit, which is checked out there, needs. @throws {RalphError} setup-failed, file-unwritable */
  bringUp(commit: string): Promise<void>;
  /** The packages in it are those of this commit: a turn has installed them. */
  adopt(commit: string): Promise<void>;
  /** The tree was made anew: nothing is in it. */
  forget(): void;
  /**
   * The commit that is checked out in it needs other packages than `before` did: what is installed in it comes into the
   * tree that it was filled from.
   *
   * @param changed paths that differ between both
   * @returns the paths that were brought back, relative to the top level; `null` where both need the same
   */
  bringBack(before: string, commit: string, changed: readonly string[]): Promise<readonly string[] | null>;
}

/** Nothing is copied before the first `bringUp()`. Only ignored paths are: one that git tracks is left out. */
export function createFilledTree(options: FilledTreeOptions): FilledTree {
  const { host, from, to, root, workspace, signal, onCopy } = options;
  const git = createGit(host, from);
  const inside = relative(to, root);
  const globs = (paths: readonly string[]): readonly string[] =>
    paths.map((glob) => glob.includes("/") ? posix.join(inside, glob) : glob);
  const links: string[] = [];
  let key: string | null = null;
  let at: string | null = null; // that it was brought up to last

  /** Most commits differ from the one before in other files: a look at the difference is shorter than one at all files. */
  async function isSame(commit: string): Promise<boolean> {
    if (key === null || at === null) return false;
    const { exitCode, stdout } = await git(["diff-tree", "-r", "-z", "--name-only", "--no-renames", at, commit]);
    return exitCode === 0 && !mayChangeKey(stdout.split("\0"));
  }

  async function copy(isWanted: (path: string, folder: boolean) => boolean): Promise<void> {
    const linked = workspace.link.length === 0 ? [] : (await ignoredPaths(git, from, globs(workspace.link))).paths;
    const { paths } = await ignoredPaths(git, from, globs(workspace.copy));
    for (const path of paths) {
      const isFolder = await isDirectory(join(from, path));
      if (linked.includes(path) || !isWanted(path, isFolder) || !await isDirectory(dirname(join(to, path)))) continue;
      if (isFolder) onCopy(path);
      await copyTree(host, join(from, path), join(to, path), to, signal);
    }
    for (const path of linked) {
      await removeOwn(join(to, path), to);
      await ensureDirectory(dirname(join(to, path)));
      await symbolicLink(join(from, path), join(to, path));
      if (!links.includes(path)) links.push(path);
    }
  }

  return {
    links,
    forget: () => void (key = null),
    async bringUp(commit) {
      if (await isSame(commit)) return void (at = commit);
      const now = await keyOf(git, commit);
      if (now === key) return void (at = commit);
      const isInstalled = workspace.setup !== null;
      // installed files are made by the setup; single files such as `.env` no installation makes
      await copy((_, folder) => !isInstalled || (!folder && key === null));
      await install(options, root);
      [key, at] = [now, commit];
    },
    async adopt(commit) {
      [key, at] = [await keyOf(git, commit), commit];
    },
    async bringBack(before, commit, changed) {
      if (!mayChangeKey(changed)) return null;
      const [was, now] = [await keyOf(git, before), await keyOf(git, commit)];
      if (was === now) return null;
      [key, at] = [now, commit];
      if (await install(options, join(from, inside))) return [];
      return await copyBack(options, globs(workspace.copy), links);
    },
  };
}

/** Folders of the tree, in the place of those that they were copied from, which are set aside. @returns their paths */
async function copyBack(
  { host, from, to, aside }: FilledTreeOptions,
  globs: readonly string[],
  links: readonly string[],
): Promise<readonly string[]> {
  const back: string[] = [];
  for (const path of (await ignoredPaths(createGit(host, to), to, globs)).paths) {
    if (links.includes(path) || !await isDirectory(join(to, path))) continue;
    setAside(join(from, path), aside);
    await copyTree(host, join(to, path), join(from, path), from);
    back.push(path);
  }
  return back;
}

/** @returns whether there is an installation */
async function install({ host, workspace, signal }: FilledTreeOptions, cwd: string): Promise<boolean> {
  const { setup: command, setupTimeout } = workspace;
  if (command === null) return false;
  const redactor = redactorFor(host.environment.variables);
  const end = await host.processes.run({
    ...await shellInvocation(command, host.environment),
    cwd,
    sandbox: { role: "setup", cwd },
    timeoutMs: setupTimeout * 1000,
    signal,
    mask: () => redactor.stream(),
  });
  if (end.exitCode === 0 || signal.aborted) return true;
  const reason = end.tail.trim().split("\n").slice(-5).join("\n") || end.reason;
  throw new RalphError("setup-failed", { details: { command, reason } });
}

async function keyOf(git: Git, commit: string): Promise<string> {
  return await dependencyKey(git, await treeListing(git, commit));
}
