import { RalphError } from "../errors/ralph_error.ts";
import type { Host } from "../host/types.ts";
import { join, resolve } from "node:path";
import { isDirectory, readText } from "../host/files.ts";
import { CONTROL_REGEXP, SEQUENCE_REGEXP } from "../host/invisible.ts";
import type { GitFolders, Repository, WithGit } from "./repository.ts";

/** Paths from standard input, separated by NUL and taken literally. */
export const FROM_INPUT: readonly string[] = ["--pathspec-from-file=-", "--pathspec-file-nul"];

/** The paths of a commit, which follows. */
export const NAMES_AT: readonly string[] = ["ls-tree", "-r", "-z", "--name-only", "--full-tree"];

const COMMIT_REGEXP = /^[0-9a-f]{40,64}$/;

/** Git writes this into the file of HEAD where refs are kept in a table. */
export const IN_A_TABLE = "refs/heads/.invalid";

/** How a git command ended. */
export interface GitEnd extends Awaited<ReturnType<Repository["git"]>> {
  /** The end of both streams in the order in which they came. */
  readonly tail: string;
}

type Asked = NonNullable<Parameters<Repository["git"]>[1]>;

/** How a git command is run; it may take a minute where nothing else is said. */
export interface GitOptions extends Omit<Asked, "environment"> {
  /** Ends it, with what it started. @default never: git finishes its write */
  readonly signal?: AbortSignal;
  /** The error to throw when it had to be ended. @default git-failed */
  readonly late?: (why: "timed-out" | "aborted") => RalphError | Promise<RalphError>;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Bytes of standard output that are kept; the rest is read and dropped. @default unlimited */
  readonly maxBytes?: number;
  /** Takes standard output as it comes; none is kept then. */
  readonly onOutput?: (chunk: Buffer) => void;
  /** The advice for when it fails. @default run the same command by hand */
  readonly hint?: string;
}

/** Runs git in one folder. Each call is one process. */
export type Git = (arguments_: readonly string[], options?: GitOptions) => Promise<GitEnd>;

/** No prompt, no editor, messages in English, paths taken literally, objects as they are: an agent may have replaced one. */
export const QUIET: Readonly<Record<string, string>> = {
  GIT_TERMINAL_PROMPT: "0",
  GIT_EDITOR: ":",
  GIT_PAGER: "cat",
  GIT_LITERAL_PATHSPECS: "1",
  GIT_NO_REPLACE_OBJECTS: "1",
  LC_ALL: "C",
};

/** For commands that only look: they take no lock to refresh the index. */
export const READING: Readonly<Record<string, string>> = { ...QUIET, GIT_OPTIONAL_LOCKS: "0" };

const TIMEOUT_MS = 60_000;
/** The end of output that is read piece by piece is only for a message. */
const TAIL_BYTES = 1024;
const ADVICE_REGEXP = /^$|^hint: |^Please |^Aborting$/;
const FAULT_REGEXP = /^(fatal|error): /;

/** Git says this of a path that a sparse checkout leaves out, and that a turn wrote all the same. */
const SPARSE_REGEXP = /outside of your sparse-checkout definition/;
/** Git says this of a lock that another process holds, before it has changed anything. */
const LOCKED_REGEXP = /\.lock': File exists/;
/** Another tool's git holds a lock for moments, and may soon take it again: pauses of 5 seconds in all. */
const LOCK_PAUSES_MS: readonly number[] = [50, 100, 200, 400, 500, 500, 500, 500, 500, 500, 500, 500, 500];

/**
 * Git by way of the host. Git may finish its write when Ralph is ended, so it is not guarded. A lock that another tool
 * holds is waited for.
 *
 * @throws {RalphError} git-missing, git-failed (no end in time)
 */
export function createGit(host: Host, cwd: string): Git {
  const git = createGitOnce(host, cwd);
  return async (arguments_, options = {}) => {
    let end = await git(arguments_, options);
    if (end.exitCode !== 0 && SPARSE_REGEXP.test(end.stderr)) {
      const at = arguments_.indexOf(commandOf(arguments_)) + 1;
      return await git(arguments_.toSpliced(at, 0, "--sparse"), options);
    }
    for (const pause of LOCK_PAUSES_MS) {
      if (!isLocked(end)) break;
      await host.clock.sleep(pause);
      end = await git(arguments_, options);
    }
    return end;
  };
}

/** Tells whether it failed since another process holds a lock, for as long as Ralph has waited for it. */
export function isLocked({ exitCode, stderr }: Pick<GitEnd, "exitCode" | "stderr">): boolean {
  return exitCode !== 0 && LOCKED_REGEXP.test(stderr);
}

function createGitOnce(host: Host, cwd: string): Git {
  return async (arguments_, options = {}) => {
    const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    const chunks: Uint8Array[] = [];
    let left = options.maxBytes ?? Infinity;
    const end = await host.processes.run({
      file: "git",
      arguments: [...guardsFor(arguments_), ...arguments_],
      cwd,
      environment: options.environment ?? QUIET,
      guarded: false,
      timeoutMs,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
      ...(options.input === undefined ? {} : { input: Buffer.from(options.input, options.encoding) }),
      ...(options.onOutput === undefined ? {} : { tailBytes: TAIL_BYTES }),
      onOutput(chunk, stream) {
        if (stream === "stderr" || left <= 0) return;
        if (options.onOutput !== undefined) {
          options.onOutput(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
          return;
        }
        chunks.push(chunk.length > left ? chunk.subarray(0, left) : chunk);
        left -= chunk.length;
      },
    });
    if (end.reason === "not-found" && !await isDirectory(cwd)) {
      const hint = "`git config --show-origin core.worktree` shows where git has it from: correct it, or unset it";
      throw gitFailed(arguments_, `the working tree ${cwd} is not there`, hint);
    }
    if (end.reason === "not-found") throw new RalphError("git-missing", { details: { reason: end.stderr } });
    if (end.reason === "not-started") {
      throw gitFailed(
        arguments_,
        end.stderr,
        "end other programs, or raise `ulimit -u` and `ulimit -n`; then continue",
      );
    }
    if (end.reason !== "exited") {
      if (options.late !== undefined) throw await options.late(end.reason === "timed-out" ? "timed-out" : "aborted");
      const why = end.reason === "timed-out" ? `no end within ${timeoutMs / 1000} s` : "it was stopped";
      throw gitFailed(arguments_, `${why}${end.tail === "" ? "" : `: ${end.tail.trim()}`}`, options.hint);
    }
    return {
      exitCode: end.exitCode,
      stdout: Buffer.concat(chunks).toString(options.encoding ?? "utf8"),
      stderr: end.stderr,
      tail: end.tail,
    };
  };
}

/** `rev-parse` runs none of them; it names their folder. */
const WITH_HOOKS: readonly string[] = ["commit", "rev-parse"];

/** Git's writes are on the disk when it ends: objects, index and refs (git 2.36 and later; an older one ignores it). */
const DURABLE: readonly string[] = ["-c", "core.fsync=added,reference"];

/** Git runs no program that the repository's configuration names, except for the hooks of a commit. */
export function guardsFor(arguments_: readonly string[]): readonly string[] {
  const hooks = WITH_HOOKS.includes(commandOf(arguments_)) ? [] : ["-c", "core.hooksPath=/dev/null"];
  return ["-c", "core.fsmonitor=false", "-c", "i18n.logOutputEncoding=UTF-8", ...DURABLE, ...hooks];
}

/** The command's name: it comes after options such as `-c name.of=value`. */
function commandOf(arguments_: readonly string[]): string {
  return arguments_.find((argument) => /^[a-z][a-z-]+$/.test(argument)) ?? "";
}

/** The error for a git command that should have worked. */
export function gitFailed(arguments_: readonly string[], reason: string, hint?: string): RalphError {
  return new RalphError("git-failed", {
    details: {
      command: commandOf(arguments_),
      reason: reason.trim() || "no message",
      hint: hint ?? HINTS.find(([pattern]) => pattern.test(reason))?.[1] ?? "run the same command by hand to see why",
    },
  });
}

/** Advice about failures that are known. */
const HINTS: readonly (readonly [pattern: RegExp, hint: string])[] = [
  [/not a git repository/, "the folder was moved, or its `.git` removed: put it back, and the same command continues"],
  [
    /can only add regular files/,
    "a pipe or device is in the place of a file: move it away, and the same command continues",
  ],
  [/\.lock': File exists/, "another git process holds the lock: wait for its end, then run the same command again"],
  [/during a merge|during a cherry-pick|rebase in progress/, "end what is in progress, and the same command continues"],
  [/No space left on device|Disk quota exceeded/i, "make room on the disk, and the same command continues"],
  [
    /Permission denied|Read-only file system/i,
    "you may not write there: check owner and mode of the repository's files",
  ],
  [
    /dubious ownership/,
    "the repository belongs to another user: `git config --global --add safe.directory FOLDER` if it is yours",
  ],
];

/** The reason that git gave: from its first `fatal:` or `error:` line on, without its advice. */
export function reasonOf(end: Pick<GitEnd, "stderr" | "tail">): string {
  const lines: string[] = [];
  let isAdvice = false;
  for (const line of end.stderr.split("\n").map((one) => one.trim())) {
    isAdvice = ADVICE_REGEXP.test(line) || (isAdvice && !FAULT_REGEXP.test(line));
    if (!isAdvice) lines.push(line);
  }
  const first = lines.findIndex((line) => FAULT_REGEXP.test(line));
  if (first === -1) return end.tail.trim();
  const from = /Could not read from remote/.test(lines[first] ?? "") ? 0 : first; // ssh says why, before git
  return lines.slice(from).map((line) => line.replace(FAULT_REGEXP, "")).join(" ");
}

/** A command that must work: its output. @throws {RalphError} git-failed */
export async function outputOfGit(git: Git, arguments_: readonly string[], options?: GitOptions): Promise<string> {
  const end = await git(arguments_, options);
  if (end.exitCode !== 0) throw gitFailed(arguments_, reasonOf(end), options?.hint);
  return end.stdout;
}

/** Work on items that were given up on is kept below it, each ref named after the attempt that was the last one. */
export const WORK_REFS = "refs/ralph/work/";

/** Absolute path of the folder that a repository's worktrees share. @throws {RalphError} file-unreadable */
export async function commonDirectoryOf(gitDirectory: string): Promise<string> {
  return resolve(gitDirectory, (await readText(join(gitDirectory, "commondir")))?.trim() ?? "");
}

/**
 * Tells whether refs may begin with a prefix (`refs/…/`), seen without a process; true if git itself has to be asked.
 *
 * @throws {RalphError} file-unreadable
 */
export async function mayHaveRefs(gitDirectory: string, prefix: string): Promise<boolean> {
  const common = await commonDirectoryOf(gitDirectory);
  if (await isDirectory(join(common, prefix)) || await isDirectory(join(common, "reftable"))) return true;
  return (await readText(join(common, "packed-refs"), Infinity))?.includes(` ${prefix}`) ?? false;
}

/**
 * Reads HEAD of a worktree from its git directory, without a process.
 *
 * @returns `ref`: its full name, such as `refs/heads/main`, `null` where HEAD is detached or cannot be read so; `commit`:
 * where it is in a file of its own, as it is right after a commit
 */
export async function readHead(
  { gitDirectory, commonDirectory }: GitFolders,
): Promise<{ readonly ref: string | null; readonly commit: string | null }> {
  const text = (await readText(join(gitDirectory, "HEAD")))?.trim() ?? "";
  if (COMMIT_REGEXP.test(text)) return { ref: null, commit: text };
  const ref = /^ref: (refs\/.+)$/.exec(text)?.[1];
  if (ref === undefined || ref.includes("..")) return { ref: null, commit: null };
  const commit = (await readText(join(commonDirectory, ref)))?.trim() ?? "";
  return { ref, commit: COMMIT_REGEXP.test(commit) ? commit : null };
}

/** The commit of HEAD, by a process only where no file of its own has it; `null` before the first one. */
export async function headCommit(git: Git, folders: GitFolders): Promise<string | null> {
  const { commit } = await readHead(folders);
  return commit ??
    ((await git(["rev-parse", "--verify", "--quiet", "HEAD"], { environment: READING })).stdout.trim() || null);
}

/** One line of such a command. @throws {RalphError} git-failed */
export async function lineFrom(...asked: Parameters<typeof outputFrom>): Promise<string> {
  return (await outputFrom(...asked)).trim();
}

/** Paths that such a command separates by NUL. @throws {RalphError} git-failed */
export async function pathsFrom(...asked: Parameters<typeof outputFrom>): Promise<readonly string[]> {
  return partsOf(await outputFrom(...asked));
}

/** Runs git over paths, which it takes from standard input as `FROM_INPUT` says; over none it is not run. @throws {RalphError} git-failed */
export async function overPaths(git: WithGit, command: readonly string[], paths: readonly string[]): Promise<void> {
  if (paths.length > 0) await outputFrom(git, [...command, ...FROM_INPUT], { input: paths.join("\0") });
}

/** A line of a commit's message: nothing in it begins another line, or turns the direction of the text. Pure. */
export function plainLine(text: string): string {
  return text.replaceAll(SEQUENCE_REGEXP, "").replaceAll(/\s+/g, " ").replaceAll(CONTROL_REGEXP, "").trim();
}

/** The parts of a text that NUL separates. */
export function partsOf(text: string): readonly string[] {
  return text.split("\0").filter((part) => part !== "");
}

/**
 * Paths that differ between two commits or trees (`null`: an empty one), relative to the top level.
 *
 * @throws {RalphError} git-failed
 */
export async function pathsBetween(
  repository: WithGit,
  from: string | null,
  to: string,
  options?: Asked,
): Promise<readonly string[]> {
  if (from === to) return [];
  if (from === null) return await pathsFrom(repository, [...NAMES_AT, to], options);
  return await pathsFrom(repository, ["diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to], options);
}

/** The output of a git command that must work. @throws {RalphError} git-failed */
export async function outputFrom({ git }: WithGit, command: readonly string[], options: Asked = {}): Promise<string> {
  const literal = { GIT_LITERAL_PATHSPECS: "1" };
  const end = await git(command, { ...options, environment: { ...literal, ...options.environment } });
  if (end.exitCode === 0) return end.stdout;
  throw gitFailed(command, reasonOf({ ...end, tail: end.stderr }));
}

/** The fields of each commit in a range, by formats of `git log`, children first. @throws {RalphError} git-failed */
export async function commitFields(
  repository: WithGit,
  fields: readonly string[],
  range: readonly string[],
): Promise<readonly (readonly string[])[]> {
  const log = ["log", "--topo-order", "--date=raw", `--format=${fields.join("%x00")}%x00`, ...range];
  const found = (await outputFrom(repository, log)).split("\0");
  return Array.from(
    { length: Math.floor(found.length / fields.length) },
    (_, at) => found.slice(at * fields.length, (at + 1) * fields.length),
  );
}
