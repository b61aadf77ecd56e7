import { UNKNOWN_USAGE } from "../../agents/turn_end.ts";
import type { ClaimLine } from "../../backlog/claims.ts";
import type { Attempt, CheckResult, Claim, Turn } from "../../backlog/types.ts";

/** Every way in which an attempt ends. */
export const STATUSES: readonly Attempt["status"][] = [
  "verified",
  "unverified",
  "not-done",
  "failed",
  "blocked",
  "interrupted",
  "trespassed",
  "agent-unusable",
];

/** The facts of an attempt, whatever its end. */
export interface KnownOfAttempt {
  readonly id: string;
  readonly number: number;
  readonly claim: Claim<unknown>;
  readonly turn: ClaimingTurn;
}

/** A turn with what it asked for. */
export type ClaimingTurn = Turn & { readonly claims: readonly ClaimLine[] };

/** A turn that said and changed nothing. */
export const SILENT_TURN: ClaimingTurn = {
  claims: [],
  end: { reason: "completed" },
  text: "",
  lines: [],
  usage: UNKNOWN_USAGE,
  transcript: "",
  durationMs: 0,
  changedFiles: [],
  base: null,
  head: null,
};

/** The attempt as the loop hands it to `settle()`. */
export function attemptOf(status: Attempt["status"], { id, number, claim, turn: taken }: KnownOfAttempt): Attempt {
  const { text: _text, lines: _lines, claims: _claims, ...turn } = taken;
  const known = { id, number, claim, turn, verification: null };
  const message = `the ${status} attempt ${id} left a trace`;
  switch (status) {
    case "verified":
      return { ...known, status, verification: { status: "passed", results: [resultOf(true)] } };
    case "unverified":
    case "interrupted":
      return { ...known, status };
    case "failed": {
      const failures = [{ ...resultOf(false), tail: message }];
      return {
        ...known,
        status,
        reason: "checks-failed",
        message,
        verification: { status: "failed", results: failures, failures },
      };
    }
    case "trespassed":
      return { ...known, status, paths: ["outside.txt"], diff: message };
    case "not-done":
    case "blocked":
    case "agent-unusable":
      return { ...known, status, message };
  }
}

function resultOf(ok: boolean): CheckResult {
  return { name: "check", scope: "", ok, exitCode: ok ? 0 : 1, tail: "", durationMs: 1 };
}
