import { RalphError } from "../errors/ralph_error.ts";
import { type Git, type GitEnd, READING, reasonOf } from "./run_git.ts";

/**
 * Creates or switches to a branch; local changes come along, or git refuses.
 * @throws {RalphError} branch-invalid, branch-failed
 */
export async function switchBranch(git: Git, branch: string, current: string | null): Promise<void> {
  const named = await git(["check-ref-format", "--branch", branch], { environment: READING });
  // `@{-1}` is spelled out by git: a name that means another one is none, and neither is a whole ref
  if (named.exitCode !== 0 || named.stdout.trim() !== branch || /^refs\/|^HEAD$/.test(branch)) {
    throw new RalphError("branch-invalid", { details: { branch: JSON.stringify(branch) } });
  }
  if (current === branch) return;
  const ref = `refs/heads/${branch}`;
  const exists = (await git(["rev-parse", "--verify", "--quiet", ref], { environment: READING })).exitCode === 0;
  const end = await git([
    "switch",
    "--quiet",
    ...(exists ? ["--no-guess", branch] : ["--no-track", "--create", branch]),
  ]);
  if (end.exitCode !== 0) throw failed(branch, end);
}

function failed(branch: string, end: GitEnd): RalphError {
  return new RalphError("branch-failed", { details: { branch, reason: reasonOf({ ...end, tail: end.stderr }) } });
}
