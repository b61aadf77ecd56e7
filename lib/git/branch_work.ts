import type { EventBranchWork } from "../generated/events.ts";
import { looseCommit } from "./read_commit.ts";
import { defaultBranch } from "./refs.ts";
import type { Repository, WithGit, WithIndex } from "./repository.ts";
import { partsOf, pathsBetween } from "./run_git.ts";

/** The work of a branch beside the one that it came from. Plain JSON. */
export type BranchWork = EventBranchWork;

/**
 * The work of the current branch since it left its base.
 *
 * @param since where it began, on the base itself or where there is none
 * @returns `null` before the first commit, and where git does not say
 */
export async function branchWork(
  repository: Pick<Repository, "git" | "gitDirectory" | "head">,
  { base: named, since = null, isApart }: {
    readonly base?: string | undefined;
    readonly since?: string | null;
    /** Ralph's own files, relative to the top level: they are no work. */
    readonly isApart?: (path: string) => boolean;
  } = {},
): Promise<BranchWork | null> {
  const line = async (...words: readonly string[]): Promise<string> => (await repository.git(words)).stdout.trim();
  const { branch, head } = await repository.head();
  const usual = named ?? await defaultBranch(repository);
  const base = usual === branch ? null : usual;
  const from = (base === null ? "" : await line("merge-base", "HEAD", base)) || since;
  if (head === null || from === null) return null;
  if (from === head) return { branch, base, from, head, commits: 0, files: 0, added: 0, removed: 0 };
  const commits = await stepsBetween(repository, from, head) ??
    Number(await line("rev-list", "--count", `${from}..${head}`));
  const [rows = []] = await numstats(repository, [[from, head]]);
  return { branch, base, from, head, commits, ...sumOf(rows.filter(({ path }) => isApart?.(path) !== true)) };
}

/** More commits than these are git's to count. */
const MOST_STEPS = 64;

/** How many commits one is above another, each with one parent and in a file of its own; else `null`. */
async function stepsBetween(repository: WithIndex, from: string, to: string) {
  for (let [steps, at] = [0, to]; steps <= MOST_STEPS; steps++) {
    if (at === from) return steps;
    const [head = ""] = (await looseCommit(repository, at) ?? "").split("\n\n");
    const [parent, ...others] = head.matchAll(/^parent (\w+)$/gm);
    if (parent?.[1] === undefined || others.length > 0) return null;
    at = parent[1];
  }
  return null;
}

/** `true` where a commit is another one, or differs from it by nothing but what does not count. */
export async function addsNothing(
  repository: WithGit,
  { from, to }: { readonly from: string; readonly to: string },
  isApart: (path: string) => boolean,
): Promise<boolean> {
  return (await pathsBetween(repository, from, to)).every(isApart);
}

/** Files and lines that differ. @param range arguments of `git diff` */
export async function statOf(repository: WithGit, range: readonly string[]): Promise<Stat> {
  return sumOf(await numstat(repository, range));
}

interface Stat {
  readonly files: number;
  readonly added: number;
  readonly removed: number;
}

function sumOf(rows: readonly Row[]): Stat {
  const sum = (of: "added" | "removed"): number => rows.reduce((all, row) => all + row[of], 0);
  return { files: rows.length, added: sum("added"), removed: sum("removed") };
}

/** The lines of a file that differ; a binary one has none. */
interface Row {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
}

const NUMSTAT: readonly string[] = ["--numstat", "-z", "--no-ext-diff", "--no-textconv", "--no-renames"];

/** Lines that differ, file by file. */
export async function numstat(
  { git }: WithGit,
  range: readonly string[],
  isApart: (path: string) => boolean = () => false,
): Promise<readonly Row[]> {
  const { stdout } = await git(["diff", ...NUMSTAT, ...range], { environment: { GIT_LITERAL_PATHSPECS: "1" } });
  return rowsOf(partsOf(stdout)).filter(({ path }) => !isApart(path));
}

/** Two commits differ in the same lines for ever. */
const KNOWN = new Map<string, readonly Row[]>();
const MOST_KEPT = 256;

/** The same for pairs of commits, in one process; git is asked once for each. */
export async function numstats(
  { git }: WithGit,
  pairs: readonly (readonly [from: string, to: string])[],
): Promise<readonly (readonly Row[])[]> {
  if (KNOWN.size > MOST_KEPT) KNOWN.clear();
  const lines = [...new Set(pairs.map(([from, to]) => `${to} ${from}`))];
  const unknown = lines.filter((line) => !KNOWN.has(line));
  if (unknown.length > 0) {
    const input = unknown.map((line) => `${line}\n`).join("");
    const { exitCode, stdout } = await git(["diff-tree", "--stdin", "--always", "-r", ...NUMSTAT], { input });
    if (exitCode !== 0 && pairs.length > 1) { // one of them is gone
      return (await Promise.all(pairs.map((pair) => numstats({ git }, [pair])))).flat();
    }
    const groups: string[][] = [];
    for (const part of partsOf(stdout)) {
      if (part.includes("\t")) groups.at(-1)?.push(part);
      else groups.push([]); // the name of a commit
    }
    for (const [index, line] of unknown.entries()) KNOWN.set(line, rowsOf(groups[index] ?? []));
  }
  return pairs.map(([from, to]) => KNOWN.get(`${to} ${from}`) ?? []);
}

function rowsOf(parts: readonly string[]): readonly Row[] {
  return parts.map((row) => row.split("\t")).map(([added, removed, ...path]) => ({
    path: path.join("\t"),
    added: Number(added) || 0,
    removed: Number(removed) || 0,
  }));
}

const GROUP_REGEXP = /^([0-9a-f]{40,64}) \d+ (\d+) (\d+)$/;

/** For each commit of a range the line of its largest group of lines in a file, as the file is at the end of the range. */
export async function placesByCommit(
  { git }: Pick<Repository, "git">,
  [from, to]: readonly [from: string, to: string],
  path: string,
): Promise<ReadonlyMap<string, number>> {
  const { stdout } = await git(["blame", "--porcelain", "--no-textconv", `${from}..${to}`, "--", path]);
  const groups: { readonly commit: string; line: number; readonly size: number; isBlank: boolean }[] = [];
  for (const row of stdout.split("\n")) {
    const [, commit, line, size] = GROUP_REGEXP.exec(row) ?? [];
    if (commit !== undefined) groups.push({ commit, line: Number(line), size: Number(size), isBlank: true });
    const group = groups.at(-1);
    if (!row.startsWith("\t") || group?.isBlank !== true) continue;
    if (row.trim() === "") group.line += 1;
    else group.isBlank = false;
  }
  const bySize = groups.filter(({ isBlank }) => !isBlank).toSorted((one, other) => one.size - other.size);
  return new Map(bySize.map(({ commit, line }) => [commit, line]));
}
