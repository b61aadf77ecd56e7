import type { RalphContext } from "../../context/context.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { type BranchWork, branchWork } from "../../git/branch_work.ts";
import { defaultBranch } from "../../git/default_branch.ts";
import { requireRepository } from "../../git/require_repository.ts";
import type { Repository } from "../../git/types.ts";
import { type Forge, forgeOf } from "./forge.ts";

/** How the work of a branch gets to its base. */
export type FinishWay = "request" | "push" | "merge" | "squash";

/** What would be finished, and how. */
export interface FinishPlan {
  readonly work: BranchWork & { readonly branch: string; readonly base: string };
  readonly way: FinishWay;
  /** Where it is pushed to; `null`: nothing is. */
  readonly remote: { readonly name: string; readonly url: string } | null;
  /** What makes the pull or merge request; `null`: nothing does. */
  readonly forge: Forge | null;
  /** Subjects, oldest first. */
  readonly commits: readonly string[];
  /** Files that differ in both, so that git cannot merge them by itself. */
  readonly conflicts: readonly string[];
  /** Commits that the base has and the branch has not. */
  readonly behind: number;
}

/** What was asked for on the command line. */
export interface FinishChoice {
  readonly base?: string | undefined;
  readonly merge: boolean;
  readonly squash: boolean;
}

/**
 * Looks at what there is to finish; changes nothing but what `git fetch` brings of the base.
 *
 * @param own paths that Ralph itself writes: their changes are no one's uncommitted work
 * @throws {RalphError} not-a-repository, finish-refused, usage
 */
export async function finishPlan(
  ralph: RalphContext,
  choice: FinishChoice,
  own: (path: string) => boolean,
): Promise<FinishPlan> {
  const repository = requireRepository(ralph);
  const { branch } = await repository.status();
  if (branch === null) throw nothing("HEAD is detached: switch to the branch that is to be finished");
  const base = choice.base ?? await defaultBranch(repository);
  if (base === null) throw nothing(`no branch is known that ${branch} could be merged into: name it by \`--base\``);
  if (base === branch) throw nothing(`the work is on ${branch} itself`);
  await refuseDirty(repository, own);
  const remote = await remoteOf(repository, branch);
  if (remote !== null) await repository.git(["fetch", "--quiet", remote.name, base], { timeoutMs: 30_000 });
  const target = await targetOf(repository, base, remote?.name ?? null);
  const work = await branchWork(repository, { base: target });
  if (work === null) throw nothing(`${branch} and ${base} have no commit in common`);
  if (work.commits === 0) throw nothing(`${branch} holds nothing that ${base} does not`);
  const isHere = choice.merge || choice.squash || remote === null;
  const forge = isHere || remote === null ? null : await forgeOf(ralph.host, ralph.root, remote.url);
  const way = isHere ? (choice.squash ? "squash" : "merge") : forge === null ? "push" : "request";
  const lines = async (...words: readonly string[]): Promise<readonly string[]> =>
    (await repository.git(words)).stdout.split("\n").filter((line) => line !== "");
  return {
    work: { ...work, branch, base },
    way: choice.squash && forge !== null ? "request" : way,
    remote: isHere ? null : remote,
    forge,
    commits: await lines("log", "--reverse", "--format=%s", `${work.from}..HEAD`),
    conflicts: await conflictsWith(repository, target),
    behind: Number((await lines("rev-list", "--count", `HEAD..${target}`))[0] ?? 0),
  };
}

function nothing(problem: string): RalphError {
  const hint = "`ralph status` shows where the work is; `--base BRANCH` names another branch to finish into";
  return new RalphError("finish-refused", { details: { problem: `there is nothing to finish: ${problem}`, hint } });
}

/** What is not committed would not be part of it. Files that git does not track are not in the way. */
async function refuseDirty(repository: Repository, own: (path: string) => boolean): Promise<void> {
  const { changed } = await repository.status();
  const paths = changed.filter(({ path, untracked }) => !untracked && !own(path)).map(({ path }) => path);
  if (paths.length === 0) return;
  const problem = `changes that are not committed would not be part of it: ${paths.slice(0, 10).join(", ")}`;
  throw new RalphError("finish-refused", {
    details: { problem, hint: "commit or stash them, then the same command again" },
  });
}

/** The remote that the branch is pushed to: its own, `origin`, or the only one. */
async function remoteOf(
  repository: Repository,
  branch: string,
): Promise<{ readonly name: string; readonly url: string } | null> {
  const line = async (...words: readonly string[]): Promise<string> => (await repository.git(words)).stdout.trim();
  const all = (await line("remote")).split("\n").filter((name) => name !== "");
  const own = await line("config", "--get", `branch.${branch}.remote`);
  const name = all.find((one) => one === own) ?? all.find((one) => one === "origin") ??
    (all.length === 1 ? all[0] : undefined);
  return name === undefined ? null : { name, url: await line("config", "--get", `remote.${name}.url`) };
}

/** The base as the remote has it, where that is known; the work is compared with it. */
async function targetOf(repository: Repository, base: string, remote: string | null): Promise<string> {
  for (const name of [...remote === null ? [] : [`refs/remotes/${remote}/${base}`], `refs/heads/${base}`, base]) {
    const found = await repository.git(["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`]);
    if (found.exitCode === 0) return name;
  }
  throw new RalphError("usage", {
    details: { problem: `there is no branch ${base}` },
    hint: "name another by `--base`",
  });
}

async function conflictsWith(repository: Repository, target: string): Promise<readonly string[]> {
  const arguments_ = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", target, "HEAD"];
  const { exitCode, stdout } = await repository.git(arguments_);
  return exitCode === 1 ? stdout.split("\0").slice(1).filter((path) => path !== "") : [];
}
