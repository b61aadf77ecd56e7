import { posix, relative, sep } from "node:path";
import picomatch from "picomatch";
import type { JudgingHistory } from "../../backlog/journal_types.ts";
import type { RalphContext } from "../../context/context.ts";
import { ownCommit } from "../../git/own_commit.ts";
import { treeWith } from "../../git/own_index.ts";
import { requireRepository } from "../../git/repository.ts";
import { createGit, gitFailed, lineFrom, outputFrom, partsOf, reasonOf } from "../../git/run_git.ts";
import { treeListing } from "../../git/tree_listing.ts";

/** A file of a commit: its mode and the name of its content. */
export interface TreeEntry {
  readonly mode: string;
  readonly hash: string;
}

/** The files of a commit by their path from the root. */
export type Entries = ReadonlyMap<string, TreeEntry>;

/** Files to lay over a commit; `null` takes one away. */
export type Layers = ReadonlyMap<string, TreeEntry | null>;

/** Reads commits, and makes one that no branch has. Paths are relative to the root: `../` leads to what is beside it. */
export interface Commits {
  entries(commit: string): Promise<Entries>;
  read(hash: string): Promise<string>;
  /** Text files of a commit with one of the words in them. */
  containing(commit: string, words: readonly string[]): Promise<readonly string[]>;
  /** A commit on top of `base` with these files laid over it, the same one each time. */
  lay(base: string, files: Layers): Promise<string>;
  write(text: string): Promise<string>;
}

/** An argument list is not endless. */
const MOST_WORDS = 1000;

/** Reads commits. */
export function createCommits(ralph: Pick<RalphContext, "host" | "repository" | "root">): Commits {
  const repository = requireRepository(ralph);
  const inside = relative(repository.topLevel, ralph.root).replaceAll(sep, "/");
  const fromRoot = (path: string): string => inside === "" ? path : posix.relative(inside, path);
  const laid = new Map<string, string>();
  return {
    async entries(commit) {
      const listed = await treeListing(createGit(ralph.host, repository.topLevel), commit);
      return new Map(listed.map(({ mode, hash, path }) => [fromRoot(path), { mode, hash }]));
    },
    read: (hash) => outputFrom(repository, ["cat-file", "blob", hash]),
    async containing(commit, words) {
      if (words.length === 0) return [];
      const patterns = words.slice(0, MOST_WORDS).flatMap((word) => ["-e", word]);
      const listed = ["grep", "-lzIF", "--full-name", "--no-color", ...patterns, commit];
      const { exitCode, stdout, stderr } = await repository.git(listed);
      if (exitCode !== 0 && exitCode !== 1) throw gitFailed(listed, reasonOf({ stderr, tail: stderr }));
      return partsOf(stdout).map((line) => fromRoot(line.slice(commit.length + 1)));
    },
    write: (input) => lineFrom(repository, ["hash-object", "-w", "--stdin"], { input }),
    async lay(base, files) {
      const key = JSON.stringify([base, ...files]);
      const known = laid.get(key) ?? await lay(base, files);
      laid.set(key, known);
      return known;
    },
  };

  async function lay(base: string, files: Layers): Promise<string> {
    const lines = [...files].map(([path, entry]) =>
      `${entry === null ? `0 ${"0".repeat(40)}` : `${entry.mode} ${entry.hash}`}\t${posix.join(inside, path)}\0`
    );
    const tree = await treeWith(repository, base, lines.join(""));
    return await ownCommit(repository, tree, { parents: [base], message: "work in progress\n" });
  }
}

/** The paths in which two sets of files differ, with what the second one has. Pure. */
export function differing(from: Entries, to: Entries): Layers {
  const paths = [...new Set([...from.keys(), ...to.keys()])].filter((path) => {
    const [was, is] = [from.get(path), to.get(path)];
    return was?.hash !== is?.hash || was?.mode !== is?.mode;
  });
  return new Map(paths.map((path) => [path, to.get(path) ?? null]));
}

/**
 * The files as they were before the work: those of the base, with what a person changed between two runs and what items
 * were allowed to change.
 */
export async function oldEntries(
  commits: Pick<Commits, "entries">,
  base: Entries,
  { steps }: JudgingHistory,
): Promise<Entries> {
  const old = new Map(base);
  for (const { from, to, globs } of steps) {
    const counts = globs === undefined ? () => true : picomatch([...globs], { dot: true });
    for (const [path, entry] of differing(await commits.entries(from), await commits.entries(to))) {
      if (!counts(path)) continue;
      if (entry === null) old.delete(path);
      else old.set(path, entry);
    }
  }
  return old;
}
