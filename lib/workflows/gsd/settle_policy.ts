import type { Attempt } from "../../backlog/types.ts";
import type { GsdFindings } from "./context.ts";

/** Attempts at a plan one of whose tasks fails. */
const ATTEMPTS = 2;

/** What becomes of a plan that did not pass. */
export interface Policy {
  readonly retry: boolean;
  /** Where it is not tried again: how the loop ends. */
  readonly as: "failed" | "blocked";
  readonly reason: string;
}

/** A task's failure is tried once more; the plan's own, a person's matter and a turn that did not end are not. */
export function policyOf(
  attempt: Attempt<GsdFindings>,
): Policy {
  const reason = "message" in attempt ? attempt.message : attempt.status;
  const first = attempt.number < ATTEMPTS;
  if (attempt.status === "not-done") return { retry: first, as: "blocked", reason };
  if (attempt.status !== "failed") return { retry: false, as: "blocked", reason };
  switch (attempt.reason) {
    case "checks-failed": {
      const failures = attempt.verification?.status === "failed" ? attempt.verification.failures : [];
      const ofTask = failures.some(({ scope }) => scope.startsWith("task:"));
      return ofTask
        ? { retry: first, as: "blocked", reason }
        : { retry: false, as: "failed", reason: `the plan's verification failed: ${reason}` };
    }
    case "agent-failed": {
      const kind = attempt.claim?.findings?.signal?.kind;
      if (kind === "PLAN_FAILED") return { retry: false, as: "failed", reason };
      return { retry: kind === "TASK_FAILED" && first, as: "blocked", reason };
    }
    case "protected-file-changed":
    case "commit-refused":
      return { retry: first, as: "blocked", reason };
    default:
      return { retry: false, as: "blocked", reason };
  }
}
