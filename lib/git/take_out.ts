import { entriesAt, layEntries } from "./index_entries.ts";
import { commitTree, isAncestor, moveHead, ownMoves } from "./refs.ts";
import * as runGit from "./run_git.ts";
import { markedCommits, markingEnvironment } from "./turn_mark.ts";
import { ownTree, saveCommit, treeWith } from "./own_index.ts";
import { treeAt } from "./read_commit.ts";
import type { Repository, TreeSnapshot, WithGit, WithIndex } from "./repository.ts";

const FIELDS: readonly string[] = ["%H", "%P", "%T", "%B", "%an", "%ae", "%ad", "%cn", "%ce", "%cd"];
const PEOPLE = ["AUTHOR", "COMMITTER"].flatMap((who) => ["NAME", "EMAIL", "DATE"].map((what) => `GIT_${who}_${what}`));

/** Another tool may commit meanwhile: then what it made is looked at as well. */
const TRIES = 20;

/**
 * Takes paths out of the commits after `base`, as if these had never touched them: everything else in them stays, and
 * one that then changes nothing is left out. The files themselves stay as they are, uncommitted.
 *
 * @param bytes the repository whose git takes and gives these paths; by it names that are not UTF-8 are taken out
 * @returns the new HEAD
 * @throws {RalphError} git-failed
 */
export async function takeOut(
  repository: WithIndex,
  base: string | null,
  paths: readonly string[],
  bytes: WithIndex = repository,
): Promise<string | null> {
  const entries = await entriesAt(bytes, base, paths, bytes === repository);
  for (let tries = 1;; tries += 1) {
    const head = await runGit.lineFrom(repository, ["rev-parse", "HEAD"]);
    const now = await writtenWithout(repository, base, head, { entries, bytes });
    const why = "ralph: without uncommitted work";
    if (!await moveHead(repository, { from: head, to: now ?? head, why })) {
      if (tries < TRIES) continue;
      throw runGit.gitFailed(
        ["update-ref"],
        "another tool commits all the time: HEAD is never where it was a moment ago",
      );
    }
    await runGit.overPaths(bytes, ["reset", "--quiet"], paths);
    return now;
  }
}

async function writtenWithout(
  repository: WithIndex,
  base: string | null,
  head: string,
  { entries, bytes }: { readonly entries: string; readonly bytes: WithIndex },
): Promise<string | null> {
  const renamed = new Map<string, string | null>();
  const commits = await commitsBetween(repository, base, head);
  const marked = await markedCommits(repository, commits.map(({ id }) => id));
  const mark = await markingEnvironment(repository);
  for (const commit of commits) {
    const parents = commit.parents.map((parent) => renamed.has(parent) ? renamed.get(parent)! : parent)
      .filter((parent) => parent !== null);
    const tree = await treeWith(bytes, commit.tree, entries);
    const [only] = parents;
    const wasEmpty = commit.parents.length === 1 && await treeAt(repository, commit.parents[0]!) === commit.tree;
    const isEmpty = parents.length < 2 && !wasEmpty && only !== undefined && await treeAt(repository, only) === tree;
    const environment = { ...commit.environment, ...(marked.has(commit.id) ? mark : {}) };
    const made = { parents, message: commit.message, environment };
    renamed.set(commit.id, isEmpty ? only : await commitTree(repository, tree, made));
  }
  return renamed.get(head) ?? head;
}

/**
 * Takes the commits that no turn and no person made off the branch and keeps them under a ref; their files stay as they
 * are, uncommitted.
 *
 * @param from HEAD before whatever made them
 * @returns a sentence; `null` where there are none
 */
export async function takeOff(
  repository: WithIndex,
  { from, to, run }: { readonly from: string; readonly to: string; readonly run: string },
): Promise<string | null> {
  if (!await isAncestor(repository, from, to)) return null;
  const line = await runGit.commitFields(repository, ["%H", "%s", "%T"], ["--first-parent", `${from}..${to}`]);
  const commits = line.map(([id = "", subject = "", tree = ""]) => ({ id: id.trim(), subject, tree }));
  const marked = await markedCommits(repository, commits.map(({ id }) => id));
  const others = commits.findIndex(({ id }) => !marked.has(id) || ownMoves.has(id));
  const made = others < 0 ? commits : commits.slice(0, others);
  if (made[0] === undefined) return null;
  const onto = commits[others]?.id ?? from;
  const ref = `refs/ralph/lost/${run}.by-${made[0].tree.slice(0, 10)}`;
  await runGit.outputFrom(repository, ["update-ref", ref, to]);
  if (!await moveHead(repository, { from: to, to: onto, why: "ralph: without what no turn committed" })) return null;
  await runGit.overPaths(repository, ["reset", "--quiet"], await runGit.pathsBetween(repository, onto, to));
  const subjects = made.map(({ subject }) => subject).join(", ");
  return `committed "${subjects}": taken off the branch and kept as ${ref}; the files stay as they are`;
}

function byByte({ git, gitDirectory }: WithIndex): WithIndex {
  return { gitDirectory, git: (words, options) => git(words, { ...options, encoding: "latin1" }) };
}

function readable(path: string): string {
  return Buffer.from(path, "latin1").toString("utf8");
}

function among(unreadable: readonly string[], paths: readonly string[]): readonly string[] {
  return [...new Set(paths)].filter((path) => unreadable.includes(readable(path)));
}

/**
 * Takes out of the commits after a snapshot what was uncommitted in it and has a name that is not UTF-8.
 *
 * @returns these paths, as far as they can be read
 * @throws {RalphError} git-failed
 */
export async function takeOutUnreadable(
  repository: WithIndex,
  { head, unreadable = [] }: Pick<TreeSnapshot, "head" | "unreadable">,
  now: string | null,
): Promise<readonly string[]> {
  if (head === null || now === null || head === now || unreadable.length === 0) return [];
  const bytes = byByte(repository);
  const paths = among(unreadable, await runGit.pathsBetween(bytes, head, now));
  if (paths.length > 0) await takeOut(repository, head, paths, bytes);
  return paths.map(readable);
}

/** Keeps what is uncommitted in a snapshot and has a name that is not UTF-8 as a commit under a ref. */
export async function keepUnreadable(
  repository: WithIndex,
  { head, unreadable = [] }: Pick<TreeSnapshot, "head" | "unreadable">,
  ref: string,
): Promise<void> {
  if (head === null || unreadable.length === 0) return;
  const bytes = byByte(repository);
  const differing = await runGit.pathsFrom(bytes, ["diff", "--name-only", "-z", "--no-renames", "HEAD"]);
  const others = await runGit.pathsFrom(bytes, ["ls-files", "-z", "--others", "--exclude-standard"]);
  const paths = among(unreadable, [...differing, ...others]);
  await saveCommit(repository, ref, await treeNow(bytes, paths), [head]);
}

/** Writes it again where it is gone, or as it is committed. @returns the paths, as far as they can be read */
export async function restoreUnreadable(
  repository: WithIndex,
  { head, unreadable = [] }: Pick<TreeSnapshot, "head" | "unreadable">,
  ref: string,
): Promise<readonly string[]> {
  if (head === null || unreadable.length === 0) return [];
  const bytes = byByte(repository);
  const paths = among(unreadable, await runGit.pathsBetween(bytes, head, ref));
  const now = await treeNow(bytes, paths);
  const later = new Set(await runGit.pathsBetween(bytes, head, now)); // neither gone nor as it is committed
  const there = new Set(await runGit.pathsFrom(bytes, [...runGit.NAMES_AT, now]));
  const kept = new Set(await runGit.pathsFrom(bytes, [...runGit.NAMES_AT, ref]));
  const gone = paths.filter((path) => kept.has(path) && !(there.has(path) && later.has(path)));
  await runGit.overPaths(bytes, ["restore", `--source=${ref}`, "--worktree"], gone);
  return gone.map(readable);
}

async function treeNow(bytes: WithIndex, paths: readonly string[]): Promise<string> {
  const input = paths.map((path) => `${path}\0`).join("");
  const stage = ["update-index", "--add", "--remove", "-z", "--stdin"];
  return await ownTree(bytes, "copied", (environment) => runGit.outputFrom(bytes, stage, { input, environment }));
}

/** A commit as it is made again. */
interface KnownCommit {
  readonly id: string;
  readonly parents: readonly string[];
  readonly tree: string;
  readonly message: string;
  /** Who made it, and when. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The commits of a range, oldest first. */
export async function commitsBetween(
  repository: WithIndex,
  base: string | null,
  head: string,
): Promise<readonly KnownCommit[]> {
  const range = base === null ? head : `${base}..${head}`;
  const found = await runGit.commitFields(repository, FIELDS, ["--reverse", range]);
  return found.map(([id = "", parents = "", tree = "", message = "", ...people]) => ({
    id: id.trim(),
    parents: parents.split(" ").filter((parent) => parent !== ""),
    tree,
    message,
    environment: Object.fromEntries(PEOPLE.map((name, at) => [name, people[at] ?? ""])),
  }));
}

/**
 * Commits paths as `start` has them, where commits since then have changed them. The working tree and all other entries
 * of the index stay as they are.
 *
 * @param paths relative to the top level
 * @returns `null` where no commit has changed them
 */
export async function restoreInHead(
  repository: Repository,
  start: string,
  paths: readonly string[],
): Promise<{ readonly commit: string; readonly subject: string } | null> {
  if (paths.length === 0) return null;
  const changed = await runGit.pathsFrom(repository, [
    "diff-tree",
    "-r",
    "-z",
    "--name-only",
    start,
    "HEAD",
    "--",
    ...paths,
  ]);
  if (changed.length === 0) return null;
  const subject = `ralph: restore ${changed.length === 1 ? changed[0] : `${changed.length} files`}`;
  const entries = await entriesAt(repository, start, changed);
  // as a turn's own: the two become part of the item's one commit, or go with what is given up on
  const environment = await markingEnvironment(repository);
  for (;;) {
    const parent = await runGit.lineFrom(repository, ["rev-parse", "HEAD"]);
    const tree = await treeWith(repository, parent, entries);
    const commit = await commitTree(repository, tree, { parents: [parent], message: `${subject}\n`, environment });
    if (!await moveHead(repository, { from: parent, to: commit, why: subject })) continue;
    await layEntries(repository, entries);
    return { commit, subject };
  }
}

/** Makes files below folders, in the working tree and in the index, what a commit has there. */
export async function restoreBelow(repository: WithGit, commit: string, folders: readonly string[]): Promise<void> {
  const files = await runGit.pathsFrom(repository, [...runGit.NAMES_AT, commit, "--", ...folders]);
  await runGit.overPaths(repository, ["restore", `--source=${commit}`, "--staged", "--worktree"], files);
}
