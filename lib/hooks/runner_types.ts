import type { Item } from "../backlog/types.ts";
import type { Brief } from "../checks/brief/types.ts";
import type { Hook } from "./hook.ts";

/** An iteration, as hooks know it. */
export interface HookIteration {
  readonly iteration: number;
  /** `null` for an iteration of an earlier run. */
  readonly item: Item | null;
  /** Absolute path. */
  readonly transcript: string;
}

/** The hooks of one run. */
export interface HookRunner {
  /**
   * Repeats hooks that ended with their run before they were done. A hook in a tree of its own has lost its changes and
   * starts again. A hook that worked in the project's tree is only named.
   */
  repeat(): Promise<void>;
  /** Starts the hooks before or after an iteration. Resolves when those that are not parallel have ended. */
  run(when: "after" | "before", iteration: HookIteration): Promise<void>;
  /** Brings in what ended hooks changed. Call between two iterations. */
  apply(): Promise<void>;
  /** Waits for all of them, then brings in their changes. */
  finish(): Promise<void>;
  /** Ends all of them. */
  stop(): Promise<void>;
  /** Patches that could not be brought in, relative to the root. */
  kept(): readonly string[];
}

export interface HookRunnerOptions {
  readonly hooks: readonly Hook[];
  /** Parallel hooks at once. */
  readonly limit: number;
  /** Absolute path of the run's folder. */
  readonly folder: string;
  readonly signal: AbortSignal;
  /** No hook may change a file that it covers. */
  readonly brief: Brief;
}
