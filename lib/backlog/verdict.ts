import type { FailureReason, Verification } from "./types.ts";

/** How much of all failing checks' output is handed on. */
const MESSAGE_CHARACTERS = 12_000;

/** Printed for a check that failed before the work began. */
export const FAILED_BEFORE: string = ", failed before the run as well";

/** What a verification makes of an attempt whose claim is to be believed only as far as that. Pure. */
export type Verdict =
  | { readonly status: "verified" | "unverified" | "interrupted" }
  | { readonly status: "failed"; readonly reason: FailureReason; readonly message: string }
  | { readonly status: "agent-unusable" | "blocked"; readonly message: string };

/** `allowUnverified`: a claim may settle an item that names no check. */
export function verdictOf(verification: Verification, allowUnverified: boolean): Verdict {
  switch (verification.status) {
    case "passed":
      return { status: "verified" };
    case "failed": {
      const halted = verification.failures.find(({ halts }) => halts !== undefined);
      if (halted?.halts === "rate-limited") return { status: "interrupted" };
      if (halted !== undefined) return { status: "agent-unusable", message: `${halted.name}: ${halted.tail}` };
      return { status: "failed", reason: "checks-failed", message: describeFailures(verification) };
    }
    case "aborted":
      return { status: "interrupted" };
    case "unverified":
      return allowUnverified
        ? { status: "unverified" }
        : { status: "blocked", message: "no check is named for this item" };
  }
}

/** The failing checks with exit code and tail, as the next prompt and the story's notes show them. Pure. */
export function describeFailures(verification: Extract<Verification, { readonly status: "failed" }>): string {
  const share = Math.floor(MESSAGE_CHARACTERS / verification.failures.length);
  return verification.failures.map(({ name, exitCode, tail, failedBefore }) => {
    const ended = `${exitCode === null ? "failed" : `exit ${exitCode}`}${failedBefore === true ? FAILED_BEFORE : ""}`;
    const shown = tail.length > share ? `…${tail.slice(-share)}` : tail;
    return `${name}: ${ended}${shown === "" ? "" : `\n${shown}`}`;
  }).join("\n\n");
}
