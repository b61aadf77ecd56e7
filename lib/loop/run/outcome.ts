import type { LimitsConfig } from "../../config/load.ts";
import type { Hook } from "../../hooks/hook.ts";
import type { Progress } from "../policy/progress.ts";
import type { CheckLike } from "../../checks/function.ts";

/** How a loop runs. The context (configuration and command line) gives what is absent. */
export interface LoopOptions {
  /** Agent turns at most. */
  readonly maxIterations?: number;
  /** Items taken up at most; retries come on top. */
  readonly maxItems?: number;
  /** Run for every item, after the backlog's own. */
  readonly checks?: readonly CheckLike[];
  /** The hooks that run with each iteration. @default the configuration's */
  readonly hooks?: readonly Hook[];
  /** Laid over the limits of the configuration. */
  readonly limits?: Partial<LimitsConfig>;
  /** A stop condition of your own: says why, or `undefined`. Asked before each turn; `inFlight`: turns that have not ended. */
  readonly stopWhen?: (progress: Progress, inFlight: number) => string | undefined;
  /** Ask between two iterations. */
  readonly interactive?: boolean;
  /** Items worked on at once, each in a git worktree of its own. @default `parallel.workers` of the configuration */
  readonly workers?: number;
  /** Take up again what was parked. */
  readonly retryBlocked?: boolean;
  /** The branch to work on; "" stays on the current one. @default the backlog's */
  readonly branch?: string;
  /** The text of the run lock. @default "run" */
  readonly purpose?: string;
  /** Ends the run in order. @default the one of the context */
  readonly signal?: AbortSignal;
}

/** How a loop ended, with how far it came. */
export type LoopOutcome =
  & Progress
  & (
    /** `checkedAs`: what the checks saw, a clean checkout of HEAD or the working tree as it is. */
    | { readonly status: "passed"; readonly summary?: string; readonly checkedAs: CheckedAs }
    /** Done, but some or all of it was seen by no check. `allowed`: that was agreed to. */
    | { readonly status: "unverified"; readonly allowed: boolean; readonly summary?: string }
    | {
      readonly status: "failed";
      readonly reason: "trespassed" | "agent-unusable" | "stopped" | "final-check";
      readonly reasons: readonly string[];
    }
    /** `parkedBefore`: how many items that an earlier run gave up on are in the way. */
    | { readonly status: "blocked"; readonly reasons: readonly string[]; readonly parkedBefore?: number }
    | { readonly status: "exhausted"; readonly limit: string }
    /** A person answered no between two iterations. */
    | { readonly status: "declined" }
    /** All that may start is being worked on elsewhere: the run continues when results are there (`ralph job`). */
    | { readonly status: "handed-out" }
    | { readonly status: "aborted" }
  );

/** The thing that the final check looked at; `nothing`: it is off, or nothing was built. */
export type CheckedAs = "commit" | "tree" | "nothing";

/** Why no item is taken up any more: before the final check. */
export type Stopped = { readonly status: "done"; readonly summary?: string } | StoppedEarly;

/** An end that has nothing to do with a verdict. */
export type StoppedEarly = Exclude<Ending, { readonly status: "passed" | "unverified" }>;

/** How a loop ends, without how far it came. */
export type Ending = LoopOutcome extends infer End ? End extends LoopOutcome ? Omit<End, keyof Progress> : never
  : never;
