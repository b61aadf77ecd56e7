/**
 * What `ralph report` shows of a run; `--format json` prints this very object, `ralph schema report` its schema.
 *
 * @module
 */
import type { UsageTotal } from "../backlog/usage.ts";
import type { TurnChanges } from "../events/types.ts";
import type { BranchWork } from "../git/branch_work.ts";
import type { Usage } from "../backlog/types.ts";

/** Version of the report's shape. */
export const REPORT_VERSION = 1;

/** A run, read from its events and git. Times are ISO 8601, paths relative to the root, durations milliseconds. */
export interface RunReport {
  readonly version: typeof REPORT_VERSION;
  /** The run's id. */
  readonly run: string;
  readonly root: string;
  /** The run's folder. */
  readonly folder: string;
  /** `cut-off`: there is no end event and no process is at work: killed, or ended by an error. */
  readonly state: "ended" | "running" | "cut-off" | "empty";
  /** The process at work, where there is one. */
  readonly running: { readonly pid: number; readonly since: string } | null;
  /** How the last part ended; `null` where it has not. */
  readonly status: string | null;
  readonly reasons: readonly string[];
  /** What to do next, in words with commands. */
  readonly next: readonly string[];
  /** The first event, and the last. */
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly durationMs: number | null;
  readonly agents: readonly AgentUse[];
  /** All turns together, those of hooks left out; `null` is unknown, never nothing. */
  readonly usage: UsageTotal;
  /** Of the last loop. */
  readonly counts: ItemCounts;
  /** Steps and loops, in the order in which they began. */
  readonly parts: readonly RunPart[];
  readonly items: readonly ItemReport[];
  /** Commits that belong to no item: plans, state, hooks, and what others committed meanwhile. */
  readonly commits: readonly CommitReport[];
  /** The commit that the first loop began on. */
  readonly base: string | null;
  /** The name of the root's folder. */
  readonly project: string;
  /** What a person asked for; `null` where the run does not say. */
  readonly goal: string | null;
  /** That the last loop worked on. */
  readonly branch: string | null;
  /** What that branch held when the last loop ended. */
  readonly work: BranchWork | null;
  /** What is to be known beside the verdict, as the last lines say it. */
  readonly notices: readonly NoticeReport[];
  readonly hooks: readonly HookReport[];
  readonly waits: readonly WaitReport[];
  /** How work came onto the branch where items were worked on at once; `null`: one after another. */
  readonly landings: LandingsReport | null;
  /** State files that were edited manually and restored. */
  /** How agents and checks were confined; `null`: not at all. */
  readonly sandbox: SandboxReport | null;
  readonly restored: readonly {
    readonly at: string;
    readonly item: string | null;
    readonly paths: readonly string[];
  }[];
  /** Diffs of what was written outside the allowed paths. */
  readonly trespasses: readonly {
    readonly at: string;
    readonly item: string | null;
    /** Whose turn it was: an item's agent's, or the planner's. */
    readonly by: "agent" | "planner";
    readonly paths: readonly string[];
    readonly diff: string;
  }[];
  /** Judging files that changed, and what fails with the old ones; `blocked`: the attempt failed for it. */
  readonly testsChanged: readonly {
    readonly at: string;
    readonly item: string | null;
    readonly findings: readonly string[];
    readonly blocked: boolean;
  }[];
  readonly warnings: readonly NoteReport[];
  readonly notes: readonly NoteReport[];
  /** Questions that were answered, consents among them. */
  readonly answers: readonly AnswerReport[];
  readonly events: EventsRead;
}

/** Something that the verdict does not say. */
export interface NoticeReport {
  readonly kind: string;
  /** Item, file or command. */
  readonly subject: string;
  readonly message: string;
}

/** An agent (with a model, where a rule named one), the models that it named itself, and what came of its turns. */
export interface AgentUse {
  readonly name: string;
  readonly models: readonly string[];
  readonly turns: number;
  readonly usage: UsageTotal;
  /** At items, reviews of others' work left out; how many of them passed. */
  readonly attempts: number;
  readonly passed: number;
}

/** Items by their state at the end of the run. */
export interface ItemCounts {
  readonly verified: number;
  readonly unverified: number;
  readonly parked: number;
  /** Everything else. */
  readonly open: number;
}

/** One step or loop of the run. */
export interface RunPart {
  /** `plan`, `exec`, `understand` …; `turns` for those that belong to neither step nor loop. */
  readonly name: string;
  readonly kind: "step" | "loop" | "turns";
  /** Which feature or sprint. */
  readonly scope: string | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly status: string | null;
  readonly reasons: readonly string[];
  /** Turns outside an item: those of a planner. */
  readonly turns: readonly TurnReport[];
}

/** How an item ended at the end of the run. */
export type ItemState =
  | "verified"
  | "unverified"
  | "parked"
  | "blocked"
  | "failed"
  | "not-done"
  | "trespassed"
  | "agent-unusable"
  | "interrupted"
  | "reopened"
  | "in-progress";

/** One item, and every attempt of this run at it. */
export interface ItemReport {
  readonly id: string;
  readonly kind: string;
  readonly title: string;
  /** What it has to fulfil. */
  readonly criteria: readonly string[];
  /** Index into `parts`. */
  readonly part: number;
  readonly state: ItemState;
  /** Why it ended so, where that is known. */
  readonly reason: string | null;
  readonly usage: UsageTotal;
  readonly attempts: readonly AttemptReport[];
}

/** One attempt: turn, checks, settlement. */
export interface AttemptReport {
  readonly iteration: number;
  /** Over all runs. */
  readonly number: number;
  readonly startedAt: string;
  /** `null`: the run ended before the attempt did. */
  readonly result: string | null;
  readonly settlement: string | null;
  readonly message: string | null;
  readonly durationMs: number | null;
  /** What its turn changed. */
  readonly changes: TurnChanges | null;
  readonly turns: readonly TurnReport[];
  readonly checks: readonly CheckReport[];
  readonly commits: readonly CommitReport[];
}

/** One agent process. */
export interface TurnReport {
  readonly agent: string;
  readonly transcript: string;
  /** `null`: it did not end in this run. */
  readonly reason: string | null;
  readonly message: string | null;
  readonly durationMs: number | null;
  readonly usage: Usage | null;
}

/** One check that ran. */
export interface CheckReport {
  readonly name: string;
  readonly scope: string;
  readonly ok: boolean;
  readonly exitCode: number | null;
  readonly durationMs: number;
  /** It ran before the agent's turn. */
  readonly beforeTurn: boolean;
  /** It failed before the run's first turn as well. */
  readonly failedBefore: boolean;
  /** The end of what it printed, where it failed. */
  readonly tail: string | null;
}

/** One commit. */
export interface CommitReport {
  readonly commit: string;
  readonly subject: string;
  /** `null`: git no longer has it, or it is a merge. */
  readonly filesChanged: number | null;
  /** `other`: made while the run lasted, by the agent or another person. */
  readonly by: "ralph" | "other";
}

/** The sandbox of a run. */
export interface SandboxReport {
  readonly on: boolean;
  /** How, or why not. */
  readonly by: string;
  /** Hosts beside the agent's own that could be reached. */
  readonly network: "all" | "none" | "unknown" | readonly string[];
  /** What processes wanted to reach besides. */
  readonly refused: readonly {
    readonly at: string;
    readonly host: string;
    readonly port: number;
    readonly by: string | null;
  }[];
}

/** One run of a hook. */
export interface HookReport {
  readonly hook: string;
  readonly iteration: number;
  readonly parallel: boolean;
  readonly log: string;
  /** `null`: it did not end in this run. */
  readonly status: string | null;
  readonly exitCode: number | null;
  readonly durationMs: number | null;
  readonly message: string | null;
}

/** What became of work from workers' trees. */
export interface LandingsReport {
  /** Workers that were at work. */
  readonly lanes: number;
  readonly landed: number;
  /** Of all landings, those whose checks ran once more, with what was merged meanwhile. */
  readonly checkedAgain: number;
  /** Items that passed alone and failed together with what was merged meanwhile. */
  readonly failedTogether: number;
  /** Conflicts, each of which cost a turn. */
  readonly conflicts: number;
}

/** A wait for a limit or a provider. */
export interface WaitReport {
  readonly at: string;
  readonly agent: string;
  readonly reason: string;
  readonly until: string;
  readonly message: string;
  /** `null`: the run ended in it. */
  readonly waitedMs: number | null;
  readonly interrupted: boolean;
}

/** Something that the run said. */
export interface NoteReport {
  readonly at: string;
  readonly item: string | null;
  readonly message: string;
}

/** A question and its answer. */
export interface AnswerReport {
  readonly id: string;
  readonly question: string | null;
  readonly answer: string;
  readonly source: string;
}

/** How well the events could be read. */
export interface EventsRead {
  readonly file: string;
  readonly count: number;
  /** Lines that are no event: left out. */
  readonly malformed: number;
  /** The first of them, and why. */
  readonly problems: readonly string[];
  /** Events of a kind or version that this Ralph does not know: left out. */
  readonly unknown: number;
}
