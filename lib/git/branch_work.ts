import type { EventBranchWork } from "../generated/events.ts";
import { defaultBranch } from "./refs.ts";
import type { Repository, WithGit } from "./repository.ts";
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
  const commits = Number(await line("rev-list", "--count", `${from}..${head}`));
  return { branch, base, from, head, commits, ...await statOf(repository, [from, head], isApart) };
}

/** `true` where a commit is another one, or differs from it by nothing but what does not count. */
export async function addsNothing(
  repository: WithGit,
  { from, to }: { readonly from: string; readonly to: string },
  isApart: (path: string) => boolean,
): Promise<boolean> {
  return (await pathsBetween(repository, from, to)).every(isApart);
}

/** Files and lines that differ. @param range arguments of `git diff` @param isApart true for files that do not count */
export async function statOf(
  repository: WithGit,
  range: readonly string[],
  isApart?: (path: string) => boolean,
): Promise<{ readonly files: number; readonly added: number; readonly removed: number }> {
  const rows = await numstat(repository, range, isApart);
  const sum = (of: "added" | "removed"): number => rows.reduce((all, row) => all + row[of], 0);
  return { files: rows.length, added: sum("added"), removed: sum("removed") };
}

/** Lines that differ, file by file; a binary one has none. */
export async function numstat(
  { git }: WithGit,
  range: readonly string[],
  isApart: (path: string) => boolean = () => false,
): Promise<readonly { readonly path: string; readonly added: number; readonly removed: number }[]> {
  const arguments_ = ["diff", "--numstat", "-z", "--no-ext-diff", "--no-textconv", "--no-renames", ...range];
  const { stdout } = await git(arguments_, { environment: { GIT_LITERAL_PATHSPECS: "1" } });
  const rows = partsOf(stdout).map((row) => row.split("\t")).map(([added, removed, ...path]) => ({
    path: path.join("\t"),
    added: Number(added) || 0,
    removed: Number(removed) || 0,
  }));
  return rows.filter(({ path }) => !isApart(path));
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
