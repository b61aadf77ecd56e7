import { join } from "node:path";
import { note, type RalphContext } from "../../context/context.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { archiveRefspec } from "../../git/archive.ts";
import { inTheWay, mergeTrees } from "../../git/land.ts";
import { type Repository, requireRepository } from "../../git/repository.ts";
import { commonDirectoryOf, outputFrom } from "../../git/run_git.ts";
import { isDirectory } from "../../host/files.ts";
import { beforeFold } from "../../report/pull_request.ts";
import { commitsText, type FinishPlan, wayOut } from "./finish_plan.ts";

const PUSH_TIMEOUT_MS = 300_000;

/**
 * Pushes the branch under its own name, with the person's own hooks; with what is kept of it both or none. Never by
 * force.
 *
 * @param head the commit that was checked, or one that only adds Ralph's own state to it
 * @returns what git printed
 * @throws {RalphError} finish-failed
 */
export async function pushBranch(
  ralph: RalphContext,
  { work: { branch }, remote, withHistory }: FinishPlan,
  head: string,
): Promise<string> {
  const [isAtomic, history] = withHistory ? [["--atomic"], [archiveRefspec(branch)]] : [[], []];
  const end = await ralph.host.processes.run({
    file: "git",
    arguments: ["push", "--no-follow-tags", ...isAtomic, remote!.name, `${head}:refs/heads/${branch}`, ...history],
    cwd: requireRepository(ralph).topLevel,
    environment: { GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" },
    timeoutMs: PUSH_TIMEOUT_MS,
    signal: ralph.signal,
  });
  if (end.exitCode === 0) {
    // a commit was pushed, and git follows only what is pushed by its branch; a hook may have made another one meanwhile
    const { git } = requireRepository(ralph);
    const upstream = await git(["rev-parse", "--verify", "--quiet", `${branch}@{upstream}`]);
    const follow = ["branch", "--quiet", `--set-upstream-to=${remote!.name}/${branch}`, branch];
    if (upstream.exitCode !== 0) await git(follow);
    const late = Number((await git(["rev-list", "--count", `${head}..refs/heads/${branch}`])).stdout);
    if (late > 0) note(ralph, "warn", `made meanwhile and not pushed: ${commitsText(late)} of ${branch}`);
    return end.stderr;
  }
  const lines = end.tail.trim().split("\n").map((line) => line.trim());
  const reason = lines.filter((line) => line !== "" && !line.startsWith("hint:")).join("; ") || end.reason;
  throw failed(
    `${remote!.name} did not take ${branch}: ${reason}`,
    "nothing is lost: fix what git names, then the same command again",
  );
}

/**
 * Merges the branch into its base in this repository and checks that out. The merge is made beside the working tree, and
 * the base is moved in one step: stopped anywhere, the same command does what is left. No hook of the repository runs.
 *
 * @returns the base's newest commit
 * @throws {RalphError} finish-failed, branch-failed, git-failed
 */
export async function mergeHere(
  ralph: RalphContext,
  plan: FinishPlan,
  { title, body, head }: { readonly title: string; readonly body: string; readonly head: string },
): Promise<string> {
  const { work: { branch, base }, squash, target: { onto, here } } = plan;
  const repository = requireRepository(ralph);
  if (!plan.isMerged) {
    await refuseOtherWorktree(repository, base);
    const tree = await mergedTree(repository, plan, head);
    const parents = squash ? [onto] : [onto, head];
    const commit = await commitTree(repository, tree, parents, `${title}\n\n${beforeFold(body)}\n`);
    const obstacles = await inTheWay(repository, { tip: head, commit });
    if (obstacles !== null) {
      throw failed(`${base} has ${obstacles.join(", ")}, which is here and not committed`, "move it away, then again");
    }
    const before = here ?? "0".repeat(commit.length);
    await outputFrom(repository, ["update-ref", "-m", `ralph finish: ${branch}`, `refs/heads/${base}`, commit, before]);
  }
  await repository.switchTo(base);
  return (await outputFrom(repository, ["rev-parse", "HEAD"])).trim();
}

/** The tree of both together. @throws {RalphError} finish-failed where they conflict */
export async function mergedTree(repository: Repository, plan: FinishPlan, head: string): Promise<string> {
  const { tree, conflicts } = await mergeTrees(repository, plan.target.onto, head);
  refuseConflicts({ ...plan, conflicts });
  return tree;
}

/** A merge here is not even asked about, and no state is archived, where it cannot be made. @throws {RalphError} finish-failed */
export async function refuseMerge(ralph: RalphContext, plan: FinishPlan): Promise<void> {
  refuseConflicts(plan);
  await refuseOtherWorktree(requireRepository(ralph), plan.work.base);
}

function refuseConflicts(plan: FinishPlan): void {
  const { work: { branch, base }, conflicts } = plan;
  if (conflicts.length === 0) return;
  const both = `both have changed ${conflicts.join(", ")}`;
  throw failed(`${branch} cannot be merged into ${base} by itself: ${both}`, wayOut(plan));
}

async function commitTree(
  repository: Repository,
  tree: string,
  parents: readonly string[],
  message: string,
): Promise<string> {
  const signs = (await repository.git(["config", "--type=bool", "--get", "commit.gpgSign"])).stdout.trim() === "true";
  const arguments_ = ["commit-tree", ...signs ? ["-S"] : [], tree, ...parents.flatMap((parent) => ["-p", parent])];
  return (await outputFrom(repository, arguments_, { input: message })).trim();
}

/** A branch that is checked out elsewhere is not moved under that tree. @throws {RalphError} finish-failed */
async function refuseOtherWorktree(repository: Repository, base: string): Promise<void> {
  if (!await isDirectory(join(await commonDirectoryOf(repository.gitDirectory), "worktrees"))) return;
  const listed = await outputFrom(repository, ["worktree", "list", "--porcelain"]);
  const other = listed.split("\n\n").find((entry) => entry.split("\n").includes(`branch refs/heads/${base}`));
  if (other === undefined) return;
  const path = /^worktree (.*)$/m.exec(other)?.[1] ?? "another worktree";
  throw failed(`${base} is checked out in ${path}`, `switch that one to another branch, or merge there`);
}

/** The error that ends `finish` with nothing merged and nothing pushed. */
export function failed(problem: string, hint: string): RalphError {
  return new RalphError("finish-failed", { details: { problem, hint } });
}
