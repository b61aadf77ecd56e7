/**
 * Checks and what they come to: the types.
 *
 * @module
 */
import type { TestsRun } from "../generated/events.ts";
import type { Usage } from "./turn_types.ts";
import type { Item } from "./item.ts";

/** The context of a check function. */
export interface CheckContext {
  /** Absolute path of the working tree. */
  readonly cwd: string;
  /** `null` where it is run for no item. */
  readonly item: Item | null;
  /** Commit before the turn, or `null`. */
  readonly base: string | null;
  /** Aborted on timeout and interrupt. */
  readonly signal: AbortSignal;
  /** The changes of the turns at the item to the tree so far; absent if there was none. */
  readonly done?: WorkDone;
  /** Absolute path of a folder for what the check wants to keep; absent where nothing is logged. */
  readonly logs?: string;
  /** Runs a reviewer while the instruction files of agents are as they were when the run began. Absent: as they are. */
  readonly asInstructed?: AsInstructed;
}

/** Runs an agent while its instruction files are as they were when the run began. */
export type AsInstructed = <Value>(run: () => Promise<Value>) => Promise<Value>;

/** The changes of all attempts at an item in this run, the last one included. */
export interface WorkDone {
  /** Commit before the first attempt; `null` before the first commit. */
  readonly since: string | null;
  /** Paths relative to the root. */
  readonly changedFiles: readonly string[];
}

/** The outcome of one check. */
export interface CheckOutcome {
  /** True if it passed. */
  readonly ok: boolean;
  /** `null` where there is none: a function's, or a signal ended it. */
  readonly exitCode: number | null;
  /** The end of what it printed. */
  readonly tail: string;
  /** It was ended because its time was over. */
  readonly timedOut?: boolean;
  /** The tests that it ran, by its own word. */
  readonly tests?: TestsRun;
  /** The usage of an agent for it. */
  readonly usage?: Usage;
  /** It could not be made, and no other attempt would change that: the run ends, with no verdict on the work. */
  readonly halts?: "agent-unusable" | "rate-limited";
}

/** A check with a name: a command for the shell, or a function (services, browser, reviewer). */
export type Check = CommandCheck | FunctionCheck;

/** The fields that every check with a name may have. */
interface NamedCheck {
  readonly name: string;
  /** Free label by which `settle` distinguishes failures: a story's id, `task:2`, `plan`, `ui`. */
  readonly scope?: string;
  /** Named by the item itself, so that it must fail before the item's first attempt to prove anything. */
  readonly own?: boolean;
  /** The subject of the check, for the agent whose work has to pass it; a command speaks for itself. */
  readonly about?: string;
  /** Milliseconds; `Infinity` for a function that keeps its own time. @default verify.timeout of the configuration (300 s) */
  readonly timeoutMs?: number;
  /** A look at what a turn did, which costs a turn of its own: only after one, and only where all other checks passed. */
  readonly review?: boolean;
  /** Looks, before the first turn of a run, whether the check can be made at all. Throws where it cannot. */
  readonly ensureUsable?: () => Promise<void>;
}

/** A command for the shell. */
export interface CommandCheck extends NamedCheck {
  /**
   * Runs through `bash --norc -c`, where a pipeline fails if any of its parts fails, or through `sh -c` where there is
   * no bash. In bash a part that only wrote more than the next one read (`git log | head -1`) has not failed.
   */
  readonly command: string;
  /** The condition that the command has to meet to pass. @default it ends with exit code 0 */
  readonly expect?: CheckExpectation;
  readonly run?: undefined;
}

/** A function that looks for itself. */
export interface FunctionCheck extends NamedCheck {
  readonly run: (context: CheckContext) => Promise<CheckOutcome>;
  readonly command?: undefined;
  readonly expect?: undefined;
}

/** The expectation of a command. A command that does not exist, is killed or times out meets nothing. */
export interface CheckExpectation {
  /** @default 0 */
  readonly exit?: number | "non-zero";
  /** Text that its output must contain, beside the exit code. */
  readonly output?: string;
}

/** A check that ran. */
export interface CheckResult extends CheckOutcome {
  /** The check's; for a command the command itself. Secrets are masked in it, as in the command and the expectation. */
  readonly name: string;
  /** Its `checkId()`, where something of these is masked. */
  readonly id?: string;
  /** The command, where the name is another. */
  readonly command?: string;
  /** The condition that the command had to meet, where it is more than exit code 0. */
  readonly expect?: CheckExpectation;
  /** The check's; "" where it has none. */
  readonly scope: string;
  /** Milliseconds. */
  readonly durationMs: number;
  /** It fails, and failed before the first turn of the run as well (`verify.baseline`). */
  readonly failedBefore?: boolean;
}

/** The result of running some checks. No check at all is `unverified`, never `passed`. */
export type Verification =
  | { readonly status: "passed"; readonly results: readonly CheckResult[] }
  | { readonly status: "failed"; readonly results: readonly CheckResult[]; readonly failures: readonly CheckResult[] }
  | { readonly status: "unverified"; readonly results: readonly [] }
  | { readonly status: "aborted"; readonly results: readonly CheckResult[] };
