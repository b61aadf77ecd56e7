import { RalphError } from "../errors/ralph_error.ts";
import { commitAt, isAncestor } from "./refs.ts";
import { type GitEnd, READING, reasonOf } from "./run_git.ts";
import type { BranchSwitch, Repository } from "./repository.ts";

/** How the branches are called that are made for a run. */
const OWN = "ralph/";

/**
 * Creates or switches to a branch; local changes come along, or git refuses. One that is only at a remote begins there,
 * and follows it. One of Ralph's that HEAD holds already, since it was merged or has no commit of its own, begins at HEAD
 * again.
 *
 * @throws {RalphError} branch-invalid, branch-failed
 */
export async function switchBranch(
  git: Repository["git"],
  branch: string,
  current: string | null,
): Promise<BranchSwitch> {
  if (!await isBranchName(git, branch)) {
    throw new RalphError("branch-invalid", { details: { branch: JSON.stringify(branch) } });
  }
  if (current === branch) return "current";
  const start = await startOf(git, branch);
  const isHere = start === refOf(branch);
  const isHeld = start !== null && branch.startsWith(OWN) && await isAncestor({ git }, start, "HEAD");
  if (isHere && isHeld) { // `switch --force-create` would move it under another working tree
    const moved = await git(["branch", "--force", "--no-track", branch, "HEAD"]);
    if (moved.exitCode !== 0) throw failed(branch, moved);
  }
  const isNew = start === null || (isHeld && !isHere);
  const follow = ["--create", branch, ...isNew || isHere ? ["--no-track"] : [start]];
  const how = isHere ? ["--no-guess", branch] : follow;
  const words = ["-c", "branch.autoSetupMerge=true", "switch", "--quiet", "--no-overwrite-ignore", ...how];
  const end = await git(words);
  if (end.exitCode !== 0) throw failed(branch, end);
  if (isNew) return "created";
  return isHeld ? "forwarded" : "switched";
}

/**
 * The ref of a branch that is here, or else of the one that a remote had when git last asked; `null`: it is nowhere.
 *
 * @throws {RalphError} branch-failed where several remotes have it, and git is not told which is meant
 */
export async function startOf(git: Repository["git"], branch: string): Promise<string | null> {
  const here = refOf(branch);
  const { stdout } = await git(["for-each-ref", "--format=%(refname)", here, `refs/remotes/*/${branch}`]);
  const found = stdout.split("\n");
  if (found.includes(here)) return here;
  const [start = null, ...others] = found.filter((ref) => ref.startsWith("refs/remotes/"));
  if (others.length === 0) return start;
  const meant = (await git(["config", "--get", "checkout.defaultRemote"])).stdout.trim();
  const ref = `refs/remotes/${meant}/${branch}`;
  if (start === ref || others.includes(ref)) return ref;
  throw new RalphError("branch-failed", {
    details: { branch, reason: "several remotes have it" },
    hint: `\`git switch --track REMOTE/${branch}\` begins it here, or \`git config checkout.defaultRemote REMOTE\``,
  });
}

/** True for what git surely takes as the name of a branch, on the narrow side. Pure. */
export function isPlainBranchName(name: string): boolean {
  return /^[A-Za-z0-9_][\w./-]*$/.test(name) && !/\.\.|\/\/|\/\.|[./]$|\.lock(?:$|\/)|^(?:refs\/|HEAD$)/.test(name);
}

/** True for what git takes as the name of a branch: `@{-1}` means another one, and a whole ref is none. */
export async function isBranchName(git: Repository["git"], branch: string): Promise<boolean> {
  if (isPlainBranchName(branch)) return true;
  const named = await git(["check-ref-format", "--branch", branch], { environment: READING });
  return named.exitCode === 0 && named.stdout.trim() === branch && !/^refs\/|^HEAD$/.test(branch);
}

/** True for a branch other than the current one that has commits which HEAD lacks. */
export async function holdsOtherWork(repository: Repository, branch: string): Promise<boolean> {
  if (await repository.currentBranch() === branch) return false;
  const start = await startOf(repository.git, branch);
  return start !== null && !await isAncestor(repository, start, "HEAD");
}

/** True where the branch is gone because a person gave it the other name (`git branch -m`). */
export async function isRenamed(git: Repository["git"], branch: string, name: string): Promise<boolean> {
  if (await commitAt({ git }, refOf(branch)) !== null) return false;
  const { stdout } = await git(["log", "--walk-reflogs", "--format=%gs", refOf(name), "--"], { environment: READING });
  return stdout.split("\n").some((line) => line.startsWith(`Branch: renamed ${refOf(branch)} to `));
}

function refOf(branch: string): string {
  return `refs/heads/${branch}`;
}

function failed(branch: string, end: Pick<GitEnd, "stderr">): RalphError {
  const details = { branch, reason: reasonOf({ ...end, tail: end.stderr }) };
  const [, name] = /'refs\/heads\/([^']+)' exists; cannot create/.exec(end.stderr) ?? [];
  const [, tree] = /(?:checked out|used by worktree) at '(.+)'/.exec(end.stderr) ?? [];
  const hint = name !== undefined
    ? `git cannot have it beside the branch ${name}: rename that one, or name another with \`--branch\``
    : tree !== undefined
    ? `run Ralph there: \`cd ${tree}\`; or name another branch with \`--branch\``
    : undefined;
  return new RalphError("branch-failed", { details, ...hint && { hint } });
}
