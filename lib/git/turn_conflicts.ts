/**
 * Conflicts of a turn's own `git merge`, `cherry-pick`, `rebase`, `revert` or `stash pop`. Their markers get labels of
 * Ralph's, by which every later attempt knows them, before the index forgets the conflict. A file that holds such lines
 * for another reason keeps them: a line counts only where no side of the merge had it.
 *
 * @module
 */
import { join } from "node:path";
import { writeAtomic } from "../host/files.ts";
import { blocksIn, markerText, withUnresolved } from "./conflict_markers.ts";
import { commitAt } from "./refs.ts";
import { outputFrom, pathsFrom } from "./run_git.ts";
import { behindLinks } from "./index_entries.ts";
import type { Repository, TreeStatus } from "./repository.ts";

/** Names of a path's sides in the index, as `cat-file` takes them. */
const STAGES = [":1", ":2", ":3"];

type Conflicted = Pick<Repository, "git" | "topLevel" | "contents">;

/** A turn, and where it began and ended. */
export interface EndedTurn {
  /** HEAD before the item's work; `null` before the first commit. */
  readonly since: string | null;
  readonly now: TreeStatus;
  /** The paths that it changed, relative to the top level. */
  readonly paths: readonly string[];
}

/** Labels the markers that git wrote in the turn. @returns the files, relative to the top level */
export async function labelTurnConflicts(repository: Conflicted, turn: EndedTurn): Promise<readonly string[]> {
  const unmerged = new Set(turn.now.changed.filter(isUnmerged).map(({ path }) => path));
  let merges: Merges | null = null;
  const found: string[] = [];
  const paths = new Set([...turn.paths, ...unmerged]);
  for (const path of behindLinks(repository.topLevel, [...paths])) paths.delete(path); // written outside of the tree
  for (const path of paths) {
    const text = await markerText(join(repository.topLevel, path));
    if (text === null || !/^[<>]{7}/m.test(text)) continue;
    if (!unmerged.has(path)) merges ??= await mergesOf(repository, turn);
    const known = await linesAt(repository, path, unmerged.has(path) || merges === null ? STAGES : merges.sides);
    if (merges !== null && !unmerged.has(path) && !await hasBlock(repository, path, text, known, merges)) continue;
    const labelled = withUnresolved(text, known);
    if (labelled === text) continue;
    await writeAtomic(join(repository.topLevel, path), Buffer.from(labelled, "latin1"));
    found.push(path);
  }
  return found;
}

/** The merges that a turn committed or has in progress. */
interface Merges {
  /** Commits whose lines are no conflict. */
  readonly sides: readonly string[];
  /** The paths that differ from every parent of a merge; `null`: all may. */
  readonly paths: ReadonlySet<string> | null;
}

async function mergesOf(repository: Conflicted, { since, now }: EndedTurn): Promise<Merges> {
  const begun = await commitAt(repository, "MERGE_HEAD");
  const range = since === null ? `${now.head}` : `${since}..${now.head}`;
  const log = now.head === null ? "" : await outputFrom(repository, ["rev-list", "--merges", "--parents", range]);
  const merges = log.trim().split("\n").filter((line) => line !== "").map((line) => line.split(" "));
  const paths = new Set<string>();
  for (const [merge = ""] of merges) {
    const both = ["diff-tree", "-r", "-c", "-z", "--name-only", "--no-commit-id", merge];
    for (const path of await pathsFrom(repository, both)) paths.add(path);
  }
  const parents = merges.flatMap(([, ...others]) => others);
  const sides = [since, begun, ...parents].filter((side) => side !== null);
  return { sides, paths: begun === null ? paths : null };
}

/** Git's two letters for a path with stages in the index. */
export function isUnmerged({ code }: { readonly code: string }): boolean {
  return code.includes("U") || code === "AA" || code === "DD";
}

async function linesAt(repository: Conflicted, path: string, sides: readonly string[]): Promise<ReadonlySet<string>> {
  const lines = new Set<string>();
  for (const side of sides) {
    const text = (await repository.contents(side, [path])).get(path) ?? "";
    for (const line of Buffer.from(text).toString("latin1").split("\n")) lines.add(line);
  }
  return lines;
}

/** Tells whether a whole conflict is in a file that the turn has added to the index, or committed. */
async function hasBlock(
  repository: Conflicted,
  path: string,
  text: string,
  known: ReadonlySet<string>,
  merges: Merges,
): Promise<boolean> {
  for (const { line, label } of blocksIn(text)) {
    if (known.has(line)) continue;
    if (merges.paths === null || merges.paths.has(path)) return true;
    const picked = /^(?:parent of )?([0-9a-f]{7,64})\b/.exec(label)?.[1];
    if (picked !== undefined && await commitAt(repository, picked) !== null) return true;
    if (label === "Stashed changes" && await isStashed(repository, path)) return true;
  }
  return false;
}

/** Git keeps a stash that it could not apply without a conflict. */
async function isStashed(repository: Conflicted, path: string): Promise<boolean> {
  const contentAt = async (commit: string) => (await repository.contents(commit, [path])).get(path);
  return await contentAt("refs/stash^") !== await contentAt("refs/stash");
}
