/**
 * What a run reports. One union, versioned, written as NDJSON and shown by the reporters. Not yet stable.
 *
 * @module
 */
import type { UsageTotal } from "../backlog/usage.ts";
import type { BranchWork } from "../git/branch_work.ts";
import type { AgentEvent } from "./agent_events.ts";
import type { Attempt, HookRecord, Settlement, Usage } from "../backlog/types.ts";

/** Version of the event union. */
export const EVENTS_VERSION = 1;

/** What a turn changed. */
export interface TurnChanges {
  /** Some of them, relative to the root. */
  readonly paths: readonly string[];
  readonly files: number;
  /** Lines. */
  readonly added: number;
  readonly removed: number;
}

/** What happened. Names are noun-verb; lifecycle words are start, delta and end. */
export type RalphEvent =
  | {
    readonly type: "run-start";
    readonly workflow: string;
    readonly root: string;
    readonly agent: string;
    readonly folder: string;
    /** Which feature or sprint, where the backlog distinguishes several. */
    readonly scope?: string;
    /** The commit that it begins on; absent before the first one. */
    readonly head?: string;
    /** What a person asked for, in one line; absent where the backlog does not know. */
    readonly goal?: string;
    /** Absent: HEAD is detached. */
    readonly branch?: string;
  }
  | {
    readonly type: "run-end";
    /** What all turns used; absent where there were none to count. */
    readonly usage?: UsageTotal;
    readonly status: string;
    readonly reasons: readonly string[];
    readonly iterations: number;
    /** What is to be known beside the verdict. */
    readonly notices?: readonly EventNotice[];
    /** What the branch holds then. */
    readonly work?: BranchWork;
  }
  /** Work of an item comes onto the branch from a worker's tree. `behind`: commits on the branch since it began. */
  | { readonly type: "landing-start"; readonly item: EventItem; readonly behind: number }
  | {
    readonly type: "landing-end";
    readonly item: EventItem;
    /**
     * `conflict`: not settled, it comes again with both changes. `failed`: its checks fail with what was merged since.
     * `blocked`: uncommitted changes are in the way. `refused`: a hook of the repository refused the commit.
     */
    readonly result: "landed" | "conflict" | "failed" | "blocked" | "refused" | "interrupted";
    /** Its checks ran once more, on the merged tree. */
    readonly checkedAgain: boolean;
    /** Conflicts of this item in this run so far. */
    readonly conflicts: number;
    /** Files in which they are, or that are in the way. */
    readonly paths: readonly string[];
  }
  /** The final check fails for items that had passed: they come again. */
  | { readonly type: "items-reopened"; readonly ids: readonly string[]; readonly reason: string }
  | { readonly type: "step-start"; readonly step: string; readonly title: string }
  | { readonly type: "step-end"; readonly step: string; readonly status: string; readonly message?: string }
  | {
    readonly type: "iteration-start";
    readonly iteration: number;
    readonly item: EventItem;
    readonly attempt: number;
    /** Items passed, and all that are known, or `null`. */
    readonly passed: number;
    readonly total: number | null;
    /** The run ends after so many iterations; absent where nothing says so. */
    readonly limit?: number;
    /** What the item has to meet, in words. */
    readonly criteria?: readonly string[];
  }
  | {
    readonly type: "iteration-end";
    readonly iteration: number;
    readonly item: EventItem;
    readonly attempt: number;
    readonly result: Attempt["status"];
    readonly settlement: Settlement["status"];
    readonly message: string | null;
    readonly durationMs: number;
    readonly usage: Usage | null;
    /** Items that had passed and come again because of this one. */
    readonly reopened?: readonly string[];
    /** What its turn changed: the first of the files, relative to the root, and how much in all. */
    readonly changes?: TurnChanges;
  }
  /** `route`: the rule of `provider.route` that chose the agent. */
  | { readonly type: "turn-start"; readonly agent: string; readonly transcript: string; readonly route?: string }
  | {
    readonly type: "turn-end";
    readonly agent: string;
    readonly reason: string;
    readonly message: string | null;
    readonly durationMs: number;
    readonly usage: Usage;
  }
  /** What the agent's own stream says, where it has one. */
  | AgentEvent
  /** A rate limit or a failing provider is waited for. `until` is an ISO time. */
  | {
    readonly type: "wait-start";
    readonly agent: string;
    readonly reason: "rate-limit" | "unavailable";
    readonly until: string;
    readonly remainingMs: number;
    readonly message: string;
  }
  | { readonly type: "wait-delta"; readonly agent: string; readonly remainingMs: number }
  | { readonly type: "wait-end"; readonly agent: string; readonly waitedMs: number; readonly interrupted: boolean }
  /** `number` of `total` checks that run one after the other, from 1. */
  | {
    readonly type: "check-start";
    readonly name: string;
    readonly scope: string;
    readonly number: number;
    readonly total: number;
  }
  | {
    readonly type: "check-end";
    readonly name: string;
    readonly scope: string;
    readonly ok: boolean;
    readonly exitCode: number | null;
    readonly durationMs: number;
    readonly tail: string;
    /** It failed before the run's first turn as well (`verify.baseline`). */
    readonly failedBefore?: boolean;
    /** It ran before the item's first attempt, where it should fail. */
    readonly beforeWork?: boolean;
  }
  /** Files that judge are not what they were before the work: a line a file, then what the old ones say. */
  | {
    readonly type: "tests-changed";
    /** `null` at the end of a run. */
    readonly item: EventItem | null;
    readonly findings: readonly string[];
    readonly blocked: boolean;
  }
  | {
    readonly type: "hook-start";
    readonly hook: string;
    readonly iteration: number;
    readonly parallel: boolean;
    /** Relative to the root. */
    readonly log: string;
  }
  | {
    readonly type: "hook-end";
    readonly hook: string;
    readonly iteration: number;
    readonly status: HookRecord["status"];
    readonly exitCode: number | null;
    readonly durationMs: number;
    readonly message: string | null;
  }
  /** Whether the processes of the run are confined; `by`: how, or why not. */
  | {
    readonly type: "sandbox";
    readonly on: boolean;
    readonly by: string;
    /** Hosts beside the agent's own that can be reached, or a word: `unknown` where `sandbox.command` decides. */
    readonly network: "all" | "none" | "unknown" | readonly string[];
  }
  /** A confined process wanted a host that is not on its list. */
  | {
    readonly type: "host-refused";
    readonly host: string;
    readonly port: number;
    /** `turn`, `check`, `hook`, `setup`; `null` where that is not known. */
    readonly by: string | null;
  }
  | { readonly type: "state-restored"; readonly paths: readonly string[] }
  /** A turn wrote where it may not. `by` says who took it: an item's agent, or the planner's. */
  | {
    readonly type: "trespass";
    readonly by: "agent" | "planner";
    readonly paths: readonly string[];
    readonly diff: string;
  }
  /** `hook`: made of what a hook changed, while items may be at work. */
  | { readonly type: "commit"; readonly commit: string; readonly subject: string; readonly hook?: string }
  | { readonly type: "question"; readonly id: string; readonly message: string }
  | { readonly type: "answer"; readonly id: string; readonly answer: string; readonly source: AnswerSource }
  /** A person changed the run while it lasted. `text`: what was told; `item`: for its prompts alone. */
  | {
    readonly type: "steered";
    readonly action: Exclude<SteerAction, "answer">;
    readonly origin: Origin;
    readonly text: string | null;
    readonly item: string | null;
  }
  /** Nothing starts until a person resumes the run, or ends it. */
  | { readonly type: "pause-start" }
  | { readonly type: "pause-end"; readonly pausedMs: number }
  /** A block of text for the reader: a PRD summary, the next commands, a diff. */
  | { readonly type: "text"; readonly title: string; readonly lines: readonly string[] }
  /** `hook`: it is about a hook, and about no item. */
  | { readonly type: "note"; readonly level: "info" | "warn"; readonly message: string; readonly hook?: string };

/** Something about a run that its verdict does not say. */
export interface EventNotice {
  /** `green-before`, `not-committed`, `restored` … */
  readonly kind: string;
  /** Item, file or command. */
  readonly subject: string;
  /** May be empty. */
  readonly message: string;
}

/** Where an answer came from. */
export type AnswerSource = "terminal" | "stdin" | "answers" | "approve" | "default" | "file" | "page";

/** Where a person was when they changed a run: at its own terminal, at a command line elsewhere, at the page. */
export type Origin = "terminal" | "file" | "page";

/** What a person can ask of a run. */
export type SteerAction = "pause" | "resume" | "stop" | "stop-now" | "tell" | "answer";

/** The item an event is about. */
export interface EventItem {
  /** The backlog's. */
  readonly id: string;
  /** The backlog's word for it: `story`, `task`, `plan` … */
  readonly kind: string;
  /** One line. */
  readonly title: string;
}

/** The end of what a running agent or check has printed so far, secrets masked: for the live view, never recorded. */
export type Preview = () => string;

/** Takes events. Never throws; must not hold the run up. */
export interface EventSink {
  /** `lane`: of the worker's tree that it happens in, where items are worked on at once. */
  emit(event: RalphEvent, lane?: number): void;
  /** Given for what was started last, where that prints plain text; of use to sinks that show what is running. */
  preview?(preview: Preview): void;
}

/** A sink that others can be attached to. */
export interface EventBus extends EventSink {
  attach(sink: EventSink): void;
}
