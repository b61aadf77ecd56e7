import { isDirectory, presentPaths, removeOwn, renamePath } from "../host/files.ts";
import { dirname, join } from "node:path";
import { listFiles } from "../host/file_state.ts";
import { namesIn } from "../host/looks.ts";
import { foldersAbove } from "../host/programs.ts";
import type { Host, Variables } from "../host/types.ts";
import { RalphError } from "../errors/ralph_error.ts";
import * as runGit from "./run_git.ts";
import { areRefusedByAttributes } from "./attributes.ts";
import { withIntent } from "./intent.ts";
import { withOwnIndex } from "./own_index.ts";
import { clearLocks } from "./locks.ts";
import { isReadable } from "./parse_status.ts";
import { persistBranch } from "./persist.ts";
import { behindLinks, dropEntries, stagePaths } from "./index_entries.ts";
import { commitAt } from "./refs.ts";
import type { ChangedPath, CommitRequest, CommitResult, GitFolders, GitTree, Repository } from "./repository.ts";

const TIMEOUT_MS = 60_000;
const HOOKS_TIMEOUT_MS = 600_000;
/** After that a hook is named, so that a run is not silent. */
const SLOW_MS = 10_000;
/** Hooks may end by themselves when Ralph is stopped. */
const GRACE_MS = 2000;
const NOTHING_REGEXP = /^(nothing to commit|nothing added to commit|no changes added to commit)/m;

/** Git compares each path that it is given with each file: more of them take longer than an index of their own. */
const MOST_NAMED = 300;

/** The one that sees the commit made, and can take it off the branch again. */
const AFTER = "post-commit";
const COMMIT_HOOKS: readonly string[] = ["pre-commit", "prepare-commit-msg", "commit-msg", AFTER];

/** Git looks after each commit whether it is time to pack, in another process: by its own settings it never is below some 2,000 loose objects. */
const LOOSE_IN_A_FOLDER = 8;
const NO_HOUSEKEEPING: readonly string[] = ["-c", "maintenance.auto=false", "-c", "gc.auto=0"];

/** `--no-verify` lets the hook run that can take the commit off again. */
const NO_HOOKS: readonly string[] = ["-c", "core.hooksPath=/dev/null"];

/** Hooks keep the user's own locale; git's messages are English all the same. */
const { LC_ALL: _, ...WITH_HOOKS }: Readonly<Record<string, string>> = { ...runGit.QUIET, LANGUAGE: "en" };

/** A hook's own `git diff -- '*.js'` is a pattern: its paths are not taken literally. */
const FOR_HOOKS = { GIT_LITERAL_PATHSPECS: undefined } as const;

export interface CommitContext {
  readonly host: Host;
  readonly git: runGit.Git;
  readonly folders: GitFolders;
  /** Absolute path of the working tree. */
  readonly topLevel: string;
  readonly status: Repository["status"];
  /** Absolute path of the folder that the repository's hooks are in. */
  hooksFolder(): Promise<string>;
}

/**
 * Commits what differs in the named paths, and nothing else; whatever else is staged stays staged.
 *
 * @throws {RalphError} git-locked, git-failed (hooks that hang: `details.late`; HEAD on another branch: `details.astray`)
 */
export async function commitPaths(context: CommitContext, request: CommitRequest): Promise<CommitResult> {
  const { changed } = request.known ?? await context.status();
  const chosen = choose(changed, request.paths);
  if (chosen.length === 0 && request.fold === undefined) {
    return { status: "nothing", ignored: await ignoredOf(context.git, request.paths) };
  }
  await clearLocks(context.host, context.folders);
  const isChosen = namedBy(request.paths);
  const others = new Set(changed.filter((entry) => !isChosen(entry)).map(({ path }) => path.replace(/\/$/, "")));
  return await withIntent(
    context.host,
    context.folders.ralphDirectory,
    (mark) => write(context, request, { chosen, others }, mark),
  );
}

async function write(
  context: CommitContext,
  request: CommitRequest,
  { chosen, others }: { readonly chosen: readonly ChangedPath[]; readonly others: ReadonlySet<string> },
  mark: Readonly<Record<string, string>>,
): Promise<CommitResult> {
  const { git, folders, topLevel } = context;
  const { hooks = false, fold } = request;
  const environment = { ...(hooks ? WITH_HOOKS : runGit.QUIET), ...mark };
  const repository = { ...folders, topLevel, git: withEnvironment(git, environment) };
  const timeoutMs = request.timeoutMs ?? (hooks ? HOOKS_TIMEOUT_MS : TIMEOUT_MS);
  using watched = hooks ? watchHooks(context, request, timeoutMs) : undefined;
  const loose = namesIn(join(folders.commonDirectory, "objects", "17")); // one of 256, as git counts them
  const housekeeping = loose.length >= LOOSE_IN_A_FOLDER ? [] : NO_HOUSEKEEPING;
  const commit = [...housekeeping, ...(hooks ? [] : NO_HOOKS), "commit", "--quiet", "--cleanup=whitespace"];
  const { ref } = await runGit.readHead(folders);
  refuseAstray(request, ref);
  const { run, seen, present } = await lookedAfter(context, repository, request, others);
  const runCommit: runGit.Git = (more, { environment: own, ...options } = {}) => {
    const limits: runGit.GitOptions = { timeoutMs, ...watched?.limits, ...options };
    return run([...commit, ...more], { ...limits, environment: { ...environment, ...own, ...FOR_HOOKS } });
  };
  const names = chosen.map(({ path }) => path);
  const folded = fold === undefined ? null : await (await import("./fold.ts")).commitFolded(
    repository,
    { ...request, fold, paths: names, ref: ref ?? "HEAD" },
    (body, own) => runCommit(messageOf({ ...request, body }), { environment: own }),
  );
  if (folded === null && chosen.length === 0) return { status: "nothing", ignored: [] };
  // `git commit --only` leaves paths behind a link, and the link itself, where they are
  const isMuch = chosen.length > MOST_NAMED || behindLinks(topLevel, names).length > 0;
  const end = folded ?? await (isMuch ? commitMany : commitOnly)(repository, chosen, messageOf(request), runCommit);
  if (end.exitCode === 0) {
    if (present.length > 0 && folded === null) await matchCommit(repository, seen.commit ?? "HEAD", names);
    await persistBranch(folders);
    return { status: "committed", ...seen, commit: seen.commit ?? await runGit.headCommit(git, folders) ?? "" };
  }
  if (end.exitCode === 1 && NOTHING_REGEXP.test(end.tail)) {
    // HEAD has all of it, and the index does not know: git was ended between the two
    const known = chosen.filter(({ untracked }) => !untracked).map(({ path }) => path);
    if (folded === null) await runGit.overPaths(repository, ["add", "--all"], known);
    return { status: "nothing", ignored: [] };
  }
  if (end.exitCode === 1 && present.length > 0) {
    return { status: "refused", by: "a hook of the repository", output: end.tail };
  }
  if (hooks && await areRefusedByAttributes(repository, names)) {
    return { status: "refused", by: "git, by the attributes of its files", output: runGit.reasonOf(end) };
  }
  throw runGit.gitFailed(commit, runGit.reasonOf(end));
}

/**
 * Runs the commit itself, and looks at what the hooks that there are (`present`), or a person meanwhile, made of it: one
 * that took it off the branch again has refused it, and what a hook has staged of the others is taken out of it.
 */
async function lookedAfter(
  context: CommitContext,
  repository: GitTree,
  { hooks = false, fold }: CommitRequest,
  others: ReadonlySet<string>,
): Promise<{ readonly run: runGit.Git; readonly seen: Seen; readonly present: readonly string[] }> {
  const { git, folders } = context;
  const seen: { -readonly [Key in keyof Seen]: Seen[Key] } = {};
  const present = hooks ? await hooksOf(context) : [];
  if (present.length === 0) return { run: git, seen, present };
  const base = fold?.head ?? await runGit.headCommit(git, folders);
  return {
    seen,
    present,
    async run(arguments_, options) {
      const tip = await runGit.headCommit(git, folders);
      const { ref } = await runGit.readHead(folders);
      const end = await git(arguments_, options);
      if (end.exitCode !== 0) return end;
      const { landedCommit } = await import("./landed_commit.ts");
      const made = await landedCommit({ ...repository, ...folders }, { ref, tip });
      if (made === null) {
        const branch = ref?.replace("refs/heads/", "") ?? "HEAD";
        const by = present.includes(AFTER) ? `its ${AFTER} hook` : "a hook, or a person,";
        return { ...end, exitCode: 1, tail: `${by} took the commit off ${branch} again` };
      }
      seen.commit = made.commit;
      if (made.strayedTo !== undefined) seen.strayedTo = made.strayedTo;
      if (others.size === 0) return end;
      const { takeOutStaged } = await import("./hook_staged.ts");
      const hooked = { commit: made.commit, tip, ref: made.isTip ? ref ?? "HEAD" : null, base };
      const { commit, out, left } = await takeOutStaged(repository, hooked, others);
      seen.commit = commit;
      if (out.length > 0) seen.without = out;
      if (left.length > 0) seen.with = left;
      return end;
    },
  };
}

/** The last look before git: HEAD may have gone elsewhere. */
function refuseAstray({ branch }: CommitRequest, ref: string | null): void {
  const isThere = branch === null ? ref === null : ref === `refs/heads/${branch}`;
  if (branch === undefined || isThere || ref === runGit.IN_A_TABLE) return;
  const details = { command: "commit", reason: `HEAD is at ${ref ?? "no branch"} instead of ${branch}`, astray: 1 };
  throw new RalphError("git-failed", { details });
}

/** A commit as it was found after its hooks. */
type Seen = Partial<Omit<Extract<CommitResult, { readonly status: "committed" }>, "status">>;

/** Into one pack instead of a file each, which would all be waited for: git does so with files that it takes for big. */
const AS_PACK: readonly string[] = ["-c", "core.bigFileThreshold=1"];

/** From an index of its own, which takes paths as they are; whatever else is staged stays staged. */
async function commitMany(
  repository: GitTree,
  chosen: readonly ChangedPath[],
  message: readonly string[],
  runCommit: runGit.Git,
): Promise<runGit.GitEnd> {
  const paths = chosen.map(({ path }) => path);
  return await withOwnIndex(repository, "copied", async (environment) => {
    const start = await commitAt(repository, "HEAD") === null ? ["--empty"] : ["--reset", "HEAD"];
    await runGit.outputFrom(repository, ["read-tree", ...start], { environment });
    await stagePaths(repository, paths, environment, paths.length > MOST_NAMED ? AS_PACK : []);
    const end = await runCommit(message, { environment });
    if (end.exitCode === 0) await stagePaths(repository, paths);
    return end;
  });
}

/** `git commit --only`; new files that it did not take are untracked again. */
async function commitOnly(
  repository: GitTree,
  chosen: readonly ChangedPath[],
  message: readonly string[],
  runCommit: runGit.Git,
): Promise<runGit.GitEnd> {
  const untracked = chosen.filter((entry) => entry.untracked).map(({ path }) => path);
  await runGit.overPaths(repository, ["add", "--intent-to-add"], untracked);
  let isCommitted = false;
  const aside = await setAsideEmpty(repository, chosen);
  try {
    const input = chosen.map(({ path }) => `:(literal)${path}`).join("\0");
    const end = await runCommit(["--only", ...message, ...runGit.FROM_INPUT], { input });
    isCommitted = end.exitCode === 0;
    return end;
  } finally {
    for (const { from, to } of aside) await renamePath(to, from);
    if (!isCommitted) await dropEntries(repository, untracked);
  }
}

/** Git takes an empty folder in the place of a deleted file for a repository: it is out of the way meanwhile. */
async function setAsideEmpty({ topLevel, ralphDirectory }: GitTree, chosen: readonly ChangedPath[]) {
  const aside: { from: string; to: string }[] = [];
  for (const entry of chosen) {
    const from = join(topLevel, entry.path);
    if (!isDeleted(entry) || !await isDirectory(from) || listFiles(from, () => true).length > 0) continue;
    const to = join(ralphDirectory, `empty-folder-${aside.length}`);
    await removeOwn(to, ralphDirectory);
    await renamePath(from, to);
    aside.push({ from, to });
  }
  return aside;
}

/** Reports hooks that take long, and ends the ones that do not end. */
function watchHooks(
  { host, hooksFolder }: CommitContext,
  { signal, onSlowHooks }: CommitRequest,
  timeoutMs: number,
): Disposable & { readonly limits: Pick<runGit.GitOptions, "late" | "signal"> } {
  const stop = new AbortController();
  const end = new AbortController();
  async function endSoon(): Promise<void> {
    await host.clock.sleep(GRACE_MS, stop.signal);
    if (!stop.signal.aborted) end.abort();
  }
  if (signal?.aborted === true) void endSoon();
  else signal?.addEventListener("abort", () => void endSoon(), { once: true, signal: stop.signal });
  async function tell(): Promise<void> {
    slow[Symbol.dispose](); // once
    const names = await hooksOf({ hooksFolder });
    if (!stop.signal.aborted && names.length > 0) onSlowHooks?.(names);
  }
  const slow = host.clock.every(SLOW_MS, () => void tell());
  return {
    limits: {
      signal: end.signal,
      async late(why) {
        const names = (await hooksOf({ hooksFolder })).join(", ") || "git itself";
        const when = why === "aborted" ? "when Ralph was stopped" : `after ${timeoutMs / 1000} s`;
        const hint = "`git commit` by hand shows what they wait for; the work is in the working tree, and the same " +
          "command continues";
        const reason = `the repository's hooks had not ended ${when} and were ended (${names})`;
        return new RalphError("git-failed", { details: { command: "commit", reason, hint, late: 1 } });
      },
    },
    [Symbol.dispose]() {
      slow[Symbol.dispose]();
      stop.abort();
    },
  };
}

/** Hooks stage what they change in an index of git's own: of all that was committed the real one gets what HEAD has. */
async function matchCommit(repository: GitTree, commit: string, chosen: readonly string[]): Promise<void> {
  const look = ["diff-tree", "--root", "--no-commit-id", "-r", "-z", "--name-only", commit];
  const paths = new Set([...await runGit.pathsFrom(repository, look), ...chosen]);
  await runGit.overPaths(repository, ["reset", "--quiet"], [...paths].filter(isReadable));
}

/** The hooks of a commit that there are: only these can refuse it, or hang. */
async function hooksOf({ hooksFolder }: Pick<CommitContext, "hooksFolder">): Promise<readonly string[]> {
  return await presentPaths(await hooksFolder(), COMMIT_HOOKS);
}

/**
 * A named folder means what changed in it. Submodules and repositories inside the tree are left alone. A file that a
 * folder has replaced goes with the new files in it: git does not take it by name.
 */
function choose(changed: readonly ChangedPath[], paths: readonly string[]): readonly ChangedPath[] {
  const chosen = changed.filter(namedBy(paths));
  const folders = new Set(
    chosen.filter((entry) => !isDeleted(entry)).flatMap(({ path }) => foldersAbove(dirname(path))),
  );
  return chosen.filter((entry) => !(isDeleted(entry) && folders.has(entry.path)));
}

function namedBy(paths: readonly string[]): (entry: ChangedPath) => boolean {
  const named = new Set(paths.map((path) => path.replace(/\/$/, "")));
  return ({ path, submodule }) => {
    if (submodule !== undefined || path.endsWith("/")) return false;
    return foldersAbove(path).some((folder) => named.has(folder));
  };
}

function isDeleted({ code }: ChangedPath): boolean {
  return code.includes("D");
}

async function ignoredOf(git: runGit.Git, paths: readonly string[]): Promise<readonly string[]> {
  if (paths.length === 0) return [];
  const arguments_ = ["check-ignore", "-z", "--stdin"];
  const environment = { ...runGit.READING, GIT_LITERAL_PATHSPECS: undefined }; // check-ignore does not know it
  const end = await git(arguments_, { input: paths.join("\0"), environment });
  if (end.exitCode !== 0 && end.exitCode !== 1) throw runGit.gitFailed(arguments_, runGit.reasonOf(end));
  return runGit.partsOf(end.stdout);
}

function messageOf({ subject: text, body }: Pick<CommitRequest, "subject" | "body">): readonly string[] {
  const subject = runGit.plainLine(text);
  const parts = body === undefined || ["", subject].includes(body.trim()) ? [subject] : [subject, body];
  return parts.flatMap((part) => ["-m", part.replaceAll("\0", "")]);
}

function withEnvironment(git: runGit.Git, environment: Variables): Repository["git"] {
  return (arguments_, options = {}) =>
    git(arguments_, { ...options, environment: { ...environment, ...options.environment } });
}
