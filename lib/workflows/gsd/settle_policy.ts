import { isOver, reasonOf } from "../../backlog/attempts.ts";
import type { Attempt } from "../../backlog/types.ts";
import type { GsdFindings } from "./claim.ts";

/** An attempt that did not carry a plan out. */
export type FailedPlan = Extract<Attempt<GsdFindings>, { status: "blocked" | "failed" | "not-done" }>;

/** The policy for a plan that did not pass. */
export interface Policy {
  /** Attempts that it is given. */
  readonly attempts: number;
  /** The loop gives it another one. */
  readonly retry: boolean;
  /** The loop's end, if it is not tried again. */
  readonly as: "failed" | "blocked";
  readonly reason: string;
}

/** The attempts of a plan one of whose tasks fails. */
const ATTEMPTS = 2;

/** A task's failure is tried once more; the plan's own, a person's matter and a turn that did not end are not. */
export function policyOf(attempt: Attempt<GsdFindings>): Policy {
  const { attempts, as = "blocked", reason = reasonOf(attempt) } = ruleFor(attempt);
  return { attempts, as, reason, retry: attempts > 0 && !isOver(attempt) };
}

function ruleFor(
  attempt: Attempt<GsdFindings>,
): { readonly attempts: number; readonly as?: "failed"; readonly reason?: string } {
  if (attempt.status === "not-done") return { attempts: ATTEMPTS };
  if (attempt.status !== "failed") return { attempts: 0 };
  switch (attempt.reason) {
    case "checks-failed": {
      const failures = attempt.verification?.status === "failed" ? attempt.verification.failures : [];
      if (failures.some(({ scope }) => scope.startsWith("task:"))) return { attempts: ATTEMPTS };
      return { attempts: 0, as: "failed", reason: `the plan's verification failed: ${attempt.message}` };
    }
    case "agent-failed": {
      const kind = attempt.claim?.findings?.signal?.kind;
      if (kind === "PLAN_FAILED") return { attempts: 0, as: "failed" };
      return { attempts: kind === "TASK_FAILED" ? ATTEMPTS : 0 };
    }
    case "protected-file-changed":
    case "conflict":
    case "deleted-by-person":
    case "commit-refused":
      return { attempts: ATTEMPTS };
    default:
      return { attempts: 0 };
  }
}
