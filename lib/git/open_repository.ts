/**
 * Git by way of its own command: few processes, never a prompt, never anything that discards a user's work.
 *
 * @module
 */
import { dirname, join, resolve, sep } from "node:path";
import { createContentHashes } from "../host/hash.ts";
import { pathExists, readBytes, readText } from "../host/files.ts";
import type { Environment, Host } from "../host/types.ts";
import { type IsOwnOutput, ownOutput } from "../host/own_output.ts";
import type { CommitContext } from "./commit.ts";
import { findFolders } from "./find_folders.ts";
import * as runGit from "./run_git.ts";
import { commandFiles } from "./command_files.ts";
import { gitSettings, settingOf } from "./git_settings.ts";
import { hooksFolderOf } from "./hooks_folder.ts";
import { parseStatus, STATUS_ARGUMENTS } from "./parse_status.ts";
import { comparePaths, takeSnapshot, withWritten } from "./snapshot.ts";
import type { GitFolders, Repository, TreeSnapshot, TreeStatus, WithIndex } from "./repository.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { operationIn } from "./operations.ts";

const CONTENT_BYTES = 1024 * 1024;

/**
 * The repository that a folder is in, or `null` when it is in none (or in a bare one, which has no working tree).
 *
 * @throws {RalphError} git-missing, git-failed
 */
export async function openRepository(host: Host, cwd: string): Promise<Repository | null> {
  const found = await findFolders(cwd, host.environment);
  if (found !== null) return await createRepository(host, found.topLevel, found);
  const arguments_ = ["rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir", "--git-path", "ralph"];
  const end = await runGit.createGit(host, cwd)(arguments_, { environment: runGit.READING });
  if (end.exitCode !== 0) {
    if (/not a git repository|must be run in a work tree/.test(end.stderr)) return null;
    throw runGit.gitFailed(arguments_, runGit.reasonOf(end), "fix what git names, then try again");
  }
  const [topLevel = "", gitDirectory = "", common = "", ralph = ""] = end.stdout.split("\n");
  return await createRepository(host, topLevel, {
    gitDirectory,
    commonDirectory: resolve(cwd, common),
    ralphDirectory: resolve(cwd, ralph),
  });
}

async function createRepository(host: Host, topLevel: string, folders: GitFolders): Promise<Repository> {
  const git = runGit.createGit(host, topLevel);
  const named = host.guard?.isStrict === true ? await commandFiles(git, topLevel) : [];
  host.guard?.watch({ topLevel, ...folders, included: [...await includedFiles(host, topLevel, folders), ...named] });
  const hashes = createContentHashes();
  const isOwn = ownOutput(); // what Ralph itself prints into the tree is no one's change
  const holding = createHoldingFiles(git, topLevel);
  const hooksFolder = (): Promise<string> => hooksFolderOf({ git, topLevel, gitDirectory: folders.gitDirectory });
  let newest: TreeSnapshot | null = null;

  async function status(): Promise<TreeStatus> {
    const readStatus = (): Promise<TreeStatus> => statusOf(git, topLevel, isOwn);
    const found = await readStatus();
    if (!looksWithoutIndex(found) || (await pathExists(join(folders.gitDirectory, "index")))) return found;
    await runGit.outputOfGit(git, ["read-tree", "HEAD"]); // the index is gone, and with it only what was staged
    return await readStatus();
  }

  const snapshot: Repository["snapshot"] = async () => newest = await takeSnapshot(topLevel, await status(), hashes);

  const repository: Repository = {
    topLevel,
    gitDirectory: folders.gitDirectory,
    ralphDirectory: folders.ralphDirectory,
    status,
    currentBranch: async () => branchIn(await runGit.readHead(folders)),
    async head() {
      const found = await runGit.readHead(folders);
      if (found.commit === null && (found.ref === null || found.ref === runGit.IN_A_TABLE)) {
        const { branch, head } = await status();
        return { branch, head };
      }
      return { branch: branchIn(found), head: found.commit ?? await runGit.headCommit(git, folders) };
    },
    snapshot,
    withWritten: (before, paths) => withWritten(topLevel, before, paths, hashes),
    async changedSince(before) {
      const now = await snapshot();
      return { paths: await comparePaths(git, before, now), now };
    },
    diff: async (paths, options = {}) => (await import("./diff.ts")).diffOf(git, topLevel, paths, options),
    contents: async (commit, paths, { maxBytes = CONTENT_BYTES } = {}) =>
      (await import("./batch_reader.ts")).contentsAt(git, commit, paths, maxBytes),
    ...writing({ host, git, folders, status, topLevel, hooksFolder }),
    filesHolding: async (text) => await holding(text, newest ?? await snapshot()),
    async switchTo(branch) {
      const { clearLocks } = await import("./locks.ts");
      const { switchBranch } = await import("./switch_branch.ts");
      await clearLocks(host, folders);
      return await switchBranch(git, branch, (await repository.head()).branch);
    },
    ...readying({ host, git, folders, topLevel }),
    log: (count) => subjectsOf(git, count),
    git: running(git, host, folders),
  };
  return repository;
}

function branchIn({ ref }: Awaited<ReturnType<typeof runGit.readHead>>): string | null {
  return ref?.startsWith("refs/heads/") === true ? ref.slice("refs/heads/".length) : null;
}

async function statusOf(git: runGit.Git, topLevel: string, isOwn: IsOwnOutput): Promise<TreeStatus> {
  const found = parseStatus(await runGit.outputOfGit(git, STATUS_ARGUMENTS, { environment: runGit.READING }));
  if (isOwn === null) return found;
  return { ...found, changed: found.changed.filter(({ path }) => !isOwn(join(topLevel, path))) };
}

async function subjectsOf(git: runGit.Git, count: number): ReturnType<Repository["log"]> {
  const arguments_ = ["log", "-z", `--max-count=${count}`, "--format=%H %s"];
  const end = await git(arguments_, { environment: runGit.READING });
  if (end.exitCode !== 0 && /does not have any commits yet/.test(end.stderr)) return [];
  if (end.exitCode !== 0) throw runGit.gitFailed(arguments_, runGit.reasonOf(end));
  return runGit.partsOf(end.stdout).map((line) => {
    const space = line.indexOf(" ");
    return { commit: line.slice(0, space), subject: line.slice(space + 1) };
  });
}

/** The methods that write, and wait until it is on the disk. */
function writing(context: CommitContext): Pick<Repository, "commit" | "made" | "persist"> {
  const { host, folders, topLevel } = context;
  let persisted = host.clock.now();
  const made = new Set<string>();
  return {
    async commit(request) {
      const result = await (await import("./commit.ts")).commitPaths(context, request);
      if (result.status === "committed") made.add(result.commit);
      persisted = host.clock.now(); // what Ralph's own git writes is on the disk when it ends
      return result;
    },
    made: (commit) => made.has(commit),
    async persist(paths) {
      const since = persisted - coarseness(host);
      persisted = host.clock.now();
      const { persistObjects, persistFiles } = await import("./persist.ts");
      await persistFiles(host, topLevel, paths.map((path) => join(topLevel, path)));
      await persistObjects(host, folders, since);
    },
  };
}

/** The methods for the time before a run writes, and after a kill or a power cut. */
function readying(
  { host, git, folders, topLevel }: Pick<CommitContext, "folders" | "git" | "host" | "topLevel">,
): Pick<Repository, "repairDamage" | "clearLeftLocks" | "ensureReady" | "tryCommit"> {
  return {
    async repairDamage({ since, head }) {
      const { repairDamage } = await import("./damage.ts");
      return await repairDamage(git, folders, { since: since - coarseness(host), head });
    },
    clearLeftLocks: async (since) => (await import("./locks.ts")).clearLeftLocks(host, folders, topLevel, since),
    async ensureReady() {
      const { clearLocks } = await import("./locks.ts");
      await refuseOperations(topLevel, folders.gitDirectory);
      await clearLocks(host, folders);
      const torn = await (await import("./damage.ts")).replaceTornIndex(git, folders);
      await requireIdentity({ git, gitDirectory: folders.gitDirectory }, host.environment);
      return torn;
    },
    tryCommit: async () => (await import("./trial_commit.ts")).tryCommit(git, folders),
  };
}

/** Runs git as it is asked to. */
function running(git: runGit.Git, host: Host, { ralphDirectory }: GitFolders): Repository["git"] {
  const { GIT_LITERAL_PATHSPECS: _, ...quiet } = runGit.QUIET;
  return async (gitArguments, options = {}) => {
    const run = (mark: Readonly<Record<string, string>>): Promise<runGit.GitEnd> =>
      git(gitArguments, { ...options, environment: { ...quiet, ...options.environment, ...mark } });
    if (!deletesRefs(gitArguments)) return await run({});
    return await (await import("./intent.ts")).withIntent(host, ralphDirectory, run);
  };
}

/** It locks what all refs share: what a killed one leaves is known for Ralph's own by its intent. */
function deletesRefs([command, ...rest]: readonly string[]): boolean {
  return command === "update-ref" && (rest.includes("-d") || rest.includes("--stdin"));
}

/** File systems keep times more coarsely than the clock, in milliseconds: Linux by a tick of its own. */
function coarseness({ environment }: Host): number {
  return environment.platform === "linux" ? 20 : 2000;
}

/** Without an index every file of HEAD appears twice: deleted, and untracked. */
function looksWithoutIndex({ changed }: TreeStatus): boolean {
  const deleted = new Set(changed.filter(({ code }) => code === "D ").map(({ path }) => path));
  return deleted.size > 0 && changed.some(({ path, untracked }) => untracked && deleted.has(path));
}

/** @throws {RalphError} git-operation-in-progress */
export async function refuseOperations(topLevel: string, gitDirectory: string): Promise<void> {
  const operation = await operationIn(gitDirectory);
  if (operation !== null) throw new RalphError("git-operation-in-progress", { details: { operation, root: topLevel } });
}

/** Git knows who commits: from its configuration or the environment. @throws {RalphError} git-identity-missing */
export async function requireIdentity(repository: WithIndex, { variables: given }: Environment): Promise<void> {
  const settings = await gitSettings(repository);
  const isKnown = (who: string, part: string): boolean => {
    const value = given[`GIT_${who}_${part}`.toUpperCase()] ??
      settingOf(settings, `${who}.${part}`) ?? settingOf(settings, `user.${part}`);
    return /[a-z0-9]/i.test(value ?? "");
  };
  const known = ["author", "committer"].every((who) => isKnown(who, "name") && isKnown(who, "email"));
  if (known && given["GIT_AUTHOR_DATE"] === undefined && given["GIT_COMMITTER_DATE"] === undefined) return;
  const variables = ["GIT_COMMITTER_IDENT", "GIT_AUTHOR_IDENT"];
  const ends = await Promise.all(
    variables.map((name) => repository.git(["var", name], { environment: runGit.READING })),
  );
  const failed = ends.find(({ exitCode }) => exitCode !== 0);
  if (failed === undefined) return;
  const reason = runGit.reasonOf({ ...failed, tail: failed.stderr });
  throw new RalphError("git-identity-missing", { details: { reason } });
}

/** Finds the files that hold a text, as the tree is in a snapshot. */
type HoldingFiles = (text: string, now: TreeSnapshot) => Promise<readonly string[]>;

/** All files are looked through once, which takes long in a large tree; later only those that have changed since. */
function createHoldingFiles(git: runGit.Git, topLevel: string): HoldingFiles {
  const known = new Map<string, { readonly at: TreeSnapshot; readonly paths: ReadonlySet<string> }>();

  async function look(text: string, now: TreeSnapshot): Promise<ReadonlySet<string>> {
    const before = known.get(text);
    if (before === undefined) return await searchAll(git, text);
    const paths = new Set(before.paths);
    for (const path of await comparePaths(git, before.at, now)) {
      const bytes = await readBytes(join(topLevel, path)).catch(() => null); // a folder, or too large to be read
      if (bytes?.includes(text) === true) paths.add(path);
      else paths.delete(path);
    }
    return paths;
  }

  return async (text, now) => {
    const paths = await look(text, now);
    known.set(text, { at: now, paths });
    return [...paths].sort();
  };
}

async function searchAll(git: runGit.Git, text: string): Promise<ReadonlySet<string>> {
  const arguments_ = ["grep", "--threads=1", "-lzF", "--untracked", "-e", text];
  const end = await git(arguments_, { environment: runGit.READING });
  if (end.exitCode !== 0 && end.exitCode !== 1) throw runGit.gitFailed(arguments_, runGit.reasonOf(end));
  return new Set(runGit.partsOf(end.stdout));
}

/**
 * Files of the working tree that the repository's settings include (`include.path = ../.gitconfig`), whether they are
 * there or not. Git is asked only where its settings name one.
 *
 * @returns absolute paths
 */
async function includedFiles(host: Host, topLevel: string, { commonDirectory }: GitFolders) {
  const settings = await readText(join(commonDirectory, "config"));
  if (settings === null || !/^\s*\[include/im.test(settings)) return [];
  const arguments_ = ["config", "--null", "--show-origin", "--type=path", "--get-regexp", "^include(if\\..*)?\\.path$"];
  const { stdout } = await runGit.createGit(host, topLevel)(arguments_, { environment: runGit.READING });
  const fields = stdout.split("\0");
  return fields.flatMap((origin, index) => {
    const path = /\n(.+)$/s.exec(fields[index + 1] ?? "")?.[1];
    if (index % 2 === 1 || path === undefined) return [];
    const found = resolve(topLevel, dirname(origin.replace(/^file:/, "")), path);
    return found.startsWith(`${topLevel}${sep}`) && !found.startsWith(`${commonDirectory}${sep}`) ? [found] : [];
  });
}
