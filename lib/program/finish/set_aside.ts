/**
 * The state of a run leaves the branch before the branch leaves: it is kept under a ref, and one commit takes it away.
 * `ralph run` on the branch lays it in again.
 *
 * @module
 */
import { join } from "node:path";
import { type Invocation, usage } from "../../cli/command.ts";
import { openSession } from "../../cli/session.ts";
import type { RalphContext } from "../../context/context.ts";
import { EXIT } from "../../errors/ralph_error.ts";
import { ARCHIVE_REFS, fetchArchives, newestArchive, nextArchive, removalSubject } from "../../git/archive.ts";
import { dropEntries, entriesOf } from "../../git/index_entries.ts";
import { ownTree, saveCommit, treeWith } from "../../git/own_index.ts";
import { moveHead } from "../../git/refs.ts";
import { type Repository, requireRepository, topLevelPaths } from "../../git/repository.ts";
import { outputFrom } from "../../git/run_git.ts";
import { presentPaths, removePath } from "../../host/files.ts";
import { inTheWay, layInFiles } from "../../loop/recover/lay_in.ts";
import { remoteOf } from "./finish_plan.ts";
import { failed } from "./land_branch.ts";
import { runFiles } from "./state_paths.ts";

/** A file of the state: how it is here, in the branch's newest commit, and in the commit that the branch began on. */
export interface StateFile {
  /** Relative to the root, and to the top level. */
  readonly path: string;
  readonly inTree: string;
  /** Mode and hash; `null`: there is none. */
  readonly here: string | null;
  readonly head: string | null;
  readonly base: string | null;
}

/** The files of these that differ from what the base has: as the base has them, they are no state of a run. */
export async function stateToSetAside(
  ralph: Pick<RalphContext, "root" | "repository">,
  files: readonly string[],
  base: string,
): Promise<readonly StateFile[]> {
  if (files.length === 0) return [];
  const repository = requireRepository(ralph);
  const paths = topLevelPaths(ralph, files);
  const there = topLevelPaths(ralph, await presentPaths(ralph.root, files));
  const tree = await ownTree(repository, "empty", async (environment) => {
    if (there.length > 0) await outputFrom(repository, ["add", "--force", "--", ...there], { environment });
  });
  const [here, head, before] = await Promise.all([tree, "HEAD", base].map((one) => entriesOf(repository, one, paths)));
  return files.map((path, index): StateFile => ({
    path,
    inTree: paths[index]!,
    here: here![index]!,
    head: head![index]!,
    base: before![index]!,
  })).filter((file) => file.head !== file.base || (file.here !== null && file.here !== file.base));
}

/**
 * Keeps the state under `refs/ralph/archive/<branch>/<n>` and takes it away: in one commit, or by moving the branch to a
 * clean history. Files that the base has are put back as it has them. A kill in between is made up for by the same call.
 *
 * @param base the commit that the branch began on
 * @param cleaned the newest commit of that history
 */
export async function setAside(
  ralph: RalphContext,
  { branch, head, from: base }: { readonly branch: string; readonly head: string; readonly from: string },
  files: readonly StateFile[],
  cleaned: string | null = null,
): Promise<void> {
  if (files.length === 0 && cleaned === null) return;
  const repository = requireRepository(ralph);
  const ref = await keep(repository, branch, files, [...cleaned === null ? [] : [cleaned], head]);
  for (const { path, base: before } of files) if (before === null) await removePath(join(ralph.root, path));
  await putBack(repository, base, files.filter((file) => file.base !== null));
  await dropEntries(repository, files.filter((file) => file.base === null).map(({ inTree }) => inTree));
  const changed = files.filter((file) => file.head !== file.base).map(({ inTree }) => inTree);
  try {
    if (cleaned !== null) {
      // the state has gone from the tree and the index: the branch goes last
      const isMoved = await moveHead(repository, { from: head, to: cleaned, why: "ralph: clean history" });
      const hint = `nothing is lost: \`${ref}\` keeps the state; the same command again`;
      if (!isMoved) throw failed("another tool has committed meanwhile", hint);
    } else if (changed.length > 0) {
      const subject = removalSubject(branch);
      const result = await repository.commit({ paths: changed, subject, body: `It is kept in ${ref}.` });
      if (result.status === "committed") ralph.events.emit({ type: "commit", commit: result.commit, subject });
    }
  } catch (error) {
    await putBack(repository, ref, files.filter((file) => (file.here ?? file.head) !== null));
    throw error;
  }
  await ralph.state.adopt(files.map(({ path }) => path));
}

/** Lays files in as a commit has them, and stages them. */
async function putBack(repository: Repository, source: string, files: readonly StateFile[]): Promise<void> {
  if (files.length === 0) return;
  const restore = ["restore", `--source=${source}`, "--staged", "--worktree", "--"];
  const environment = { GIT_LITERAL_PATHSPECS: "1" };
  await outputFrom(repository, [...restore, ...files.map(({ inTree }) => inTree)], { environment });
}

/**
 * Makes the ref, unless a call that was cut off has made it.
 *
 * @param parents the commit that the branch goes on from, and the one that it is taken from
 */
async function keep(
  repository: Repository,
  branch: string,
  files: readonly StateFile[],
  parents: readonly string[],
): Promise<string> {
  const newest = await newestArchive(repository, branch);
  if (newest !== null && newest.from === parents.at(-1) && newest.parent === parents[0]) {
    const kept = await entriesOf(repository, newest.tree, files.map(({ inTree }) => inTree));
    if (files.every(({ here, base }, index) => here === base || here === kept[index])) return newest.ref;
  }
  const isEmpty = files.every(({ here, head }) => (here ?? head) === null);
  if (newest !== null && isEmpty && parents.length === 1) return newest.ref; // there is nothing to keep
  const ref = nextArchive(branch, newest);
  await saveCommit(repository, ref, await keptTree(repository, files), parents);
  return ref;
}

/** The tree that is kept: the branch's newest commit, with the state as it is here. */
export async function keptTree(repository: Repository, files: readonly StateFile[]): Promise<string> {
  const lines = files.flatMap(({ here, head, inTree }) =>
    (here ?? head) === null ? [] : [`${here ?? head}\t${inTree}\0`]
  );
  return await treeWith(repository, "HEAD", lines.join(""));
}

/** `ralph restore --branch NAME`: the state that `ralph finish` took off a branch, laid in here. Nothing is written over. */
export async function restoreBranch(invocation: Invocation, branch: string): Promise<number> {
  const { arguments: named, flags, out, say } = invocation;
  if (named.length > 0) throw usage("--branch takes no RUN and no PATH", "leave one of them out");
  await using session = await openSession(invocation, { asks: false, gates: [], data: true });
  const { ralph } = session;
  await using _lock = await ralph.lock.acquire("restore");
  const repository = requireRepository(ralph);
  const remote = flags.has("with-history") ? await remoteOf(repository, branch, { isRequired: true }) : null;
  if (remote !== null) {
    await fetchArchives(repository, remote.name, branch);
    const spec = `+refs/heads/${branch}:refs/remotes/${remote.name}/${branch}`;
    await repository.git(["fetch", "--quiet", remote.name, spec]);
  }
  const archived = await newestArchive(repository, branch);
  if (archived === null) {
    const hint = `\`git for-each-ref ${ARCHIVE_REFS}\` shows what is; \`--with-history\` asks the remote`;
    throw usage(`nothing is kept of a branch ${branch}`, hint);
  }
  const all = await runFiles(ralph, { branch, base: "HEAD" });
  const paths = topLevelPaths(ralph, all);
  const [kept = [], head = []] = await Promise.all(
    [archived.tree, "HEAD"].map((one) => entriesOf(repository, one, paths)),
  );
  const files = all.filter((_, index) => kept[index] !== null && kept[index] !== head[index]);
  const there = await presentPaths(ralph.root, files);
  const left = new Map<string, string>();
  for (const path of files) {
    const why = inTheWay(ralph.root, path) ?? (there.includes(path) ? "there" : null);
    if (why !== null) left.set(path, why);
  }
  const missing = files.filter((path) => !left.has(path));
  const laid = flags.has("dry-run") ? missing : await layInFiles(ralph, archived, missing);
  for (const path of laid) out(`${path}  from ${archived.ref}`);
  for (const [path, why] of left) {
    say(`${path} is ${why}: left as it is; \`git show ${archived.ref}:./${path}\` shows what is kept`);
  }
  return left.size === 0 ? EXIT.done : EXIT.failed;
}
