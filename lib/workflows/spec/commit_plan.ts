import { note, type RalphContext } from "../../context/context.ts";
import { planStore } from "./store.ts";
import { PLAN_FILE } from "./types.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { refuseOperations } from "../../git/open_repository.ts";
import { requireRepository, topLevelPaths } from "../../git/repository.ts";

/** How the question of an uncommitted plan ended. */
export type CommitPlanOutcome =
  | { readonly status: "approved" }
  | { readonly status: "skipped"; readonly reason: string }
  | { readonly status: "declined"; readonly next: readonly string[] }
  | { readonly status: "aborted" };

/**
 * Before the loop of the spec workflow: a plan with uncommitted changes is committed when a person agrees (the default).
 *
 * @throws {RalphError} not-a-repository, git-identity-missing, git-operation-in-progress
 * @example A plan that is committed already
 * ```ts
 * import { commitPlan } from "ralph/spec";
 * import { testContext } from "ralph/testing";
 *
 * await using ralph = await testContext({ files: { "ralph/plan.jsonl": '{"t": "spec", "spec": "a.md"}\n' } });
 * console.log((await commitPlan(ralph)).status); // skipped
 * ```
 */
export async function commitPlan(ralph: RalphContext): Promise<CommitPlanOutcome> {
  if (ralph.journal.interrupted("spec").length > 0) {
    return { status: "skipped", reason: "the run that was interrupted commits it" };
  }
  const [path] = topLevelPaths(ralph, [PLAN_FILE]);
  const repository = requireRepository(ralph);
  const { changed } = await repository.status();
  const isChanged = changed.some((one) =>
    one.path === path || (one.untracked && one.path.endsWith("/") && path?.startsWith(one.path))
  );
  if (!isChanged) return { status: "skipped", reason: "the plan is committed" };
  await refuseOperations(repository.topLevel, repository.gitDirectory); // before a question that leads nowhere
  try {
    const message = "plan.jsonl has uncommitted changes. Commit now?";
    const { value } = await ralph.prompter.ask({ id: "build.commit-plan", kind: "confirm", message, initial: true });
    if (value !== "yes") return { status: "declined", next: [`git commit ${PLAN_FILE}`, "ralph build"] };
  } catch (error) {
    if (RalphError.isInstance(error) && error.code === "interrupted") return { status: "aborted" };
    throw error;
  }
  const { warnings } = await planStore(ralph).mutate((plan) => ({ plan, subject: "ralph: update plan" }));
  for (const message of warnings) note(ralph, "warn", message);
  return { status: "approved" };
}
