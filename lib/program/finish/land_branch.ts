import type { RalphContext } from "../../context/context.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { outputFrom } from "../../git/run_git.ts";
import { requireRepository } from "../../git/require_repository.ts";
import type { FinishPlan } from "./finish_plan.ts";

const PUSH_TIMEOUT_MS = 300_000;

/**
 * Pushes the branch under its own name, with the person's own hooks. Never by force.
 *
 * @returns what git printed
 * @throws {RalphError} finish-failed
 */
export async function pushBranch(ralph: RalphContext, { work: { branch }, remote }: FinishPlan): Promise<string> {
  const end = await ralph.host.processes.run({
    file: "git",
    arguments: ["push", "--set-upstream", remote!.name, `refs/heads/${branch}:refs/heads/${branch}`],
    cwd: requireRepository(ralph).topLevel,
    environment: { GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" },
    timeoutMs: PUSH_TIMEOUT_MS,
    signal: ralph.signal,
  });
  if (end.exitCode === 0) return end.stderr;
  const reason = end.tail.trim().split("\n").filter((line) => !line.startsWith("hint:")).join("; ") || end.reason;
  throw new RalphError("finish-failed", {
    details: {
      problem: `${remote!.name} did not take ${branch}: ${reason}`,
      hint: "nothing is lost: fix what git names, then the same command again",
    },
  });
}

/**
 * Merges the branch into its base in this repository and stays there. Where git does not do it, the branch is checked
 * out as before.
 *
 * @throws {RalphError} finish-failed, branch-failed, git-failed
 */
export async function mergeHere(
  ralph: RalphContext,
  { work: { branch, base }, way, conflicts }: FinishPlan,
  { title, body }: { readonly title: string; readonly body: string },
): Promise<string> {
  if (conflicts.length > 0) {
    throw new RalphError("finish-failed", {
      details: {
        problem: `${branch} cannot be merged into ${base} by itself: both have changed ${conflicts.join(", ")}`,
        hint: `\`git merge ${base}\` on ${branch}, settle the conflicts, then the same command again`,
      },
    });
  }
  const repository = requireRepository(ralph);
  await repository.switchTo(base);
  try {
    if (way === "squash") {
      await outputFrom(repository, ["merge", "--quiet", "--squash", branch]);
      await outputFrom(repository, ["commit", "--quiet", "--cleanup=whitespace", "-m", title, "-m", body]);
    } else {
      await outputFrom(repository, ["merge", "--quiet", "--no-ff", "--no-edit", "-m", title, "-m", body, branch]);
    }
  } catch (error) {
    await repository.git(["merge", "--abort"]);
    await repository.git(["reset", "--quiet", "--merge"]);
    await repository.switchTo(branch);
    throw error;
  }
  return (await outputFrom(repository, ["rev-parse", "--short", "HEAD"])).trim();
}
