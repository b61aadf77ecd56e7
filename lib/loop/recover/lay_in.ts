import { join } from "node:path";
import type { Backlog } from "../../backlog/types.ts";
import { note, type RalphContext } from "../../context/context.ts";
import { ARCHIVE_REFS, type Archived, newestArchive, removalSubject } from "../../git/archive.ts";
import { entriesOf } from "../../git/index_entries.ts";
import { isAncestor } from "../../git/refs.ts";
import { type Repository, requireRepository, topLevelPaths } from "../../git/repository.ts";
import { mayHaveRefs } from "../../git/run_git.ts";
import { pathExists } from "../../host/files.ts";
import { factsOf } from "../../host/path_facts.ts";

/** The state that `ralph finish` took off the branch is laid in again, so that the work continues. */
export async function layIn(
  ralph: RalphContext,
  { stateFiles, ownFiles = [] }: Pick<Backlog, "ownFiles" | "stateFiles">,
): Promise<void> {
  const { repository } = ralph;
  if (repository === null || !await mayHaveRefs(repository.gitDirectory, `${ARCHIVE_REFS}/`)) return;
  const branch = await repository.currentBranch();
  const archived = branch === null ? null : await newestArchive(repository, branch);
  // a branch of the same name that began elsewhere is another goal's
  if (branch === null || archived === null || !await isAncestor(repository, archived.parent, "HEAD")) return;
  const all = [...stateFiles, ...ownFiles];
  const paths = topLevelPaths(ralph, all);
  const [head = [], kept = []] = await Promise.all(
    ["HEAD", archived.ref].map((one) => entriesOf(repository, one, paths)),
  );
  const files: string[] = [];
  for (const [index, path] of all.entries()) {
    const isFree = inTheWay(ralph.root, path) === null;
    if (isFree && await isAsLeft(repository, branch, archived, paths[index]!)) {
      if (kept[index] !== null && kept[index] !== head[index]) files.push(path);
    } else if (stateFiles.includes(path)) return; // another plan
  }
  const laid = await layInFiles(ralph, archived, files);
  if (laid.length > 0) note(ralph, "info", `the state of ${branch} is back: ${laid.join(", ")}`);
}

/** A file is gone, or is as the base has it: nobody has written it on the branch since. */
async function isAsLeft(
  { git, topLevel }: Repository,
  branch: string,
  archived: Archived,
  inTree: string,
): Promise<boolean> {
  if (!await pathExists(join(topLevel, inTree))) return true;
  const environment = { GIT_LITERAL_PATHSPECS: "1" };
  if ((await git(["cat-file", "-e", `HEAD:${inTree}`])).exitCode !== 0) return false;
  if ((await git(["diff", "--quiet", "HEAD", "--", inTree], { environment })).exitCode !== 0) return false;
  const range = `${archived.parent}..HEAD`;
  const last = ["log", "--first-parent", "-1", "--format=%P\t%s", range, "--", inTree];
  const [parents = "", subject = ""] = (await git(last, { environment })).stdout.trimEnd().split("\t");
  return parents === "" || parents.includes(" ") || subject === removalSubject(branch);
}

/**
 * Tells how a person's symbolic link, or file in a folder's place, is in the way of a file: git would replace it.
 *
 * @returns what the file is; `null`: nothing is in the way
 */
export function inTheWay(root: string, path: string): string | null {
  const parts = path.split("/");
  for (const index of parts.keys()) {
    const kind = factsOf(join(root, ...parts.slice(0, index + 1)))?.kind;
    const isBelow = index < parts.length - 1;
    if (kind === "link") return `${isBelow ? "below " : ""}a symbolic link`;
    if (kind === "file" && isBelow) return "below a file";
  }
  return null;
}

/** Lays state in that `ralph finish` took off a branch; nothing is {@link inTheWay}. @returns what was laid in */
export async function layInFiles(
  ralph: RalphContext,
  { ref }: Pick<Archived, "ref">,
  files: readonly string[],
): Promise<readonly string[]> {
  const { git } = requireRepository(ralph);
  const laid: string[] = [];
  for (const path of files) {
    const words = ["restore", `--source=${ref}`, "--worktree", "--", ...topLevelPaths(ralph, [path])];
    const { exitCode } = await git(words, { environment: { GIT_LITERAL_PATHSPECS: "1" } });
    if (exitCode === 0) laid.push(path);
  }
  await ralph.state.adopt(laid);
  return laid;
}
