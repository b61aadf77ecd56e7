/**
 * PROGRESS.yaml, as far as Ralph reads it. Everything else in the file is kept.
 *
 * @module
 */
import type { ClaimLine } from "../../backlog/claims.ts";
import type { HookRecord } from "../../hooks/hook.ts";
import type { HookConfig } from "../../config/load.ts";

/** One of `dynamic-steps`; in standard mode, one prompt of `phases`. */
export interface SprintStep {
  readonly id: string;
  readonly prompt: string;
  /** `pending`, `completed`, or what a person wrote. */
  readonly status: string;
  /** The iteration that added it. */
  readonly addedIn: number | null;
  /** Standard mode: the prompt of the step that it is a phase of. */
  readonly of?: string;
  /** Standard mode: an agent or a tool added it while the sprint ran. */
  readonly injected?: boolean;
  /** Standard mode: a command that has to succeed after its turn. */
  readonly gate?: string;
}

/** One of `hook-tasks`. */
export interface SprintHookTask extends Pick<HookRecord, "exitCode" | "hookId" | "iteration" | "pid"> {
  readonly status: string;
}

/** A new step is marked with this. */
export interface StepMark {
  readonly iteration: number;
  /** ISO time. */
  readonly now: string;
  /** Standard mode: the step that it comes behind. @default a phase at the end */
  readonly after?: string | undefined;
}

/** `ralph-exit`. */
export interface SprintExit {
  readonly detectedAt: string | null;
  readonly iteration: number | null;
  readonly summary: string | null;
  /** `null`: the claim has not been checked. */
  readonly verified: boolean | null;
  /** Why the last claim did not count. */
  readonly lastFailure: string | null;
}

/** SPRINT.yaml and PROGRESS.yaml say this of a sprint. */
export interface SprintSettings {
  readonly sprintId: string;
  readonly goal: string;
  readonly goalPrompt: string | null;
  readonly stepPrompt: string | null;
  readonly reflectionPrompt: string | null;
  /** Iterations in a row without a pending step after which one reflects. */
  readonly idleThreshold: number;
  /** Iterations before a claim of completion counts. */
  readonly minIterations: number;
  readonly hooks: readonly HookConfig[];
}

/** A sprint as it is. */
export interface SprintProgress extends SprintSettings {
  /** `standard`: phases and their steps in order. `ralph`: a free loop over the goal. */
  readonly kind: "standard" | "ralph";
  /** `not-started`, `in-progress`, `completed`, `needs-human`. */
  readonly status: string;
  /** Why a person is needed. */
  readonly humanNeeded: string | null;
  readonly steps: readonly SprintStep[];
  readonly hookTasks: readonly SprintHookTask[];
  readonly exit: SprintExit;
  /** The last iteration that was begun. */
  readonly currentIteration: number;
  /** Iterations that came to an end. */
  readonly completedIterations: number;
  /** The number of the last ones in a row that had no pending step. */
  readonly idleIterations: number;
}

/** The purpose of an iteration. */
export type SprintMode = "planning" | "executing" | "reflecting";

/** An item of this backlog carries a snapshot of the counters. */
export interface SprintItemData {
  /** The purpose of the iteration. */
  readonly mode: SprintMode;
  /** From 1, over all runs of the sprint. */
  readonly iteration: number;
  /** Iterations that have ended. */
  readonly completed: number;
  /** The number of the last ones in a row that left no step pending. */
  readonly idle: number;
  /** The one to carry out; `null` while planning or reflecting. */
  readonly step: SprintStep | null;
}

/** A turn says this of the sprint. */
export interface SprintFindings {
  /** Prompts of steps that it added manually or named in its last message. */
  readonly added: readonly string[];
  /** The one step that it says is completed. */
  readonly completed: { readonly id: string; readonly prompt: string } | null;
  /** Summary of its claim that the goal is reached. */
  readonly complete: string | null;
  /** Why it asks for a person. */
  readonly needsHuman: string | null;
  /** The turn's claims by `ralph step`. */
  readonly claims: readonly ClaimLine[];
}
