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
import { EXIT, RalphError } from "../../errors/ralph_error.ts";
import { ARCHIVE_REFS, archivesOf, fetchArchives, newestArchive, nextArchive } from "../../git/archive.ts";
import { removedEntry } from "../../git/index_entries.ts";
import { isAncestor, moveHead } from "../../git/refs.ts";
import { ownTree, saveCommit, treeWith } from "../../git/own_index.ts";
import { type Repository, requireRepository, topLevelPaths } from "../../git/repository.ts";
import { commitFields, lineFrom, outputFrom, pathsBetween } from "../../git/run_git.ts";
import { pathExists, presentPaths, removePath } from "../../host/files.ts";
import type { Change } from "../../report/changed_files.ts";
import { conventionalTitle } from "../../report/title_convention.ts";
import type { RunReport } from "../../report/types.ts";
import { layInFiles } from "../../workflows/lay_in_files.ts";
import { WORKFLOWS } from "../../workflows/table.ts";
import type { WorkflowRow } from "../../workflows/workflow.ts";
import { type FinishPlan, remoteOf } from "./finish_plan.ts";
import { failed, ownState } from "./land_branch.ts";

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

/** The branch as it would be. */
export interface CleanHistory {
  /** Its newest commit. */
  readonly head: string;
  /** Oldest first. */
  readonly subjects: readonly string[];
  /** The commits that take the place of others, by these. */
  readonly instead: ReadonlyMap<string, string>;
}

/** So many commits that stand in the way are named. */
const NAMED = 5;
/** Ralph's own line below the subject of an item. */
const STATE_REGEXP = /^ralph: \S+ passed$/;
const ITEM_REGEXP = /^\w+(?:\([^)]*\))?!?: (\S+) - (.+)$/;

interface Commit {
  readonly id: string;
  readonly parents: readonly string[];
  readonly subject: string;
  /** As git keeps it, byte by byte. */
  readonly raw: string;
}

/**
 * Makes the commits of a clean history. The same branch gives the same ones.
 *
 * @returns `null` where nothing but state is on the branch
 * @throws {RalphError} finish-refused for a commit that is not Ralph's, is signed or a merge, or that others have
 */
export async function cleanHistory(
  ralph: RalphContext,
  { work: { branch, head, from } }: FinishPlan,
  { state, reports, change, subjects }: {
    /** Relative to the top level; an earlier finish may have taken it off the branch. */
    readonly state: readonly string[];
    readonly reports: readonly RunReport[];
    readonly change: Change;
    /** Subjects of the base. */
    readonly subjects: readonly string[];
  },
): Promise<CleanHistory | null> {
  const repository = requireRepository(ralph);
  const start = await cleanedBefore(repository, branch, head) ?? from;
  const commits = await commitsSince(repository, start, head);
  await refuseOthers(ralph, commits, { range: `${start}..${head}`, branch, reports });
  const without = (commit: string): Promise<string> => treeWith(repository, commit, state.map(removedEntry).join(""));
  const instead = new Map<string, string>();
  const made: string[] = [];
  let [tip, tree] = [start, await without(start)];
  for (const { id, subject, raw } of commits) {
    const own = await without(id);
    if (own !== tree) {
      const paths = new Set(await pathsBetween(repository, tree, own));
      const [, item = "", title = ""] = ITEM_REGEXP.exec(subject) ?? [];
      const isItem = reports.some(({ items }) => items.some((one) => one.id === item));
      const about = { subjects, branch, files: change.files.filter(({ path }) => paths.has(path)) };
      made.push(isItem ? conventionalTitle(title, about) : subject);
      tip = await hashed(repository, rewritten(raw, { tree: own, parent: tip, subject: made.at(-1)! }));
      tree = own;
    }
    instead.set(id, tip);
  }
  return made.length === 0 ? null : { head: tip, subjects: made, instead };
}

/** The newest commit of a clean history that the branch went on from; what is below it is clean. */
async function cleanedBefore(repository: Repository, branch: string, head: string): Promise<string | null> {
  for (const { parent, from } of await archivesOf(repository, branch)) {
    if (parent !== from && await isAncestor(repository, parent, head)) return parent;
  }
  return null;
}

async function commitsSince(repository: Repository, start: string, head: string): Promise<readonly Commit[]> {
  const found = (await commitFields(repository, ["%H", "%P", "%s"], [`${start}..${head}`])).toReversed();
  const commits: Commit[] = [];
  for (const [id = "", parents = "", subject = ""] of found) {
    const raw = await outputFrom(repository, ["cat-file", "commit", id.trim()], { encoding: "latin1" });
    commits.push({ id: id.trim(), parents: parents.split(" "), subject, raw });
  }
  return commits;
}

/** Only the commits that Ralph made and that nobody else has are written anew. */
async function refuseOthers(
  ralph: RalphContext,
  commits: readonly Commit[],
  { range, branch, reports }: {
    readonly range: string;
    readonly branch: string;
    readonly reports: readonly RunReport[];
  },
): Promise<void> {
  const repository = requireRepository(ralph);
  const others = ["--not", `--exclude=${branch}`, "--branches", "--tags", "--remotes"];
  const free = new Set((await outputFrom(repository, ["rev-list", range, ...others])).split("\n"));
  const own = reports.flatMap((report) => [report, ...report.items.flatMap(({ attempts }) => attempts)])
    .flatMap((part) => part.commits).filter(({ by }) => by === "ralph").map(({ commit }) => commit);
  const made = new Set(own);
  const isState = ownState(ralph);
  const why = async ({ id, parents: [parent = "", ...more], subject, raw }: Commit): Promise<string> => {
    if (more.length > 0) return "is a merge";
    if (/^gpgsig/m.test(headerOf(raw))) return "is signed";
    if (!free.has(id)) return "was pushed, or another branch or tag has it";
    if (made.has(id)) return "";
    const isOwn = subject.startsWith("ralph: ") || subject === removalSubject(branch);
    const isNoted = isOwn && (await pathsBetween(repository, parent, id)).every(isState);
    return isNoted ? "" : "is not Ralph's";
  };
  const found: string[] = [];
  for (const commit of commits) {
    const reason = await why(commit);
    if (reason !== "") found.push(`${commit.id.slice(0, 10)} ${reason} (${commit.subject})`);
  }
  if (found.length === 0) return;
  const problem = `--clean-history writes only commits anew that Ralph made and nobody else has: ${
    found.slice(0, NAMED).join("; ")
  }${found.length > NAMED ? ` and ${found.length - NAMED} more` : ""}`;
  const hint = "without it all commits are kept as they are; `--squash` makes one of them";
  throw new RalphError("finish-refused", { details: { problem, hint } });
}

function headerOf(raw: string): string {
  return raw.slice(0, raw.indexOf("\n\n"));
}

/** The same author, dates and body on another parent. Pure. */
function rewritten(
  raw: string,
  { tree, parent, subject }: { readonly tree: string; readonly parent: string; readonly subject: string },
): string {
  const header = headerOf(raw);
  const kept = header.split("\n").filter((line) => !/^(?:tree|parent) /.test(line));
  const [first = "", ...body] = raw.slice(header.length + 2).split("\n");
  const isOther = kept.some((line) => line.startsWith("encoding "));
  const message = [
    isOther ? first : Buffer.from(subject).toString("latin1"),
    ...body.filter((line) => !STATE_REGEXP.test(line)),
  ]
    .join("\n").replaceAll(/\n{3,}/g, "\n\n").trimEnd();
  return `${[`tree ${tree}`, `parent ${parent}`, ...kept].join("\n")}\n\n${message}\n`;
}

async function hashed(repository: Repository, input: string): Promise<string> {
  return await lineFrom(repository, ["hash-object", "-t", "commit", "-w", "--stdin"], { input, encoding: "latin1" });
}
