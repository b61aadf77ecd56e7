import { usage } from "../../cli/command.ts";
import { isElsewhere } from "../../checks/brief/since_last_run.ts";
import type { RalphContext } from "../../context/context.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { type BranchWork, branchWork } from "../../git/branch_work.ts";
import { addressText } from "../../git/host_of.ts";
import { entriesAt, entriesOf } from "../../git/index_entries.ts";
import { mergeTrees, tooOldToMerge } from "../../git/land.ts";
import { treeWith } from "../../git/own_index.ts";
import { treeAt } from "../../git/read_commit.ts";
import { commitAt, defaultBranch, isAncestor, ownCommit, remoteBranch } from "../../git/refs.ts";
import {
  type ChangedPath,
  type Repository,
  requireRepository,
  topLevelPaths,
  type WithGit,
} from "../../git/repository.ts";
import type { WorkflowRow } from "../../workflows/workflow.ts";
import { type Forge, forgeOf, ownerOf } from "./make_request.ts";
import { ownState, stateFiles, type StatePaths } from "./state_paths.ts";

/** The work that would be finished, and how. */
export interface FinishPlan {
  readonly work: BranchWork & { readonly branch: string; readonly base: string };
  /** `merge` happens in this repository; nothing is pushed. */
  readonly way: "request" | "push" | "merge";
  /** As one commit. */
  readonly squash: boolean;
  /** The archive of the branch goes to the remote also. */
  readonly withHistory: boolean;
  /** The remote that the work is pushed to; `null`: nothing is pushed. */
  readonly remote: PushedTo | null;
  /** The branch as a request names it: with its owner, if the base is in another repository. */
  readonly head: string;
  /** The program that makes the pull or merge request; `null`: nothing does. */
  readonly forge: Forge | null;
  /** Files that are taken off the branch. */
  readonly state: StatePaths;
  /** The newest commit of the branch without state, which no branch has yet. */
  readonly leaves: string;
  /** The tree that leaves: the branch without state, and for a merge here together with its base. */
  readonly tree: string;
  /** Subjects, oldest first. */
  readonly commits: readonly string[];
  /** Files that differ in both, so that git cannot merge them by itself. */
  readonly conflicts: readonly string[];
  readonly target: Target;
  /** Commits that the base has and the branch has not. */
  readonly behind: number;
  /** The base has all that the branch holds: nothing is left to merge. */
  readonly isMerged: boolean;
}

/** The remote that the work is pushed to. */
export interface PushedTo {
  readonly name: string;
  readonly url: string;
  /** The address that git pushes to, as it is shown. */
  readonly address: string;
  /** It had another one when the last run began, or was not there. */
  readonly isElsewhere: boolean;
}

/** The base as the work gets onto it. */
export interface Target {
  /** Its newest commit, here or on the remote. */
  readonly onto: string;
  /** Git's name for that commit here: `main`, `origin/main`. */
  readonly name: string;
  /** The commit of the branch of that name here; `null`: there is none. */
  readonly here: string | null;
  /** The remote that it is at; `null`: it is here alone. */
  readonly remote: string | null;
  /** A person should know this of it; "" is nothing. */
  readonly note: string;
}

/** The way out for a person if there is a conflict, or if both together fail. @param then what follows */
export function wayOut({ work: { branch }, target }: FinishPlan, then = "`ralph run` and `ralph finish`"): string {
  return `\`git merge ${target.name}\` on ${branch}, settle it there and commit, then ${then}`;
}

/** The person's choice on the command line. */
export interface FinishChoice {
  readonly base?: string | undefined;
  readonly merge: boolean;
  readonly squash: boolean;
  readonly withHistory: boolean;
}

/**
 * Looks at what there is to finish; changes nothing but what `git fetch` brings of the base.
 *
 * @throws {RalphError} finish-refused, usage
 */
export async function finishPlan(
  ralph: RalphContext,
  choice: FinishChoice,
  row: Pick<WorkflowRow, "runState">,
): Promise<FinishPlan> {
  const repository = requireRepository(ralph);
  const { branch, changed } = await repository.status();
  if (branch === null) throw nothing("HEAD is detached: switch to the branch that is to be finished");
  const base = choice.base ?? await defaultBranch(repository) ?? await remoteBranch(repository);
  if (base === null) throw nothing(`no branch is known that ${branch} could be merged into: name it by \`--base\``);
  if (base === branch) throw await nothingOn(ralph, `${branch} is what branches are finished into`);
  refuseDirty(changed, topLevelPaths(ralph, row.runState?.files ?? []));
  const remote = await remoteOf(repository, branch, { base, isRequired: !choice.merge });
  const isHere = choice.merge || remote === null;
  if (isHere && choice.withHistory) {
    throw usage("--with-history pushes to a remote", "a merge here keeps all of it here");
  }
  // of a fork the base is elsewhere
  const from = remote === null ? undefined : await remoteName(repository, "upstream", base) || remote.name;
  const target = await targetOf(repository, { base, remote: from ?? null, isHere });
  const work = await branchWork(repository, { base: target.onto, isApart: ownState(ralph) });
  if (work === null) throw nothing(`${branch} and ${base} have no commit in common`);
  const old = await tooOldToMerge(repository);
  if (old !== null) throw nothing(`it needs git 2.38 or newer, this is ${old}`);
  const state = await stateFiles(ralph, row, { branch, base: work.from });
  await refuseLinked(ralph, state.linked);
  const leaves = await withoutState(repository, work, topLevelPaths(ralph, state.files));
  const merged = await mergeTrees(repository, target.onto, leaves);
  const lines = async (...words: readonly string[]): Promise<readonly string[]> =>
    (await repository.git(words)).stdout.split("\n").filter((line) => line !== "");
  const isMerged = merged.conflicts.length === 0 && merged.tree === await treeAt(repository, target.onto);
  if (isMerged && !isHere) throw await nothingOn(ralph, `${base} has all that ${branch} holds`);
  const forge = isHere || remote === null ? null : await forgeOf(ralph.host, ralph.root, remote.url);
  return {
    work: { ...work, branch, base },
    way: isHere ? "merge" : forge === null ? "push" : "request",
    squash: choice.squash,
    withHistory: choice.withHistory,
    remote: isHere || remote === null ? null : await pushedTo(ralph, remote),
    head: forge?.program === "gh" && from !== remote?.name ? `${ownerOf(remote!.url)}:${branch}` : branch,
    forge,
    state,
    leaves,
    tree: isHere ? merged.tree : await treeAt(repository, leaves),
    commits: await lines("log", "--reverse", "--format=%s", `${work.from}..HEAD`),
    conflicts: merged.conflicts,
    target,
    behind: work.from === target.onto
      ? 0
      : Number((await lines("rev-list", "--count", `HEAD..${target.onto}`))[0] ?? 0),
    isMerged,
  };
}

/** A link that is not committed hides state that the branch has, and that would leave with it. */
async function refuseLinked(ralph: RalphContext, linked: readonly string[]): Promise<void> {
  const repository = requireRepository(ralph);
  const entries = await entriesOf(repository, "HEAD", topLevelPaths(ralph, linked));
  const hidden = linked.filter((_, index) => entries[index] !== null);
  if (hidden.length === 0) return;
  throw new RalphError("finish-refused", {
    details: {
      problem: `${hidden.join(", ")}: below a symbolic link here, and files in the branch's newest commit`,
      hint: "commit the link, or put the folder back, then the same command again",
    },
  });
}

/** The branch's newest commit, with files of the state as the base has them. */
async function withoutState(
  repository: Repository,
  { head, from }: BranchWork,
  apart: readonly string[],
): Promise<string> {
  if (apart.length === 0) return head;
  const tree = await treeWith(repository, head, await entriesAt(repository, from, apart));
  return await ownCommit(repository, tree, { parents: [head], message: "ralph: without state\n" });
}

/** The work is on another branch, perhaps: it is named. */
async function nothingOn(ralph: RalphContext, problem: string): Promise<RalphError> {
  const { branchWithWork } = await import("./branch_with_work.ts");
  const other = await branchWithWork(ralph);
  if (other === null) return nothing(problem);
  return nothing(`${problem}; the work is on ${other}`, `\`git switch ${other}\`, then \`ralph finish\``);
}

function nothing(
  problem: string,
  hint = "`ralph status` shows where the work is; `--base BRANCH` names another branch to finish into",
): RalphError {
  return new RalphError("finish-refused", { details: { problem: `there is nothing to finish: ${problem}`, hint } });
}

/**
 * Changes that are not committed would not be part of it. Files that git does not track are not in the way, nor is state
 * that is set aside as it is in the tree; a version of it that is only staged would be in no ref.
 */
function refuseDirty(changed: readonly ChangedPath[], state: readonly string[]): void {
  const isSetAside = ({ path, code }: ChangedPath): boolean => state.includes(path) && code.includes(" ");
  const paths = changed.filter((one) => !one.untracked && !isSetAside(one)).map(({ path }) => path);
  if (paths.length === 0) return;
  const problem = `changes that are not committed would not be part of it: ${paths.slice(0, 10).join(", ")}`;
  throw new RalphError("finish-refused", {
    details: { problem, hint: "commit or stash them, then the same command again" },
  });
}

/**
 * The remote that git pushes the branch to, the one that the base is at, or the only one.
 *
 * @throws {RalphError} usage where one is required, and nothing says which of them
 */
export async function remoteOf(
  repository: WithGit,
  branch: string,
  { base = null, isRequired = false }: { readonly base?: string | null; readonly isRequired?: boolean } = {},
): Promise<{ readonly name: string; readonly url: string } | null> {
  const line = async (...words: readonly string[]): Promise<string> => (await repository.git(words)).stdout.trim();
  const all = (await line("remote")).split("\n").filter((name) => name !== "");
  if (all.length === 0) return null;
  const wanted = [
    await remoteName(repository, "push", branch),
    ...base === null ? [] : [await remoteName(repository, "upstream", base)],
    "origin",
    ...all.length === 1 ? all : [],
  ];
  const name = wanted.find((one) => all.includes(one));
  if (name !== undefined) return { name, url: await line("config", "--get", `remote.${name}.url`) };
  if (!isRequired) return null;
  throw usage(
    `nothing says which of the remotes is meant: ${all.join(", ")}`,
    `\`git config remote.pushDefault ${all[0]}\` says it; \`ralph finish --merge\` merges here`,
  );
}

async function pushedTo(ralph: RalphContext, { name, url }: { readonly name: string; readonly url: string }) {
  const { stdout } = await requireRepository(ralph).git(["remote", "get-url", "--push", "--all", name]);
  const addresses = stdout.split("\n").filter((line) => line !== "").map(addressText);
  return { name, url, address: addresses.join(" and "), isElsewhere: await isElsewhere(ralph, name) };
}

/** Git's own name for where a branch is pushed to or comes from; empty if it is no remote. */
async function remoteName({ git }: WithGit, direction: "push" | "upstream", branch: string): Promise<string> {
  const end = await git(["for-each-ref", `--format=%(${direction}:remotename)`, `refs/heads/${branch}`]);
  return end.stdout.trim().replace(/^\.$/, "");
}

/**
 * Finds where the base is now. A request is compared with the remote's. A merge here goes onto the branch that is here.
 * If that is only behind the remote's, it is brought forward to it.
 */
async function targetOf(
  repository: Repository,
  { base, remote, isHere }: { readonly base: string; readonly remote: string | null; readonly isHere: boolean },
): Promise<Target> {
  const unknown = remote === null ? "" : await fetchProblem(repository, remote, base);
  const here = await commitAt(repository, `refs/heads/${base}`);
  const there = remote === null ? null : await commitAt(repository, `refs/remotes/${remote}/${base}`);
  const named = here ?? there ?? await commitAt(repository, base);
  if (named === null) throw usage(`there is no branch ${base}`, "name another by `--base`");
  const known = { onto: here ?? named, name: base, here, remote, note: unknown };
  if (there === null || there === here) return known;
  const theirs = { ...known, onto: there, name: `${remote}/${base}` };
  if (here === null || await isAncestor(repository, here, there)) return theirs;
  const ahead = Number((await repository.git(["rev-list", "--count", `${there}..${here}`])).stdout);
  const more = `${base} has ${commitsText(ahead)} that ${theirs.name} has not`;
  if (!isHere) return { ...theirs, note: `${more}: what the branch holds of it goes along` };
  if (await isAncestor(repository, there, here)) return known;
  return { ...known, note: `${more}, and ${theirs.name} has others` };
}

/** Brings what the remote has of the base. @returns why not; "" is nothing */
async function fetchProblem({ git }: WithGit, remote: string, base: string): Promise<string> {
  const words = ["fetch", "--quiet", "--end-of-options", remote, base];
  const { exitCode, stderr } = await git(words, { timeoutMs: 30_000, environment: { LC_ALL: "C" } });
  if (exitCode === 0) return "";
  if (!stderr.includes("couldn't find remote ref")) {
    return `${remote} was not reached (${stderr.trim().split("\n").at(-1)}): its ${base} may have moved`;
  }
  return `${remote} has no branch ${base}: \`git branch --set-upstream-to=REMOTE/${base} ${base}\` says where it is`;
}

/** `2 commits`. */
export function commitsText(count: number): string {
  return `${count} commit${count === 1 ? "" : "s"}`;
}
