/**
 * Ralph's requests to git. It never pushes, merges, stashes or discards; a branch is only moved back to where it was
 * before a turn, and what was there stays under a ref.
 *
 * @module
 */
import { basename, join, relative, resolve, sep } from "node:path";
import { RalphError } from "../errors/ralph_error.ts";
import { factsOf } from "../host/path_facts.ts";

/** One path that differs from HEAD, relative to the top level, with `/`. */
export interface ChangedPath {
  /** With `/`, also on Windows. */
  readonly path: string;
  /** The two letters of `git status --porcelain`, `??` for an untracked file. */
  readonly code: string;
  /** Git does not know it. */
  readonly untracked: boolean;
  /** Set for a submodule: git's four letters for it, such as `SC.U`. Ralph commits none. */
  readonly submodule?: string;
  /** Staged: the entry of the index, as `MODE BLOB` (zeros: it has none), and ` N` where it is only intended to be added. */
  readonly staged?: string;
}

/** The position of HEAD. */
export interface HeadNow {
  /** `null`: HEAD is detached. */
  readonly branch: string | null;
  /** `null` before the first commit. */
  readonly head: string | null;
}

/** The state of the working tree as one `git status` reports it. Ignored files are not part of it. */
export interface TreeStatus extends HeadNow {
  readonly changed: readonly ChangedPath[];
  /** Changed as well, but their names are not UTF-8 (shown with U+FFFD): neither compared nor committed. @default none */
  readonly unreadable?: readonly string[];
}

/** A tree status with the content of every changed file, to be compared later. */
export interface TreeSnapshot extends TreeStatus {
  /** Path to a hash of its content, mode included; `null` for a file that is gone. */
  readonly contents: ReadonlyMap<string, string | null>;
}

/** One commit that Ralph makes. */
export interface CommitRequest {
  /** Paths relative to the top level; only these are committed (`git commit --only`). */
  readonly paths: readonly string[];
  /** HEAD has to be on this branch; `null`: detached. @default where it is */
  readonly branch?: string | null;
  /** One line. */
  readonly subject: string;
  /** Below the subject. */
  readonly body?: string;
  /** Run the user's commit hooks. @default false (state commits) */
  readonly hooks?: boolean;
  /** Milliseconds that git and hooks may take. @default 600000 with hooks, 60000 without */
  readonly timeoutMs?: number;
  /** Ends hooks that run. @default never */
  readonly signal?: AbortSignal;
  /** Called once, with the hooks that there are, where they take longer than 10 seconds. */
  readonly onSlowHooks?: (names: readonly string[]) => void;
  /** A status taken after the last change of the tree; saves one `git status`. @default a fresh one */
  readonly known?: TreeStatus;
  /** Commits at the branch's tip that become a part of this one. @default none */
  readonly fold?: Fold;
}

/** Commits at a branch's tip whose place one commit takes. Plain JSON. */
export interface Fold {
  /** The newest of them: the branch's tip. */
  readonly head: string;
  /** The commit below the oldest one. */
  readonly onto: string;
  /** The branch's full name; absent for a detached HEAD. */
  readonly ref?: string;
  readonly own: OwnCommits;
}

/** The commits that turns made themselves, oldest first. */
export interface OwnCommits {
  readonly subjects: readonly string[];
  /** `Co-authored-by: …`, each once. */
  readonly trailers: readonly string[];
}

/** The outcome of a commit. */
export type CommitResult =
  | {
    readonly status: "committed";
    readonly commit: string;
    /** Other uncommitted paths that a hook had staged: they are not in it. @default none */
    readonly without?: readonly string[];
    /** The same, but they are in it, since somebody has gone on from there. @default none */
    readonly with?: readonly string[];
    /** The ref that a hook went to, or HEAD where it detached that: the commit was taken off it. @default none */
    readonly strayedTo?: string;
  }
  /** Nothing in the named paths differs from HEAD, or all of them are ignored. */
  | { readonly status: "nothing"; readonly ignored: readonly string[] }
  /** The user's hook said no; `output` is the tail of what it printed. */
  /** By whom, in words. */
  | { readonly status: "refused"; readonly by: string; readonly output: string };

/** How a branch was reached: it was the current one, is new, was brought forward to HEAD, or has commits of its own. */
export type BranchSwitch = "current" | "created" | "forwarded" | "switched";

/** A repository's working tree. All paths are relative to `topLevel` unless said otherwise. */
export interface Repository {
  /** Absolute path of the working tree. */
  readonly topLevel: string;
  /** Absolute path of this worktree's git directory. */
  readonly gitDirectory: string;
  /** Absolute path of Ralph's own folder in it (`git rev-parse --git-path ralph`): lock, journal, shadow copies. */
  readonly ralphDirectory: string;
  status(): Promise<TreeStatus>;
  /** The branch, read without a process; `null` when HEAD is detached. */
  currentBranch(): Promise<string | null>;
  /** The position of HEAD, without a look at the tree. */
  head(): Promise<HeadNow>;
  snapshot(): Promise<TreeSnapshot>;
  /** A snapshot after Ralph has changed these files, which git has and which were as HEAD has them, or listed already. */
  withWritten(before: TreeSnapshot, paths: readonly string[]): Promise<TreeSnapshot>;
  /** Paths whose content differs between a snapshot and now, commits made since included. Sorted. */
  changedSince(before: TreeSnapshot): Promise<{ readonly paths: readonly string[]; readonly now: TreeSnapshot }>;
  /** A readable diff of these paths against a commit, bounded to `maxBytes` (default 32768). */
  diff(
    paths: readonly string[],
    options?: { readonly base?: string | null; readonly maxBytes?: number },
  ): Promise<string>;
  /** Text of files as a commit has them, the first `maxBytes` of each (default 1 MiB); `null` for one that is not there. */
  contents(
    commit: string,
    paths: readonly string[],
    options?: { readonly maxBytes?: number },
  ): Promise<ReadonlyMap<string, string | null>>;
  /** Files, ignored ones left out, that hold this text as the newest snapshot has the tree. Sorted. */
  filesHolding(text: string): Promise<readonly string[]>;
  commit(request: CommitRequest): Promise<CommitResult>;
  /** Tells whether this process made the commit. */
  made(commit: string): boolean;
  /**
   * Waits until these files of the working tree, and what any git has written into this repository since the last call,
   * are on the disk: a power cut keeps them.
   */
  persist(paths: readonly string[]): Promise<void>;
  /**
   * Creates or switches to a branch, keeping local changes. A `ralph/…` that HEAD holds already is brought forward to it.
   * @throws {RalphError} branch-invalid, branch-failed
   */
  switchTo(branch: string): Promise<BranchSwitch>;
  /**
   * Before the first commit: an index that a power cut tore is made anew from HEAD, so that what was staged is unstaged.
   *
   * @returns where the torn index is kept; `null` where it was whole
   * @throws {RalphError} git-identity-missing, git-operation-in-progress, git-locked
   */
  ensureReady(): Promise<string | null>;
  /**
   * Before the first turn: makes a commit aside, as a run makes it.
   *
   * @returns kinds of files that could not be committed, where others could
   * @throws {RalphError} git-failed where no commit is possible
   */
  tryCommit(): Promise<readonly { readonly path: string; readonly reason: string }[]>;
  /**
   * Repairs what a power cut did to that which another git wrote since `since` (milliseconds since 1970): torn objects
   * are set aside and the index is made anew, and a branch that names a damaged commit is moved back to `head`.
   * @returns what was repaired
   */
  repairDamage(
    damaged: { readonly since: number; readonly head: string | null },
  ): Promise<{ readonly objects: number; readonly branch: string | null; readonly index: string | null }>;
  /** Takes away locks, not older than `since` (milliseconds since 1970), that an ended agent's git left behind. */
  clearLeftLocks(since: number): Promise<void>;
  /** Commit subjects, newest first. */
  log(count: number): Promise<readonly { readonly commit: string; readonly subject: string }[]>;
  /** Runs `git` with these arguments in the top level; for what the methods above do not cover. */
  git(arguments_: readonly string[], options?: {
    readonly input?: string;
    /** The encoding of input and output; `latin1`: byte by byte. @default "utf8" */
    readonly encoding?: "utf8" | "latin1";
    readonly timeoutMs?: number;
    /** Laid over git's own surroundings: `GIT_INDEX_FILE` … */
    readonly environment?: Readonly<Record<string, string>>;
  }): Promise<{
    readonly exitCode: number | null;
    readonly stdout: string;
    readonly stderr: string;
  }>;
}

/** The repository, for functions that run git. */
export type WithGit = Pick<Repository, "git">;

/** The same, for those that need its index. */
export type WithIndex = Pick<Repository, "git" | "gitDirectory">;

/** The same, for those that read the working tree. */
export type WithTree = Pick<Repository, "git" | "topLevel">;

/** The same, for those that change the working tree and keep what they take away. */
export type GitTree = Pick<Repository, "git" | "gitDirectory" | "ralphDirectory" | "topLevel">;

/** The folders that a worktree's git keeps its files in. */
export interface GitFolders {
  readonly gitDirectory: string;
  readonly commonDirectory: string;
  readonly ralphDirectory: string;
}

/** A working tree as the steps see it. */
export interface RootedRepository {
  /** `null` outside a git repository. */
  readonly repository: Repository | null;
  /** Absolute path of the project. */
  readonly root: string;
}

/** The repository, where one is needed. @throws {RalphError} not-a-repository, repository-bare */
export function requireRepository({ repository, root }: RootedRepository): Repository {
  if (repository !== null) return repository;
  throw new RalphError(isBare(root) ? "repository-bare" : "not-a-repository", { details: { root } });
}

/** The folder itself is a git directory. */
export function isBare(root: string): boolean {
  return ["HEAD", "objects", "refs"].every((name) => factsOf(join(root, name)) !== null);
}

/** Paths relative to the root as git names them: relative to the top level, with `/`. */
export function topLevelPaths(ralph: RootedRepository, paths: readonly string[]): readonly string[] {
  const { topLevel } = requireRepository(ralph);
  return paths.map((path) => relative(topLevel, join(ralph.root, path)).replaceAll(sep, "/"));
}

/** Paths as git names them, relative to the root. */
export function rootPaths(ralph: RootedRepository, paths: readonly string[]): readonly string[] {
  const { topLevel } = requireRepository(ralph);
  return paths.map((path) => relative(ralph.root, join(topLevel, path)).replaceAll(sep, "/"));
}

/** Absolute path of the folder that the trees of workers are in. */
export function treesDirectory(
  { config, ...place }: RootedRepository & {
    readonly config: { readonly parallel: { readonly directory: string } };
  },
): string {
  const { topLevel } = requireRepository(place);
  return resolve(topLevel, config.parallel.directory.replaceAll("{repository}", basename(topLevel)));
}
