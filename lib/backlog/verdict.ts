import type { FailureReason, Verification } from "./types.ts";

/**
 * The lack in a run's verdict: of an unverified one checks that see every item, or only the claims of items with green
 * checks; of a run that stopped before its verdict the end.
 */
export type Lack = "checks" | "claims" | "end";

/** By the ids of unverified items and the notices about them. Pure. */
export function lackOf(
  unverified: readonly string[],
  notices: readonly { readonly kind: string; readonly subject: string }[],
): Lack {
  const isUnclaimed = (id: string): boolean =>
    notices.some(({ kind, subject }) => kind === "not-claimed" && subject === id);
  return unverified.every(isUnclaimed) ? "claims" : "checks";
}

/** How much of all failing checks' output is handed on. */
const MESSAGE_CHARACTERS = 12_000;

/** Printed for a check that failed before the work began. */
export const FAILED_BEFORE: string = ", failed before the run as well";

/** The verdict of a verification on an attempt whose claim is to be believed only as far as that. Pure. */
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

/** A first line alone may name the check, but not the reason. */
const BARE_REGEXP = /(?::|: (?:failed|exit \d+)(?:, failed before the run as well)?)$/;
const HEADLINE_CHARACTERS = 300;

/**
 * The one line of a reason that a summary has room for: its first one, with the most telling of those behind it where the
 * first only names a check. Pure.
 */
export function headlineOf(reason: string): string {
  const [first = "", ...rest] = (reason.trim().split(/\n\s*\n/, 1)[0] ?? "").split("\n").map((line) => line.trim());
  const told = /exit \d/.test(first) ? rest.at(-1) : rest[0];
  const line = !BARE_REGEXP.test(first) || told === undefined || told === ""
    ? first
    : `${first}${first.endsWith(":") ? "" : ":"} ${told}`;
  return line.length > HEADLINE_CHARACTERS ? `${line.slice(0, HEADLINE_CHARACTERS)}…` : line;
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
