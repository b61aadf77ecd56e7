/**
 * A commit as a run makes it, before a turn is paid for: whatever would make each commit fail (a key that cannot sign, a
 * filter, line endings) is found by an experiment, not by a list of settings.
 *
 * @module
 */
import { basename, dirname, extname, join, sep } from "node:path";
import { copyTarget, ensureDirectory, listDirectory, temporaryDirectory, writePlain } from "../host/files.ts";
import { isReadable } from "./parse_status.ts";
import { type Git, gitFailed, headCommit, QUIET, reasonOf } from "./run_git.ts";
import type { GitFolders, Repository } from "./repository.ts";
import { type ListedEntry, treeListing } from "./tree_listing.ts";

const MOST_KINDS = 20;

const HINT = "no turn was paid for: `git commit` by hand shows it as well; mend that, then run the same command again";

/**
 * Commits text files, one of each kind that the project has, in a git directory of its own that shares the repository's
 * configuration and attributes: others in the place of its own, and where that fails, new ones beside them, which tell
 * the kinds apart. Nothing of it stays, and no hook runs.
 *
 * @returns kinds of files that cannot be committed, where others can; patterns, relative to the top level: `img/*.png`
 * @throws {RalphError} git-failed where no commit is possible
 */
export async function tryCommit(git: Git, folders: GitFolders): ReturnType<Repository["tryCommit"]> {
  await using scratch = await temporaryDirectory("ralph-trial-");
  const name = basename(scratch.path); // no project has it
  const head = await headCommit(git, folders);
  const kinds = head === null ? [] : kindsOf(await treeListing(git, head));
  const trial = await createTrial(git, folders, scratch.path, head);
  const commit = ["commit", "--quiet", "--cleanup=whitespace", "--no-verify", "--message", "ralph: trial"];
  await writeTexts(trial.tree, kinds);
  if (kinds.length > 0 && (await trial.run([...commit, "--only", "--", ...kinds])).exitCode === 0) return [];
  const paths = newPaths(kinds, name);
  await writeTexts(trial.tree, paths);
  const failing: { readonly path: string; readonly reason: string }[] = [];
  const all = await trial.run(["add", "--force", "--", ...paths]);
  for (const path of all.exitCode === 0 ? [] : paths) {
    const end = await trial.run(["add", "--force", "--", path]);
    if (end.exitCode !== 0) failing.push({ path: path.replace(name, "*"), reason: reasonOf(end) });
  }
  if (failing.length === paths.length) throw gitFailed(["add"], failing[0]!.reason, HINT);
  const end = await trial.run(commit);
  if (end.exitCode !== 0) throw gitFailed(commit, reasonOf(end), HINT);
  return failing;
}

/** The index, the part of it that a split one shares, and the settings of a worktree. */
const INDEX_REGEXP = /^(?:index|sharedindex\.[0-9a-f]+|config\.worktree)$/;

/** No hook, and nothing is tidied: of what is made nothing stays. */
const BARE = ["core.hooksPath=/dev/null", "gc.auto=0", "maintenance.auto=false"].flatMap((entry) => ["-c", entry]);

/** As a linked worktree's git directory, which git does not list; objects go into a folder of its own. `tree`: its working tree. */
async function createTrial(git: Git, { gitDirectory, commonDirectory }: GitFolders, at: string, head: string | null) {
  const [own, tree, objects] = ["git", "tree", "objects"].map((name) => join(at, name)) as [string, string, string];
  for (const path of [own, tree, objects]) await ensureDirectory(path);
  await writePlain(join(own, "HEAD"), `${head ?? "ref: refs/worktree/trial"}\n`);
  await writePlain(join(own, "commondir"), `${commonDirectory}\n`);
  for (const name of await listDirectory(gitDirectory)) {
    if (INDEX_REGEXP.test(name)) await copyTarget(join(gitDirectory, name), join(own, name));
  }
  const environment = {
    ...QUIET,
    GIT_OBJECT_DIRECTORY: objects,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(join(commonDirectory, "objects")), // a colon parts two
  };
  const where = [`--git-dir=${own}`, `--work-tree=${tree}`, ...BARE];
  return { tree, run: (arguments_: readonly string[]) => git([...where, ...arguments_], { environment }) };
}

async function writeTexts(tree: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) await writePlain(join(tree, path), "text\n");
}

/** One file of each extension, and one at the top. */
function kindsOf(entries: readonly ListedEntry[]): readonly string[] {
  const isPlain = ({ mode, path }: ListedEntry): boolean =>
    mode.startsWith("100") && isReadable(path) && !basename(path).startsWith(".git"); // git itself reads those
  const paths = entries.filter(isPlain).map(({ path }) => path);
  const kinds = [...new Map(paths.map((path) => [extname(path), path])).values()].slice(0, MOST_KINDS);
  return [...new Set([...kinds, ...paths.filter((path) => !path.includes("/")).slice(0, 1)])];
}

/** Paths that a turn could add beside them. */
function newPaths(kinds: readonly string[], name: string): readonly string[] {
  const paths = kinds.map((path) => join(dirname(path), `${name}${extname(path)}`).replaceAll(sep, "/"));
  return [...new Set([name, ...paths])];
}
