/**
 * The context that Ralph hands to every step, and the one place where the real world is joined to it.
 *
 * @module
 */
import type { $Type } from "dax";
import type { StateFiles } from "../backlog/state_files.ts";
import type { Config, TurnStage } from "../config/load.ts";
import type { AgentEvent, AnswerSource, EventBus, EventSink, Preview } from "../events/types.ts";
import type { Repository } from "../git/repository.ts";
import type { Host } from "../host/types.ts";
import type { Journal, JournalKey } from "../backlog/journal_types.ts";
import type { Steering } from "../steer/steering.ts";
import type { Elsewhere } from "./elsewhere.ts";
import type { AgentTurn } from "../backlog/types.ts";
import type { Item } from "../backlog/item.ts";
import { join, relative } from "node:path";
import { hashText } from "../host/files.ts";

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
  /**
   * Restores what a check or a hook, which has just ended, took of a person's uncommitted work. A loop sets it.
   *
   * @param by blamed for it, as "the hook lint"
   */
  readonly lookAfter?: (by: string) => Promise<void>;
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
  /** Tells whether a path, relative to the root, holds state: it is no work. @default that of the backlog alone */
  readonly isState?: (path: string) => boolean;
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
  /** Milliseconds since 1970 at which nothing of a killed holder's ran any more. Absent: not known. */
  readonly overAt?: number | null;
  /** Lets go, even where it is still held. */
  release(): Promise<void>;
}

/** One turn asked of an agent. */
export interface TurnRequest {
  /** In full; how it reaches the agent is the adapter's business. */
  readonly prompt: string;
  /** Absolute path of the working tree. */
  readonly cwd: string;
  /** Absolute path of the file that all output is written to as it streams; its folder exists. */
  readonly transcript: string;
  /** Milliseconds for the whole turn. */
  readonly timeoutMs: number;
  /** Milliseconds without output, for agents that stream events. */
  readonly idleTimeoutMs?: number;
  /** Added to the agent's environment: `RALPH_ROOT`, `RALPH_RUN`, `RALPH_ITEM` …, and PATH. */
  readonly environment: Readonly<Record<string, string>>;
  /** The attempt's own nonce: the prompt asks that every signal that speaks for passing carries it. */
  readonly nonce?: string;
  /** Hand the terminal over. */
  readonly interactive?: boolean;
  /** Ends the agent's whole tree. */
  readonly signal: AbortSignal;
  /** Takes what the agent's stream says, as it comes, secrets masked. */
  readonly onEvent?: (event: AgentEvent) => void;
  /** Given a look at the end of its output, where that is plain text. */
  readonly onPreview?: (preview: Preview) => void;
  /** Called with the id of the agent's process. */
  readonly onStart?: (pid: number) => void;
}

/** Anything that can take a prompt and work on a tree. */
export interface Agent {
  /** Short, for people and for the journal. */
  readonly name: string;
  /** It can be handed the terminal with a prompt; `true` is known to converse there. @default true */
  readonly interactive?: boolean;
  /**
   * Looks whether the agent can run at all, before anything is written.
   * @throws {RalphError} agent-missing, agent-not-found
   */
  ensureUsable(): Promise<void>;
  /** Never throws for what the agent did: that is in `end`. */
  runTurn(request: TurnRequest): Promise<AgentTurn>;
}

/** A limit that an agent has reached. Times in milliseconds since 1970. */
export interface RateLimit {
  readonly untilMs: number;
  /** When the agent first met it: the longest wait counts from here. */
  readonly sinceMs: number;
  /** How often in a row it was reported. */
  readonly rounds: number;
  readonly message: string;
}

/** The limits of all agents, by name. */
export interface RateLimits {
  get(agent: string): RateLimit | null;
  set(agent: string, limit: RateLimit): Promise<void>;
  clear(agent: string): Promise<void>;
  /** Waits for an agent; turns that wait for the same one at once wait together. */
  wait(agent: string, wait: () => Promise<boolean>): Promise<boolean>;
}

/** A turn, as far as the choice of its agent depends on it. */
export interface TurnKind {
  readonly stage: TurnStage;
  readonly item: Pick<Item, "kind" | "tags" | "priority"> | null;
  /** From 1. */
  readonly attempt: number;
}

/** An agent, and the rule that chose it, in words. */
export interface RoutedAgent {
  readonly agent: Agent;
  readonly why: string;
}

/** Chooses the agent of a turn by `provider.route`. */
interface Router {
  /** `null`: no rule fits, so that the run's agent takes it. */
  choose(turn: TurnKind): RoutedAgent | null;
}

/** The agents of a run. */
export interface RoutedAgents {
  /** Takes the turns that no rule is for. */
  readonly agent: Agent;
  readonly router: Router | null;
}

/** One question. Its `id` is stable: answers files name it. */
export type Question =
  & {
    /** `plan.write-prd`, `gate.run`, `plan.change` … */
    readonly id: string;
    readonly message: string;
    /** Lines shown above the question. */
    readonly details?: readonly string[];
    /** The consent that answers it beforehand: `--approve prd`. A gate is never answered by an answers file. */
    readonly gate?: string;
    /** True for a question that the planner's agent asks: matched by its text in the answers file. */
    readonly fromAgent?: boolean;
  }
  & (
    | { readonly kind: "confirm"; readonly initial: boolean }
    | { readonly kind: "text"; readonly initial?: string; readonly placeholder?: string }
    | {
      readonly kind: "select";
      readonly initial?: string;
      readonly choices: readonly Choice[];
      /** One key answers: the first letter of a choice's value; Enter takes the default. @default false */
      readonly keys?: boolean;
    }
  );

/** One way to answer a `select`. */
export interface Choice {
  /** The answer. */
  readonly value: string;
  /** The text that a person reads. */
  readonly label: string;
  /** Beside the label. */
  readonly hint?: string;
}

/** An answer: `yes`/`no` for a confirm, a choice's value, or free text. */
export interface Answer {
  /** `yes` and `no` for a confirmation. */
  readonly value: string;
  /** The answer's source; transcripts mark every source but a person. */
  readonly source: AnswerSource;
}

/** Asks. */
export interface Prompter {
  /** A person can be asked: a terminal, or an explicit plain mode on standard input. */
  readonly interactive: boolean;
  /**
   * @param cancel ends the question: it was answered elsewhere
   * @throws {RalphError} answer-missing when no one can be asked and there is no default that may be taken
   * @throws {RalphError} interrupted when the person pressed Ctrl-C
   */
  ask(question: Question, cancel?: AbortSignal): Promise<Answer>;
}

/** Paths of Ralph's own files, absolute: they are in the git directory, so that they are never committed. */
export interface OwnFiles {
  readonly directory: string;
  readonly runLock: string;
  readonly journal: string;
}

/** Ralph's own files for one root of one working tree; `.ralph` in the root outside a repository. */
export function ownFiles(repository: Pick<Repository, "ralphDirectory" | "topLevel"> | null, root: string): OwnFiles {
  const directory = repository?.ralphDirectory ?? join(root, ".ralph");
  const place = rootName(repository?.topLevel ?? root, root);
  return { directory, runLock: join(directory, `run${place}.lock`), journal: join(directory, `journal${place}.jsonl`) };
}

/** Distinguishes two roots of one working tree in the names of Ralph's own files. */
function rootName(topLevel: string, root: string): string {
  const inside = relative(topLevel, root);
  return inside === "" ? "" : `-${hashText(inside).slice(0, 12)}`;
}

/** Reports something to know, in one sentence. */
export function note({ events }: { readonly events: EventSink }, level: "info" | "warn", message: string): void {
  events.emit({ type: "note", level, message });
}
