import { commitAt, isAncestor } from "./refs.ts";
import { hashText } from "../host/files.ts";
import { discardPaths } from "./merge_change.ts";
import { outputFrom, pathsBetween } from "./run_git.ts";
import { saveCommit, wholeTree } from "./own_index.ts";
import { markedCommits } from "./turn_mark.ts";
import { readStash, readTags, type Tags } from "./tags.ts";
import type { HeadNow, Repository } from "./repository.ts";

/** The history that a turn must leave in place: HEAD as it was before it, detached or not. */
export interface HistoryLine extends HeadNow {
  /** The last commit that was made by Ralph or verified: HEAD must descend from it. */
  readonly floor: string | null;
  /** Blamed where it was no turn, as "the hook lint, or a person meanwhile,". @default the turn */
  readonly by?: string;
}

/** The turn rewrote what it was given; the branch is as it was before. */
export interface HistoryRewritten {
  readonly status: "history-rewritten";
  readonly message: string;
  /** Uncommitted changes that were in the way; `null`: none were. */
  readonly aside: SetAside | null;
}

/** Uncommitted changes that a ref keeps, and that are gone from the tree. Relative to the top level. */
export interface SetAside {
  readonly ref: string;
  readonly paths: readonly string[];
}

/** The content of such a ref in words, and how it comes back. @param aside with paths as the reader names them. Pure. */
export function asideText({ ref, paths }: SetAside): string {
  const more = paths.length > NAMED ? [`${paths.length - NAMED} more`] : [];
  const path = paths.length === 1 ? paths[0] : "PATH";
  const named = [...paths.slice(0, NAMED), ...more].join(", ");
  return `holds uncommitted changes that were in the way: ${named} (\`git checkout ${ref} -- ${path}\` brings them back)`;
}

/** So many paths are named. */
const NAMED = 20;

type Guarded = Pick<Repository, "git" | "status" | "gitDirectory" | "ralphDirectory" | "topLevel">;

/**
 * History only grows: after a turn HEAD is on the same branch and descends from the last commit that was made by Ralph
 * or verified. Otherwise the branch goes back to where it was, and what the turn committed stays under
 * `refs/ralph/lost/<attempt>`.
 *
 * @param attempt names the refs of what is lost
 * @returns `null` where nothing was rewritten
 * @throws {RalphError} git-failed
 */
export async function guardHistory(
  repository: Guarded,
  line: HistoryLine,
  now: HeadNow,
  attempt: string,
): Promise<HistoryRewritten | null> {
  const strayed = line.branch !== null && now.branch !== line.branch;
  if (!strayed && (now.head === line.head || await descends(repository, line.floor, now.head))) return null;
  const isNew = line.head === null || (now.head !== null && !await descends(repository, now.head, line.head));
  const isHeld = line.by !== undefined && strayed && now.branch !== null; // by the branch that it is on
  const lost = isNew && !isHeld ? await keepLost(repository, now.head, attempt) : null;
  const aside = await goBack(repository, line, now, attempt);
  const kept = lost === null ? "" : `; the commit that it ended on is kept as ${lost}`;
  const { what, back } = wordsFor(line, strayed ? now : null);
  const message = `${what}${kept}. ${back}`;
  return { status: "history-rewritten", message, aside };
}

/** @param away where HEAD went; `null`: it is on its branch */
function wordsFor({ branch, floor, by }: HistoryLine, away: HeadNow | null) {
  const where = branch === null ? "HEAD" : `the branch ${branch}`;
  const rewrote = `rewrote history: ${(floor ?? "").slice(0, 10)} was no longer part of it`;
  const end = away?.branch === null ? "a detached HEAD" : `the branch ${away?.branch}`;
  if (by === undefined) {
    const what = away === null
      ? `the turn, or a person meanwhile, ${rewrote}`
      : `the turn ended on ${end} instead of ${branch}`;
    return { what, back: `${where} is as it was before the turn: only add commits to it` };
  }
  if (away === null) return { what: `${by} ${rewrote}`, back: `${where} is as it was before: only add commits to it` };
  return {
    what: `${by} went to ${end} instead of ${branch}`,
    back: `HEAD is back on ${where}, which the run works on`,
  };
}

async function descends(repository: Guarded, floor: string | null, head: string | null): Promise<boolean> {
  if (floor === null) return true;
  return head !== null && await isAncestor(repository, floor, head);
}

async function keepLost(repository: Guarded, commit: string | null, name: string): Promise<string | null> {
  if (commit === null) return null;
  const ref = `refs/ralph/lost/${name}`;
  await outputFrom(repository, ["update-ref", ref, commit]);
  return ref;
}

/** The tree goes along; local changes stay where they are not in the way, and are kept as a commit where they are. */
async function goBack(repository: Guarded, line: HistoryLine, now: HeadNow, attempt: string): Promise<SetAside | null> {
  let aside: SetAside | null = null;
  const branch = line.branch === null ? null : `refs/heads/${line.branch}`;
  const target = await targetOf(repository, line, now, attempt);
  if (target === null) {
    if (branch !== null) await outputFrom(repository, ["symbolic-ref", "HEAD", branch]);
    await outputFrom(repository, ["read-tree", "--empty"]);
    return null;
  }
  await outputFrom(repository, ["update-ref", "--no-deref", "HEAD", now.head ?? target]);
  const keep = ["reset", "--quiet", "--keep", target];
  if (now.head === null || (await repository.git(keep)).exitCode !== 0) {
    const parents = now.head === null ? [] : [now.head];
    const ref = `refs/ralph/lost/${attempt}-tree`;
    await saveCommit(repository, ref, await wholeTree(repository), parents);
    const paths = await clearTheWay(repository, now.head, target);
    if (paths.length > 0) aside = { ref, paths };
    if ((await repository.git(keep)).exitCode !== 0) await outputFrom(repository, ["reset", "--quiet", target]);
  }
  if (branch === null) return aside;
  await outputFrom(repository, ["update-ref", "-m", "ralph: as before the turn", branch, target]);
  await outputFrom(repository, ["symbolic-ref", "HEAD", branch]);
  return aside;
}

/** A branch that the turn only left may have grown; one that it moved goes back. */
async function targetOf(repository: Guarded, line: HistoryLine, now: HeadNow, attempt: string): Promise<string | null> {
  if (line.branch === null || line.branch === now.branch) return line.head;
  const tip = await commitAt(repository, `refs/heads/${line.branch}`);
  if (tip !== null && await descends(repository, line.floor, tip)) return tip;
  if (tip !== now.head) await keepLost(repository, tip, `${attempt}-branch`);
  return line.head;
}

/** Branches, stashed work and replacements of objects, but for the branch at work. */
export function readWork({ gitDirectory }: Guarded, branch: string | null): Tags {
  const replaced = [...readTags(gitDirectory, "replace")].map(([name, hash]) => [`${REPLACE}${name}`, hash] as const);
  const notes = [...readTags(gitDirectory, "notes")].filter(([name]) => !name.startsWith("ralph"))
    .map(([name, hash]) => [`refs/notes/${name}`, hash] as const);
  const work = new Map([...readTags(gitDirectory, "heads"), ...notes, ...readStash(gitDirectory), ...replaced]);
  if (branch !== null) work.delete(branch);
  return work;
}

/**
 * Holds it by refs until `letGo()`: once nothing names it, `git gc --prune=now` takes it off the disk. A tip is held once,
 * for all workers, and again where something has removed its ref.
 *
 * @param root absolute path of the project: two worktrees of one repository may have a run each
 * @returns the tips that git refuses to hold
 */
export async function holdWork(repository: Guarded, work: Tags, root: string): Promise<readonly string[]> {
  const { below, held } = heldOf(repository, root);
  const tips = [...new Set([...work].flatMap(([name, hash]) => name.startsWith(REPLACE) ? [] : [hash]))];
  const hold = async (some: readonly string[]): Promise<boolean> => {
    const input = some.map((hash) => `update ${below}/${hash} ${hash}\n`).join("");
    return input === "" || (await repository.git(WITHOUT_SYNC, { input })).exitCode === 0;
  };
  const missing = tips.filter((hash) => !held.has(hash));
  if (await hold(missing)) return [];
  const input = missing.map((hash) => `${hash}\n`).join("");
  const { stdout } = await repository.git(["cat-file", "--batch-check"], { input }); // one that is damaged spoils all
  const whole = missing.filter((hash) => !stdout.includes(`${hash} missing`));
  return await hold(whole) ? missing.filter((hash) => !whole.includes(hash)) : missing;
}

/** Call when the last turn has ended; takes away what a killed run has held as well. @param root as `holdWork()` */
export async function letGo(repository: Pick<Guarded, "gitDirectory" | "git">, root: string): Promise<void> {
  const { below, held } = heldOf(repository, root);
  const input = [...held.keys()].map((hash) => `delete ${below}/${hash}\n`).join("");
  if (input !== "") await repository.git(WITHOUT_SYNC, { input });
}

const WITHOUT_SYNC: readonly string[] = ["-c", "core.fsync=none", "update-ref", "--stdin"];

function heldOf({ gitDirectory }: Pick<Guarded, "gitDirectory">, root: string) {
  const folder = `ralph/held/${hashText(root).slice(0, 12)}`;
  return { below: `refs/${folder}`, held: readTags(gitDirectory, folder) };
}

const STASH_REGEXP = /^stash-[0-9a-f]{10}$/;

/** A stash that a turn made is its own to drop: with several workers another one may have seen it. */
async function storeStash(repository: Guarded, hash: string): Promise<boolean> {
  const { git } = repository;
  if ((await markedCommits(repository, [hash])).has(hash)) return false;
  const { stdout } = await git(["log", "-1", "--format=%s", hash, "--"]);
  return (await git(["stash", "store", "--quiet", "--message", stdout.trim(), hash])).exitCode === 0;
}

/** A ref that replaces an object for a person's git; Ralph's own looks at no replacement. */
const REPLACE = "refs/replace/";

/**
 * Keeps what a turn took away of it, and takes back what it did to it: branches that it moved onto commits of its own
 * hide these from every comparison with such a branch.
 *
 * @param line with `head` as it was before the turn. `isOver`: a person may have moved branches since, and they stay
 * @returns a sentence for each
 */
export async function keepGone(
  repository: Guarded,
  line: { readonly before: Tags; readonly head: string | null; readonly isOver?: true },
  now: Tags,
  attempt: string,
): Promise<readonly string[]> {
  const { before } = line;
  const { said, back } = await takeBack(repository, line, now);
  for (const [name, hash] of before) {
    const at = now.get(name);
    if (at === hash || back.has(name) || await isNamed(repository, hash)) continue;
    const ref = `refs/ralph/lost/${attempt}.${name.replaceAll("/", "-")}`;
    const { exitCode } = await repository.git(["update-ref", ref, hash]);
    const isBack = exitCode === 0 && STASH_REGEXP.test(name) && await storeStash(repository, hash);
    const kept = `kept as ${ref}${isBack ? ", and back in `git stash list`" : ""}`;
    const done = at === undefined ? "removed" : `moved to ${at.slice(0, 10)}, where what it held is in no ref`;
    said.push(`while the turn ran, ${name} was ${done}: ${exitCode === 0 ? kept : `${hash} is gone`}`);
  }
  return said;
}

/**
 * Keeps the commits that HEAD was at and that no ref holds any more, but for a turn's own, and for those that whoever
 * made them replaced.
 *
 * @param log HEAD's, since the turn began
 * @returns a sentence for each
 */
export async function keepReset(repository: Guarded, log: string, name: string): Promise<readonly string[]> {
  const moves = [...log.matchAll(MOVE_REGEXP)].map(([, from = "", to = "", why = ""]) => ({ from, to, why }));
  if (moves.every(({ why }) => why.startsWith("commit:"))) return [];
  const commits = [...new Set(moves.flatMap(({ from, to }) => [from, to]))].filter((hash) => !/^0+$/.test(hash));
  const marked = await markedCommits(repository, commits);
  const isReplaced = (hash: string): boolean =>
    moves.some(({ from, to, why }) =>
      from === hash && /^(commit \(amend\)|rebase|ralph:)/.test(why) && !marked.has(to)
    );
  const others = commits.filter((hash) => !marked.has(hash) && !isReplaced(hash));
  const unheld = ["rev-list", "--ignore-missing", ...others, "--not", "--all"];
  const held = others.length === 0 ? "" : (await repository.git(unheld)).stdout;
  const said: string[] = [];
  for (const hash of held.split("\n").filter((one) => others.includes(one))) {
    const ref = await keepLost(repository, hash, `${name}.${hash.slice(0, 10)}`);
    said.push(`the commit ${hash.slice(0, 10)} was taken off the branch while the turn ran: kept as ${ref}`);
  }
  return said;
}

const MOVE_REGEXP = /^([0-9a-f]{40,}) ([0-9a-f]{40,}) [^\t\n]*\t?(.*)$/gm;

/** Some branch, tag or note holds it still. */
async function isNamed({ git }: Guarded, commit: string): Promise<boolean> {
  const { stdout } = await git(["for-each-ref", "--count=1", `--contains=${commit}`, ...PLACES]);
  return stdout.trim() !== "";
}

const PLACES: readonly string[] = ["refs/heads", "refs/tags", "refs/remotes", "refs/notes"];

async function takeBack(
  repository: Guarded,
  { before, head, isOver }: { readonly before: Tags; readonly head: string | null; readonly isOver?: true },
  now: Tags,
): Promise<{ readonly said: string[]; readonly back: ReadonlySet<string> }> {
  const said: string[] = [];
  const back = new Set<string>();
  const other = [...now].filter(([name, hash]) => before.get(name) !== hash && !STASH_REGEXP.test(name));
  const moved = other.filter(([name]) => before.has(name) && !name.startsWith(REPLACE));
  const marked = await markedCommits(repository, moved.map(([, hash]) => hash));
  for (const [name, hash] of other) {
    const old = before.get(name);
    const isReplacement = name.startsWith(REPLACE);
    const isMoved = old !== undefined && marked.has(hash) &&
      (head === null || !await isAncestor(repository, hash, head));
    if (!isReplacement && !isMoved) continue;
    if (isMoved && isOver) {
      const undo = `git branch --force ${name} ${old.slice(0, 10)}`;
      const own = `a turn's own commit ${hash.slice(0, 10)}, which nothing verified`;
      said.push(`the branch ${name} is at ${own}: \`${undo}\` undoes it`);
      continue;
    }
    const ref = isReplacement ? name : `refs/heads/${name}`;
    const why = ["-m", "ralph: as before the turn"];
    const undo = old === undefined ? ["-d", ref, hash] : [...why, ref, old, hash];
    if ((await repository.git(["update-ref", ...undo])).exitCode !== 0) continue; // somebody has moved it since
    back.add(name);
    const message = isReplacement
      ? `replaced an object by ${hash.slice(0, 10)} (git replace): it is as it was`
      : `moved the branch ${name} onto its own commit ${hash.slice(0, 10)}: it is back at ${old?.slice(0, 10)}`;
    said.push(`the turn ${message}`);
  }
  return { said, back };
}

/** Takes away the local changes of what differs between both commits, once they are saved. @returns their paths */
async function clearTheWay(repository: Guarded, from: string | null, target: string): Promise<readonly string[]> {
  const found = (await repository.status()).changed.map(({ path }) => path);
  const differing = new Set(await pathsBetween(repository, from, target));
  const changed = found.filter((path) => differing.has(path));
  if (from === null) await outputFrom(repository, ["reset", "--quiet", "--hard", target]);
  else await discardPaths(repository, changed, from);
  return changed;
}
