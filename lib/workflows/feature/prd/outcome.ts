import type { Outcome } from "../../../recipe/outcome.ts";

/** Why a PRD did not come to be. */
export type PrdFailure =
  | {
    readonly status: "failed";
    readonly reason: "trespassed" | "agent-failed" | "agent-unusable" | "no-prd" | "invalid-prd" | "editor-failed";
    readonly reasons: readonly string[];
  }
  | { readonly status: "aborted" };

/** How `prd()` ended. */
export type PrdOutcome =
  /** prd.json is there; `next` is the command that works it off. */
  | { readonly status: "approved"; readonly feature: string; readonly file: string; readonly next: readonly string[] }
  /** It is kept as it is, for later. */
  | { readonly status: "declined"; readonly next: readonly string[] }
  /** Nobody could be asked. */
  | { readonly status: "blocked"; readonly reasons: readonly string[] }
  | PrdFailure
  /** Execution was chosen, and ended so. */
  | Outcome;
