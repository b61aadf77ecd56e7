/**
 * The damage to a person's uncommitted work: what became of the paths that are kept of it.
 *
 * @module
 */
import { join } from "node:path";
import { ASSUMED, SKIPPED } from "../../git/index_flags.ts";
import { type KeptPath, stagedIn } from "../../git/kept.ts";
import type { Repository, TreeSnapshot } from "../../git/repository.ts";
import { NAMES_AT, outputFrom, partsOf, pathsBetween, pathsFrom } from "../../git/run_git.ts";
import { markedCommits } from "../../git/turn_mark.ts";
import { hashText } from "../../host/hash.ts";
import { factsOf } from "../../host/path_facts.ts";

type Kept = ReadonlyMap<string, KeptPath>;
type Head = TreeSnapshot["head"];
/** The turn's, and all others. */
type Sides<Of> = Readonly<Record<"fromTurn" | "others", Of>>;

/** The tree before and after, and what is kept of a person's work. */
export interface Compared {
  readonly before: TreeSnapshot;
  readonly after: TreeSnapshot;
  readonly kept: Kept;
}

/** Paths relative to the top level. */
export interface Damage {
  /** In commits that are no person's: these are to be taken out. */
  readonly swept: readonly string[];
  /** A person has committed them since. */
  readonly theirs: ReadonlySet<string>;
  /** Their content is to be written again. */
  readonly gone: readonly string[];
}

/** @param isExact tells which paths are restored whatever is in them */
export async function damageTo(
  repository: Repository,
  { before, after, kept, isExact }: Compared & { readonly isExact: (path: string) => boolean },
): Promise<Damage> {
  const { swept, theirs, net } = await committedPaths(repository, before, after, kept);
  const isFirst = before.head === null && after.head !== null;
  const committed = isFirst ? [...kept.keys()] : swept.filter((path) => net.has(path));
  const taken = new Set(await goneOf(repository, { before, after, committed, kept }));
  const differs = (path: string): boolean => after.contents.get(path) !== kept.get(path)!.content;
  const isTheirs = (path: string): boolean => theirs.has(path) && !after.contents.has(path);
  const isMode = (path: string): boolean => !differs(path) && isOtherMode(repository, path, kept.get(path)!);
  const isGone = (path: string): boolean => taken.has(path) || (isExact(path) && differs(path)) || isMode(path);
  return { swept, theirs, gone: [...kept.keys()].filter((path) => isGone(path) && !isTheirs(path)) };
}

/** The user's paths in commits since: in the turn's, with a content of that user's (`swept`), and in a person's. */
async function committedPaths(
  repository: Repository,
  before: TreeSnapshot,
  after: TreeSnapshot,
  kept: Kept,
): Promise<Readonly<Record<"theirs" | "net", ReadonlySet<string>>> & Pick<Damage, "swept">> {
  // without a commit before it, all of the project is uncommitted: the first commit may take it
  if (before.head === null || after.head === null || after.head === before.head) {
    return { swept: [], theirs: new Set(), net: new Set() };
  }
  const net = new Set(await pathsBetween(repository, before.head, after.head));
  const { fromTurn, others } = await pathsOfSides(repository, before.head, after.head);
  const holds = (entries: readonly string[] = [], { staged, blob }: KeptPath): boolean =>
    entries.some((entry) => entry === staged || entry.split(" ")[1] === blob);
  const isSwept = ([path, one]: readonly [string, KeptPath]): boolean =>
    holds(fromTurn.get(path), one) || (fromTurn.has(path) && net.has(path));
  return {
    swept: [...kept].filter(isSwept).map(([path]) => path),
    net,
    theirs: new Set([...kept.keys()].filter((path) => net.has(path) && !fromTurn.has(path) && others.has(path))),
  };
}

/** The entries (mode, blob) that commits laid in, by their paths. */
type Entries = ReadonlyMap<string, readonly string[]>;

/** The commits between two, newest first: a turn's own, and all others, which stay. */
export async function sidesOf(repository: Repository, from: Head, to: Head): Promise<Sides<readonly string[]>> {
  if (from === null || to === null || from === to) return { fromTurn: [], others: [] };
  const commits = (await outputFrom(repository, ["rev-list", `${from}..${to}`])).split("\n").filter((id) => id !== "");
  const marked = await markedCommits(repository, commits);
  return { fromTurn: commits.filter((id) => marked.has(id)), others: commits.filter((id) => !marked.has(id)) };
}

/** Paths of the turn's own commits, and of others. */
export async function pathsOfSides(repository: Repository, from: Head, to: Head): Promise<Sides<Entries>> {
  const look = ["diff-tree", "--stdin", "-m", "-r", "-z", "--no-commit-id", "--no-renames"];
  const entriesOf = async (some: readonly string[]): Promise<Entries> => {
    const found = new Map<string, string[]>();
    if (some.length === 0) return found;
    const parts = partsOf(await outputFrom(repository, look, { input: some.map((id) => `${id}\n`).join("") }));
    for (let at = 0; at + 1 < parts.length; at += 2) {
      const [, mode, , blob] = parts[at]!.split(" ");
      const path = parts[at + 1]!;
      found.set(path, [...found.get(path) ?? [], `${mode} ${blob}`]);
    }
    return found;
  };
  const { fromTurn, others } = await sidesOf(repository, from, to);
  return { fromTurn: await entriesOf(fromTurn), others: await entriesOf(others) };
}

/** Its content is as it was, and who may read it is not. */
function isOtherMode({ topLevel }: Repository, path: string, { blob, facts }: KeptPath): boolean {
  return blob !== undefined && facts?.kind === "file" && factsOf(join(topLevel, path))?.mode !== facts.mode;
}

/** Reverted, stashed or deleted; what was committed is still there, unless it was deleted as well. */
async function goneOf(
  repository: Repository,
  { before, after, committed, kept }: Compared & { readonly committed: readonly string[] },
): Promise<readonly string[]> {
  const isThere = (path: string): boolean => factsOf(join(repository.topLevel, path)) !== null;
  const isOne = (path: string): boolean => isThere(path) && !isInTheWay(repository, path, kept.get(path)!);
  const unseen = [...kept].filter(([path, { content }]) =>
    content !== null && !after.contents.has(path) && !committed.includes(path) && isOne(path)
  ).map(([path]) => path);
  const known = unseen.length === 0 || after.head === null
    ? new Set()
    : new Set(await pathsFrom(repository, [...NAMES_AT, after.head]));
  const isIgnored = (path: string): boolean => unseen.includes(path) && !known.has(path); // it is there, and newer
  const asStaged = stagedAgain(before, after, kept);
  return [...kept].filter(([path, { content }]) => {
    if (after.contents.has(path)) {
      return asStaged.has(path) || (isNoFile(after.contents.get(path)) && !isNoFile(content));
    }
    if (committed.includes(path)) return content !== null && !isThere(path);
    return !isIgnored(path);
  }).map(([path]) => path);
}

/** Paths of which only the part that was not staged is reverted: the file is as the index has it, or empty as intended. */
function stagedAgain(
  before: TreeSnapshot,
  after: TreeSnapshot,
  kept: Kept,
): ReadonlySet<string> {
  const codes = (of: TreeSnapshot): ReadonlyMap<string, string> =>
    new Map(
      of.changed.filter(({ code }) => code !== ASSUMED && code !== SKIPPED).map(({ path, code }) => [path, code]),
    );
  const [then, now, staged] = [codes(before), codes(after), stagedIn(after.changed)];
  const isAgain = ([path, one]: readonly [string, KeptPath]): boolean => {
    if (one.staged === undefined || one.staged !== staged.get(path)) return false;
    if (after.contents.get(path) === one.content) return false;
    if (one.staged.endsWith(" N")) return after.contents.get(path) === EMPTY;
    return then.get(path)?.[1] !== " " && now.get(path)?.[1] === " ";
  };
  return new Set([...kept].filter(isAgain).map(([path]) => path));
}

/** The content of an empty file, as snapshots have it. */
const EMPTY = `file ${hashText("")}`;

/** A folder, or another thing that git has no content of, in the place of a file or link. */
export function isInTheWay({ topLevel }: Pick<Repository, "topLevel">, path: string, { content }: KeptPath): boolean {
  return !isNoFile(content) && factsOf(join(topLevel, path))?.kind === "other";
}

/** By a content hash: no content of a file or link. */
function isNoFile(content: string | null | undefined): boolean {
  return content === null || content === "folder" || content === "special";
}
