/** One run of a hook, reported when it starts and when it ends: the same iteration and id twice. */
export interface HookRecord {
  /** From 1, over all runs of a sprint. */
  readonly iteration: number;
  /** The hook's `id`. */
  readonly hookId: string;
  /** `interrupted`: ended with its run. */
  readonly status: "in-progress" | "completed" | "failed" | "interrupted";
  /** Of the hook's own process; `null` before it has one, and for an agent that is none. */
  readonly pid: number | null;
  /** `null` while it runs, and for one that a signal ended. */
  readonly exitCode: number | null;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Milliseconds since 1970; `null` while it runs. */
  readonly endedAt: number | null;
  /** Absolute path of the file that holds its output. */
  readonly log: string;
  /** Absolute path of the iteration's transcript. */
  readonly transcript: string;
  /** Why it failed. */
  readonly message: string | null;
}
