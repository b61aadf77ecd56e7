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
import { gitSettings, settingOf } from "./git_settings.ts";
import type { WithGit, WithIndex } from "./repository.ts";

/** Levels of zlib, and how it calls them in the upper two bits of the second byte: 2 to 5, and 7 to 9. */
const [USUAL, OTHER] = [{ level: 4, mark: 1 }, { level: 9, mark: 3 }] as const;

const VARIABLE = "GIT_CONFIG_PARAMETERS";

/**
 * The mark in the environment of a turn's processes. By `-c`'s own variable: agents keep every variable with `KEY` in
 * its name from their tools, and git fails where only a part of `GIT_CONFIG_COUNT` and its keys arrives.
 */
export async function markingEnvironment(
  repository: WithIndex,
  given: Readonly<Record<string, string | undefined>> = {},
): Promise<Record<string, string>> {
  const { level } = await markOf(repository);
  const setting = `'core.looseCompression=${level}' 'gc.auto=0' 'maintenance.auto=false'`; // a packed commit has no mark
  const { [VARIABLE]: before = "" } = given;
  return { [VARIABLE]: before === "" ? setting : `${before} ${setting}` };
}

const marks = new WeakMap<WithGit["git"], Promise<typeof USUAL | typeof OTHER>>();

/** Another one where a person's own git has the usual one. A turn may change the configuration: it is read once. */
function markOf(repository: WithIndex): Promise<typeof USUAL | typeof OTHER> {
  const known = marks.get(repository.git) ?? readMark(repository);
  marks.set(repository.git, known);
  return known;
}

/** A level that the environment sets is the mark of a turn around this run. */
async function readMark(repository: WithIndex): Promise<typeof USUAL | typeof OTHER> {
  const settings = (await gitSettings(repository)).filter(({ scope }) => scope !== "command");
  const level = settingOf(settings, "core.loosecompression") ?? settingOf(settings, "core.compression") ?? "1";
  return /^[2-5]$/.test(level) ? OTHER : USUAL;
}

/** The commits among these that a turn made. One that is packed by now has no mark: nobody can tell who made it. */
export async function markedCommits(repository: WithIndex, commits: readonly string[]): Promise<ReadonlySet<string>> {
  if (commits.length === 0) return new Set();
  const [{ mark }, marks] = await Promise.all([markOf(repository), marksOf(repository, commits)]);
  return new Set(commits.filter((commit) => marks.get(commit) === mark));
}

/** How loose objects are compressed. */
async function marksOf(repository: WithIndex, commits: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const objects = await lineFrom(repository, ["rev-parse", "--path-format=absolute", "--git-path", "objects"]);
  const marks = new Map<string, number>();
  for (const commit of commits) {
    const bytes = await readStart(join(objects, commit.slice(0, 2), commit.slice(2)), 2);
    if (bytes !== null) marks.set(commit, bytes[1]! >> 6);
  }
  return marks;
}
