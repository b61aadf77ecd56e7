/**
 * The state of a run leaves the branch before the branch leaves: it is kept under a ref, and one commit takes it away.
 * `ralph run` on the branch lays it in again.
 *
 * @module
 */
import { presentPaths } from "../../host/present_paths.ts";
import { join } from "node:path";
import type { Invocation } from "../../cli/command.ts";
import { usage } from "../../cli/parse.ts";
import { openSession } from "../../cli/session.ts";
import type { RalphContext } from "../../context/context.ts";
import { EXIT } from "../../errors/exit_codes.ts";
import { ARCHIVE_REFS, fetchArchives, newestArchive, nextArchive } from "../../git/archive.ts";
import { moveHead } from "../../git/move_head.ts";
import { ownTree, saveCommit } from "../../git/own_index.ts";
import { type Repository, requireRepository, topLevelPaths } from "../../git/repository.ts";
import { outputFrom } from "../../git/run_git.ts";
import { pathExists, removePath } from "../../host/files.ts";
import { layInFiles } from "../../workflows/lay_in_files.ts";
import { WORKFLOWS } from "../../workflows/table.ts";
import type { WorkflowRow } from "../../workflows/workflow.ts";
import { remoteOf } from "./finish_plan.ts";
import { failed } from "./land_branch.ts";

/** State that is there, relative to the root: in the tree or in HEAD. */
export async function stateToSetAside(
  ralph: Pick<RalphContext, "root" | "repository">,
  { runState }: Pick<WorkflowRow, "runState">,
): Promise<readonly string[]> {
  if (runState === undefined) return [];
  const files = [...runState.files, ...await runState.unused(ralph.root)];
  const tracked = await trackedOf(requireRepository(ralph), topLevelPaths(ralph, files));
  const there = await Promise.all(
    files.map(async (path, index) => tracked[index] === true || await pathExists(join(ralph.root, path))),
  );
  return files.filter((_, index) => there[index]);
}

/**
 * Keeps the state under `refs/ralph/archive/<branch>/<n>` and takes it away: in one commit, or by moving the branch to a
 * clean history. A kill in between is made up for by the same call.
 *
 * @param cleaned the newest commit of that history
 * @returns the ref that keeps it; `null`: there was nothing to keep
 */
export async function setAside(
  ralph: RalphContext,
  branch: string,
  files: readonly string[],
  cleaned: string | null = null,
): Promise<string | null> {
  if (files.length === 0 && cleaned === null) return null;
  const repository = requireRepository(ralph);
  const { head } = await repository.head();
  const ref = await keep(ralph, branch, files, [...cleaned === null ? [] : [cleaned], ...head === null ? [] : [head]]);
  for (const path of files) await removePath(join(ralph.root, path));
  const paths = topLevelPaths(ralph, files);
  const tracked = await trackedOf(repository, paths);
  const gone = paths.filter((_, index) => tracked[index]);
  if (cleaned !== null) await moveTo(ralph, cleaned, { head, ref, gone });
  else if (gone.length > 0) await commitRemoval(ralph, { branch, ref, gone });
  await ralph.state.adopt(files);
  return ref;
}

/** The subject of the commit that takes the state off a branch. */
export function removalSubject(branch: string): string {
  return `chore: remove the state of ${branch}`;
}

async function commitRemoval(
  ralph: RalphContext,
  { branch, ref, gone }: { readonly branch: string; readonly ref: string; readonly gone: readonly string[] },
): Promise<void> {
  const repository = requireRepository(ralph);
  const subject = removalSubject(branch);
  try {
    const result = await repository.commit({ paths: gone, subject, body: `It is kept in ${ref}.` });
    if (result.status === "committed") ralph.events.emit({ type: "commit", commit: result.commit, subject });
  } catch (error) {
    await outputFrom(repository, ["restore", `--source=${ref}`, "--worktree", "--", ...gone]);
    throw error;
  }
}

/** The state has gone from the tree and the index: the branch goes last. */
async function moveTo(
  ralph: RalphContext,
  cleaned: string,
  { head, ref, gone }: { readonly head: string | null; readonly ref: string; readonly gone: readonly string[] },
): Promise<void> {
  const repository = requireRepository(ralph);
  if (gone.length > 0) {
    await outputFrom(repository, ["rm", "--cached", "--quiet", "--ignore-unmatch", "--", ...gone]);
  }
  if (head !== null && await moveHead(repository, { from: head, to: cleaned, why: "ralph: clean history" })) return;
  if (gone.length > 0) {
    await outputFrom(repository, ["restore", `--source=${ref}`, "--staged", "--worktree", "--", ...gone]);
  }
  throw failed(
    "another tool has committed meanwhile",
    `nothing is lost: \`${ref}\` keeps the state; the same command again`,
  );
}

/**
 * Makes the ref, unless a call that was cut off has made it.
 *
 * @param parents the commit that the branch goes on from, and the one that it is taken from
 */
async function keep(
  ralph: RalphContext,
  branch: string,
  files: readonly string[],
  parents: readonly string[],
): Promise<string> {
  const repository = requireRepository(ralph);
  const [there, newest] = [await presentPaths(ralph.root, files), await newestArchive(repository, branch)];
  const isCutOff = newest !== null && newest.from === parents.at(-1) && there.length < files.length;
  const tree = isCutOff ? newest.tree : await stateTree(repository, topLevelPaths(ralph, there));
  if (newest?.tree === tree && newest.from === parents.at(-1) && newest.parent === parents[0]) return newest.ref;
  const ref = nextArchive(branch, newest);
  await saveCommit(repository, ref, tree, parents);
  return ref;
}

async function stateTree(repository: Repository, paths: readonly string[]): Promise<string> {
  return await ownTree(repository, "copied", async (environment) => {
    if (paths.length === 0) return;
    await outputFrom(repository, ["add", "--force", "--", ...paths], { environment });
  });
}

/** For each path: does HEAD have it? */
async function trackedOf(repository: Repository, paths: readonly string[]): Promise<readonly boolean[]> {
  const environment = { GIT_LITERAL_PATHSPECS: "1" };
  const { stdout } = await repository.git(["ls-tree", "-z", "--name-only", "HEAD", "--", ...paths], { environment });
  const found = new Set(stdout.split("\0"));
  return paths.map((path) => found.has(path));
}

/** `ralph restore --branch NAME`: the state that `ralph finish` took off a branch, laid in here. Nothing is written over. */
export async function restoreBranch(invocation: Invocation, branch: string): Promise<number> {
  const { arguments: named, flags, out, say } = invocation;
  if (named.length > 0) throw usage("--branch takes no RUN and no PATH", "leave one of them out");
  await using session = await openSession(invocation, { asks: false, gates: [], data: true });
  const { ralph } = session;
  await using _lock = await ralph.lock.acquire("restore");
  const repository = requireRepository(ralph);
  const remote = flags.has("with-history") ? await remoteOf(repository, branch) : null;
  if (remote !== null) await fetchArchives(repository, remote.name, branch);
  const archived = await newestArchive(repository, branch);
  if (archived === null) {
    const hint = `\`git for-each-ref ${ARCHIVE_REFS}\` shows what is; \`--with-history\` asks the remote`;
    throw usage(`nothing is kept of a branch ${branch}`, hint);
  }
  const files: string[] = [];
  for (const path of WORKFLOWS.flatMap(({ runState }) => runState?.files ?? [])) {
    const [inTree = path] = topLevelPaths(ralph, [path]);
    const found = await repository.git(["cat-file", "-e", `${archived.ref}:${inTree}`]);
    if (found.exitCode === 0) files.push(path);
  }
  const there = await presentPaths(ralph.root, files);
  const missing = files.filter((path) => !there.includes(path));
  const laid = flags.has("dry-run") ? missing : await layInFiles(ralph, archived, missing);
  for (const path of laid) out(`${path}  from ${archived.ref}`);
  for (const path of there) {
    say(`${path} is there: left as it is; \`git show ${archived.ref}:./${path}\` shows what is kept`);
  }
  return there.length === 0 ? EXIT.done : EXIT.failed;
}
