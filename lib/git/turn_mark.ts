/**
 * Which commits a turn made. Git writes a loose object with the compression that it is told, and the object's second
 * byte says which: a turn's git is told another one than git's own default. Nothing that a person looks at shows it,
 * and a commit without the mark is treated as a person's.
 *
 * @module
 */
import { join } from "node:path";
import { readStart } from "../host/files.ts";
import { lineFrom } from "./run_git.ts";
import type { WithGit } from "./repository.ts";

/** Git's own is 1. */
const LEVEL = 4;
/** How zlib calls the levels from 2 to 5, in the upper two bits of the second byte. */
const MARK = 1;

const VARIABLE = "GIT_CONFIG_PARAMETERS";

/**
 * The mark in the environment of a turn's processes. By `-c`'s own variable: agents keep every variable with `KEY` in
 * its name from their tools, and git fails where only a part of `GIT_CONFIG_COUNT` and its keys arrives.
 */
export function markingEnvironment(variables: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const setting = `'core.looseCompression=${LEVEL}' 'gc.auto=0' 'maintenance.auto=false'`; // a packed commit has no mark
  const given = variables[VARIABLE];
  return { [VARIABLE]: given === undefined || given === "" ? setting : `${given} ${setting}` };
}

/** Tells whether a turn's commits can be told from a person's: not if the repository has the same compression. */
export async function canMark(repository: WithGit): Promise<boolean> {
  const asked = ["config", "--get-regexp", "^core\\.(loosecompression|compression)$"];
  const { stdout } = await repository.git(asked);
  return !stdout.split("\n").some((line) => / [2-5]$/.test(line));
}

/** The commits among these that a turn made; none if that cannot be told. */
export async function markedCommits(repository: WithGit, commits: readonly string[]): Promise<ReadonlySet<string>> {
  if (commits.length === 0 || !await canMark(repository)) return new Set();
  const marks = await marksOf(repository, commits);
  return new Set(commits.filter((commit) => marks.get(commit) === MARK));
}

/** The commits among these that are packed by now, which takes the mark away: nobody can tell who made them. */
export async function packedCommits(repository: WithGit, commits: readonly string[]): Promise<readonly string[]> {
  const marks = commits.length === 0 ? new Map() : await marksOf(repository, commits);
  return commits.filter((commit) => !marks.has(commit));
}

/** How loose objects are compressed. */
async function marksOf(repository: WithGit, commits: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const objects = await lineFrom(repository, ["rev-parse", "--path-format=absolute", "--git-path", "objects"]);
  const marks = new Map<string, number>();
  for (const commit of commits) {
    const bytes = await readStart(join(objects, commit.slice(0, 2), commit.slice(2)), 2);
    if (bytes !== null) marks.set(commit, bytes[1]! >> 6);
  }
  return marks;
}
