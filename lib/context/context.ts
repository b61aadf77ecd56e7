/**
 * The context that Ralph hands to every step, and the one place where the real world is joined to it.
 *
 * @module
 */
import type { Router } from "./router.ts";
import type { $Type } from "dax";
import type { Agent, RateLimits } from "./agent.ts";
import type { StateFiles } from "../backlog/state_files.ts";
import type { Config } from "../config/types.ts";
import type { EventBus } from "../events/types.ts";
import type { Repository } from "../git/types.ts";
import type { Host } from "../host/types.ts";
import type { Journal, JournalKey } from "../backlog/journal_types.ts";
import type { Steering } from "../steer/steering.ts";
import type { Elsewhere } from "./elsewhere.ts";
import type { Prompter } from "./prompter.ts";

/** One run's identity and its folder. */
export interface RunInfo {
  /** `20261121-224541-k3f9`: local time, the milliseconds in base 36 and two random characters. Also `RALPH_RUN` in children. */
  readonly id: string;
  /** Absolute path of the project that is run: in the context of a worker's tree its `root` is another. */
  readonly root: string;
  /**
   * Makes the run's folder below a folder of the root and writes the events there from then on.
   * @returns its absolute path
   */
  folder(runsDirectory: string): Promise<string>;
  /** Which agents have reached a limit: one memory for all turns of the run. */
  rateLimits(): Promise<RateLimits>;
  /** Cleaning up that no verdict waits for: it is done when the context is disposed of, and a failure is a warning. */
  tidyLater(work: () => Promise<void>): void;
  /** The next iteration's number, from 1: counted over all loops of the run, so that attempts have names of their own. */
  nextIteration(): number;
}

/** Ralph hands this to a recipe. It is plain and readonly: derive with spread, never store on it. */
export interface RalphContext {
  /** Absolute path of the project. */
  readonly root: string;
  /** Number of the worker whose tree the root is, from 0; absent in the project's own. */
  readonly lane?: number;
  /** `ralph.config.json` with its defaults, and what flags or `createRalph()` laid over it. */
  readonly config: Config;
  /** dax, with the root as its folder. */
  readonly $: $Type;
  /** Takes the turns. */
  readonly agent: Agent;
  /** Takes over while the agent waits for a rate limit. */
  readonly fallback?: Agent | null;
  /** Chooses another agent for some turns (`provider.route`). @default the agent takes all */
  readonly router?: Router | null;
  /** Through it a person changes the run from outside while it lasts. */
  readonly steering: Steering;
  /** Puts questions to a person, or to what was answered beforehand. */
  readonly prompter: Prompter;
  /** Absolute paths of files beside the configuration that say what this run does: a recipe with what it imports. */
  readonly decides: readonly string[];
  /** Consents given beforehand by a person: `prd`, `understand`, `run`, or a gate of your own; `all`. */
  readonly approvals: ReadonlySet<string>;
  /** Steps report here what happens. */
  readonly events: EventBus;
  /** The loop's own memory: attempts, and what was begun. */
  readonly journal: Journal;
  /** State files, with shadow copies and the store lock. */
  readonly state: StateFiles;
  /** Aborts every step. */
  readonly signal: AbortSignal;
  /** Clock, ids, environment, terminal and processes: the only way to the outside. */
  readonly host: Host;
  /** `null` outside a git repository: only `verify()` and questions work there. */
  readonly repository: Repository | null;
  readonly run: RunInfo;
  /** A command of Ralph's as it continues this one: with those of the flags given that it takes as well. */
  readonly again: (command: string) => string;
  /** `runLoop()` does this if its own options say nothing. */
  readonly loop: LoopDefaults;
  /** Held by steps that start an agent; taking it again inside is free. */
  readonly lock: RunLock;
}

/** The command line's options for the loop; `runLoop()`'s own options go before. */
export interface LoopDefaults {
  /** The branch to work on; "" stays on the current one. Absent: the backlog's. */
  readonly branch?: string;
  /** Items worked on at once, where that was asked for by name. @default the configuration's */
  readonly workers?: number;
  /** Workers on other machines that items are worked on by. @default none: here */
  readonly elsewhere?: OpenElsewhere;
  /** Items that a backlog orders by a number alone may be worked on in any order. @default false */
  readonly anyOrder?: boolean;
  /** Ask between two iterations. */
  readonly interactive: boolean;
  /** Take up again what was parked. */
  readonly retryBlocked: boolean;
  /** Agree to what differs from the brief of a run that was killed. */
  readonly acceptChanges: boolean;
}

/** Opens workers on other machines for a backlog. @throws {RalphError} queue-unreachable, queue-led, remote-missing */
export type OpenElsewhere = (
  ralph: RalphContext,
  backlog: { readonly key: JournalKey; readonly scope: string },
) => Promise<Elsewhere>;

/** The lock that lets one run at a time work in a tree. Taking it again inside is free. */
export interface RunLock {
  /** @throws {RalphError} run-locked, not-a-repository */
  acquire(purpose: string): Promise<AsyncDisposable>;
  /** Lets go, even where it is still held. */
  release(): Promise<void>;
}
