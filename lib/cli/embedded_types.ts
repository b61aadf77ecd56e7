// Written by tools/embed_types.mjs from lib/mod.ts and lib/testing/mod.ts: run it when they change.
// deno-fmt-ignore-file

/** The declarations of `ralph` and `ralph/testing`, for a project that has no node_modules. */
export const TYPES: string = `declare module "ralph" {
  /**
   * The public SDK of Ralph: composable steps, backlogs, agents and what they are made of. No logic lives here.
   *
   * @module
   */
  export type { Agent, TurnRequest } from "ralph:agents/types";
  export { commandAgent, type CommandAgentOptions } from "ralph:agents/command_agent";
  export type { Script, ScriptedTurn } from "ralph:agents/scripted/script";
  export { scriptedAgent, type ScriptedAgentOptions } from "ralph:agents/scripted/scripted_agent";
  export type { Fence } from "ralph:agents/fences";
  export { signalLines, type SignalOptions } from "ralph:agents/signals";
  export { createRedactor, type Masker, type Redactor } from "ralph:events/redact";
  export { secretValues } from "ralph:events/secrets";
  export { gsdBacklog, type GsdBacklogContext, type GsdBacklogOptions, type GsdFindings, } from "ralph:backlogs/gsd/backlog";
  export type { GsdItemData } from "ralph:backlogs/gsd/item_data";
  export { findPlan, type Noted, type Position, positionOf } from "ralph:backlogs/gsd/position";
  export { readPlanning } from "ralph:backlogs/gsd/read_planning";
  export type * from "ralph:backlogs/gsd/types";
  export { memoryBacklog, type MemoryBacklogOptions, type MemoryTask } from "ralph:backlogs/memory";
  export { prdBacklog, type PrdBacklogContext, type PrdBacklogOptions, type PrdItemData, } from "ralph:backlogs/prd/backlog";
  export type { Prd, Story } from "ralph:backlogs/prd/types";
  export { formatPrd, parsePrd } from "ralph:backlogs/prd/format";
  export { validatePrd } from "ralph:backlogs/prd/validate";
  export { specBacklog, type SpecBacklogContext, type SpecBacklogOptions } from "ralph:backlogs/spec/backlog";
  export type { SpecItemData } from "ralph:backlogs/spec/item";
  export type { Stage } from "ralph:backlogs/spec/stage";
  export { verifyCommands } from "ralph:backlogs/prd/verify_commands";
  export { sprintBacklog, type SprintBacklogOptions } from "ralph:backlogs/sprint/backlog";
  export { type CompiledSprint, type CompileOptions, compileSprint, sprintHooks } from "ralph:backlogs/sprint/compile";
  export type { SprintFindings, SprintItemData } from "ralph:backlogs/sprint/types";
  export { createStateFiles, type HandEdit, type StateFiles, type StateFilesOptions } from "ralph:backlogs/state_files";
  export { todoBacklog, type TodoBacklogOptions, type TodoItem } from "ralph:backlogs/todo";
  export { defaultConfig } from "ralph:config/defaults";
  export { type CommitsConfig, type Config, CONFIG_SCHEMA, type LimitsConfig, type ProviderConfig, type TestsConfig, type VerifyConfig, } from "ralph:config/schema";
  export type { LoopDefaults, RalphContext, RunInfo } from "ralph:context";
  export { createRalph, type DeepPartial, type RalphOptions } from "ralph:create_ralph";
  export { ERROR_DEFINITIONS, type ErrorCode, type ErrorDefinition } from "ralph:errors/definitions";
  export { EXIT, EXIT_MEANINGS } from "ralph:errors/exit_codes";
  export { RalphError, type RalphErrorOptions } from "ralph:errors/ralph_error";
  export { type AnswerSource, type EventBus, type EventItem, EVENTS_VERSION, type EventSink, type Glimpse, type RalphEvent, } from "ralph:events/types";
  export type { ChangedPath, CommitRequest, CommitResult, Repository, TreeSnapshot, TreeStatus } from "ralph:git/types";
  export { createHost } from "ralph:host/create_host";
  export type { Clock, Environment, Host, Ids, ProcessEnd, Processes, ProcessRequest, Terminal } from "ralph:host/types";
  export { configuredHooks, type Hook, type HookAction, type HookContext, type HookOptions } from "ralph:loop/hooks";
  export type * from "ralph:loop/types";
  export { BACKLOG_VERSION } from "ralph:loop/types";
  export type { BegunAttempt, Journal, JournalKey, Leftover, OpenItem } from "ralph:loop/journal_types";
  export type { Progress } from "ralph:loop/progress";
  export type { RunLock } from "ralph:loop/run_lock";
  export { defineRecipe, type GoalArgs, type Recipe, type SchemaIssue, type SchemaResult, type StandardSchema, } from "ralph:steps/define_recipe";
  export { exitCodeOf, type Outcome, type Status, stops } from "ralph:steps/outcome";
  export { openSprint, type OpenSprintOptions, type Sprint } from "ralph:steps/open_sprint";
  export { type LoopOptions, type LoopOutcome, runLoop } from "ralph:steps/run_loop";
  export { reviewedBy, type ReviewOptions } from "ralph:steps/reviewed_by";
  export { verify, type VerifyOptions } from "ralph:steps/verify";
  export type { ItemStart } from "ralph:steps/loop/item_start";
  export { type WorkedItem, workItem, type WorkItemOptions } from "ralph:steps/work_item";
  export type { Answers } from "ralph:ui/answers";
  export type { Answer, Choice, Prompter, Question } from "ralph:ui/types";
  export type { CheckFunction, CheckLike, CommandLike } from "ralph:verifiers/types";
  export { type RecipeMeta, runRecipe } from "ralph:cli/run_recipe";
  export type { ExecArgs } from "ralph:steps/exec_args";
  export { gate, type GateOptions, type GateOutcome } from "ralph:steps/gate";
  export { gateRun, type GateRunOptions } from "ralph:steps/gate_run";
  export { gateUnderstand, type GateUnderstandOptions, type PlannedFacts } from "ralph:steps/gate_understand";
  export type { IterationCap } from "ralph:steps/iteration_cap";
  export { plan, type PlanOptions, type PlanOutcome } from "ralph:steps/plan";
  export { featureBacklog, type FeatureBacklogOptions, type FeatureItemData } from "ralph:backlogs/feature/backlog";
  export type { FeatureDirectory } from "ralph:backlogs/feature/directories";
  export { type FeatureFindings, featureSignals } from "ralph:backlogs/feature/findings";
  export type { UserInterface } from "ralph:backlogs/feature/story_checks";
  export type { FeaturePrd, FeatureRun, FeatureStory, LastResult } from "ralph:backlogs/feature/types";
  export { validateFeaturePrd } from "ralph:backlogs/feature/validate";
  export { openServices, type Services } from "ralph:services/create_services";
  export { prd, type PrdOptions } from "ralph:steps/prd/prd";
  export type { PrdOutcome } from "ralph:steps/prd/outcome";
  export { featureInterface } from "ralph:steps/feature/feature_interface";
  export { lockFeature } from "ralph:steps/feature/lock_feature";
  export { openFeature } from "ralph:steps/feature/open_feature";
  export { browserCheck, type BrowserCheckOptions } from "ralph:verifiers/browser";
  export { type PageUrl, pageUrls } from "ralph:verifiers/browser/urls";
  export { commitPlan, type CommitPlanOutcome } from "ralph:steps/spec/commit_plan";
  export { planSpec, type PlanSpecOptions, type PlanSpecOutcome } from "ralph:steps/spec/plan_spec";
  export type { Refusal } from "ralph:steps/plan/collect";
  export type { Recommendation, Uncertainty } from "ralph:steps/plan/state";
  export { understand, type UnderstandOptions, type UnderstandOutcome } from "ralph:steps/understand";
}

declare module "ralph:agents/types" {
  /**
   * Agents: what runs one turn. An adapter is two pure functions (arguments out, events in) and a table row.
   *
   * @module
   */
  import type { Glimpse } from "ralph:events/types";
  import type { AgentTurn } from "ralph:loop/types";
  import type { AgentEvent } from "ralph:agents/events";
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
      /** Added to the agent's environment: \`RALPH_ROOT\`, \`RALPH_RUN\`, \`RALPH_ITEM\` …, and PATH. */
      readonly environment: Readonly<Record<string, string>>;
      /** Hand the terminal over. */
      readonly interactive?: boolean;
      /** Ends the agent's whole tree. */
      readonly signal: AbortSignal;
      /** Told what the agent's stream says, as it comes, secrets masked. */
      readonly onEvent?: (event: AgentEvent) => void;
      /** Given a look at the end of its output, where that is plain text. */
      readonly onGlimpse?: (glimpse: Glimpse) => void;
      /** Called with the id of the agent's process. */
      readonly onStart?: (pid: number) => void;
  }
  /** Anything that can take a prompt and work on a tree. */
  export interface Agent {
      /** Short, for people and for the journal. */
      readonly name: string;
      /** It can be handed the terminal with a prompt; \`true\` is known to converse there. @default true */
      readonly interactive?: boolean;
      /**
       * Looks whether the agent can run at all, before anything is written.
       * @throws {RalphError} agent-missing, agent-not-found
       */
      ensureUsable(): Promise<void>;
      /** Never throws for what the agent did: that is in \`end\`. */
      runTurn(request: TurnRequest): Promise<AgentTurn>;
  }
}

declare module "ralph:events/types" {
  /**
   * What a run tells the world. One union, versioned, written as NDJSON and shown by the reporters. Not yet stable.
   *
   * @module
   */
  import type { UsageTotal } from "ralph:loop/usage";
  import type { AgentEvent } from "ralph:events/agent_events";
  import type { Attempt, HookRecord, Settlement, Usage } from "ralph:loop/types";
  /** Version of the event union. */
  export const EVENTS_VERSION = 1;
  /** What happened. Names are noun-verb; lifecycle words are start, delta and end. */
  export type RalphEvent = {
      readonly type: "run-start";
      readonly workflow: string;
      readonly root: string;
      readonly agent: string;
      readonly folder: string;
      /** Which feature or sprint, where the backlog tells several apart. */
      readonly scope?: string;
      /** The commit that it begins on; absent before the first one. */
      readonly head?: string;
  } | {
      readonly type: "run-end";
      /** What all turns used; absent where there were none to count. */
      readonly usage?: UsageTotal;
      readonly status: string;
      readonly reasons: readonly string[];
      readonly iterations: number;
  } | {
      readonly type: "step-start";
      readonly step: string;
      readonly title: string;
  } | {
      readonly type: "step-end";
      readonly step: string;
      readonly status: string;
      readonly message?: string;
  } | {
      readonly type: "iteration-start";
      readonly iteration: number;
      readonly item: EventItem;
      readonly attempt: number;
      /** Items passed, and all that are known, or \`null\`. */
      readonly passed: number;
      readonly total: number | null;
      /** The run ends after so many iterations; absent where nothing says so. */
      readonly limit?: number;
  } | {
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
  } | {
      readonly type: "turn-start";
      readonly agent: string;
      readonly transcript: string;
  } | {
      readonly type: "turn-end";
      readonly agent: string;
      readonly reason: string;
      readonly message: string | null;
      readonly durationMs: number;
      readonly usage: Usage;
  }
  /** What the agent's own stream says, where it has one. */
   | AgentEvent
  /** A rate limit or a failing provider is waited for. \`until\` is an ISO time. */
   | {
      readonly type: "wait-start";
      readonly agent: string;
      readonly reason: "rate-limit" | "unavailable";
      readonly until: string;
      readonly remainingMs: number;
      readonly message: string;
  } | {
      readonly type: "wait-delta";
      readonly agent: string;
      readonly remainingMs: number;
  } | {
      readonly type: "wait-end";
      readonly agent: string;
      readonly waitedMs: number;
      readonly interrupted: boolean;
  }
  /** \`number\` of \`total\` checks that run one after the other, from 1. */
   | {
      readonly type: "check-start";
      readonly name: string;
      readonly scope: string;
      readonly number: number;
      readonly total: number;
  } | {
      readonly type: "check-end";
      readonly name: string;
      readonly scope: string;
      readonly ok: boolean;
      readonly exitCode: number | null;
      readonly durationMs: number;
      readonly tail: string;
      /** It failed before the run's first turn as well (\`verify.baseline\`). */
      readonly failedBefore?: boolean;
  }
  /** Tests were weakened since the item was taken up; \`blocked\`: the attempt fails for it. A line a file. */
   | {
      readonly type: "tests-weakened";
      readonly item: EventItem;
      readonly findings: readonly string[];
      readonly blocked: boolean;
  } | {
      readonly type: "hook-start";
      readonly hook: string;
      readonly iteration: number;
      readonly parallel: boolean;
      /** Relative to the root. */
      readonly log: string;
  } | {
      readonly type: "hook-end";
      readonly hook: string;
      readonly iteration: number;
      readonly status: HookRecord["status"];
      readonly exitCode: number | null;
      readonly durationMs: number;
      readonly message: string | null;
  } | {
      readonly type: "state-put-back";
      readonly paths: readonly string[];
  } | {
      readonly type: "commit";
      readonly commit: string;
      readonly subject: string;
  } | {
      readonly type: "question";
      readonly id: string;
      readonly message: string;
  } | {
      readonly type: "answer";
      readonly id: string;
      readonly answer: string;
      readonly source: AnswerSource;
  }
  /** A block of text for the reader: a PRD summary, the next commands, a diff. */
   | {
      readonly type: "text";
      readonly title: string;
      readonly lines: readonly string[];
  } | {
      readonly type: "note";
      readonly level: "info" | "warn";
      readonly message: string;
  };
  /** Where an answer came from. */
  export type AnswerSource = "terminal" | "stdin" | "answers" | "approve" | "default";
  /** The item an event is about. */
  export interface EventItem {
      /** The backlog's. */
      readonly id: string;
      /** The backlog's word for it: \`story\`, \`task\`, \`plan\` … */
      readonly kind: string;
      /** One line. */
      readonly title: string;
  }
  /** The end of what a running agent or check has printed so far, secrets masked: for whoever looks on, never recorded. */
  export type Glimpse = () => string;
  /** Takes events. Never throws; must not hold the run up. */
  export interface EventSink {
      emit(event: RalphEvent): void;
      /** Given for what was started last, where that prints plain text; of use to sinks that show what goes on. */
      glimpse?(glimpse: Glimpse): void;
  }
  /** A sink that others can be attached to. */
  export interface EventBus extends EventSink {
      attach(sink: EventSink): void;
  }
}

declare module "ralph:loop/usage" {
  /**
   * What turns used, added up. Unknown stays unknown: it is never counted as nothing.
   *
   * @module
   */
  import type { Attempt, Usage } from "ralph:loop/types";
  /** A sum over turns. \`null\`: no turn told. */
  export interface UsageTotal extends Usage {
      readonly turns: number;
      /** Turns that told no tokens, or no cost: the sums are at least what they say. */
      readonly turnsWithoutTokens: number;
      readonly turnsWithoutCost: number;
  }
  /** Nothing used yet. */
  export const NO_USAGE: UsageTotal;
  /** The usage of two tries at one turn; what only one of them tells is kept. Pure. */
  export function addUsage(one: Usage, other: Usage): Usage;
  /** The sum with one more turn. Pure. */
  export function addTurn(total: UsageTotal, usage: Usage): UsageTotal;
  /** What the turn of an attempt used, and each review of it. Pure. */
  export function usagesOf({ turn, verification }: Pick<Attempt, "turn" | "verification">): readonly Usage[];
  /** The sum of them; \`null\` where nothing was asked of an agent. Pure. */
  export function usageOf(attempt: Pick<Attempt, "turn" | "verification">): Usage | null;
  /** Input and output together; \`null\` when neither is known. */
  export function tokensOf({ inputTokens, outputTokens }: Pick<Usage, "inputTokens" | "outputTokens">): number | null;
}

declare module "ralph:loop/types" {
  /**
   * Backlog and loop: the types. All that crosses a function here is plain JSON, but for \`Check.run\` and \`Work.prompt\`.
   * Not yet stable: \`BACKLOG_VERSION\` changes with them.
   *
   * @module
   */
  import type { Check, Verification } from "ralph:loop/check_types";
  import type { Turn, TurnRecord } from "ralph:loop/turn_types";
  export type * from "ralph:loop/check_types";
  export type * from "ralph:loop/turn_types";
  /** Version of the \`Backlog\` interface. */
  export const BACKLOG_VERSION = 1;
  /** One unit of work for one fresh agent process. Complete: \`work\` and \`judge\` need it and the working tree, nothing else. */
  export interface Item<Data = unknown> {
      readonly id: string;
      /** \`story\`, \`topic\`, \`review\`, \`BUILD\` … */
      readonly kind: string;
      readonly title: string;
      /** Nothing else may be in flight while this is worked on: stages, reviews, completion. */
      readonly exclusive?: boolean;
      /** Takes no agent turn, only checks: counts against no limit. */
      readonly checksOnly?: boolean;
      /** Prepares work and proves nothing (taking a task apart, looking into an issue): its own end is no part of the run's verdict. */
      readonly preparatory?: boolean;
      /** Number by which hooks know the iteration, where the backlog counts across runs. @default the run's own count */
      readonly iteration?: number;
      /** Where the turn's transcript goes, relative to the root. @default the run's folder */
      readonly transcript?: string;
      /** What it has to meet, in words: for a reviewer. */
      readonly criteria?: readonly string[];
      /** Hash of what is asked for. Attempts at an item of the same id with another fingerprint are not counted. */
      readonly fingerprint?: string;
      /** JSON snapshot that \`next()\` took of the store; \`settle\` computes from it, never by counting in the store. */
      readonly data: Data;
  }
  /** What the backlog offers next. */
  export type Next<Data> = {
      readonly status: "item";
      readonly item: Item<Data>;
  }
  /** Everything that is ready depends on what is in flight. */
   | {
      readonly status: "waiting";
  } | {
      readonly status: "done";
      readonly verdict: "verified" | "unverified";
      readonly summary?: string;
      /** The checks behind a \`verified\` have seen everything, what passed without a check before included. */
      readonly covers?: boolean;
  } | {
      readonly status: "blocked";
      readonly reasons: readonly string[];
  };
  /** What one iteration does; read in full before the turn starts. */
  export interface Work {
      /** \`null\`: no agent turn, only the checks. A function gets the result of \`checkFirst\`. */
      readonly prompt: string | ((first: Verification | null) => string) | null;
      readonly checks: readonly Check[];
      /** Run the checks before the turn as well. */
      readonly checkFirst?: boolean;
      /** Globs, relative to the root, that the turn may write; anything else stops the run. Absent: anything but protected files. */
      readonly allow?: readonly string[];
      /** Milliseconds for the agent's turn. */
      readonly timeoutMs?: number;
      /** Hand the terminal to the agent. */
      readonly interactive?: boolean;
      /** Added to the agent's environment. */
      readonly environment?: Readonly<Record<string, string>>;
  }
  /** What the turn claims. Only ever a claim. \`findings\` is the workflow's own (learnings, resets, summary). */
  export type Claim<Findings = unknown> = {
      readonly findings?: Findings;
  } & ({
      readonly status: "done";
  } | {
      readonly status: "not-done";
      readonly reason?: string;
  } | {
      readonly status: "failed";
      readonly reason: string;
  } | {
      readonly status: "blocked";
      readonly reason: string;
  });
  /** Why an attempt failed. */
  export type FailureReason = "checks-failed" | "agent-failed" | "timed-out" | "idle" | "crashed" | "killed" | "cut-off" | "context-exhausted" | "refused" | "unavailable" | "protected-file-changed" | "tests-weakened" | "branch-changed" | "commit-refused";
  /** What is known about one attempt. JSON: it can be computed on another machine. */
  export type Attempt<Findings = unknown> = {
      /** \`<run>.<iteration>\` */
      readonly id: string;
      /** 1 + attempts at this item since it last passed, was parked, or the run ended. */
      readonly number: number;
      readonly claim: Claim<Findings> | null;
      readonly turn: TurnRecord | null;
      readonly verification: Verification | null;
      /** How the attempts at the item have weakened tests so far, a line a file (\`tests.integrity\`). */
      readonly weakened?: readonly string[];
  } & ({
      readonly status: "verified" | "unverified";
  } | {
      readonly status: "not-done";
      readonly message: string;
  } | {
      readonly status: "failed";
      readonly reason: FailureReason;
      readonly message: string;
  } | {
      readonly status: "blocked";
      readonly message: string;
  }
  /** Ralph was stopped or killed; nothing is known. */
   | {
      readonly status: "interrupted";
  }
  /** Wrote outside \`allow\`. */
   | {
      readonly status: "trespassed";
      readonly paths: readonly string[];
      readonly diff: string;
  } | {
      readonly status: "agent-unusable";
      readonly message: string;
  });
  /** A commit that the loop makes after \`settle\`: state and, where asked, what the turn left uncommitted. */
  export interface SettleCommit {
      /** \`feat: US-001 - Add login\` */
      readonly subject: string;
      /** Used where the commit holds nothing but state. @default subject */
      readonly stateSubject?: string;
      readonly body?: string;
      /** State files, relative to the root. */
      readonly paths: readonly string[];
      /** Also commit what the turn changed and left uncommitted (never what was dirty before it). */
      readonly work: boolean;
      /**
       * Work gets a commit of its own, and \`settle()\` is called once more after it, so that the state can name that commit.
       * @default false: one commit for both
       */
      readonly apart?: boolean;
  }
  /** What the backlog made of an attempt. The backlog owns retry policy; the loop owns limits. */
  export type Settlement = {
      readonly commit?: SettleCommit;
      /** The turn brought nothing, although files changed: state that Ralph itself keeps. */
      readonly idle?: boolean;
      /** Ids of items that had passed and come again because of this one: what a review sends back. */
      readonly reopened?: readonly string[];
  } & ({
      readonly status: "passed";
  }
  /** Comes again from \`next()\`. */
   | {
      readonly status: "open";
      readonly reason?: string;
  }
  /** Given up on; the others go on. */
   | {
      readonly status: "parked";
      readonly reason: string;
  } | {
      readonly status: "stop";
      readonly as: "failed" | "blocked";
      readonly reason: string;
  });
  /** An item that was given up on, as the journal remembers it. */
  export interface ParkedItem {
      /** The item's. */
      readonly id: string;
      /** As the item had it: with another text it is open again. */
      readonly fingerprint: string | null;
      /** Why it was given up on. */
      readonly reason: string;
  }
  /** What the loop's journal tells a backlog whose format has no room for it. */
  export interface LoopView {
      /** Parked earlier, and not asked back with \`--retry-blocked\`. */
      readonly parked: readonly ParkedItem[];
  }
  /** One run of a hook, told when it starts and when it ends: the same iteration and id twice. */
  export interface HookRecord {
      /** From 1, over all runs of a sprint. */
      readonly iteration: number;
      /** The hook's \`id\`. */
      readonly hookId: string;
      /** \`interrupted\`: ended with its run. */
      readonly status: "in-progress" | "completed" | "failed" | "interrupted";
      /** Of the hook's own process; \`null\` before it has one, and for an agent that is none. */
      readonly pid: number | null;
      /** \`null\` while it runs, and for one that a signal ended. */
      readonly exitCode: number | null;
      /** Milliseconds since 1970. */
      readonly startedAt: number;
      /** Milliseconds since 1970; \`null\` while it runs. */
      readonly endedAt: number | null;
      /** Absolute path of the file that holds its output. */
      readonly log: string;
      /** Absolute path of the iteration's transcript. */
      readonly transcript: string;
      /** Why it failed. */
      readonly message: string | null;
  }
  /** What \`work\` and \`judge\` are given beside the item. */
  export interface WorkContext<Findings = unknown> {
      /** The item's working tree, which may be a worktree: never close over another. */
      readonly cwd: string;
      readonly attempt: number;
      /** The attempt before this one at the same item. */
      readonly previous: Attempt<Findings> | null;
      /** The last attempt at any item. */
      readonly last: Attempt<Findings> | null;
  }
  /** What \`judge\` is given: whether any check will run, which then decides alone. */
  export interface JudgeContext<Findings = unknown> extends WorkContext<Findings> {
      readonly checked: boolean;
  }
  /**
   * A list of work on disk, and all that the loop needs to know of it.
   * The published contract test (\`ralph/testing\`, \`backlogContract\`) says what each call owes.
   */
  export interface Backlog<Data = unknown, Findings = unknown> {
      /** \`exec\`, \`feature\`, \`todo\` … Part of the journal's key. */
      readonly name: string;
      /** Feature, sprint, file: tells two backlogs of one kind apart in the journal. @default the branch, or "" */
      readonly scope?: string;
      /** Files that only Ralph writes, relative to the root: put back after each turn. */
      readonly stateFiles: readonly string[];
      /** What a claim is worth when there is no check at all. */
      readonly unverified: "accept" | "block";
      /** Where run folders go, relative to the root. @default ".ralph/runs" */
      readonly runsDirectory?: string;
      /** Where the logs of hooks go, relative to the root. @default the run's folder */
      readonly logsDirectory?: string;
      /** The branch to work on, created or switched to when the run starts. Absent or \`null\`: the current one. */
      branch?(): Promise<string | null>;
      /** Counts, for \`ralph status\`, \`gateRun()\` and the live view. */
      overview(view: LoopView): Promise<Overview>;
      next(options: LoopView & {
          readonly inFlight: readonly string[];
      }): Promise<Next<Data>>;
      /** Record that the item is in progress. */
      begin?(item: Item<Data>, attemptId: string): Promise<SettleCommit | void>;
      /** Record the outcome. Called again with the same attempt after a crash: the result must be the same. */
      settle(item: Item<Data>, attempt: Attempt<Findings>): Promise<Settlement>;
      /** A run begins, what a killed one left is settled: close what else it left open. */
      resume?(): Promise<void>;
      /** Record a hook's start or end; several may be told at once. */
      hookRan?(record: HookRecord): Promise<void>;
      /** Prompt, checks, allowed paths, time. Checks are thereby read before the turn. */
      work(item: Item<Data>, context: WorkContext<Findings>): Promise<Work>;
      /**
       * What the agent's words and hand edits claim. State files still hold the agent's version when this runs.
       * @default done when a line is \`<ralph>DONE</ralph>\`
       */
      judge?(item: Item<Data>, turn: Turn, context: JudgeContext<Findings>): Promise<Claim<Findings>>;
      /**
       * What is put in the place of a state file that was edited by hand, where only a part of the file is state. Pure.
       * @default what Ralph last wrote
       */
      restore?(edit: {
          readonly path: string;
          readonly found: string;
          readonly written: string;
      }): string;
  }
  /** Where a backlog stands. */
  export interface Overview {
      /** \`null\`: not known, a free loop. */
      readonly total: number | null;
      /** Items that have passed. */
      readonly passed: number;
      /** Items that are left, parked ones not among them. */
      readonly open: number | null;
      /** Items given up on. */
      readonly parked: number;
      /** Ids of open items that name no check at all: asked about before the first turn. */
      readonly unchecked: readonly string[];
  }
}

declare module "ralph:loop/check_types" {
  /**
   * Checks and what they come to: the types.
   *
   * @module
   */
  import type { Usage } from "ralph:loop/turn_types";
  import type { Item } from "ralph:loop/types";
  /** What a check function is given. */
  export interface CheckContext {
      /** Absolute path of the working tree. */
      readonly cwd: string;
      /** \`null\` where it is run for no item. */
      readonly item: Item | null;
      /** Commit before the turn, or \`null\`. */
      readonly base: string | null;
      /** Aborted on timeout and interrupt. */
      readonly signal: AbortSignal;
      /** What the turns at the item have done to the tree so far; absent where there was none. */
      readonly done?: WorkDone;
      /** Absolute path of a folder for what the check wants to keep; absent where nothing is logged. */
      readonly logs?: string;
  }
  /** What all attempts at an item in this run have done, the last one included. */
  export interface WorkDone {
      /** Commit before the first attempt; \`null\` before the first commit. */
      readonly since: string | null;
      /** Paths relative to the root. */
      readonly changedFiles: readonly string[];
  }
  /** What one check found. */
  export interface CheckOutcome {
      /** Whether it passed. */
      readonly ok: boolean;
      /** \`null\` where there is none: a function's, or a signal ended it. */
      readonly exitCode: number | null;
      /** The end of what it printed. */
      readonly tail: string;
      /** What an agent used for it. */
      readonly usage?: Usage;
      /** It could not be made, and no other attempt would change that: the run ends, nothing is said of the work. */
      readonly halts?: "agent-unusable" | "rate-limited";
  }
  /** A command for the shell, or a named function (services, browser, reviewer). */
  export interface Check {
      readonly name: string;
      /** Runs through \`bash -o pipefail -c\`, or \`sh -c\` where there is no bash. */
      readonly command?: string;
      readonly run?: (context: CheckContext) => Promise<CheckOutcome>;
      /** Free label by which \`settle\` tells failures apart: a story's id, \`task:2\`, \`plan\`, \`ui\`. */
      readonly scope?: string;
      /** Must fail before the turn and pass after it. */
      readonly redFirst?: boolean;
      /** Milliseconds; \`Infinity\` for a function that keeps its own time. @default verify.timeout of the configuration (300 s) */
      readonly timeoutMs?: number;
      /** What the command has to do to pass. @default it ends with exit code 0 */
      readonly expect?: CheckExpectation;
      /** A look at what a turn did, which costs a turn of its own: only after one, and only where all other checks passed. */
      readonly review?: boolean;
      /** Looks, before the first turn of a run, whether the check can be made at all. Throws where it cannot. */
      readonly ensureUsable?: () => Promise<void>;
  }
  /** What a command is expected to do. A command that does not exist, is killed or times out meets nothing. */
  export interface CheckExpectation {
      /** @default 0 */
      readonly exit?: number | "non-zero";
      /** Text that its output must contain, beside the exit code. */
      readonly output?: string;
  }
  /** A check that ran. */
  export interface CheckResult extends CheckOutcome {
      /** The check's; for a command the command itself. */
      readonly name: string;
      /** The check's; "" where it has none. */
      readonly scope: string;
      /** Milliseconds. */
      readonly durationMs: number;
      /** It fails, and failed before the first turn of the run as well (\`verify.baseline\`). */
      readonly failedBefore?: boolean;
  }
  /** What running some checks came to. No check at all is \`unverified\`, never \`passed\`. */
  export type Verification = {
      readonly status: "passed";
      readonly results: readonly CheckResult[];
  } | {
      readonly status: "failed";
      readonly results: readonly CheckResult[];
      readonly failures: readonly CheckResult[];
  } | {
      readonly status: "unverified";
      readonly results: readonly [];
  } | {
      readonly status: "aborted";
      readonly results: readonly CheckResult[];
  };
}

declare module "ralph:loop/turn_types" {
  /**
   * Turns: how one ended, what it used, what it left. Plain JSON.
   *
   * @module
   */
  /** How an agent's turn ended. */
  export type TurnEnd = {
      readonly reason: "completed";
  } | {
      /**
       * \`cut-off\`: no result, or in the middle of a tool call. \`refused\`: it only asked, planned, or did nothing at all.
       * \`killed\`: somebody but Ralph ended it. \`unavailable\`: its provider failed, again and again.
       */
      readonly reason: "agent-failed" | "timed-out" | "idle" | "crashed" | "killed" | "cut-off" | "context-exhausted" | "refused" | "unavailable";
      readonly message: string;
  }
  /** Nothing goes on before \`untilMs\` (milliseconds since 1970, \`null\`: not said). No attempt is counted. */
   | {
      readonly reason: "rate-limited";
      readonly untilMs: number | null;
      readonly message: string;
      /** The run's own limit that a wait would go beyond, in words: the run ends. */
      readonly budget?: string;
  }
  /** The agent cannot be used at all (not found, login, billing, model): stops the run, exit 4. */
   | {
      readonly reason: "agent-unusable";
      readonly message: string;
  } | {
      readonly reason: "aborted";
  };
  /** What a turn used. \`null\` is unknown, never 0. */
  export interface Usage {
      /** All of it, what came from a cache included. */
      readonly inputTokens: number | null;
      /** All of it, reasoning included. */
      readonly outputTokens: number | null;
      /** Of the input. */
      readonly cachedTokens: number | null;
      /** Of the output. */
      readonly reasoningTokens: number | null;
      /** US dollars. */
      readonly costUsd: number | null;
      /** The agent's own estimate, not a bill. */
      readonly estimated: boolean;
  }
  /** What an agent gives back for one turn. */
  export interface AgentTurn {
      /** What ended it. */
      readonly end: TurnEnd;
      /** The end of the agent's own words, prompt echo and standard error left out; at most 1 MiB. */
      readonly text: string;
      /**
       * Lines of those words that can be a signal: outside code fences, white space, \`*\`, \`_\` and back-ticks around them
       * taken off, empty ones left out; the last 2,000.
       */
      readonly lines: readonly string[];
      /** Tokens and cost, unknown where the agent does not tell. */
      readonly usage: Usage;
      /** Absolute path of the file that holds all of the turn's output. */
      readonly transcript: string;
      /** Milliseconds. */
      readonly durationMs: number;
      /** Of the agent's process, where it has one. */
      readonly exitCode?: number | null;
      /** What the agent did, where its stream tells. */
      readonly activity?: TurnActivity;
  }
  /** What an agent did in a turn, as its stream tells. */
  export interface TurnActivity {
      readonly toolCalls: number;
      /** It used a tool that asks somebody. */
      readonly asked: boolean;
      /** It used a tool that leaves it at a plan. */
      readonly planned: boolean;
  }
  /** An agent's turn with what it did to the working tree. */
  export interface Turn extends AgentTurn {
      /** Paths relative to the root whose content the turn changed, committed or not. */
      readonly changedFiles: readonly string[];
      /** Commit before and after the turn. */
      readonly base: string | null;
      readonly head: string | null;
  }
  /** A turn as it is kept: the words stay in the transcript. */
  export type TurnRecord = Omit<Turn, "lines" | "text">;
}

declare module "ralph:events/agent_events" {
  /**
   * What an agent's own stream says, in one vocabulary for all of them. Plain JSON; nothing here is a claim yet.
   *
   * @module
   */
  import type { Usage } from "ralph:loop/types";
  /** What stopped an agent, where it said so. */
  export type FailureKind = 
  /** Not logged in, a wrong key. */
  "auth"
  /** No credit, no plan. */
   | "billing"
  /** The model does not exist or may not be used. */
   | "model"
  /** The conversation no longer fits the model. */
   | "context" | "rate-limit"
  /** The provider's side: overloaded, internal error. */
   | "server"
  /** The connection was lost. */
   | "network"
  /** A limit that the agent was given: turns, budget. */
   | "own-limit"
  /** Somebody interrupted the agent. */
   | "interrupted" | "other";
  /** What happened inside an agent's turn. */
  export type AgentEvent = {
      readonly type: "agent-start";
      readonly session: string | null;
      readonly model: string | null;
  }
  /** One whole message of the agent's own words. */
   | {
      readonly type: "agent-text";
      readonly text: string;
  }
  /** \`input\`: what it is called with, short. */
   | {
      readonly type: "agent-tool-call";
      readonly id: string | null;
      readonly tool: string;
      readonly input: string;
  }
  /** \`output\`: the end of what it gave. */
   | {
      readonly type: "agent-tool-result";
      readonly id: string | null;
      readonly ok: boolean;
      readonly output: string;
  } | {
      readonly type: "agent-file-change";
      readonly path: string;
      readonly change: "added" | "changed" | "deleted";
  }
  /** \`step\`: to be added up; \`total\`: of the whole turn. */
   | {
      readonly type: "agent-usage";
      readonly scope: "step" | "total";
      readonly usage: Usage;
  } | {
      readonly type: "agent-rate-limit";
      /** \`warning\`: near the limit; \`retrying\`: the agent waits by itself; \`rejected\`: it gave up. */
      readonly status: "warning" | "retrying" | "rejected";
      /** Milliseconds since 1970, where it is said. */
      readonly untilMs: number | null;
      /** Milliseconds from now, where that is said. */
      readonly waitMs: number | null;
      readonly message: string;
  }
  /** \`fatal\`: the agent gave up; otherwise it goes on (a retry, a warning). */
   | {
      readonly type: "agent-error";
      readonly kind: FailureKind;
      readonly fatal: boolean;
      readonly message: string;
  }
  /** The agent says that its turn is over. A later one stands over an earlier one. */
   | {
      readonly type: "agent-end";
      readonly status: "completed" | "cut-off" | "failed";
      readonly message: string | null;
  }
  /** A line that is no event: not JSON, or too long to be read. \`line\` is its beginning. */
   | {
      readonly type: "agent-line-invalid";
      readonly reason: string;
      readonly line: string;
  };
}

declare module "ralph:agents/events" {
  import type { AgentEvent } from "ralph:events/agent_events";
  export type { AgentEvent, FailureKind } from "ralph:events/agent_events";
  /** Reads one agent's stream: pure but for what it remembers of the lines before. Never throws, whatever it is given. */
  export interface Translator {
      /** The events in one line, already parsed from JSON. */
      push(value: unknown): readonly AgentEvent[];
      /** What is left to say when the stream has ended. */
      end(): readonly AgentEvent[];
  }
}

declare module "ralph:agents/command_agent" {
  import type { Host } from "ralph:host/types";
  import type { Agent } from "ralph:agents/types";
  /** A command line as an agent. */
  export interface CommandAgentOptions {
      /** Runs through the shell exactly as written: prompt on standard input, words on standard output. */
      readonly command: string;
      /** Put behind the command, each quoted for the shell. @default none */
      readonly args?: readonly string[];
      /** Put there instead where the terminal is handed over; the prompt comes last. Absent: as known of the program. */
      readonly interactiveArgs?: readonly string[];
      readonly host: Host;
      /** Absolute path of the folder that a relative program is looked up from. @default the current folder */
      readonly root?: string;
  }
  /**
   * Any command as an agent. The prompt comes on standard input, which is closed after it; exit code 0 is a turn that
   * ended normally; nothing is known about tokens or cost.
   *
   * @example An agent of your own
   * \`\`\`ts
   * import { commandAgent, createHost } from "ralph";
   *
   * const agent = commandAgent({ command: "./agent.sh --quiet", host: createHost() });
   * console.log(agent.name); // ./agent.sh
   * \`\`\`
   */
  export function commandAgent(options: CommandAgentOptions): Agent;
}

declare module "ralph:host/types" {
  /**
   * What the host offers to the layers above: time, chance, the environment, the terminal and processes.
   * Only \`lib/host\` and \`lib/std\` touch the real ones.
   *
   * @module
   */
  /** Wall-clock time, replaceable in tests. */
  export interface Clock {
      /** Milliseconds since 1970. */
      now(): number;
      /** Resolves after \`ms\` milliseconds, or at once when \`signal\` aborts. */
      sleep(ms: number, signal?: AbortSignal): Promise<void>;
      /** Calls \`act\` every \`ms\` milliseconds until it is disposed of. Keeps no process alive. */
      every(ms: number, act: () => void): Disposable;
  }
  /** Random names. */
  export interface Ids {
      /** \`length\` random lower-case letters and digits. */
      random(length: number): string;
  }
  /** The process's own surroundings, read once. */
  export interface Environment {
      /** Environment variables. */
      readonly variables: Readonly<Record<string, string | undefined>>;
      /** As \`process.platform\` has it. */
      readonly platform: string;
      /** Absolute path of the current folder. */
      readonly cwd: string;
      /** Absolute path of the user's home folder. */
      readonly home: string;
      /** Ralph's own. */
      readonly pid: number;
      /** Absolute path of the program that runs this process: \`bun\`, \`deno\`, \`node\` or the compiled \`ralph\`. */
      readonly executable: string;
      /** Absolute path of the script, or \`null\` in the compiled binary. */
      readonly script: string | null;
      /** True in the single-file executable. */
      readonly compiled: boolean;
  }
  /** The streams that prompts and reports use. */
  export interface Terminal {
      readonly stdin: NodeJS.ReadableStream & {
          readonly isTTY?: boolean;
      };
      readonly stdout: NodeJS.WritableStream & {
          readonly isTTY?: boolean;
          readonly columns?: number;
      };
      readonly stderr: NodeJS.WritableStream & {
          readonly isTTY?: boolean;
          readonly columns?: number;
      };
      /** Both standard input and standard error are a terminal. */
      readonly interactive: boolean;
      isTerminal(stream: "stdin" | "stdout" | "stderr"): boolean;
      /** Writes all of the text before it returns. What nobody reads any more is dropped. */
      write(stream: "stdout" | "stderr", text: string): void;
      /** Of standard error, now. */
      size(): {
          readonly columns: number;
          readonly rows: number;
      };
      /**
       * Keeps these lines at the bottom of standard error, below whatever is written; none take them away. Each must be
       * narrower than the terminal. They are gone when the process ends.
       */
      footer(lines: readonly string[]): void;
      /** Runs what writes to the terminal, or reads from it, by itself: no footer stands there meanwhile. */
      lend<Value>(run: () => Promise<Value>): Promise<Value>;
  }
  /** One child process and how it may end. */
  export interface ProcessRequest {
      /** A name looked up on PATH, or a path. Never a shell line. */
      readonly file: string;
      /** Given as they are; no shell reads them. */
      readonly arguments: readonly string[];
      /** Absolute path. */
      readonly cwd: string;
      /** Laid over the host's environment; \`undefined\` takes a variable away. */
      readonly environment?: Readonly<Record<string, string | undefined>>;
      /** Text for standard input, which is closed after it. Absent: an empty, closed input. */
      readonly input?: string | Uint8Array;
      /** Hand the terminal over: all three streams are inherited and nothing is captured. */
      readonly terminal?: boolean;
      /** Milliseconds until the tree is ended. Absent: no limit. */
      readonly timeoutMs?: number;
      /** Milliseconds without a byte of output until the tree is ended. Absent: no limit. */
      readonly idleTimeoutMs?: number;
      /** Milliseconds between SIGTERM and SIGKILL. @default 2000 */
      readonly graceMs?: number;
      /** Ends the whole tree. */
      readonly signal?: AbortSignal;
      /** Called with the process's id once it runs. */
      readonly onStart?: (pid: number) => void;
      /** Called with each chunk as it comes; a promise holds the stream back (constant memory). */
      readonly onOutput?: (chunk: Uint8Array, stream: "stdout" | "stderr") => void | Promise<void>;
      /** How many bytes of the end of the output are kept, each stream and both together. @default 16384 */
      readonly tailBytes?: number;
      /**
       * Ended with Ralph, whatever ends Ralph: registered with the guardian, tagged with a cookie, swept afterwards.
       * \`false\` for git, which may finish its write. @default true
       */
      readonly guarded?: boolean;
  }
  /** How a child process ended. Never an exception, but for a broken host. */
  export interface ProcessEnd {
      /** \`not-found\`: the file does not exist or may not be run. */
      readonly reason: "exited" | "timed-out" | "idle" | "aborted" | "not-found";
      /** \`null\` for a process that a signal ended, or that did not start. */
      readonly exitCode: number | null;
      /** The signal that ended it, such as \`SIGKILL\`. */
      readonly signal: string | null;
      /** Milliseconds from start to end. */
      readonly durationMs: number;
      /** The last \`tailBytes\` of each stream, decoded as UTF-8 with damaged bytes replaced. */
      readonly stdout: string;
      /** The end of standard error. */
      readonly stderr: string;
      /** The last \`tailBytes\` of both together, in the order in which they came. */
      readonly tail: string;
  }
  /** Starts processes and ends their whole trees. Disposing ends all that are left. */
  export interface Processes extends AsyncDisposable {
      run(request: ProcessRequest): Promise<ProcessEnd>;
      /** The value of \`RALPH_TREE\` that marks every guarded descendant: \`<cookie>.<n>\`. */
      readonly cookie: string;
      /** Ends what carries an older run's cookie. Returns how many processes were ended. */
      sweep(cookie: string): Promise<number>;
  }
  /** Everything outside this program, in one place. */
  export interface Host {
      readonly clock: Clock;
      readonly ids: Ids;
      readonly environment: Environment;
      readonly terminal: Terminal;
      readonly processes: Processes;
  }
}

declare module "ralph:agents/scripted/script" {
  /** One turn. What it does, it does in the order of these fields. */
  export interface ScriptedTurn {
      /** Text that the prompt must contain, or \`/a regular expression/i\`; of several, each. Absent: any prompt. */
      readonly match?: string | readonly string[];
      /** How often this turn can be used. @default 1 */
      readonly times?: number | "any";
      /** Seconds to wait, or a text such as \`500ms\`. @default 0 */
      readonly delay?: number | string;
      /** Files to write, relative to the working tree: path to content. */
      readonly write?: Readonly<Record<string, string>>;
      /** Files to add to, made when missing. */
      readonly append?: Readonly<Record<string, string>>;
      /** Files or folders to take away. */
      readonly delete?: readonly string[];
      /** Commands for the shell, one after the other. What they print is in the transcript, not among the words. */
      readonly run?: string | readonly string[];
      /** Text for standard error. */
      readonly stderr?: string;
      /** The agent's words; a list is one text a line. */
      readonly say?: string | readonly string[];
      /** Never end: until the timeout or an interrupt. */
      readonly hang?: boolean;
      /** Exit code. @default 0 */
      readonly exit?: number;
  }
  /** A script: turns in the order in which they are looked through. */
  export interface Script {
      readonly turns: readonly ScriptedTurn[];
  }
  /** Reads a file of turns, YAML or JSON. @throws {RalphError} script-invalid */
  export function readScript(file: string): Promise<Script>;
  /** Validates a script. @throws {RalphError} script-invalid */
  export function checkScript(value: unknown, name: string): Promise<Script>;
  /** Tells whether a prompt contains a text, or fits \`/a regular expression/\`. */
  export function matcherOf(pattern: string): (prompt: string) => boolean;
  /** One text or several, as a list. */
  export function listOf(value: string | readonly string[] | undefined): readonly string[];
  /** Milliseconds of a \`delay\`. */
  export function delayMs(delay: number | string | undefined): number;
}

declare module "ralph:agents/scripted/scripted_agent" {
  import type { Host } from "ralph:host/types";
  import type { Agent } from "ralph:agents/types";
  import { type Script } from "ralph:agents/scripted/script";
  /** What the scripted agent needs beside its turns. */
  export interface ScriptedAgentOptions {
      readonly host: Host;
      /** @default "scripted" */
      readonly name?: string;
  }
  /**
   * An agent that follows a script: the first turn that fits the prompt and is not used up is carried out, for real, on
   * the working tree. For demonstrations, and for your own tests of recipes. What is used up is kept in memory: a new
   * agent begins anew.
   *
   * @param source the turns, or the YAML or JSON \`file\` that holds them
   *
   * @example A turn that writes a file and says so
   * \`\`\`ts
   * import { createHost, scriptedAgent } from "ralph";
   *
   * const agent = scriptedAgent({
   *   turns: [{ match: "US-001", write: { "hello.txt": "hello\\n" }, say: "<promise>COMPLETE</promise>" }],
   * }, { host: createHost() });
   * await agent.ensureUsable();
   * \`\`\`
   */
  export function scriptedAgent(source: Script | {
      readonly file: string;
  }, options: ScriptedAgentOptions): Agent;
}

declare module "ralph:agents/fences" {
  /**
   * Code fences of Markdown, line by line: which lines of an agent's words are quoted code.
   *
   * @module
   */
  /** The fence that is open, or \`null\` between fences. */
  export type Fence = {
      readonly mark: "\`" | "~";
      readonly length: number;
  } | null;
  /** The fence that is open after this line, and whether the line is part of a fence (its ends included). */
  export function nextFence(fence: Fence, line: string): {
      readonly fence: Fence;
      readonly inside: boolean;
  };
  /**
   * The fence that is open after the lines that begin in \`bytes[0, cut)\`; the first one is left out when it was cut
   * before (\`midLine\`). Looks at nothing but the places where three marks stand together, so it keeps up with any stream.
   */
  export function fenceAfter(fence: Fence, bytes: Buffer, cut: number, midLine: boolean): Fence;
}

declare module "ralph:agents/signals" {
  /**
   * What in an agent's words can be a signal: whole lines, outside code fences, not an echo of the prompt. Pure.
   *
   * @module
   */
  import { type Fence } from "ralph:agents/fences";
  /** How many signal lines of a turn are kept. */
  export const SIGNAL_LINES: number;
  /** What is known about the words before the lines are looked at. */
  export interface SignalOptions {
      /** The prompt of the turn: an echo of it is no signal. @default "" */
      readonly prompt?: string;
      /** The code fence that is open at the start of the text. @default null */
      readonly fence?: Fence;
      /** The text begins in the middle of a line: its first line is left out. @default false */
      readonly midLine?: boolean;
      /** How many lines are kept, from the end. @default 2000 */
      readonly limit?: number;
  }
  /**
   * The lines of an agent's words that can be a signal, oldest first.
   *
   * @example A marker counts as a line of its own
   * \`\`\`ts
   * import { signalLines } from "ralph";
   *
   * console.log(signalLines("All done.\\n**<ralph>DONE</ralph>**\\n")); // ["All done.", "<ralph>DONE</ralph>"]
   * \`\`\`
   */
  export function signalLines(text: string, options?: SignalOptions): string[];
  /** A line without the white space, \`*\`, \`_\` and back-ticks around it. */
  export function stripMarks(line: string): string;
  /**
   * The text without an echo of the whole prompt, quoted (\`> \`) or not. Parts of the prompt that an agent repeats are
   * its own words: a corrected document shares most of its lines with the one in the prompt.
   */
  export function withoutEcho(text: string, prompt: string): string;
}

declare module "ralph:events/redact" {
  /** Masks a stream: what \`push\` and \`end\` return, one after the other, is the masked stream. */
  export interface Masker {
      push(chunk: Uint8Array): Uint8Array;
      /** What was held back because it could have become a secret. */
      end(): Uint8Array;
  }
  /** Masks whole texts, or starts a stream. */
  export interface Redactor {
      /** The text with each secret replaced by \`***\`; the same string when there is none. */
      text(text: string): string;
      stream(): Masker;
  }
  /**
   * Masks these values, and everything that has the shape of a well-known key.
   *
   * @example
   * \`\`\`ts
   * import { createRedactor } from "ralph";
   *
   * const redactor = createRedactor(["hunter2hunter2"]);
   * console.log(redactor.text("the password is hunter2hunter2")); // the password is ***
   * \`\`\`
   */
  export function createRedactor(values: readonly string[]): Redactor;
}

declare module "ralph:events/secrets" {
  /**
   * What a secret looks like: values of environment variables that are named like keys, and the shapes of well-known keys.
   *
   * @module
   */
  /** A well-known kind of key: what it begins with, and how long it is at least. */
  export interface KeyShape {
      readonly prefix: string;
      /** Length with the prefix. */
      readonly minimum: number;
  }
  /** All end where a character is neither a letter nor a digit nor one of \`_-.\`. */
  export const KEY_SHAPES: readonly KeyShape[];
  /**
   * Values to mask: those of variables whose names look like keys. Sorted, each once; also as JSON writes them.
   *
   * @example
   * \`\`\`ts
   * import { secretValues } from "ralph";
   *
   * console.log(secretValues({ SERVICE_TOKEN: "abcdef123456", EDITOR: "vi" })); // ["abcdef123456"]
   * \`\`\`
   */
  export function secretValues(variables: Readonly<Record<string, string | undefined>>): string[];
}

declare module "ralph:backlogs/gsd/backlog" {
  import type { Config } from "ralph:config/schema";
  import type { RunInfo } from "ralph:context";
  import type { EventSink } from "ralph:events/types";
  import type { Repository } from "ralph:git/types";
  import type { Host } from "ralph:host/types";
  import type { Backlog } from "ralph:loop/types";
  import type { StateFiles } from "ralph:backlogs/state_files";
  import { type GsdItemData } from "ralph:backlogs/gsd/item_data";
  import { type Signal } from "ralph:backlogs/gsd/signals";
  /** What the backlog needs of the context. */
  export interface GsdBacklogContext {
      readonly root: string;
      readonly config: Config;
      readonly state: StateFiles;
      readonly repository: Repository | null;
      readonly host: Host;
      readonly events: EventSink;
      readonly run: Pick<RunInfo, "folder">;
  }
  /** What is run, and how. */
  export interface GsdBacklogOptions {
      /** This plan alone: \`01-02\`. @default every plan from STATE.md's position on */
      readonly plan?: string;
      /**
       * What becomes of checkpoints: left out and listed in the SUMMARY, done with a person at the terminal, or a plan that
       * has some is not begun.
       * @default "skip"
       */
      readonly checkpoints?: "skip" | "interactive" | "block";
  }
  /** What the agent's last signal was, and whether only a SUMMARY had been asked for. */
  export interface GsdFindings {
      readonly signal: Signal | null;
      readonly summaryOnly: boolean;
  }
  /**
   * The plans of a GSD project, one an iteration. A plan passes when every \`<command>\` and \`<automated>\` of it passed,
   * run by Ralph; then STATE.md, ROADMAP.md and the SUMMARY are brought up to date. A task that fails is tried once more,
   * then the loop stops; a plan whose own verification fails stops it at once.
   *
   * @throws {RalphError} state-missing, state-invalid from every call that reads the folder
   * @example Work off the plans of .planning/
   * \`\`\`ts
   * import { gsdBacklog, runLoop } from "ralph";
   * import { testContext } from "ralph/testing";
   *
   * const plan = "<task type=\\"auto\\"><name>a</name><verify><automated>test -f a.txt</automated></verify></task>\\n";
   * await using ralph = await testContext({
   *   files: { ".planning/phases/01-base/01-01-PLAN.md": plan.replaceAll("><", ">\\n<") },
   *   agent: { turns: [{ write: { "a.txt": "a", ".planning/phases/01-base/01-01-SUMMARY.md": "Done" }, say: "###PLAN_COMPLETE###" }] },
   * });
   * console.log((await runLoop(ralph, gsdBacklog(ralph))).status); // passed
   * \`\`\`
   */
  export function gsdBacklog(ralph: GsdBacklogContext, options?: GsdBacklogOptions): Backlog<GsdItemData, GsdFindings>;
}

declare module "ralph:config/schema" {
  /**
   * \`ralph.config.json\`: every field with a default of its own, so that a block given in part loses nothing.
   *
   * @module
   */
  import { z } from "zod";
  /** One agent: a command, or a known agent's name with what it is told. */
  export interface ProviderChoice {
      /** Runs through the shell exactly as written, prompt on standard input, output as plain text. */
      readonly command?: string | undefined;
      /** The name of a built-in adapter. */
      readonly preset?: string | undefined;
      /** In the agent's own words; only with \`preset\`. */
      readonly model?: string | undefined;
      /** How hard it thinks, in the agent's own words; only with \`preset\`. */
      readonly reasoning?: string | undefined;
  }
  /** The agent that does the work. */
  export interface ProviderConfig extends ProviderChoice {
      /** Put behind the command, each quoted for the shell. */
      readonly args: readonly string[];
      /**
       * Put behind the command (instead of \`args\`) or the known agent's program where the terminal is handed over, as by
       * \`ralph prd\`, GSD's planning and a plan with checkpoints; the prompt comes last.
       */
      readonly interactiveArgs?: readonly string[] | undefined;
      /** Takes over while the agent waits for a rate limit: a known agent's name, or a choice of its own. */
      readonly fallback?: string | ProviderChoice | undefined;
      /** Seconds for one turn. @default 1800 */
      readonly timeout: number;
      /** Seconds without output, for agents that stream events. @default 1200 */
      readonly idleTimeout: number;
  }
  /** What must pass. */
  export interface VerifyConfig {
      /** Run for every item. */
      readonly default: readonly string[];
      /** Run for items tagged \`ui\`, after the browser checks. */
      readonly ui: readonly string[];
      /** Seconds for one command. @default 300 */
      readonly timeout: number;
      /** Let a claim settle an item that names no check. @default false */
      readonly allowUnverified: boolean;
      /** Run the shared checks once before the first turn, and tell which fail already. @default false */
      readonly baseline: boolean;
      /** Run commands in a clean git worktree of what the turn left: what git ignores is not there. @default false */
      readonly isolated: boolean;
  }
  /** What is watched, so that tests are not weakened until they pass. */
  export interface TestsConfig {
      /** Globs, relative to the root, of the files that are tests. */
      readonly globs: readonly string[];
      /** \`report\`: weakened tests are told, \`block\`: the attempt fails. @default "report" */
      readonly integrity: "off" | "report" | "block";
  }
  /** When a run ends although work is left. \`null\`: no limit. */
  export interface LimitsConfig {
      /** Agent turns of one run. */
      readonly iterations: number | null;
      /** Minutes that one run lasts. */
      readonly minutes: number | null;
      /** Tokens, input and output, of one run; what an agent does not tell is not counted. */
      readonly tokens: number | null;
      /** US dollars of one run; what an agent does not tell is not counted. */
      readonly costUsd: number | null;
      /** Turns in a row that changed nothing. @default 5 */
      readonly noProgress: number;
      /** The same failure this often in a row blocks the item. @default 3 */
      readonly sameFailure: number;
      /** Parallel hooks at once. @default 4 */
      readonly hooks: number;
      /** Rejections after which a task of the spec workflow is given up on. @default 3 */
      readonly rejections: number;
      /** Seconds that a rate limit is waited for at most; 0 never waits. @default 21600 */
      readonly maxWait: number;
  }
  /** What is kept of earlier runs. */
  export interface LogsConfig {
      /** How many runs' folders; the oldest go first. @default 20 */
      readonly keep: number;
  }
  /** What Ralph commits. */
  export interface CommitsConfig {
      /** Commit what a verified turn left uncommitted. @default true */
      readonly work: boolean;
      /** Commit Ralph's own state. @default true */
      readonly prdChanges: boolean;
      /** Subject of the feature workflow's state commits. @default "chore: update prd.json" */
      readonly message: string;
  }
  /** A server that items tagged \`ui\` are looked at through. */
  export interface ServiceConfig {
      readonly name: string;
      /** Runs through the shell. Absent: the user runs the service. */
      readonly start?: string | undefined;
      /** URL that answers with a status below 500 when the service is ready. */
      readonly ready: string;
      /** Seconds until it must be. @default 30 */
      readonly readyTimeout: number;
      /** Start it afresh before each verification. @default true */
      readonly restartBeforeVerify: boolean;
  }
  /** The built-in look at pages. */
  export interface BrowserConfig {
      /** @default true */
      readonly enabled: boolean;
      /** Chrome or Chromium; empty: looked for. @default "" */
      readonly executablePath: string;
      /** Without a window. @default true */
      readonly headless: boolean;
      /** Relative to the root. @default ".ralph/screenshots" */
      readonly screenshotDir: string;
  }
  /** The slash commands of GSD, as the agent knows them: \`/gsd:plan-phase\`. @default what is installed */
  export interface GsdConfig {
      readonly commands: {
          readonly init?: string | undefined;
          readonly roadmap?: string | undefined;
          readonly discover?: string | undefined;
          readonly plan?: string | undefined;
      };
  }
  /** One hook of the configuration, with exactly one of \`workflow\`, \`prompt\` and \`command\`. */
  export interface HookConfig {
      readonly id: string;
      readonly workflow?: string | undefined;
      readonly prompt?: string | undefined;
      readonly command?: string | undefined;
      /** @default true */
      readonly enabled: boolean;
      /** Beside the next iteration; otherwise before it. @default true */
      readonly parallel: boolean;
      /** @default "after" */
      readonly when: "after" | "before";
      /** A parallel hook works in a git worktree of its own. @default true */
      readonly isolated: boolean;
      /** A known agent's name. @default the run's agent */
      readonly agent?: string | undefined;
      /** A command as the agent. */
      readonly agentCommand?: string | undefined;
      /** Seconds. @default provider.timeout */
      readonly timeout?: number | undefined;
  }
  /** The whole configuration, defaults filled in. */
  export interface Config {
      /** Wins over what is found in the root. */
      readonly workflow?: string | undefined;
      /** The agent that does the work. */
      readonly provider: ProviderConfig;
      /** What must pass. */
      readonly verify: VerifyConfig;
      /** What is watched. */
      readonly tests: TestsConfig;
      /** When a run ends although work is left. */
      readonly limits: LimitsConfig;
      /** What Ralph commits. */
      readonly commits: CommitsConfig;
      /** Servers that items tagged \`ui\` are looked at through. */
      readonly services: readonly ServiceConfig[];
      /** The built-in look at pages. */
      readonly browser: BrowserConfig;
      /** What is kept of earlier runs. */
      readonly logs: LogsConfig;
      /** Attempts an item is given. @default 3 */
      readonly maxRetries: number;
      /** Globs that a turn must not change; \`ralph.config.json\` is always one of them. */
      readonly protect: readonly string[];
      /** Run with each iteration of every workflow. */
      readonly hooks: readonly HookConfig[];
      /** How a run is shown. @default "auto" */
      readonly ui: "auto" | "rich" | "plain" | "json";
      /** The slash commands of GSD. */
      readonly gsd: GsdConfig;
  }
  /** The schema, as \`ralph schema config\` prints it. */
  export const CONFIG_SCHEMA: z.ZodType<Config>;
}

declare module "ralph:context" {
  /**
   * What every step is handed, and the one place where the real world is joined to it.
   *
   * @module
   */
  import type { $Type } from "ralph:dax";
  import type { Agent } from "ralph:agents/types";
  import type { StateFiles } from "ralph:backlogs/state_files";
  import type { Config } from "ralph:config/schema";
  import type { EventBus } from "ralph:events/types";
  import type { Repository } from "ralph:git/types";
  import type { Host } from "ralph:host/types";
  import type { Journal } from "ralph:loop/journal_types";
  import type { RunLock } from "ralph:loop/run_lock";
  import type { Prompter } from "ralph:ui/types";
  /** One run's identity and its folder. */
  export interface RunInfo {
      /** \`20261121-224541-k3f9\`: local time and four random characters. Also \`RALPH_RUN\` in children. */
      readonly id: string;
      /**
       * Makes the run's folder below a folder of the root and writes the events there from then on.
       * @returns its absolute path
       */
      folder(runsDirectory: string): Promise<string>;
      /** The next iteration's number, from 1: counted over all loops of the run, so that attempts have names of their own. */
      nextIteration(): number;
  }
  /** What a recipe is handed. Plain and readonly; derive with spread, never store on it. */
  export interface RalphContext {
      /** Absolute path of the project. */
      readonly root: string;
      /** \`ralph.config.json\` with its defaults, and what flags or \`createRalph()\` laid over it. */
      readonly config: Config;
      /** dax, with the root as its folder. */
      readonly $: $Type;
      /** Takes the turns. */
      readonly agent: Agent;
      /** Takes over while the agent waits for a rate limit. */
      readonly fallback?: Agent | null;
      /** Puts questions to a person, or to what was answered beforehand. */
      readonly prompter: Prompter;
      /** Consents given beforehand by a person: \`prd\`, \`understand\`, \`run\`, or a gate of your own; \`all\`. */
      readonly approvals: ReadonlySet<string>;
      /** Where steps tell what happens. */
      readonly events: EventBus;
      /** The loop's own memory: attempts, and what was begun. */
      readonly journal: Journal;
      /** State files, with shadow copies and the store lock. */
      readonly state: StateFiles;
      /** Aborts every step. */
      readonly signal: AbortSignal;
      /** Clock, ids, environment, terminal and processes: the only way to the outside. */
      readonly host: Host;
      /** \`null\` outside a git repository: only \`verify()\` and questions work there. */
      readonly repository: Repository | null;
      readonly run: RunInfo;
      /** What \`runLoop()\` does where its own options say nothing. */
      readonly loop: LoopDefaults;
      /** Held by steps that start an agent; taking it again inside is free. */
      readonly lock: RunLock;
  }
  /** What the command line says of the loop; \`runLoop()\`'s own options go before. */
  export interface LoopDefaults {
      /** The branch to work on; "" stays on the current one. Absent: the backlog's. */
      readonly branch?: string;
      /** Ask between two iterations. */
      readonly interactive: boolean;
      /** Take up again what was parked. */
      readonly retryBlocked: boolean;
  }
}

declare module "ralph:backlogs/state_files" {
  import type { Host } from "ralph:host/types";
  /** A state file that differs from what Ralph last wrote. */
  export interface HandEdit {
      /** Relative to the root. */
      readonly path: string;
      /** What stands there now, or \`null\` when the file is gone. */
      readonly found: string | null;
      /** What Ralph last wrote. */
      readonly written: string;
  }
  /** What of a hand edit may stay: the text that is put in the file's place. */
  export type Restore = (edit: {
      readonly path: string;
      readonly found: string;
      readonly written: string;
  }) => string;
  /** The state files of one root. Paths are relative to it. */
  export interface StateFiles {
      /** Text of the file, or \`null\` when there is none. */
      read(path: string): Promise<string | null>;
      /**
       * Read, change and write under the store lock. Returning the text that was given, or \`null\` for a missing file, writes nothing.
       * @returns what stands in the file afterwards
       */
      update(path: string, change: (text: string | null) => string | null): Promise<string | null>;
      /**
       * As \`update\`, for a change that comes while an agent may be editing the file: what was edited by hand stays a hand
       * edit. The change is made to Ralph's version and to what stands in the file; where it cannot be made to one of them,
       * that one stays as it is.
       */
      amend(path: string, change: (text: string | null) => string | null): Promise<string | null>;
      /**
       * The same with more in it: reads the file and lets \`work\` write it as it likes, and commit it, before anybody else
       * may change it.
       */
      transact<Result>(path: string, work: (text: string | null, write: (text: string) => Promise<void>) => Promise<Result>): Promise<Result>;
      /** What stands there now is Ralph's own from here on: what a person changed between runs. */
      adopt(paths: readonly string[]): Promise<void>;
      /** Those of the files that were edited by hand since Ralph last wrote them; one that it never wrote is none. */
      edited(paths: readonly string[]): Promise<readonly HandEdit[]>;
      /**
       * Puts Ralph's version back, or what \`restore\` makes of both.
       * @returns the files in which something was taken back
       */
      putBack(edits: readonly HandEdit[], restore?: Restore): Promise<readonly string[]>;
  }
  /** What \`createStateFiles\` needs. */
  export interface StateFilesOptions {
      /** Absolute path of the root. */
      readonly root: string;
      /** Absolute path of the folder for shadow copies and the store lock. */
      readonly directory: string;
      readonly host: Host;
  }
  /** The state files of one root, with their shadow copies below \`directory\`. */
  export function createStateFiles({ root, directory, host }: StateFilesOptions): StateFiles;
}

declare module "ralph:git/types" {
  /**
   * What Ralph asks of git. It never pushes, merges, stashes, force-moves or discards.
   *
   * @module
   */
  /** One path that differs from HEAD, relative to the top level, with \`/\`. */
  export interface ChangedPath {
      /** With \`/\`, also on Windows. */
      readonly path: string;
      /** The two letters of \`git status --porcelain\`, \`??\` for an untracked file. */
      readonly code: string;
      /** Git does not know it. */
      readonly untracked: boolean;
      /** Set for a submodule: git's four letters for it, such as \`SC.U\`. Ralph commits none. */
      readonly submodule?: string;
  }
  /** The state of the working tree as one \`git status\` tells it. Ignored files are not part of it. */
  export interface TreeStatus {
      /** Commit of HEAD, or \`null\` before the first commit. */
      readonly head: string | null;
      /** Branch name, or \`null\` when HEAD is detached. */
      readonly branch: string | null;
      readonly changed: readonly ChangedPath[];
  }
  /** A tree status with the content of every changed file, to be compared later. */
  export interface TreeSnapshot extends TreeStatus {
      /** Path to a hash of its content, mode included; \`null\` for a file that is gone. */
      readonly contents: ReadonlyMap<string, string | null>;
  }
  /** One commit that Ralph makes. */
  export interface CommitRequest {
      /** Paths relative to the top level; only these are committed (\`git commit --only\`). */
      readonly paths: readonly string[];
      /** One line. */
      readonly subject: string;
      /** Below the subject. */
      readonly body?: string;
      /** Run the user's commit hooks. @default false (state commits) */
      readonly hooks?: boolean;
      /** A status taken after the last change of the tree; saves one \`git status\`. @default a fresh one */
      readonly known?: TreeStatus;
  }
  /** What became of a commit. */
  export type CommitResult = {
      readonly status: "committed";
      readonly commit: string;
  }
  /** Nothing in the named paths differs from HEAD, or all of them are ignored. */
   | {
      readonly status: "nothing";
      readonly ignored: readonly string[];
  }
  /** The user's hook said no; \`output\` is the tail of what it printed. */
   | {
      readonly status: "refused";
      readonly output: string;
  };
  /** A repository's working tree. All paths are relative to \`topLevel\` unless said otherwise. */
  export interface Repository {
      /** Absolute path of the working tree. */
      readonly topLevel: string;
      /** Absolute path of this worktree's git directory. */
      readonly gitDirectory: string;
      /** Absolute path of Ralph's own folder in it (\`git rev-parse --git-path ralph\`): lock, journal, shadow copies. */
      readonly ralphDirectory: string;
      status(): Promise<TreeStatus>;
      /** The branch, read without a process; \`null\` when HEAD is detached. */
      currentBranch(): Promise<string | null>;
      snapshot(): Promise<TreeSnapshot>;
      /** Paths whose content differs between a snapshot and now, commits made since included. Sorted. */
      changedSince(before: TreeSnapshot): Promise<{
          readonly paths: readonly string[];
          readonly now: TreeSnapshot;
      }>;
      /** A readable diff of these paths against a commit, bounded to \`maxBytes\` (default 32768). */
      diff(paths: readonly string[], options?: {
          readonly base?: string | null;
          readonly maxBytes?: number;
      }): Promise<string>;
      /** Text of files as a commit has them, the first \`maxBytes\` of each (default 1 MiB); \`null\` for one that is not there. */
      contents(commit: string, paths: readonly string[], options?: {
          readonly maxBytes?: number;
      }): Promise<ReadonlyMap<string, string | null>>;
      commit(request: CommitRequest): Promise<CommitResult>;
      /** Creates or switches to a branch, keeping local changes. @throws {RalphError} branch-invalid, branch-failed */
      switchTo(branch: string): Promise<void>;
      /** @throws {RalphError} git-identity-missing, git-operation-in-progress, git-locked */
      ensureReady(): Promise<void>;
      /** Takes away locks, not older than \`since\` (milliseconds since 1970), that an ended agent's git left behind. */
      clearLeftLocks(since: number): Promise<void>;
      /** Commit subjects, newest first. */
      log(count: number): Promise<readonly {
          readonly commit: string;
          readonly subject: string;
      }[]>;
      /** Runs \`git\` with these arguments in the top level; for what the methods above do not cover. */
      git(arguments_: readonly string[], options?: {
          readonly input?: string;
          readonly timeoutMs?: number;
          /** Laid over git's own surroundings: \`GIT_INDEX_FILE\` … */
          readonly environment?: Readonly<Record<string, string>>;
      }): Promise<{
          readonly exitCode: number | null;
          readonly stdout: string;
          readonly stderr: string;
      }>;
  }
}

declare module "ralph:loop/journal_types" {
  /**
   * The loop's own memory: every attempt, and every item that was begun and not settled. Append-only, one JSON line each.
   *
   * @module
   */
  import type { Attempt, Item, ParkedItem, Settlement } from "ralph:loop/types";
  /** Which backlog a journal entry belongs to. */
  export interface JournalKey {
      /** The backlog's \`name\`. */
      readonly backlog: string;
      /** The backlog's \`scope\`, or "". */
      readonly scope: string;
  }
  /** An item that was begun and not settled: a run was killed. */
  export interface OpenItem {
      /** As it was when it was begun. */
      readonly item: Item;
      /** Of the attempt that did not end. */
      readonly attemptId: string;
      /** Of that attempt at the item, from 1. */
      readonly number: number;
      /** The attempt, when it was known before the kill: settling had begun. */
      readonly attempt: Attempt | null;
      /** What the attempt left uncommitted, with a hash of each file's content (\`null\`: taken away). */
      readonly work: Readonly<Record<string, string | null>>;
      /** Paths that were dirty before any turn of that run: the user's own. */
      readonly userPaths: readonly string[];
  }
  /** Reads and appends. Every append is one write of one line. */
  export interface Journal {
      /** Reads what another process has written since: called when the run lock is held. */
      refresh(): Promise<void>;
      /** Attempts at this item, with this fingerprint, since it last passed, was parked, or a run ended. Oldest first. */
      history(key: JournalKey, item: Item): readonly Attempt[];
      open(key: JournalKey): readonly OpenItem[];
      /** Some item of this backlog was begun and not settled, whatever its scope: known without reading the store. */
      interrupted(backlog: string): boolean;
      parked(key: JournalKey): readonly ParkedItem[];
      /** What earlier attempts left uncommitted, and which item's they were. */
      leftovers(key: JournalKey): ReadonlyMap<string, Leftover>;
      begun(key: JournalKey, item: Item, attempt: BegunAttempt): Promise<void>;
      settling(key: JournalKey, item: Item, attempt: Attempt, work: Readonly<Record<string, string | null>>): Promise<void>;
      /** \`kept\`: what is still uncommitted afterwards. */
      settled(key: JournalKey, item: Item, attempt: Attempt, settlement: Settlement, kept: Readonly<Record<string, string | null>>): Promise<void>;
      /** \`--retry-blocked\`: nothing is parked any more. */
      unpark(key: JournalKey): Promise<void>;
      runEnded(key: JournalKey): Promise<void>;
  }
  /** What is known when an attempt begins. */
  export interface BegunAttempt {
      /** Unique over all runs. */
      readonly id: string;
      /** At this item, from 1. */
      readonly number: number;
      /** Uncommitted paths that were the user's before. */
      readonly userPaths: readonly string[];
  }
  /** A file that an attempt changed and nobody committed. */
  export interface Leftover {
      readonly itemId: string;
      /** Hash of its content then, \`null\` when it was taken away. */
      readonly content: string | null;
  }
}

declare module "ralph:loop/run_lock" {
  import type { Repository } from "ralph:git/types";
  import type { Host } from "ralph:host/types";
  /** The lock that lets one run at a time work in a tree. Taking it again inside is free. */
  export interface RunLock {
      /** @throws {RalphError} run-locked, not-a-repository */
      acquire(purpose: string): Promise<AsyncDisposable>;
      /** Lets go, whoever still holds it. */
      release(): Promise<void>;
  }
  /** What the lock is about. */
  export interface RunLockOptions {
      readonly host: Host;
      readonly repository: Repository | null;
      readonly root: string;
      /** Absolute path of the lock file. */
      readonly file: string;
  }
  /** A living holder is refused; a dead one's lock is taken over, and what its processes left behind is ended. */
  export function createRunLock({ host, repository, root, file }: RunLockOptions): RunLock;
}

declare module "ralph:ui/types" {
  /**
   * Questions to a person, and who answers them.
   *
   * @module
   */
  import type { AnswerSource } from "ralph:events/types";
  /** One question. Its \`id\` is stable: answers files name it. */
  export type Question = {
      /** \`plan.write-prd\`, \`gate.run\`, \`plan.change\` … */
      readonly id: string;
      readonly message: string;
      /** Lines shown above the question. */
      readonly details?: readonly string[];
      /** The consent that answers it beforehand: \`--approve prd\`. A gate is never answered by an answers file. */
      readonly gate?: string;
      /** True for a question that the planner's agent asks: matched by its text in the answers file. */
      readonly fromAgent?: boolean;
  } & ({
      readonly kind: "confirm";
      readonly initial: boolean;
  } | {
      readonly kind: "text";
      readonly initial?: string;
      readonly placeholder?: string;
  } | {
      readonly kind: "select";
      readonly initial: string;
      readonly choices: readonly Choice[];
  });
  /** One way to answer a \`select\`. */
  export interface Choice {
      /** What the answer is. */
      readonly value: string;
      /** What a person reads. */
      readonly label: string;
      /** Beside the label. */
      readonly hint?: string;
  }
  /** What was answered: \`yes\`/\`no\` for a confirm, a choice's value, or free text. */
  export interface Answer {
      /** \`yes\` and \`no\` for a confirmation. */
      readonly value: string;
      /** Where it came from; anything but a person is marked so in transcripts. */
      readonly source: AnswerSource;
  }
  /** Asks. */
  export interface Prompter {
      /** Somebody can be asked: a terminal, or an explicit plain mode on standard input. */
      readonly interactive: boolean;
      /**
       * @throws {RalphError} answer-missing when nobody can be asked and there is no default that may be taken
       * @throws {RalphError} interrupted when the person pressed Ctrl-C
       */
      ask(question: Question): Promise<Answer>;
  }
}

declare module "ralph:backlogs/gsd/item_data" {
  import type { Plan, Planning, PlanTask, Verifying } from "ralph:backlogs/gsd/types";
  import type { Position } from "ralph:backlogs/gsd/position";
  /** What an item of the gsd backlog carries: the plan as it stood when it was taken up. Plain JSON. */
  export interface GsdItemData {
      readonly id: string;
      readonly phase: string;
      readonly phaseName: string;
      readonly number: string;
      /** The plan's place in its phase, from 1. */
      readonly place: number;
      readonly file: string;
      readonly summaryFile: string;
      readonly title: string;
      readonly tasks: readonly Pick<PlanTask, "checkpoint" | "commands" | "name" | "notCheckable" | "number">[];
      readonly verification: Verifying;
      /** Nothing in it is for an agent. */
      readonly checkpointsOnly: boolean;
      /** Complete before this plan, and all: of its phase, and over all phases. */
      readonly phaseComplete: number;
      readonly phaseTotal: number;
      readonly complete: number;
      readonly total: number;
      /** Older than STATE.md's position, which therefore stays where it is. */
      readonly behind: boolean;
      /** ROADMAP.md ticked it already. */
      readonly wasTicked: boolean;
      /** Ids of the other plans that are not complete: a SUMMARY of one of them that turns up is none. */
      readonly others: readonly string[];
  }
  /** Takes the snapshot. Pure. */
  export function itemDataOf(plan: Plan, planning: Planning, position: Position): GsdItemData;
}

declare module "ralph:backlogs/gsd/types" {
  /**
   * What \`.planning/\` holds, as read: phases, plans, position, and what could not be made sense of.
   * Everything is plain JSON.
   *
   * @module
   */
  /** Something that a reader could not make sense of, or took in a way that a person may want to know. */
  export interface Diagnostic {
      /** Relative to the root. */
      readonly file: string;
      /** From 1; 0 for the file as a whole. */
      readonly line: number;
      readonly message: string;
  }
  /** What a command is expected to do. */
  export interface Expectation {
      /** The exit code, or any but 0. @default 0 */
      readonly exit?: number | "non-zero";
      /** Text that its output must contain. */
      readonly output?: string;
  }
  /** A command that a plan's author meant to be run by a machine: \`<command>\` or \`<automated>\`, entities decoded. */
  export interface PlanCommand {
      /** As the shell gets it, entities decoded. */
      readonly command: string;
      /** What it has to do. */
      readonly expect: Expectation;
      /** The \`name\` of the \`<check>\` around it. */
      readonly name: string | null;
      /** In the plan, from 1. */
      readonly line: number;
  }
  /** What a \`<verify>\` or \`<verification>\` asks for. */
  export interface Verifying {
      readonly commands: readonly PlanCommand[];
      /** What is written there for people and agents: never run. */
      readonly notCheckable: readonly string[];
  }
  /** A task of a plan. */
  export interface PlanTask extends Verifying {
      /** From 1, in the order of the file. */
      readonly number: number;
      /** As the plan has it. */
      readonly name: string;
      /** As written: \`auto\`, \`checkpoint:human-verify\`, or \`null\`. */
      readonly type: string | null;
      /** For a person: left out in an unattended loop. */
      readonly checkpoint: boolean;
      /** In the plan, from 1. */
      readonly line: number;
  }
  /** What a PLAN.md says. */
  export interface PlanDocument {
      /** First level of the front matter: scalars as written, lists as lists. */
      readonly frontMatter: Readonly<Record<string, string | readonly string[]>>;
      readonly tasks: readonly PlanTask[];
      readonly verification: Verifying;
      /** First line of the objective, goal or heading. */
      readonly title: string | null;
      /** Files that \`<context>\` names with \`@\`. */
      readonly context: readonly string[];
      /** Lines of \`<success_criteria>\`. */
      readonly successCriteria: readonly string[];
      /** There is nothing in it to carry out. */
      readonly empty: boolean;
  }
  /** Why a plan counts as done. */
  export type Completion = {
      readonly done: true;
      readonly by: "summary" | "roadmap" | "skipped" | "phase" | "superseded";
  } | {
      readonly done: false;
  };
  /** A plan of a phase. */
  export interface Plan extends PlanDocument {
      /** \`01-02\`: phase and plan as the file name writes them. */
      readonly id: string;
      /** As written: \`02\`, \`01a\`, \`05.1\`. */
      readonly number: string;
      /** The phase's number as its folder writes it. */
      readonly phase: string;
      /** Relative to the root. */
      readonly file: string;
      /** Where its SUMMARY belongs, relative to the root. */
      readonly summaryFile: string;
      /** There is a SUMMARY of its own that does not say itself that the plan failed. */
      readonly summarized: boolean;
      readonly completion: Completion;
      /** Ids of plans that come first, as far as they were found. */
      readonly dependsOn: readonly string[];
  }
  /** A phase: its folder, its lines in ROADMAP.md, or both. */
  export interface Phase {
      /** As the folder, or else ROADMAP.md, writes it: \`02.1\`. */
      readonly number: string;
      readonly name: string;
      /** Relative to the root; \`null\` where only ROADMAP.md knows the phase. */
      readonly directory: string | null;
      /** ROADMAP.md ticks it. */
      readonly ticked: boolean;
      readonly plans: readonly Plan[];
      /** Plans that ROADMAP.md lists and that have no file yet. */
      readonly unwritten: readonly string[];
      /** There is a DISCOVERY.md or RESEARCH.md. */
      readonly researched: boolean;
  }
  /** Where STATE.md says the project stands. */
  export interface StatePosition {
      /** \`8\`, \`02.1\`; \`null\` where it names none. */
      readonly phase: string | null;
      /** \`none\`: it says that there is none (between milestones). \`not-started\`: it says so. */
      readonly kind: "phase" | "none" | "not-started" | "unknown";
      readonly phaseName: string | null;
      readonly totalPhases: string | null;
      /** The plan's place in its phase, from 1; \`null\` where it is not a number. */
      readonly plan: number | null;
      /** As written. */
      readonly planText: string | null;
      readonly status: string | null;
      readonly lastActivity: string | null;
      readonly progress: string | null;
  }
  /** All of \`.planning/\`. */
  export interface Planning {
      /** In order. */
      readonly phases: readonly Phase[];
      /** \`null\`: there is no STATE.md. */
      readonly state: StatePosition | null;
      /** \`null\` without ROADMAP.md. */
      readonly roadmap: boolean;
      /** What could not be made sense of, with file and line. */
      readonly diagnostics: readonly Diagnostic[];
  }
}

declare module "ralph:backlogs/gsd/position" {
  import type { Plan, Planning } from "ralph:backlogs/gsd/types";
  /** A plan with what is to be said of it. */
  export interface Noted {
      readonly id: string;
      readonly note: string;
  }
  /** Where a GSD project stands, and what comes next. */
  export interface Position {
      /** Where the project stands. */
      readonly status: "plan" | "done" | "blocked";
      /** The plan that comes next. */
      readonly next: Plan | null;
      /** Why this one, why none, or what stands in the way. */
      readonly reasons: readonly string[];
      /** Plans that are complete. */
      readonly complete: number;
      /** Plans there are. */
      readonly total: number;
      /** Plans left from here on, in the order in which they come. */
      readonly open: readonly Plan[];
      /** Plans without a SUMMARY that the project has long passed: run only by \`--plan\`. */
      readonly gaps: readonly Noted[];
      /** Complete although they have no SUMMARY of their own. */
      readonly withoutSummary: readonly Noted[];
      /** Phases that still have to be planned. */
      readonly unplanned: readonly Noted[];
  }
  /**
   * The next plan: the first one from STATE.md's position on that is not complete and whose dependencies are. Pure.
   */
  export function positionOf(planning: Planning): Position;
  /** Finds the plan that a person names: \`01-02\`, \`1-2\`, \`01-02-PLAN.md\`. Pure. */
  export function findPlan(planning: Planning, named: string): Plan | null;
}

declare module "ralph:backlogs/gsd/signals" {
  /** What the agent signalled last: a claim, never more. */
  export interface Signal {
      readonly kind: "PLAN_COMPLETE" | "TASK_FAILED" | "PLAN_FAILED" | "BLOCKED";
      /** May hold \`#\` itself. */
      readonly payload: string;
  }
  /** The last signal among the lines of an agent's words: what it says after a signal does not matter. Pure. */
  export function lastSignal(lines: readonly string[]): Signal | null;
}

declare module "ralph:backlogs/gsd/read_planning" {
  import type { Planning } from "ralph:backlogs/gsd/types";
  /**
   * Reads all of \`.planning/\`: phases, plans, what is complete and where STATE.md says the project stands. What could not
   * be made sense of is among the diagnostics, with file and line; nothing is guessed silently, and nothing is changed.
   *
   * @throws {RalphError} state-missing when there is no \`.planning/\`, state-invalid when no phase is found in it
   * @example Ask a GSD project where it stands
   * \`\`\`ts
   * import { readPlanning } from "ralph";
   * import { testContext } from "ralph/testing";
   *
   * await using ralph = await testContext({ files: { ".planning/phases/01-base/01-01-PLAN.md": "<task><name>a</name></task>\\n" } });
   * const { phases } = await readPlanning(ralph);
   * console.log(phases.map(({ number, plans }) => [number, plans.length])); // [ [ "01", 1 ] ]
   * \`\`\`
   */
  export function readPlanning({ root }: {
      readonly root: string;
  }): Promise<Planning>;
  /** The same, where nothing at all may have been planned yet. @throws {RalphError} state-missing */
  export function scanPlanning({ root }: {
      readonly root: string;
  }): Promise<Planning>;
}

declare module "ralph:backlogs/memory" {
  import type { Backlog, Check } from "ralph:loop/types";
  /** One piece of work of a list in memory. */
  export interface MemoryTask {
      /** Unique in the list. */
      readonly id: string;
      /** What is to be done: the prompt, and the commit's subject. */
      readonly title: string;
      /** What the agent is told. @default the title */
      readonly prompt?: string;
      /** Commands or checks that must pass. */
      readonly checks?: readonly (string | Check)[];
  }
  /** How a list in memory is worked off. */
  export interface MemoryBacklogOptions {
      /** @default "memory" */
      readonly name?: string;
      /** Attempts each task is given. @default 3 */
      readonly maxRetries?: number;
  }
  /**
   * A backlog that lives in memory: for build scripts and tests. What was done is forgotten with the process.
   *
   * @example Two tasks, worked off in order
   * \`\`\`ts
   * import { memoryBacklog } from "ralph";
   *
   * const backlog = memoryBacklog([{ id: "lint", title: "Mend the lint errors", checks: ["true"] }]);
   * console.log((await backlog.overview({ parked: [] })).open); // 1
   * \`\`\`
   */
  export function memoryBacklog(tasks: readonly MemoryTask[], options?: MemoryBacklogOptions): Backlog<MemoryTask>;
}

declare module "ralph:backlogs/prd/backlog" {
  import type { Config } from "ralph:config/schema";
  import type { Repository } from "ralph:git/types";
  import type { Host } from "ralph:host/types";
  import type { Backlog } from "ralph:loop/types";
  import type { StateFiles } from "ralph:backlogs/state_files";
  import type { Story } from "ralph:backlogs/prd/types";
  /** What the backlog needs of the context. */
  export interface PrdBacklogContext {
      readonly root: string;
      readonly config: Config;
      readonly state: StateFiles;
      readonly repository: Repository | null;
      readonly host: Host;
  }
  /** Where the PRD is. */
  export interface PrdBacklogOptions {
      /** Relative to the root. @default "scripts/ralph/prd.json" */
      readonly file?: string;
  }
  /** What an item of this backlog carries: a story, or all of them for the checks at the end. */
  export type PrdItemData = Story | readonly Story[];
  /**
   * The strict PRD of the exec workflow: one story an iteration, lowest priority first; after the last one every story's
   * checks once more. The format has no room for attempts and parked stories: they live in the loop's journal.
   *
   * @throws {RalphError} state-missing, state-invalid from every call that reads the file
   * @example Work off the stories of scripts/ralph/prd.json
   * \`\`\`ts
   * import { prdBacklog, runLoop } from "ralph";
   * import { testContext } from "ralph/testing";
   *
   * const story = { id: "US-001", title: "Add a.txt", acceptanceCriteria: ["Verify: \`test -f a.txt\`"], priority: 1, passes: false, notes: "" };
   * await using ralph = await testContext({
   *   files: { "scripts/ralph/prd.json": JSON.stringify({ branchName: "main", userStories: [story] }) },
   *   agent: { turns: [{ write: { "a.txt": "a" } }] },
   * });
   * console.log((await runLoop(ralph, prdBacklog(ralph))).status); // passed
   * \`\`\`
   */
  export function prdBacklog(ralph: PrdBacklogContext, options?: PrdBacklogOptions): Backlog<PrdItemData>;
}

declare module "ralph:backlogs/prd/types" {
  /**
   * The strict PRD of the exec workflow, as it stands in \`scripts/ralph/prd.json\`.
   *
   * @module
   */
  /** One user story: what one iteration works on. */
  export interface Story {
      /** Such as \`US-001\`. */
      readonly id: string;
      /** One line. */
      readonly title: string;
      /** A criterion \`\`Verify: \`cmd\` \`\` names a check. */
      readonly acceptanceCriteria: readonly string[];
      /** The lowest comes first. */
      readonly priority: number;
      /** Set by Ralph, after every check of the story passed. */
      readonly passes: boolean;
      /** Where Ralph keeps the last failure's reason. */
      readonly notes: string;
  }
  /** The whole document: these two keys and no others. */
  export interface Prd {
      /** The branch that \`ralph run\` works on. */
      readonly branchName: string;
      readonly userStories: readonly Story[];
  }
}

declare module "ralph:backlogs/prd/format" {
  import type { Prd } from "ralph:backlogs/prd/types";
  /**
   * The PRD as it stands in the file: two spaces, fixed order of keys, a newline at the end.
   */
  export function formatPrd(prd: Prd): string;
  /**
   * Reads a PRD and refuses whatever is not one.
   *
   * @param path named in the error
   * @throws {RalphError} state-invalid
   */
  export function parsePrd(text: string, path: string): Prd;
  /**
   * \`JSON.parse\` whose error names the line and column of a state file.
   *
   * @throws {RalphError} state-invalid
   */
  export function parseJson(text: string, path: string): unknown;
}

declare module "ralph:backlogs/prd/validate" {
  /**
   * What is wrong with a PRD, in a fixed order and wording; nothing when it is valid.
   *
   * @example Refuse what is not a PRD
   * \`\`\`ts
   * import { validatePrd } from "ralph";
   *
   * console.log(validatePrd([])); // [ "PRD must be a JSON object" ]
   * \`\`\`
   */
  export function validatePrd(data: unknown): readonly string[];
}

declare module "ralph:backlogs/spec/backlog" {
  import type { Config } from "ralph:config/schema";
  import type { Host } from "ralph:host/types";
  import type { Backlog } from "ralph:loop/types";
  import type { StateFiles } from "ralph:backlogs/state_files";
  import { type SpecItemData } from "ralph:backlogs/spec/item";
  /** What the backlog needs of the context. */
  export interface SpecBacklogContext {
      readonly root: string;
      readonly config: Config;
      readonly state: StateFiles;
      readonly host: Host;
      readonly loop: {
          readonly retryBlocked: boolean;
      };
  }
  /** How the plan is worked off. */
  export interface SpecBacklogOptions {
      /** Rejections after which a task is given up on. @default limits.rejections of the configuration */
      readonly rejections?: number;
  }
  /**
   * The staged plan of the spec workflow, \`ralph/plan.jsonl\`: tasks are built one an iteration, then verified together, then
   * issues are investigated, until nothing is left. The agent says by \`ralph task done\` what it has done; the checks decide.
   *
   * @throws {RalphError} state-missing, state-invalid from every call that reads the file
   * @example Work the plan off
   * \`\`\`ts
   * import { runLoop, specBacklog } from "ralph";
   * import { testContext } from "ralph/testing";
   *
   * const plan = ['{"t": "spec", "spec": "a.md"}', '{"t": "task", "id": "t-1a2b", "spec": "a.md", "name": "a", "s": "d"}'];
   * await using ralph = await testContext({
   *   files: { "ralph/plan.jsonl": \`\${plan.join("\\n")}\\n\` },
   *   agent: { turns: [{ match: "t-1a2b", write: { "ralph/plan.jsonl": \`\${plan[0]}\\n\` } }] },
   * });
   * console.log((await runLoop(ralph, specBacklog(ralph))).status); // unverified
   * \`\`\`
   */
  export function specBacklog(ralph: SpecBacklogContext, options?: SpecBacklogOptions): Backlog<SpecItemData>;
}

declare module "ralph:backlogs/spec/item" {
  import type { Item } from "ralph:loop/types";
  import type { Stage } from "ralph:backlogs/spec/stage";
  import type { Issue, Plan, Task } from "ralph:backlogs/spec/types";
  /** What an item of the spec workflow carries: the plan as it was when the item was given, as far as it matters. */
  export interface SpecItemData {
      readonly stage: Exclude<Stage, "PLAN" | "COMPLETE">;
      readonly spec: string;
      /** Lines of the records that the turn is about, as they stand in the file. */
      readonly lines: readonly string[];
      /** Ids that were done (BUILD), or all that were there (DECOMPOSE, INVESTIGATE). */
      readonly ids: readonly string[];
      /** How often the task had been rejected. */
      readonly rejections: number;
  }
  /** One iteration of the staged loop. */
  export type SpecItem = Item<SpecItemData>;
  /** The tasks that an item is about. */
  export function tasksIn({ data }: SpecItem): readonly Task[];
  /** The issues that an item is about. */
  export function issuesIn({ data }: SpecItem): readonly Issue[];
  export function buildItem(plan: Plan, task: Task): SpecItem;
  export function decomposeItem(plan: Plan, task: Task): SpecItem;
  export function decomposeId(task: Pick<Task, "id">): string;
  export function verifyItem(plan: Plan): SpecItem;
  export function investigateItem(plan: Plan): SpecItem;
}

declare module "ralph:backlogs/spec/stage" {
  import type { Plan } from "ralph:backlogs/spec/types";
  /** Where a plan stands. */
  export type Stage = "PLAN" | "DECOMPOSE" | "BUILD" | "VERIFY" | "INVESTIGATE" | "COMPLETE";
  /** The stage of a plan: computed, never stored. */
  export function stageOf(plan: Plan): Stage;
}

declare module "ralph:backlogs/spec/types" {
  /**
   * The plan file of the spec workflow: one JSON record a line. Lines that nobody changed stay byte for byte; what cannot
   * be read is kept in its place. Everything here but the store and the backlog is pure.
   *
   * @module
   */
  /** Where the plan stands, relative to the root. */
  export const PLAN_FILE = "ralph/plan.jsonl";
  /** A JSON object as it was read. */
  export type JsonObject = Readonly<Record<string, unknown>>;
  /** How urgent a task is; none is \`medium\`. */
  export type Priority = "high" | "medium" | "low";
  /** What all records of the plan share. */
  interface Read {
      /** Number of its line, from 1; 0 for a line that is not written yet. */
      readonly line: number;
      /** The whole record, unknown keys included. */
      readonly record: JsonObject;
  }
  /** A \`{"t": "task"}\` record. */
  export interface Task extends Read {
      readonly id: string;
      readonly spec: string;
      readonly name: string;
      readonly notes: string;
      readonly accept: string;
      readonly deps: readonly string[];
      /** \`p\` pending, \`d\` done; anything else is kept and never counted. */
      readonly s: string;
      /** Commit that was HEAD when the task was marked done. */
      readonly doneAt: string | null;
      readonly priority: Priority;
      /** Why it was rejected, while it is tried again. */
      readonly reject: string | null;
      /** \`timeout\`, \`context\`, or what another program wrote to ask for a decomposition; \`null\` for a task that may be built. */
      readonly kill: string | null;
      readonly killLog: string | null;
      readonly parent: string | null;
  }
  /** A \`{"t": "issue"}\` record. */
  export interface Issue extends Read {
      readonly id: string;
      readonly spec: string;
      readonly desc: string;
  }
  /** A \`{"t": "reject"}\` record, a tombstone. */
  export interface Reject extends Read {
      readonly id: string;
      readonly doneAt: string;
      readonly reason: string;
  }
  /** What a line holds. */
  export type Entry = {
      readonly type: "task";
      readonly task: Task;
  } | {
      readonly type: "issue";
      readonly issue: Issue;
  } | {
      readonly type: "reject";
      readonly reject: Reject;
  } | {
      readonly type: "spec";
      readonly spec: string;
  }
  /** A record of a type that is not known here: kept. */
   | {
      readonly type: "other";
  } | {
      readonly type: "blank";
  } | {
      readonly type: "invalid";
      readonly problem: string;
  };
  /** One line of the file. */
  export interface PlanLine {
      /** From 1; 0 for a new one. */
      readonly number: number;
      /** The text without its line feed. */
      readonly raw: string;
      readonly entry: Entry;
  }
  /** The file, read. */
  export interface Plan {
      /** Relative to the root; for messages. */
      readonly file: string;
      /** False when there is no such file. */
      readonly exists: boolean;
      readonly lines: readonly PlanLine[];
      /** What new lines end with. */
      readonly newline: "\\n" | "\\r\\n";
      /** The last line ends with a line feed. */
      readonly closed: boolean;
  }
  /** Something that is wrong with a line, which stays as it is. */
  export interface PlanProblem {
      readonly line: number;
      readonly problem: string;
  }
  export {};
}

declare module "ralph:backlogs/prd/verify_commands" {
  /**
   * The commands that a criterion names in the form \`\`Verify: \`cmd\` \`\`, in their order. Other text in back-ticks is never
   * a command. A command that holds back-ticks itself is written between double ones.
   *
   * @example Only the one form is a command
   * \`\`\`ts
   * import { verifyCommands } from "ralph";
   *
   * console.log(verifyCommands("\`rm -rf /\` is refused. Verify: \`npm test\`")); // [ "npm test" ]
   * \`\`\`
   */
  export function verifyCommands(criterion: string): readonly string[];
  /** The commands of all criteria of a story, each once. */
  export function storyCommands(story: {
      readonly acceptanceCriteria: readonly string[];
  }): readonly string[];
}

declare module "ralph:backlogs/sprint/backlog" {
  import type { RalphContext } from "ralph:context";
  import type { Backlog } from "ralph:loop/types";
  import type { SprintFindings, SprintItemData, SprintProgress } from "ralph:backlogs/sprint/types";
  /** What the backlog needs of the context. */
  export type SprintContext = Pick<RalphContext, "config" | "host" | "root" | "state">;
  /** Which sprint. */
  export interface SprintBacklogOptions {
      /** The sprint's folder, relative to the root. */
      readonly directory: string;
  }
  /**
   * A free loop over a goal: planning, executing, reflecting, until the agent says that the goal is reached and the checks
   * agree. The state is \`PROGRESS.yaml\` in the sprint's folder.
   *
   * @throws {RalphError} state-missing, state-invalid, sprint-invalid from every call that reads the file
   * @example Run a compiled sprint
   * \`\`\`ts
   * import { compileSprint, runLoop, sprintBacklog, sprintHooks } from "ralph";
   * import { testContext } from "ralph/testing";
   *
   * await using ralph = await testContext({
   *   files: { "sprint/SPRINT.yaml": "workflow: ralph\\ngoal: say hello\\n" },
   *   agent: { turns: [{ write: { "hello.txt": "hello" }, say: "RALPH_COMPLETE: said hello" }] },
   *   config: { verify: { default: ["test -f hello.txt"] } },
   * });
   * await compileSprint(ralph, { directory: "sprint" });
   * const hooks = await sprintHooks(ralph, { directory: "sprint" });
   * const run = await runLoop(ralph, sprintBacklog(ralph, { directory: "sprint" }), { hooks });
   * console.log(run.status); // passed
   * \`\`\`
   */
  export function sprintBacklog(ralph: SprintContext, { directory }: SprintBacklogOptions): Backlog<SprintItemData, SprintFindings>;
  /** What PROGRESS.yaml says. @throws {RalphError} state-missing, state-invalid, sprint-invalid */
  export function readSprint({ state }: Pick<SprintContext, "state">, file: string): Promise<SprintProgress>;
  /** The first line of a text, cut. Pure. */
  export function titleOf(text: string): string;
}

declare module "ralph:backlogs/sprint/types" {
  /**
   * What PROGRESS.yaml says, as far as Ralph reads it. Whatever else stands in the file is kept.
   *
   * @module
   */
  /** One of \`dynamic-steps\`. */
  export interface SprintStep {
      readonly id: string;
      readonly prompt: string;
      /** \`pending\`, \`completed\`, or what somebody else wrote. */
      readonly status: string;
      /** The iteration that added it. */
      readonly addedIn: number | null;
  }
  /** One of \`hook-tasks\`. */
  export interface SprintHookTask {
      readonly iteration: number;
      readonly hookId: string;
      readonly status: string;
      readonly pid: number | null;
      readonly exitCode: number | null;
  }
  /** \`ralph-exit\`. */
  export interface SprintExit {
      readonly detectedAt: string | null;
      readonly iteration: number | null;
      readonly summary: string | null;
      /** \`null\`: the claim has not been checked. */
      readonly verified: boolean | null;
      /** Why the last claim did not count. */
      readonly lastFailure: string | null;
  }
  /** A sprint as it stands. */
  export interface SprintProgress {
      readonly sprintId: string;
      /** \`not-started\`, \`in-progress\`, \`completed\`, \`needs-human\`. */
      readonly status: string;
      /** Why a person is needed. */
      readonly humanNeeded: string | null;
      readonly goal: string;
      readonly goalPrompt: string | null;
      readonly stepPrompt: string | null;
      readonly reflectionPrompt: string | null;
      /** Iterations in a row without a pending step after which one reflects. */
      readonly idleThreshold: number;
      /** Iterations before a claim of completion counts. */
      readonly minIterations: number;
      readonly hooks: readonly HookEntry[];
      readonly steps: readonly SprintStep[];
      readonly hookTasks: readonly SprintHookTask[];
      readonly exit: SprintExit;
      /** The last iteration that was begun. */
      readonly currentIteration: number;
      /** Iterations that came to an end. */
      readonly completedIterations: number;
      /** Of those, how many in a row had no pending step. */
      readonly idleIterations: number;
  }
  /** One of \`per-iteration-hooks\`, as it is written. */
  export interface HookEntry {
      readonly id: string;
      readonly workflow?: string;
      readonly prompt?: string;
      readonly command?: string;
      readonly enabled: boolean;
      readonly parallel: boolean;
      readonly when: "after" | "before";
      readonly isolated: boolean;
      readonly agent?: string;
      readonly agentCommand?: string;
      /** Seconds. */
      readonly timeout?: number;
  }
  /** What an iteration is about. */
  export type SprintMode = "planning" | "executing" | "reflecting" | "completion";
  /** What an item of this backlog carries: a snapshot of the counters. */
  export interface SprintItemData {
      /** What the iteration is for. */
      readonly mode: SprintMode;
      /** From 1, over all runs of the sprint. */
      readonly iteration: number;
      /** Iterations that have ended. */
      readonly completed: number;
      /** Of them, the last in a row that left no step pending. */
      readonly idle: number;
      /** The one to carry out; \`null\` while planning or reflecting. */
      readonly step: SprintStep | null;
  }
  /** What a turn says of the sprint. */
  export interface SprintFindings {
      /** Prompts of steps that it added by hand or named in its last message. */
      readonly added: readonly string[];
      /** The one step that it says is completed. */
      readonly completed: {
          readonly id: string;
          readonly prompt: string;
      } | null;
      /** Summary of its claim that the goal is reached. */
      readonly complete: string | null;
      /** Why it asks for a person. */
      readonly needsHuman: string | null;
  }
}

declare module "ralph:backlogs/sprint/compile" {
  import type { Hook } from "ralph:loop/hooks";
  import { type SprintContext } from "ralph:backlogs/sprint/backlog";
  import { type SprintDefinition } from "ralph:backlogs/sprint/definition";
  /** How a sprint is compiled. */
  export interface CompileOptions {
      /** The sprint's folder, relative to the root. */
      readonly directory: string;
      /** Begin anew: the old PROGRESS.yaml is moved into the sprint's logs. @default false */
      readonly force?: boolean;
  }
  /** What compiling did. */
  export interface CompiledSprint {
      /** \`updated\`: goal and hooks of a sprint that has one already. */
      readonly status: "written" | "updated" | "unchanged";
      /** PROGRESS.yaml, relative to the root. */
      readonly file: string;
      readonly definition: SprintDefinition;
      /** Where the old file went, relative to the root. */
      readonly moved: string | null;
  }
  /**
   * Makes PROGRESS.yaml of SPRINT.yaml and its workflow. A sprint that has begun keeps its steps: only goal, prompts and
   * hooks are brought up to date.
   *
   * @throws {RalphError} sprint-invalid with every problem, state-missing, state-invalid
   */
  export function compileSprint({ root, state, host }: Pick<SprintContext, "host" | "root" | "state">, { directory, force }: CompileOptions): Promise<CompiledSprint>;
  /** The hooks of a compiled sprint, for \`runLoop()\`. @throws {RalphError} state-missing, state-invalid, sprint-invalid */
  export function sprintHooks(ralph: Pick<SprintContext, "root" | "state">, { directory }: {
      readonly directory: string;
  }): Promise<readonly Hook[]>;
}

declare module "ralph:loop/hooks" {
  /**
   * Hooks: what runs after (or before) each iteration, whatever the iteration was about. Deterministic where the loop is
   * free.
   *
   * @module
   */
  import type { Config } from "ralph:config/schema";
  import type { Agent } from "ralph:agents/types";
  /** What a hook that is a function is given. */
  export interface HookContext {
      /** From 1. */
      readonly iteration: number;
      /** Absolute path of the iteration's transcript. */
      readonly transcript: string;
      /** Absolute path of the tree to work in: a worktree of its own, or the root. */
      readonly cwd: string;
      /** Aborted when the run is stopped. */
      readonly signal: AbortSignal;
      /** Adds to the hook's log. */
      readonly log: (text: string) => Promise<void>;
  }
  /** How a hook runs. */
  export interface HookOptions {
      /** Letters, digits, \`.\`, \`_\` and \`-\`. */
      readonly id: string;
      /** @default true */
      readonly enabled?: boolean;
      /** Beside the next iteration; otherwise before it. @default true */
      readonly parallel?: boolean;
      /** \`before\`: started before the iteration whose transcript it is given. @default "after" */
      readonly when?: "after" | "before";
      /** A parallel hook works in a git worktree of its own, and what it changed is committed between two iterations. @default true */
      readonly isolated?: boolean;
      /** The agent for a workflow or prompt: a known name, a command for the shell, or your own. @default the run's */
      readonly agent?: string | {
          readonly command: string;
      } | Agent;
      /** Milliseconds. @default provider.timeout of the configuration */
      readonly timeoutMs?: number;
  }
  /** What a hook does: exactly one of these. */
  export type HookAction = 
  /** \`plugin:name\` is the agent's command \`/plugin:name TRANSCRIPT\`; a plain name is \`.claude/workflows/NAME.yaml\`. */
  {
      readonly workflow: string;
  }
  /** \`$ITERATION_TRANSCRIPT\` in it is the transcript's path. */
   | {
      readonly prompt: string;
  }
  /** For the shell, with \`ITERATION_TRANSCRIPT\` and \`RALPH_ITERATION\` in its environment. */
   | {
      readonly command: string;
  }
  /** Fails when it throws, or when its exit code is not 0. */
   | {
      readonly run: (context: HookContext) => Promise<{
          readonly exitCode: number | null;
      } | void>;
  };
  /** One hook. */
  export type Hook = HookOptions & HookAction;
  /** Ids become parts of file names. */
  export const HOOK_ID_REGEXP: RegExp;
  /** Why a list of hooks cannot be run, all of it; empty when it can. Pure. */
  export function hookProblems(hooks: readonly Hook[]): readonly string[];
  /** The enabled hooks of one moment that run beside an iteration, or before the next. Pure. */
  export function hooksOf(hooks: readonly Hook[], when: "after" | "before", parallel: boolean): readonly Hook[];
  /** The hooks that \`ralph.config.json\` names. Pure. */
  export function configuredHooks({ hooks }: Pick<Config, "hooks">): readonly Hook[];
}

declare module "ralph:backlogs/sprint/definition" {
  import type { SprintPaths } from "ralph:backlogs/sprint/paths";
  import type { HookEntry } from "ralph:backlogs/sprint/types";
  /** A sprint as SPRINT.yaml and its workflow define it. */
  export interface SprintDefinition {
      readonly sprintId: string;
      readonly workflow: string;
      /** Where the workflow came from: a path, or \`built-in\`. */
      readonly workflowFrom: string;
      readonly goal: string;
      readonly goalPrompt: string | null;
      readonly stepPrompt: string | null;
      readonly reflectionPrompt: string | null;
      readonly idleThreshold: number;
      readonly minIterations: number;
      readonly hooks: readonly HookEntry[];
  }
  /** Reads both files. @throws {RalphError} sprint-invalid with every problem, state-missing, state-invalid */
  export function readDefinition(root: string, paths: SprintPaths): Promise<SprintDefinition>;
}

declare module "ralph:backlogs/sprint/paths" {
  /** Where sprints live, relative to the root. */
  export const SPRINTS_DIRECTORY = ".claude/sprints";
  /** A sprint's files, relative to the root. */
  export interface SprintPaths {
      /** The sprint's folder; "." when it is the root itself. */
      readonly directory: string;
      /** The folder's name. */
      readonly name: string;
      readonly definition: string;
      readonly progress: string;
      readonly transcripts: string;
      readonly logs: string;
  }
  /** The files of a sprint whose folder is given relative to the root. Pure. */
  export function sprintPaths(root: string, directory: string): SprintPaths;
  /** A folder as it was named, as seen from \`from\`, relative to the root. @throws {RalphError} sprint-missing, path-outside-root */
  export function sprintDirectory(root: string, from: string, named: string): Promise<string>;
  /** Folders of sprints below \`.claude/sprints\` that hold this file, relative to the root. */
  export function listSprints(root: string, file?: "PROGRESS.yaml" | "SPRINT.yaml"): Promise<readonly string[]>;
  /** The only sprint there is. @throws {RalphError} sprint-missing when there is none, or more than one */
  export function onlySprint(root: string): Promise<string>;
}

declare module "ralph:backlogs/todo" {
  import type { Backlog, Check } from "ralph:loop/types";
  import type { StateFiles } from "ralph:backlogs/state_files";
  /** Where the list is and what must pass. */
  export interface TodoBacklogOptions {
      /** Relative to the root. @default "TODO.md" */
      readonly file?: string;
      /** Run after every item, before the commands that the item itself names: \`\`Verify: \`cmd\` \`\`. */
      readonly checks?: readonly (string | Check)[];
      /** Attempts an item is given. @default 3 */
      readonly maxRetries?: number;
  }
  /** An item of a Markdown list: its line's number (from 0) and its text. */
  export interface TodoItem {
      /** From 1. */
      readonly line: number;
      /** Without the box. */
      readonly text: string;
      /** The box is ticked. */
      readonly done: boolean;
  }
  /** The check boxes of a Markdown text, those in code fences left out. Pure. */
  export function todoItems(text: string): readonly TodoItem[];
  /**
   * A Markdown check list as a backlog: \`- [ ] Do this\` becomes \`- [x] Do this\` when its checks passed. Its checks are
   * those given here and the commands that the item names, \`\`- [ ] Do this. Verify: \`cmd\` \`\`; where there are none,
   * \`verify.default\` of the configuration.
   *
   * @example Work off TODO.md
   * \`\`\`ts
   * import { runLoop, todoBacklog } from "ralph";
   * import { testContext } from "ralph/testing";
   *
   * await using ralph = await testContext({
   *   files: { "TODO.md": "- [ ] write a.txt\\n" },
   *   agent: { turns: [{ write: { "a.txt": "a" }, say: "<ralph>DONE</ralph>" }] },
   * });
   * const run = await runLoop(ralph, todoBacklog(ralph, { checks: ["test -f a.txt"] }));
   * console.log(run.status, await ralph.state.read("TODO.md")); // passed - [x] write a.txt
   * \`\`\`
   */
  export function todoBacklog({ state }: {
      readonly state: StateFiles;
  }, options?: TodoBacklogOptions): Backlog<TodoItem>;
}

declare module "ralph:config/defaults" {
  import type { Config } from "ralph:config/schema";
  /** The configuration of an empty file. Plain, so that nothing heavy loads where there is no file. */
  export function defaultConfig(): Config;
}

declare module "ralph:create_ralph" {
  import type { Agent } from "ralph:agents/types";
  import type { Config } from "ralph:config/schema";
  import type { LoopDefaults, RalphContext } from "ralph:context";
  import type { EventSink } from "ralph:events/types";
  import type { Host } from "ralph:host/types";
  import { type Answers } from "ralph:ui/answers";
  import type { Prompter } from "ralph:ui/types";
  /** Some of a value's fields, at any depth. */
  export type DeepPartial<Value> = Value extends readonly (infer Item)[] ? readonly DeepPartial<Item>[] : Value extends object ? {
      readonly [Key in keyof Value]?: DeepPartial<Value[Key]>;
  } : Value;
  /** What a context is made of. Everything may be left out. */
  export interface RalphOptions {
      /** The project. @default the current folder */
      readonly root?: string;
      /** @default \`ralph.config.json\` at the root, when there is one */
      readonly configFile?: string;
      /** Laid over the file. */
      readonly config?: DeepPartial<Config>;
      /** A known agent's name, a command for the shell, or an agent of your own. @default the configuration's provider */
      readonly agent?: string | {
          readonly command: string;
      } | Agent;
      /** The file that the replay agent plays. */
      readonly cassette?: string;
      /** A file that every agent turn is recorded in, for the replay agent. */
      readonly record?: string;
      /** Takes over while the agent waits for a rate limit. @default the configuration's \`provider.fallback\` */
      readonly fallback?: Agent;
      /** The file of the scripted agent. */
      readonly script?: string;
      /** Consents given by a person beforehand: \`prd\`, \`understand\`, \`run\`, a gate of your own, or \`all\`. */
      readonly approve?: readonly string[];
      /** What answers questions where nobody is there to. */
      readonly answers?: Partial<Answers>;
      /** Who answers questions. @default nobody: answers and defaults */
      readonly prompter?: Prompter;
      /** Who is told what happens. */
      readonly sinks?: readonly EventSink[];
      /** Choices for every loop of this context. */
      readonly loop?: Partial<LoopDefaults>;
      /** Ends whatever is at work. */
      readonly signal?: AbortSignal;
      /** @default the real machine; a host that is given is not disposed of */
      readonly host?: Host;
  }
  /**
   * Joins the real world to what the steps need. Dispose it: that ends every process that is left.
   *
   * @throws {RalphError} root-missing, config-invalid, agent-unknown, script-invalid
   * @example Use a step from a build script
   * \`\`\`ts
   * import { createRalph, exitCodeOf, verify } from "ralph";
   *
   * await using ralph = await createRalph({ agent: { command: "claude -p" } });
   * const checked = await verify(ralph, ["test 1 = 1"]);
   * console.log(exitCodeOf(checked)); // 0
   * \`\`\`
   */
  export function createRalph(options?: RalphOptions): Promise<RalphContext & AsyncDisposable>;
}

declare module "ralph:ui/answers" {
  import { z } from "zod";
  import type { Question } from "ralph:ui/types";
  /** Answers given beforehand. They never answer a gate. */
  export interface Answers {
      /** For the questions of the planner's agent: the first whose \`match\` occurs in the question, ignoring case. */
      readonly questions: readonly {
          readonly match: string;
          readonly answer: string;
      }[];
      /** For every other question of the agent. */
      readonly otherwise?: string | undefined;
      /** For Ralph's own questions, by their id: \`plan.change\`, \`run.checks\` … */
      readonly prompts: Readonly<Record<string, string>>;
  }
  /** The shape of an answers file. Numbers and booleans are taken as text, \`true\` and \`false\` as yes and no. */
  export const ANSWERS_SCHEMA: z.ZodType<Answers>;
  /**
   * Reads an answers file, YAML or JSON.
   *
   * @param path absolute, or relative to the current folder
   * @throws {RalphError} answers-invalid
   */
  export function loadAnswers(path: string): Promise<Answers>;
  /**
   * Reads the text of an answers file, JSON or YAML.
   *
   * @throws {RalphError} answers-invalid with the field that is wrong
   */
  export function parseAnswers(text: string, path: string): Promise<Answers>;
  /** The answer to a question, or \`null\`. */
  export function findAnswer(answers: Answers, question: Question): string | null;
}

declare module "ralph:errors/definitions" {
  /**
   * The one table of error codes: message, what to do next, exit code. Texts come from here alone.
   *
   * @module
   */
  /** One row of the table. \`{name}\` in a text is filled from the error's details. */
  export interface ErrorDefinition {
      readonly message: string;
      readonly hint: string;
      readonly exitCode: number;
  }
  const definitions: {
      readonly usage: {
          readonly message: "{problem}";
          readonly hint: "\`ralph help\` lists the commands";
          readonly exitCode: 2;
      };
      readonly "root-missing": {
          readonly message: "the root {root} does not exist";
          readonly hint: "give an existing folder with \`--root\`";
          readonly exitCode: 2;
      };
      readonly "root-no-folder": {
          readonly message: "the root {root} is a file, not a folder";
          readonly hint: "give an existing folder with \`--root\`";
          readonly exitCode: 2;
      };
      readonly "not-a-repository": {
          readonly message: "{root} is not inside a git repository";
          readonly hint: "run \`git init\` there first: Ralph commits verified work";
          readonly exitCode: 2;
      };
      readonly "git-missing": {
          readonly message: "\`git\` was not found on PATH";
          readonly hint: "install git (https://git-scm.com) and try again";
          readonly exitCode: 2;
      };
      readonly "git-identity-missing": {
          readonly message: "git knows no author: {reason}";
          readonly hint: 'run \`git config user.name "…"\` and \`git config user.email "…"\`';
          readonly exitCode: 2;
      };
      readonly "git-operation-in-progress": {
          readonly message: "a {operation} is in progress in {root}";
          readonly hint: "finish or abort it, then start Ralph again";
          readonly exitCode: 2;
      };
      readonly "git-detached-head": {
          readonly message: "HEAD is detached in {root}";
          readonly hint: "switch to a branch, or name one with \`--branch NAME\`";
          readonly exitCode: 2;
      };
      readonly "git-locked": {
          readonly message: "{path} is held by another git process";
          readonly hint: "wait for it to end; remove the file only when no git process is running";
          readonly exitCode: 1;
      };
      readonly "git-failed": {
          readonly message: "\`git {command}\` failed: {reason}";
          readonly hint: "{hint}";
          readonly exitCode: 1;
      };
      readonly "branch-failed": {
          readonly message: "could not switch to the branch {branch}: {reason}";
          readonly hint: "commit or set aside the changes in the way, or name another branch with \`--branch\`";
          readonly exitCode: 1;
      };
      readonly "branch-invalid": {
          readonly message: "git takes no branch with the name {branch}";
          readonly hint: "change \`branchName\` in the PRD, or name another with \`--branch NAME\`; \`--branch=\` stays on the current one";
          readonly exitCode: 2;
      };
      readonly "run-locked": {
          readonly message: "another \`ralph {purpose}\` is at work here (pid {pid}, started {startedAt})";
          readonly hint: "wait for it to end, or stop it; a second run needs a working tree of its own (\`git worktree add\`)";
          readonly exitCode: 2;
      };
      readonly "store-locked": {
          readonly message: "{path} is being changed by another process (pid {pid})";
          readonly hint: "try again when it has ended";
          readonly exitCode: 1;
      };
      readonly "state-missing": {
          readonly message: "{path} does not exist";
          readonly hint: "{hint}";
          readonly exitCode: 2;
      };
      readonly "state-invalid": {
          readonly message: "{path}: {problem}";
          readonly hint: "mend the file; Ralph has left it as it is";
          readonly exitCode: 2;
      };
      readonly "config-invalid": {
          readonly message: "{path}: {problem}";
          readonly hint: "\`ralph schema config\` prints what is allowed";
          readonly exitCode: 2;
      };
      readonly "config-missing": {
          readonly message: "ralph.config.json not found";
          readonly hint: "run \`ralph init --workflow feature\` to create one, or give \`--agent-cmd\` and \`--verify\`";
          readonly exitCode: 2;
      };
      readonly "feature-missing": {
          readonly message: "there is no feature {name}: {problem}";
          readonly hint: "{hint}";
          readonly exitCode: 2;
      };
      readonly "service-foreign": {
          readonly message: "{url} of the service {name} answers already, from {owner}, and was not started by Ralph";
          readonly hint: "stop that process, or set \`restartBeforeVerify: false\` for the service to use it as it is";
          readonly exitCode: 2;
      };
      readonly "browser-missing": {
          readonly message: "no browser for the checks of pages: {reason}";
          readonly hint: "install Chromium (Debian: \`apt-get install chromium\`, macOS: \`brew install --cask chromium\`) or Chrome, name one in \`browser.executablePath\`, or set \`browser.enabled\` to false";
          readonly exitCode: 2;
      };
      readonly "browser-failed": {
          readonly message: "the browser {executable} cannot be used: {problem}\\n{tail}";
          readonly hint: "try it by hand, or name another one in \`browser.executablePath\`";
          readonly exitCode: 1;
      };
      readonly "editor-missing": {
          readonly message: "no editor is configured";
          readonly hint: "set $VISUAL or $EDITOR, or edit {path} yourself";
          readonly exitCode: 2;
      };
      readonly "file-unreadable": {
          readonly message: "could not read {path}: {reason}";
          readonly hint: "{hint}";
          readonly exitCode: 2;
      };
      readonly "file-unwritable": {
          readonly message: "could not write {path}: {reason}";
          readonly hint: "{hint}";
          readonly exitCode: 1;
      };
      readonly "path-outside-root": {
          readonly message: "{path} is outside {root}";
          readonly hint: "name a path inside the root; symbolic links that lead out do not count";
          readonly exitCode: 2;
      };
      readonly "agent-missing": {
          readonly message: "no agent is configured";
          readonly hint: 'add \`"provider": { "command": "…" }\` to ralph.config.json, or give \`--agent-cmd "…"\`';
          readonly exitCode: 4;
      };
      readonly "agent-not-found": {
          readonly message: "the agent command \`{command}\` was not found: {reason}";
          readonly hint: "install it, or name another with \`--agent-cmd\`; \`ralph doctor\` shows what is there";
          readonly exitCode: 4;
      };
      readonly "agent-unknown": {
          readonly message: "there is no agent named {name}";
          readonly hint: "known agents: {known}; any other command runs with \`--agent-cmd\`";
          readonly exitCode: 2;
      };
      readonly "script-invalid": {
          readonly message: "{path}: {problem}";
          readonly hint: "docs/guides/scripted-agent.md describes the file";
          readonly exitCode: 2;
      };
      readonly "cassette-invalid": {
          readonly message: "{path}: {problem}";
          readonly hint: "\`--record FILE\` writes a cassette, \`--agent replay --cassette FILE\` plays it";
          readonly exitCode: 2;
      };
      readonly "terminal-missing": {
          readonly message: "\`ralph {command}\` asks questions and there is no terminal";
          readonly hint: "run it in a terminal, or give \`--non-interactive\` with \`--answers FILE\` and \`--approve\`";
          readonly exitCode: 2;
      };
      readonly "answer-missing": {
          readonly message: "no answer to the question {id}: {question}";
          readonly hint: "add it to the answers file (\`questions\` or \`prompts: {{id}: …}\`), or run in a terminal";
          readonly exitCode: 3;
      };
      readonly "answers-invalid": {
          readonly message: "{path}: {problem}";
          readonly hint: "expected \`questions: [{match, answer}]\`, \`otherwise: text\`, \`prompts: {id: answer}\`";
          readonly exitCode: 2;
      };
      readonly "gsd-missing": {
          readonly message: "{problem}";
          readonly hint: "\`npx get-shit-done-cc\` installs GSD (https://github.com/glittercowboy/get-shit-done); a command of another name goes into \`gsd.commands\` of ralph.config.json";
          readonly exitCode: 4;
      };
      readonly "recipe-invalid": {
          readonly message: "{path}: {problem}";
          readonly hint: "{hint}";
          readonly exitCode: 2;
      };
      readonly "recipe-failed": {
          readonly message: "the recipe {path} threw: {problem}";
          readonly hint: "{hint}";
          readonly exitCode: 70;
      };
      readonly "backlog-invalid": {
          readonly message: "the backlog {backlog} broke its contract: {problem}";
          readonly hint: "run the contract test of \`ralph/testing\` against it";
          readonly exitCode: 70;
      };
      readonly "hook-invalid": {
          readonly message: "the hook {hook}: {problem}";
          readonly hint: "docs/guides/sprint.md says what a hook may be";
          readonly exitCode: 2;
      };
      readonly "sprint-invalid": {
          readonly message: "{path}: {problem}";
          readonly hint: "docs/guides/sprint.md describes the files";
          readonly exitCode: 2;
      };
      readonly "sprint-missing": {
          readonly message: "{problem}";
          readonly hint: "name the sprint's folder: \`--sprint DIR\`";
          readonly exitCode: 2;
      };
      readonly "step-unknown": {
          readonly message: "there is no step {id} in {path}";
          readonly hint: "\`ralph step list\` shows the steps";
          readonly exitCode: 2;
      };
      readonly "option-invalid": {
          readonly message: "{option} must be {expected} (got: {value})";
          readonly hint: "{hint}";
          readonly exitCode: 2;
      };
      readonly interrupted: {
          readonly message: "interrupted";
          readonly hint: "the same command goes on where this one stopped";
          readonly exitCode: 130;
      };
      readonly internal: {
          readonly message: "{problem}";
          readonly hint: "this is a bug in Ralph: please report it with the lines above";
          readonly exitCode: 70;
      };
  };
  /** Every code that an error can carry. */
  export type ErrorCode = keyof typeof definitions;
  /** The table itself, by code. */
  export const ERROR_DEFINITIONS: Readonly<Record<ErrorCode, ErrorDefinition>>;
  export {};
}

declare module "ralph:errors/exit_codes" {
  /** The exit codes of every command; shown by \`ralph help exit-codes\`. */
  export const EXIT: {
      readonly done: 0;
      readonly failed: 1;
      readonly usage: 2;
      readonly blocked: 3;
      readonly agent: 4;
      readonly internal: 70;
      readonly interrupted: 130;
  };
  /** What each exit code means, in the order in which help shows them. */
  export const EXIT_MEANINGS: readonly (readonly [code: number, meaning: string])[];
}

declare module "ralph:errors/ralph_error" {
  /**
   * Errors that Ralph throws: bugs and broken environments. Expected ends of a step are values, not errors.
   *
   * @module
   */
  import { type ErrorCode } from "ralph:errors/definitions";
  /** What an error says beside its code. Every field is plain JSON but \`cause\`. */
  export interface RalphErrorOptions {
      /** Fills the \`{name}\` places of the message and hint of the code's definition. */
      readonly details?: Readonly<Record<string, string | number>>;
      /** Replaces the definition's hint. */
      readonly hint?: string;
      readonly cause?: unknown;
  }
  /**
   * An error with a stable \`code\`, a \`hint\` that says what to do next, and the process's \`exitCode\`.
   *
   * @example Tell what went wrong
   * \`\`\`ts
   * import { RalphError } from "ralph";
   *
   * const error = new RalphError("root-missing", { details: { root: "/nowhere" } });
   * console.log(error.code, error.exitCode); // root-missing 2
   * \`\`\`
   */
  export class RalphError extends Error {
      readonly name = "RalphError";
      readonly code: ErrorCode;
      readonly hint: string;
      readonly exitCode: number;
      readonly details: Readonly<Record<string, string | number>>;
      constructor(code: ErrorCode, options?: RalphErrorOptions);
      /** True for an error of any copy of the SDK: the binary and a user's \`node_modules\` may both hold one. */
      static isInstance(value: unknown): value is RalphError;
  }
}

declare module "ralph:host/create_host" {
  import type { Host } from "ralph:host/types";
  /**
   * The real machine. Dispose \`host.processes\` at the end: it ends what is left and sends the guardian home.
   *
   * @example Run a program
   * \`\`\`ts
   * import { createHost } from "ralph";
   *
   * const host = createHost();
   * await using _processes = host.processes;
   * const end = await host.processes.run({ file: "echo", arguments: ["hi"], cwd: "." });
   * console.log(end.exitCode, end.stdout); // 0 hi
   * \`\`\`
   */
  export function createHost(): Host;
}

declare module "ralph:loop/progress" {
  import type { LimitsConfig } from "ralph:config/schema";
  import type { Attempt, Item, Settlement } from "ralph:loop/types";
  import { type UsageTotal } from "ralph:loop/usage";
  /** How far a run has come. Plain JSON. */
  export interface Progress {
      /** Attempts made, those without an agent's turn included. */
      readonly iterations: number;
      /** Agent turns taken. */
      readonly turns: number;
      /** Milliseconds since 1970. */
      readonly startedAt: number;
      /** Sums; \`null\` when no turn told. */
      readonly tokens: number | null;
      /** US dollars so far; \`null\`: no turn told. */
      readonly costUsd: number | null;
      /** All of what the turns used, with how many of them did not tell. */
      readonly usage: UsageTotal;
      /** The same for each item, by its id. */
      readonly usageByItem: Readonly<Record<string, UsageTotal>>;
      /** Ids of items that passed, in order. */
      readonly passed: readonly string[];
      /** Of the passed, those that no check has seen. */
      readonly unverified: readonly string[];
      /** Items given up on in this run. */
      readonly parked: readonly {
          readonly id: string;
          readonly reason: string;
      }[];
      /** Turns in a row that changed nothing, passed nothing and gave nothing up. */
      readonly idleTurns: number;
      /** Items whose last attempt left tests weakened, and how. */
      readonly weakened: readonly {
          readonly id: string;
          readonly findings: readonly string[];
      }[];
      /** Commands of shared checks that failed before the first turn (\`verify.baseline\`). */
      readonly failedBefore: readonly string[];
  }
  /** A run that has not begun. */
  export function noProgress(startedAt: number): Progress;
  /** Progress after an attempt was settled. Pure. */
  export function advance(progress: Progress, item: Item, attempt: Attempt, settlement: Settlement): Progress;
  /** The limit that is reached, in words, or \`null\`. Pure. */
  export function limitReached(progress: Progress, limits: LimitsConfig, now: number): string | null;
  /** When a run's time is up. */
  export interface TimeBudget {
      /** Milliseconds since 1970. */
      readonly endsAt: number;
      /** The limit in words: \`30 minutes\`. */
      readonly words: string;
  }
  /** When the run's time is up, or \`null\`: it has all the time. Pure. */
  export function timeBudget({ startedAt }: Progress, { minutes }: LimitsConfig): TimeBudget | null;
  /** Why a budget that is set cannot be kept, or \`null\`: an agent that tells nothing has not used nothing. Pure. */
  export function untoldBudget({ usage }: Progress, limits: LimitsConfig): string | null;
  /** How often in a row, this attempt included, the item has failed with the same words. Pure. */
  export function sameFailures(attempt: Attempt, history: readonly Attempt[]): number;
}

declare module "ralph:steps/define_recipe" {
  /**
   * Recipes: what a \`ralph.recipe.ts\` exports. An ordinary function with a name and typed arguments.
   *
   * @module
   */
  import type { RalphContext } from "ralph:context";
  import type { Outcome } from "ralph:steps/outcome";
  /** What makes a value acceptable, in the shape of https://standardschema.dev: zod, valibot, arktype, whichever copy the recipe has. */
  export interface StandardSchema<Output> {
      readonly "~standard": {
          readonly version: 1;
          readonly vendor: string;
          readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
          readonly types?: {
              readonly input: unknown;
              readonly output: Output;
          } | undefined;
      };
  }
  /** What a schema says of a value. */
  export type SchemaResult<Output> = {
      readonly value: Output;
      readonly issues?: undefined;
  } | {
      readonly issues: readonly SchemaIssue[];
  };
  /** One thing that is wrong with a value. */
  export interface SchemaIssue {
      readonly message: string;
      readonly path?: readonly (PropertyKey | {
          readonly key: PropertyKey;
      })[] | undefined;
  }
  /** The arguments of a recipe that declares none. */
  export interface GoalArgs {
      /** What the person typed after the command. */
      readonly goal: string;
  }
  /** A recipe: steps, wired. */
  export interface Recipe<Args = GoalArgs> {
      readonly name: string;
      /** One line for \`ralph recipes\`. */
      readonly description?: string;
      /** Flags and positionals, in the order of the keys, are parsed into this. @default \`{ goal: string }\` */
      readonly args?: StandardSchema<Args>;
      /** Takes the goal as far as it goes. An outcome is returned; what is thrown is a bug or a broken environment. */
      run(ralph: RalphContext, args: Args): Promise<Outcome>;
  }
  /**
   * Names a recipe and types its arguments.
   *
   * @throws {RalphError} recipe-invalid when there is no name or no \`run\`
   *
   * @example A recipe with one step
   * \`\`\`ts
   * import { defineRecipe, verify } from "ralph";
   *
   * export default defineRecipe({
   *   name: "check",
   *   run: (ralph) => verify(ralph, ["npm test"]),
   * });
   * \`\`\`
   */
  export function defineRecipe<Args = GoalArgs>(recipe: Recipe<Args>): Recipe<Args>;
  /** Why a value is no recipe, or \`null\` when it is one. */
  export function recipeProblem(value: unknown): string | null;
}

declare module "ralph:steps/outcome" {
  /** The closed list of ends. */
  export type Status = "approved" | "declined" | "skipped" | "passed" | "unverified" | "failed" | "exhausted" | "blocked" | "aborted";
  /** The end of a step or recipe: plain JSON, a union on \`status\`. */
  export interface Outcome {
      readonly status: Status;
  }
  /**
   * The exit code of an outcome. \`unverified\` is 0 only where it was allowed (\`allowed: true\`), \`failed\` is 4 where the
   * agent could not be used (\`reason: "agent-unusable"\`); anything that is no outcome is 0.
   *
   * @example From outcome to exit code
   * \`\`\`ts
   * import { exitCodeOf } from "ralph";
   *
   * console.log(exitCodeOf({ status: "passed" })); // 0
   * console.log(exitCodeOf({ status: "blocked" })); // 3
   * \`\`\`
   */
  export function exitCodeOf(outcome: unknown): number;
  /** True for the ends after which a recipe does not go on: failed, blocked, exhausted, aborted. */
  export function stops(outcome: Outcome): boolean;
}

declare module "ralph:steps/open_sprint" {
  import type { SprintFindings, SprintItemData } from "ralph:backlogs/sprint/types";
  import type { RalphContext } from "ralph:context";
  import { type Hook } from "ralph:loop/hooks";
  import type { Backlog } from "ralph:loop/types";
  /** Which sprint, and how it is taken up. */
  export interface OpenSprintOptions {
      /** The sprint's folder, absolute or relative to the root. @default the only one below \`.claude/sprints\` */
      readonly directory?: string | undefined;
      /** Go on where the agent asked for a person. @default what the command line says */
      readonly retryBlocked?: boolean;
  }
  /** A sprint that is ready to run. */
  export interface Sprint {
      /** Relative to the root. */
      readonly directory: string;
      readonly backlog: Backlog<SprintItemData, SprintFindings>;
      /** The configuration's and the sprint's own, which go before those of the same id. */
      readonly hooks: readonly Hook[];
  }
  /**
   * Opens a sprint for \`runLoop()\`: compiles it where it has no PROGRESS.yaml yet.
   *
   * @throws {RalphError} sprint-missing, sprint-invalid, state-missing, state-invalid, path-outside-root
   * @example Run a sprint with a hook of your own
   * \`\`\`ts
   * import { openSprint, runLoop } from "ralph";
   * import { testContext } from "ralph/testing";
   *
   * await using ralph = await testContext({
   *   files: { "sprint/SPRINT.yaml": "workflow: ralph\\ngoal: say hello\\n" },
   *   agent: { turns: [{ say: "RALPH_COMPLETE: said hello" }] },
   * });
   * const { backlog, hooks } = await openSprint(ralph, { directory: "sprint" });
   * const count = { id: "count", run: async (): Promise<void> => console.log("an iteration ended") };
   * console.log((await runLoop(ralph, backlog, { hooks: [...hooks, count] })).status); // unverified
   * \`\`\`
   */
  export function openSprint(ralph: RalphContext, options?: OpenSprintOptions): Promise<Sprint>;
}

declare module "ralph:steps/run_loop" {
  import type { RalphContext } from "ralph:context";
  import type { Backlog } from "ralph:loop/types";
  import type { LoopOptions, LoopOutcome } from "ralph:steps/loop_types";
  export type { LoopOptions, LoopOutcome } from "ralph:steps/loop_types";
  /**
   * Takes items from a backlog, one fresh agent process each, until it is done, blocked, or a limit is reached. Nothing
   * passes without its checks. Killed at any moment, the same call goes on where it was.
   *
   * @throws {RalphError} not-a-repository, agent-missing, agent-not-found, run-locked, git-identity-missing,
   * git-operation-in-progress, git-detached-head, branch-invalid, branch-failed, state-missing, state-invalid
   * @example A loop over a list in memory
   * \`\`\`ts
   * import { memoryBacklog, runLoop } from "ralph";
   * import { testContext } from "ralph/testing";
   *
   * await using ralph = await testContext({ agent: { turns: [{ write: { "a.txt": "a" }, say: "<ralph>DONE</ralph>" }] } });
   * const run = await runLoop(ralph, memoryBacklog([{ id: "a", title: "write a.txt", checks: ["test -f a.txt"] }]));
   * console.log(run.status, run.passed); // passed [ "a" ]
   * \`\`\`
   */
  export function runLoop<Data, Findings>(ralph: RalphContext, backlog: Backlog<Data, Findings>, options?: LoopOptions): Promise<LoopOutcome>;
}

declare module "ralph:steps/loop_types" {
  import type { LimitsConfig } from "ralph:config/schema";
  import type { Hook } from "ralph:loop/hooks";
  import type { Progress } from "ralph:loop/progress";
  import type { CheckLike } from "ralph:verifiers/types";
  /** How a loop runs. What is absent comes from the context: configuration and command line. */
  export interface LoopOptions {
      /** Agent turns at most. */
      readonly maxIterations?: number;
      /** Items taken up at most; retries come on top. */
      readonly maxItems?: number;
      /** Run for every item, after the backlog's own. */
      readonly checks?: readonly CheckLike[];
      /** What runs with each iteration. @default the configuration's */
      readonly hooks?: readonly Hook[];
      /** Laid over the limits of the configuration. */
      readonly limits?: Partial<LimitsConfig>;
      /** A stop condition of your own: says why, or \`undefined\`. Asked before each turn. */
      readonly stopWhen?: (progress: Progress) => string | undefined;
      /** Ask between two iterations. */
      readonly interactive?: boolean;
      /** Take up again what was parked. */
      readonly retryBlocked?: boolean;
      /** The branch to work on; "" stays on the current one. @default the backlog's */
      readonly branch?: string;
      /** What the run lock says. @default "run" */
      readonly purpose?: string;
      /** Ends the run in order. @default the one of the context */
      readonly signal?: AbortSignal;
  }
  /** How a loop ended, with how far it came. */
  export type LoopOutcome = Progress & ({
      readonly status: "passed";
      readonly summary?: string;
  }
  /** Done, but some or all of it was seen by no check. \`allowed\`: that was agreed to. */
   | {
      readonly status: "unverified";
      readonly allowed: boolean;
      readonly summary?: string;
  } | {
      readonly status: "failed";
      readonly reason: "trespassed" | "agent-unusable" | "stopped";
      readonly reasons: readonly string[];
  }
  /** \`parkedBefore\`: how many items stand in the way that an earlier run gave up on. */
   | {
      readonly status: "blocked";
      readonly reasons: readonly string[];
      readonly parkedBefore?: number;
  } | {
      readonly status: "exhausted";
      readonly limit: string;
  }
  /** A person answered no between two iterations. */
   | {
      readonly status: "declined";
  } | {
      readonly status: "aborted";
  });
  /** How a loop ends, without how far it came. */
  export type Ending = LoopOutcome extends infer End ? End extends LoopOutcome ? Omit<End, keyof Progress> : never : never;
}

declare module "ralph:verifiers/types" {
  /**
   * Verifiers: what may be given to \`verify()\`, and how each kind of it is run.
   *
   * @module
   */
  import type { $Type, CommandBuilder } from "ralph:dax";
  import type { Check, CheckContext, CheckOutcome } from "ralph:loop/types";
  /** A dax command as a recipe writes it: \`\`ralph.$\`npm test\` \`\`. */
  export type CommandLike = CommandBuilder;
  /** A check that is a function: it builds a dax command, or looks for itself and says what it found. */
  export type CheckFunction = ($: $Type, context: CheckContext) => CommandLike | CheckOutcome | Promise<CheckOutcome>;
  /** Anything that \`verify()\` takes: a command string, a dax command, a function, or a check with a name. */
  export type CheckLike = string | CommandLike | CheckFunction | Check;
}

declare module "ralph:steps/reviewed_by" {
  import type { Agent } from "ralph:agents/types";
  import type { RalphContext } from "ralph:context";
  import type { Check } from "ralph:loop/types";
  /** How a reviewer is asked. */
  export interface ReviewOptions {
      /**
       * A prompt of your own. \`{{item}}\` is the item with its criteria, \`{{change}}\` the change and the file that holds its
       * diff, \`{{answer}}\` how to answer; without any of them they are appended. @default the prompt \`review\`
       */
      readonly prompt?: string;
      /** Milliseconds for the reviewer's turn. @default provider.timeout of the configuration */
      readonly timeoutMs?: number;
  }
  /**
   * A check made of a second agent: a fresh process reads what was changed and what was asked for, and approves or
   * rejects. Its reason for a rejection goes to the next attempt, as a failing check's output does. It runs after all
   * other checks have passed, and only after an agent's turn; what it uses counts towards the run's totals and budgets.
   * A review without a verdict, one that ends badly and one that writes to the working tree count as failed.
   *
   * @param agent a known agent's name, a command for the shell, or an agent of your own; it may be the run's own
   * @throws {RalphError} agent-unknown, option-invalid
   * @example Nothing passes that a second agent has not approved of
   * \`\`\`ts
   * import { createHost, memoryBacklog, reviewedBy, runLoop, scriptedAgent } from "ralph";
   * import { testContext } from "ralph/testing";
   *
   * const done = "<ralph>DONE</ralph>";
   * await using ralph = await testContext({
   *   agent: { turns: [{ write: { "a.txt": "TODO" }, say: done }, { write: { "a.txt": "a" }, say: done }] },
   * });
   * const reviewer = scriptedAgent({
   *   turns: [
   *     { say: "<review>REJECT: a.txt holds a placeholder</review>" },
   *     { say: "<review>APPROVE</review>" },
   *   ],
   * }, { host: createHost(), name: "reviewer" });
   * const backlog = memoryBacklog([{ id: "a", title: "write a.txt", checks: ["test -f a.txt"] }]);
   * const run = await runLoop(ralph, backlog, { checks: [reviewedBy(ralph, reviewer)] });
   * console.log(run.status, run.turns); // passed 2
   * \`\`\`
   */
  export function reviewedBy(ralph: RalphContext, agent: Agent | string | {
      readonly command: string;
  }, options?: ReviewOptions): Check;
}

declare module "ralph:steps/verify" {
  import type { RalphContext } from "ralph:context";
  import type { Item, Verification, WorkDone } from "ralph:loop/types";
  import type { CheckLike } from "ralph:verifiers/types";
  /** How checks are run. */
  export interface VerifyOptions {
      /** Absolute path of the working tree. @default the root */
      readonly cwd?: string;
      /** What check functions are told they check. @default null */
      readonly item?: Item | null;
      /** Commit before the turn. @default null */
      readonly base?: string | null;
      /** What check functions are told was done to the tree. */
      readonly done?: WorkDone;
      /** Commands that failed before the run's first turn: their failures are marked so. */
      readonly failedBefore?: ReadonlySet<string>;
      /** Folder for one log file a check; without one nothing is logged. */
      readonly logs?: string;
      /** Ends the running check and starts no other. @default the context's */
      readonly signal?: AbortSignal;
  }
  /**
   * Runs every check in order and collects all failures, not only the first. No check at all is \`unverified\`, never
   * \`passed\`. Each check has a timeout, its whole process tree ends with it, and the end of its output is kept. Reviews
   * come last, and only where everything else passed. With \`verify.isolated\` commands run in a clean git worktree of the
   * tree as it is now; functions see the tree itself.
   *
   * @throws {RalphError} option-invalid for what is no check; not-a-repository, git-failed with \`verify.isolated\`
   * @returns \`passed\`, \`failed\` with \`failures\`, \`unverified\`, or \`aborted\`; every result has exit code, milliseconds and tail
   * @example Check a repository from a build script
   * \`\`\`ts
   * import { createRalph, verify } from "ralph";
   *
   * await using ralph = await createRalph();
   * const checked = await verify(ralph, [
   *   "test 1 = 1",
   *   ralph.$\`echo built\`,
   *   ($, { cwd }) => $\`echo linted\`.cwd(cwd),
   *   { name: "by hand", run: async ({ cwd }) => ({ ok: cwd === ralph.root, exitCode: null, tail: "" }) },
   * ]);
   * console.log(checked.status); // passed
   * \`\`\`
   */
  export function verify(ralph: Pick<RalphContext, "$" | "config" | "events" | "host" | "repository" | "root" | "signal">, checks: readonly CheckLike[], options?: VerifyOptions): Promise<Verification>;
}

declare module "ralph:steps/loop/item_start" {
  import type { RalphContext } from "ralph:context";
  import type { TreeSnapshot } from "ralph:git/types";
  import type { Attempt, WorkDone } from "ralph:loop/types";
  /** How things stood before the first attempt at an item, and what attempts have changed since. Paths are the root's. */
  export interface ItemStart extends WorkDone {
      /** Test files with uncommitted changes that are the user's: their text then, \`null\` where one was taken away. */
      readonly own: ReadonlyMap<string, string | null>;
      /** Whether a path is a test by \`tests.globs\`. */
      readonly isTest: (path: string) => boolean;
  }
  /** Whose uncommitted changes are whose, by the top level's paths. */
  export interface DirtyPaths {
      readonly user: ReadonlySet<string>;
      /** What attempts at the item have left, in earlier runs as well. */
      readonly item: readonly string[];
  }
  /** Remembers, for one run, how the items began. */
  export interface ItemStarts {
      /** Call before each turn. */
      of(history: readonly Attempt[], before: TreeSnapshot, paths: DirtyPaths): Promise<ItemStart>;
  }
  /** What git does not keep of the start is kept here: the user's own uncommitted test files. */
  export function createItemStarts(ralph: Pick<RalphContext, "config" | "repository" | "root">): ItemStarts;
  /** The start of a first attempt without a loop: whatever is dirty is the user's. */
  export function freshStart(ralph: Pick<RalphContext, "config" | "repository" | "root">, before: TreeSnapshot): Promise<ItemStart>;
  /** The start with what one more turn changed. Pure. */
  export function withTurn(start: ItemStart, changedFiles: readonly string[]): ItemStart;
  /** Paths of the root by their name in git. */
  export function byTopLevelPath(ralph: Pick<RalphContext, "repository" | "root">, paths: readonly string[]): ReadonlyMap<string, string>;
  /** The text of a file, as much as is compared; \`null\` for one that is missing. */
  export function readFileStart(path: string): Promise<string | null>;
}

declare module "ralph:steps/work_item" {
  import type { RalphContext } from "ralph:context";
  import type { TreeSnapshot } from "ralph:git/types";
  import type { Attempt, Backlog, Item } from "ralph:loop/types";
  import type { TimeBudget } from "ralph:loop/progress";
  import type { CheckLike } from "ralph:verifiers/types";
  import { type ItemStart } from "ralph:steps/loop/item_start";
  /** One attempt, and what is known before it. */
  export interface WorkItemOptions {
      /** @default the run's next iteration, number 1 */
      readonly attempt?: {
          readonly id: string;
          readonly number: number;
      };
      /** Run after the backlog's own checks. */
      readonly checks?: readonly CheckLike[];
      /** The item's last attempt, told to the agent. @default none */
      readonly previous?: Attempt | null;
      /** The last attempt of the run, at whatever item. @default none */
      readonly last?: Attempt | null;
      /** Ends the turn and the checks. @default the one of the context */
      readonly signal?: AbortSignal;
      /** What the tree held before, when that is known. */
      readonly before?: TreeSnapshot;
      /** How things stood before the first attempt at the item. @default as they stand now */
      readonly start?: ItemStart;
      /** Commands that failed before the run's first turn. */
      readonly failedBefore?: ReadonlySet<string>;
      /** When the run's time is up: nothing is waited for beyond it. */
      readonly budget?: TimeBudget | null;
  }
  /** An attempt with the tree before and after the agent's turn, for whoever commits. */
  export interface WorkedItem<Findings> {
      /** How it ended. */
      readonly attempt: Attempt<Findings>;
      /** The tree before the turn; \`null\` where no turn was taken. */
      readonly before: TreeSnapshot | null;
      /** The tree after it; \`null\` where no turn was taken. */
      readonly after: TreeSnapshot | null;
  }
  /**
   * One attempt at one item: work, checks first where asked, the agent's turn in a fresh process, judge, state put back,
   * guards, verification. It settles nothing and changes no state.
   *
   * @returns the attempt: \`verified\`, \`unverified\`, \`not-done\`, \`failed\`, \`blocked\`, \`interrupted\`, \`trespassed\` or
   * \`agent-unusable\`
   * @throws {RalphError} not-a-repository
   * @example Work on the next item of a backlog, without the loop
   * \`\`\`ts
   * import { memoryBacklog, workItem } from "ralph";
   * import { scriptedAgent, testContext } from "ralph/testing";
   *
   * await using ralph = await testContext({ agent: { turns: [{ write: { "a.txt": "a" }, say: "<ralph>DONE</ralph>" }] } });
   * const backlog = memoryBacklog([{ id: "a", title: "write a.txt", checks: ["test -f a.txt"] }]);
   * const next = await backlog.next({ inFlight: [], parked: [] });
   * if (next.status === "item") console.log((await workItem(ralph, backlog, next.item)).attempt.status); // verified
   * \`\`\`
   */
  export function workItem<Data, Findings>(ralph: RalphContext, backlog: Backlog<Data, Findings>, item: Item<Data>, options?: WorkItemOptions): Promise<WorkedItem<Findings>>;
}

declare module "ralph:cli/run_recipe" {
  import type { Recipe } from "ralph:steps/define_recipe";
  /** What \`runRecipe()\` reads of \`import.meta\`. */
  export interface RecipeMeta {
      readonly url: string;
      /** Missing on Node before 24. */
      readonly main?: boolean;
  }
  /**
   * The last line of a recipe file: makes \`bun FILE\` and \`deno run -A FILE\` run it, with the flags of \`ralph run-recipe\`
   * and the arguments that the recipe declares. Does nothing when the file is imported, so \`ralph exec\` can load it.
   *
   * @example The end of a recipe file
   * \`\`\`ts
   * import { defineRecipe, runRecipe, verify } from "ralph";
   *
   * const recipe = defineRecipe({ name: "check", run: (ralph) => verify(ralph, ["npm test"]) });
   *
   * export default recipe;
   * await runRecipe(recipe, import.meta);
   * \`\`\`
   */
  export function runRecipe<Args>(recipe: Recipe<Args>, meta: RecipeMeta): Promise<void>;
}

declare module "ralph:steps/exec_args" {
  /** What \`ralph exec\` hands to its recipe. Everything but the goal has a flag of its own and may be left out. */
  export interface ExecArgs {
      /** What the person typed; "" with \`--resume\`. */
      readonly goal: string;
      readonly resume?: boolean;
      /** @default "auto" */
      readonly understand?: "auto" | "always" | "never";
      /** @default "auto" */
      readonly maxUnderstandIterations?: "auto" | number;
      /** @default "auto" */
      readonly maxRunIterations?: "auto" | number;
  }
}

declare module "ralph:steps/gate" {
  import type { RalphContext } from "ralph:context";
  import type { AnswerSource } from "ralph:events/types";
  /** How a gate ended. \`approved\` carries what the next step needs. */
  export type GateOutcome<Value = unknown> = ({
      readonly status: "approved";
  } & Value)
  /** A person said no, or nobody could be asked; these commands go on from here. */
   | {
      readonly status: "declined";
      readonly next: readonly string[];
  }
  /** There was nothing to ask. */
   | {
      readonly status: "skipped";
      readonly reason: string;
  } | {
      readonly status: "aborted";
  };
  /** A gate of your own. */
  export interface GateOptions {
      /** The consent's name: \`--approve NAME\` answers it, and its question is \`gate.NAME\`. */
      readonly name: string;
      /** A question that yes or no answers. */
      readonly message: string;
      /** Lines shown above the question. */
      readonly reasons?: readonly string[];
      /** Commands by which a person can go on after a no, when they are shown. */
      readonly next?: readonly string[];
  }
  /** What was decided, and by whom. */
  export interface Consent {
      readonly yes: boolean;
      readonly source: AnswerSource;
  }
  /**
   * Asks a person for consent, once; the default is no. A gate decides and does nothing else.
   *
   * @example Nobody said yes
   * \`\`\`ts
   * import { gate } from "ralph";
   * import { testContext } from "ralph/testing";
   *
   * await using ralph = await testContext();
   * const decided = await gate(ralph, { name: "deploy", message: "Deploy now?" });
   * console.log(decided.status); // declined
   * \`\`\`
   */
  export function gate(ralph: RalphContext, options: GateOptions): Promise<GateOutcome>;
  /** The answer at a gate; \`null\` after an interrupt. Where nobody can be asked, it is no. */
  export function askConsent(ralph: Pick<RalphContext, "prompter">, options: GateOptions): Promise<Consent | null>;
}

declare module "ralph:steps/gate_run" {
  import type { RalphContext } from "ralph:context";
  import type { Backlog } from "ralph:loop/types";
  import { type GateOutcome } from "ralph:steps/gate";
  import { type IterationCap } from "ralph:steps/iteration_cap";
  /** What the gate says of the run. */
  export interface GateRunOptions {
      /** \`auto\`: one for each open item, retries on top; a number counts agent turns. @default "auto" */
      readonly maxIterations?: "auto" | number;
  }
  /**
   * Asks whether the work may start; the default is no. Shows how many iterations it may take and how that was computed,
   * and lists the items that name no check. Decides only: \`runLoop()\` acts.
   *
   * @throws {RalphError} option-invalid, state-missing, state-invalid
   * @example Nobody said yes
   * \`\`\`ts
   * import { gateRun, memoryBacklog } from "ralph";
   * import { testContext } from "ralph/testing";
   *
   * await using ralph = await testContext();
   * const go = await gateRun(ralph, memoryBacklog([{ id: "a", title: "write a.txt", checks: ["test -f a.txt"] }]));
   * console.log(go.status); // declined
   * \`\`\`
   */
  export function gateRun<Data, Findings>(ralph: RalphContext, backlog: Backlog<Data, Findings>, options?: GateRunOptions): Promise<GateOutcome<IterationCap>>;
}

declare module "ralph:steps/iteration_cap" {
  /** What a gate hands to its loop: \`auto\` counts items taken up, a number counts agent turns. */
  export interface IterationCap {
      /** Items taken up; retries come on top. */
      readonly maxItems?: number;
      /** Agent turns. */
      readonly maxIterations?: number;
  }
  /** A cap with how it came about, for a person. */
  export interface ComputedCap {
      readonly cap: IterationCap;
      /** \`null\`: no limit. */
      readonly count: number | null;
      readonly explained: string;
  }
  /**
   * The cap of a loop.
   *
   * @param asked \`auto\`, or agent turns
   * @param found what \`auto\` comes to, with the words for it; \`null\` when it is not known
   * @param option the option's name in an error and in the explanation
   * @throws {RalphError} option-invalid
   */
  export function iterationCap(asked: "auto" | number, found: {
      readonly count: number | null;
      readonly counted: string;
  }, option: string): ComputedCap;
}

declare module "ralph:steps/gate_understand" {
  import type { RalphContext } from "ralph:context";
  import { type GateOutcome } from "ralph:steps/gate";
  import { type IterationCap } from "ralph:steps/iteration_cap";
  import { type Recommendation, type Uncertainty } from "ralph:steps/plan/state";
  /** What planning said of the code: \`plan()\` gives it. */
  export interface PlannedFacts {
      /** What the planner could not find out. */
      readonly uncertainties?: readonly Uncertainty[];
      /** Whether the planner would explore the code first. */
      readonly recommendUnderstand?: Recommendation;
      /** The codebase map is the empty template. */
      readonly mapWasMissing?: boolean;
  }
  /** When the gate asks. */
  export interface GateUnderstandOptions {
      /** \`auto\` asks when something speaks for it, \`always\` asks, \`never\` does not. @default "auto" */
      readonly mode?: "auto" | "always" | "never";
      /** \`auto\`: one for each open topic. @default "auto" */
      readonly maxIterations?: "auto" | number;
  }
  /**
   * Asks whether the code should be understood before it is changed, and says why and how long that takes. Decides only:
   * \`understand()\` acts.
   *
   * @param planned what \`plan()\` returned; read from \`plan_state.json\` when left out
   * @throws {RalphError} option-invalid, state-invalid
   * @example Let nobody be asked
   * \`\`\`ts
   * import { gateUnderstand } from "ralph";
   * import { testContext } from "ralph/testing";
   *
   * await using ralph = await testContext();
   * const gate = await gateUnderstand(ralph, {}, { mode: "never" });
   * console.log(gate.status); // skipped
   * \`\`\`
   */
  export function gateUnderstand(ralph: RalphContext, planned?: PlannedFacts, options?: GateUnderstandOptions): Promise<GateOutcome<IterationCap & {
      readonly reasons: readonly string[];
  }>>;
}

declare module "ralph:steps/plan/state" {
  import type { Prd } from "ralph:backlogs/prd/types";
  /** Where planning stands. */
  export type PlanStage = "preflight" | "collect_context" | "draft_prd" | "review_prd" | "done";
  /** One question that was answered. */
  export interface PlanAnswer {
      readonly id: string;
      readonly question: string;
      readonly answer: string;
      /** ISO time. */
      readonly askedAt: string;
  }
  /** Something that the planner's agent could not find out. */
  export interface Uncertainty {
      /** In a word or two. */
      readonly topic: string;
      /** Why it is not known. */
      readonly reason: string;
      /** What would tell. */
      readonly evidenceMissing: string;
  }
  /** Whether the agent thinks that the code should be explored first. */
  export interface Recommendation {
      /** Whether to explore the code first. */
      readonly shouldRun: boolean;
      /** Why, for a person. */
      readonly reasons: readonly string[];
  }
  /** One entry for the transcript, named so that it is never written twice. */
  export interface TranscriptEntry {
      readonly id: string;
      readonly text: string;
  }
  /** The working tree before a turn: HEAD, and a hash of each file that differed from it (\`null\`: gone). */
  export interface TreeBefore {
      readonly head: string | null;
      readonly contents: Readonly<Record<string, string | null>>;
  }
  /** \`plan_state.json\`: all that planning needs to go on after any interruption. */
  export interface PlanState {
      readonly schemaVersion: 1;
      /** Absolute path of the root. */
      readonly root: string;
      readonly goal: string;
      readonly createdAt: string;
      readonly updatedAt: string;
      readonly state: PlanStage;
      readonly qa: readonly PlanAnswer[];
      /** Asked by the agent and not answered yet. */
      readonly pendingQuestions: readonly string[];
      readonly uncertainties: readonly Uncertainty[];
      readonly recommendUnderstand: Recommendation;
      /** The last valid draft. */
      readonly lastPrdDraft: Prd | null;
      readonly approvedPrdAt: string | null;
      /** A person said no to the draft and has not said yet what to change. */
      readonly changing: boolean;
      /** Answers in a row that were refused. */
      readonly attempts: number;
      /** Rounds of questions since the start, or since a person last asked for changes. */
      readonly rounds: number;
      /** Agent turns taken. */
      readonly turns: number;
      /** What to do with the stories that stood in \`prd.json\`; \`null\` while nobody was asked. */
      readonly existing: "update" | "overwrite" | null;
      /** There was no codebase map when planning began: the one that is there now is the empty template. */
      readonly mapWasMissing: boolean;
      /** Why the agent's last answer was refused, and its end. */
      readonly refused: {
          readonly errors: readonly string[];
          readonly reply: string;
      } | null;
      /** A turn was begun and not ended; the \`missing\` state files did not exist before it. */
      readonly openTurn: {
          readonly missing: readonly string[];
          readonly before: TreeBefore | null;
      } | null;
      /** Names this planning's entries in the transcript. */
      readonly session: string;
      readonly entries: number;
      /** Entries that may not have reached the transcript yet. */
      readonly outbox: readonly TranscriptEntry[];
  }
  /**
   * Reads \`plan_state.json\`.
   *
   * @throws {RalphError} state-invalid with the field and what was expected
   */
  export function parsePlanState(content: string): PlanState;
  /** The file's text. */
  export function formatPlanState(state: PlanState): string;
  /** Planning that has just begun. */
  export function newPlanState(start: {
      readonly goal: string;
      readonly root: string;
      readonly now: string;
      readonly session: string;
      readonly mapWasMissing: boolean;
  }): PlanState;
}

declare module "ralph:steps/plan" {
  import type { Prd } from "ralph:backlogs/prd/types";
  import type { RalphContext } from "ralph:context";
  import { type Refusal } from "ralph:steps/plan/collect";
  import type { Recommendation, Uncertainty } from "ralph:steps/plan/state";
  /** What to plan. */
  export interface PlanOptions {
      /** What is to be built, in a person's words. May be left out to resume. */
      readonly goal?: string;
      /** Go on with whatever was begun; without anything begun, start with the goal. @default false */
      readonly resume?: boolean;
      /** How often an answer that cannot be used is asked for again. @default 3 */
      readonly maxRetries?: number;
      readonly signal?: AbortSignal;
  }
  /** How planning ended. */
  export type PlanOutcome = {
      readonly status: "approved";
      readonly prd: Prd;
      /** Path of the PRD, relative to the root. */
      readonly file: string;
      readonly uncertainties: readonly Uncertainty[];
      readonly recommendUnderstand: Recommendation;
      /** There was no codebase map when planning began. */
      readonly mapWasMissing: boolean;
  }
  /** A person said no; what was worked out is kept. */
   | {
      readonly status: "declined";
      readonly next: readonly string[];
  }
  /** Nobody could be asked. */
   | {
      readonly status: "blocked";
      readonly reasons: readonly string[];
  } | {
      readonly status: "failed";
      readonly reason: Refusal["reason"] | "trespassed" | "agent-failed" | "agent-unusable";
      readonly messages: readonly string[];
  } | {
      readonly status: "aborted";
  };
  /**
   * Talks a goal through until a person approves a PRD. Every answer is kept in \`plan_state.json\` before the next
   * question, so that the same call goes on exactly where it was stopped.
   *
   * @throws {RalphError} option-invalid, agent-missing, agent-not-found, not-a-repository, git-identity-missing,
   * git-operation-in-progress, run-locked, state-invalid
   * @example Plan with answers given beforehand
   * \`\`\`ts
   * import { plan } from "ralph";
   * import { testContext } from "ralph/testing";
   *
   * const story = { id: "US-001", title: "Add a.txt", acceptanceCriteria: ["Verify: \`test -f a.txt\`"], priority: 1, passes: false, notes: "" };
   * const prdDraft = { branchName: "ralph/a", userStories: [story] };
   * const envelope = { questions: [], uncertainties: [], prdDraft, recommendUnderstand: { shouldRun: false, reasons: [] } };
   * await using ralph = await testContext({ agent: { turns: [{ say: JSON.stringify(envelope) }] }, approve: ["prd"] });
   * const planned = await plan(ralph, { goal: "add a.txt" });
   * console.log(planned.status); // approved
   * \`\`\`
   */
  export function plan(ralph: RalphContext, options: PlanOptions): Promise<PlanOutcome>;
}

declare module "ralph:steps/plan/collect" {
  import type { PlanSession, Said } from "ralph:steps/plan/session";
  /** Why an answer cannot be used. */
  export interface Refusal {
      readonly reason: "invalid-envelope" | "invalid-prd";
      readonly errors: readonly string[];
  }
  /** Puts the agent's open questions to the person, one by one; each answer is saved before the next question. */
  export function askPending(session: PlanSession): Promise<void>;
  /** What the transcript says of a question and its answer. */
  export function answerEntry(question: string, answer: string, source: string): Said;
  /** Takes an answer of the agent: questions to ask, a draft to review, or \`Refusal\` when it is neither. */
  export function takeReply(session: PlanSession, text: string): Promise<Refusal | null>;
}

declare module "ralph:steps/plan/session" {
  import type { RalphContext } from "ralph:context";
  import { type PlanState } from "ralph:steps/plan/state";
  /** What a change adds to the transcript. */
  export interface Said {
      readonly heading: string;
      readonly body: readonly string[];
  }
  /** Planning under way: its state, saved with every change. */
  export interface PlanSession {
      readonly ralph: RalphContext;
      readonly state: PlanState;
      /**
       * Saves the state first and the transcript after it. The entries travel in the state, so that a kill between the two
       * loses none, and carry a name, so that none is written twice.
       */
      save(changes: Partial<PlanState>, said?: readonly Said[]): Promise<void>;
      /** ISO time. */
      now(): string;
  }
  /** Goes on from a state; entries that a kill kept from the transcript are written now. */
  export function openSession(ralph: RalphContext, start: PlanState): Promise<PlanSession>;
}

declare module "ralph:backlogs/feature/backlog" {
  import type { Config } from "ralph:config/schema";
  import type { EventSink } from "ralph:events/types";
  import type { Repository } from "ralph:git/types";
  import type { Host } from "ralph:host/types";
  import type { Backlog } from "ralph:loop/types";
  import type { StateFiles } from "ralph:backlogs/state_files";
  import { type FeatureDirectory } from "ralph:backlogs/feature/directories";
  import { type FeatureFindings } from "ralph:backlogs/feature/findings";
  import { type UserInterface } from "ralph:backlogs/feature/story_checks";
  import type { FeatureStory } from "ralph:backlogs/feature/types";
  /** What the backlog needs of the context. */
  export interface FeatureBacklogContext {
      readonly root: string;
      readonly config: Config;
      readonly state: StateFiles;
      readonly repository: Repository | null;
      readonly host: Host;
      readonly events?: EventSink;
      readonly loop?: {
          readonly retryBlocked: boolean;
      };
  }
  /** Which feature, and what its \`ui\` stories are looked at with. */
  export interface FeatureBacklogOptions {
      readonly feature: FeatureDirectory;
      /** Servers and browser. @default none: only commands are run */
      readonly ui?: UserInterface;
      /** Called before the first \`ui\` story is given: nothing is paid for where pages could not be looked at. */
      readonly prepare?: (stories: readonly FeatureStory[]) => Promise<void>;
      /** Take up blocked stories again, each once. @default the context's */
      readonly retryBlocked?: boolean;
  }
  /** What an item of this backlog carries: a story, or all of them for the final verification. */
  export type FeatureItemData = FeatureStory | readonly FeatureStory[];
  /** Id of the item that reviews all stories. */
  export const REVIEW_ID = "final-verification";
  /**
   * A feature's PRD: one story an iteration, lowest priority first; after the last one the final verification, whose
   * RESET opens stories again. Retries, blocked stories and learnings live in the PRD itself.
   *
   * @throws {RalphError} state-missing, state-invalid from every call that reads the file
   */
  export function featureBacklog(ralph: FeatureBacklogContext, options: FeatureBacklogOptions): Backlog<FeatureItemData, FeatureFindings>;
  /** What a story asks for: another text is another story, whatever its id. */
  export function fingerprintOf({ title, description, acceptanceCriteria }: FeatureStory): string;
}

declare module "ralph:backlogs/feature/directories" {
  /** Where features live, relative to the root. */
  export const FEATURES_FOLDER = ".ralph";
  /** One feature's directory. */
  export interface FeatureDirectory {
      /** What comes after the date: \`auth\`. */
      readonly name: string;
      /** \`2024-01-15\`, however the directory writes it. */
      readonly date: string;
      /** Name of the directory: \`2024-01-15-auth\`, \`20240115-auth\`. */
      readonly directory: string;
      /** Paths relative to the root. */
      readonly path: string;
      /** \`prd.json\`, relative to the root. */
      readonly prdFile: string;
      /** \`prd.md\`, relative to the root. */
      readonly markdownFile: string;
  }
  /** True for what a feature may be called: letters, digits, \`_\`, \`.\`, \`-\`, and not digits alone. */
  export function isFeatureName(name: string): boolean;
  /** The feature that a directory's name tells, or \`null\`. Pure. */
  export function parseDirectory(directory: string): FeatureDirectory | null;
  /** The directory of a feature that is begun on this day. */
  export function newDirectory(name: string, date: string): FeatureDirectory;
  /** Every feature that has a directory with a PRD in one of its forms, oldest first. */
  export function listFeatures(root: string): Promise<readonly FeatureDirectory[]>;
  /**
   * The directory of a feature: its whole name, ignoring case; of several the newest. Pure.
   *
   * @returns \`null\` where there is none
   * @throws {RalphError} usage for a name that no feature can have, and for two directories of the same day
   */
  export function matchFeature(features: readonly FeatureDirectory[], name: string): FeatureDirectory | null;
}

declare module "ralph:backlogs/feature/findings" {
  /** What an agent's signals say beside done or not done. Plain JSON. */
  export interface FeatureFindings {
      /** For the agents that come after. */
      readonly learnings: readonly string[];
      /** Ids of stories to be done again, as they were written. */
      readonly reset: readonly string[];
      /** Why, all reasons in one text; "" without one. */
      readonly reason: string;
  }
  /** All that the signal lines of a turn say. */
  export interface FeatureSignals extends FeatureFindings {
      readonly done: boolean;
      readonly verified: boolean;
  }
  /**
   * Reads the signals of the feature workflow from lines that can be signals: DONE, LEARNING, VERIFIED, RESET, REASON.
   *
   * @example A review that sends two stories back
   * \`\`\`ts
   * import { featureSignals } from "ralph";
   *
   * console.log(featureSignals(["<ralph>RESET:US-001, US-003</ralph>"]).reset); // [ "US-001", "US-003" ]
   * \`\`\`
   */
  export function featureSignals(lines: readonly string[]): FeatureSignals;
  /** The learnings with those that are not among them yet, whatever their case and white space. */
  export function withLearnings(known: readonly string[], more: readonly string[]): readonly string[];
  /** The change of the run's block that takes up learnings; nothing where there are no new ones. */
  export function learningsChange(known: readonly string[], more: readonly string[]): {
      readonly learnings?: readonly string[];
  };
  /** Learnings that an agent wrote into prd.json by hand: they count like a signal. */
  export function learningsByHand(found: string | null, written: string): readonly string[];
}

declare module "ralph:backlogs/feature/story_checks" {
  import type { Config } from "ralph:config/schema";
  import type { Check } from "ralph:loop/types";
  import type { PageUrl } from "ralph:verifiers/browser/urls";
  import type { FeatureStory } from "ralph:backlogs/feature/types";
  /** What brings up servers and looks at pages; absent where only the commands are of interest. */
  export interface UserInterface {
      /** Origin that paths belong to, or \`null\`. */
      readonly base: string | null;
      services(): readonly Check[];
      browser(story: FeatureStory, pages: readonly PageUrl[]): Check;
  }
  /** True for a story that has a user interface to be looked at. */
  export function isUi({ tags }: FeatureStory): boolean;
  /** The pages of a story: those that its criteria name, else the front page. */
  export function storyPages(story: FeatureStory, base: string | null): readonly PageUrl[];
  /** The commands of a story, in the order in which they run; those of \`verify.ui\` come after the browser. */
  export function storyCommandsOf(story: FeatureStory, { verify }: Config): {
      readonly first: readonly string[];
      readonly ui: readonly string[];
  };
  /** All checks of some stories: commands, and for the \`ui\` ones services, pages and \`verify.ui\`; each command once. */
  export function checksOf(stories: readonly FeatureStory[], config: Config, ui: UserInterface | null): readonly Check[];
}

declare module "ralph:verifiers/browser/urls" {
  /** A page's address, absolute. */
  export interface PageUrl {
      readonly url: string;
      /** As the criterion writes it: \`/settings\`. */
      readonly written: string;
  }
  /**
   * The pages that acceptance criteria name: absolute URLs of this machine, of a service, or that the text says to visit;
   * and paths below \`base\`. Paths with a placeholder (\`/users/:id\`), files, requests with a method (\`POST /api\`) and pages
   * that are meant to answer with an error are none. Pure.
   *
   * @param base origin that paths belong to, or \`null\` where there is none
   * @example
   * \`\`\`ts
   * import { pageUrls } from "ralph";
   *
   * console.log(pageUrls(["Visit the /settings page"], "http://localhost:3000")[0]?.url); // http://localhost:3000/settings
   * \`\`\`
   */
  export function pageUrls(criteria: readonly string[], base: string | null): readonly PageUrl[];
}

declare module "ralph:backlogs/feature/types" {
  /**
   * The PRD of the feature workflow, schema version 2, as it stands in \`.ralph/<date>-<feature>/prd.json\`. Keys that are
   * not named here are kept.
   *
   * @module
   */
  /** How a story passed. */
  export interface LastResult {
      /** ISO time. */
      readonly completedAt: string;
      /** Short hash of the commit that holds the work. */
      readonly commit: string;
      /** Subject of that commit. */
      readonly summary: string;
  }
  /** One user story: what one iteration works on. */
  export interface FeatureStory {
      /** Such as \`US-001\`. */
      readonly id: string;
      /** One line. */
      readonly title: string;
      /** As the PRD words it. */
      readonly description: string;
      /** URLs in them are looked at for stories tagged \`ui\`. */
      readonly acceptanceCriteria: readonly string[];
      /** \`ui\` adds services, browser checks and \`verify.ui\`. */
      readonly tags: readonly string[];
      /** The lowest comes first. */
      readonly priority: number;
      /** Set by Ralph alone. */
      readonly passes: boolean;
      /** Failed attempts, and resets by the final verification. */
      readonly retries: number;
      /** Given up on after \`maxRetries\`. */
      readonly blocked: boolean;
      /** Of the last attempt that passed, else \`null\`. */
      readonly lastResult: LastResult | null;
      /** A person's notes, and behind them the last failure's reason. */
      readonly notes: string;
  }
  /** What the run has in the document. */
  export interface FeatureRun {
      /** ISO time of the first iteration. */
      readonly startedAt: string | null;
      /** The story in work; taken up first when a run resumes. */
      readonly currentStoryId: string | null;
      /** What agents found out for those that come after them. */
      readonly learnings: readonly string[];
      /** ISO time at which the final verification accepted everything; gone when a story is open again. */
      readonly verifiedAt?: string | null;
  }
  /** The whole document. */
  export interface FeaturePrd {
      readonly schemaVersion: 2;
      readonly project: string;
      /** The branch that \`ralph run\` works on. */
      readonly branchName: string;
      readonly description: string;
      readonly run: FeatureRun;
      readonly userStories: readonly FeatureStory[];
      /** sha256 of the prd.md that it was made of. */
      readonly prdSha256?: string;
  }
}

declare module "ralph:backlogs/feature/validate" {
  /**
   * What is wrong with a feature's PRD; nothing when it is valid. Keys that are missing and have a default, and keys that
   * are not known, are fine.
   *
   * @example Refuse what is not a PRD
   * \`\`\`ts
   * import { validateFeaturePrd } from "ralph";
   *
   * console.log(validateFeaturePrd({ schemaVersion: 1 })[0]); // invalid schemaVersion: expected 2, got 1
   * \`\`\`
   */
  export function validateFeaturePrd(data: unknown): readonly string[];
}

declare module "ralph:services/create_services" {
  import type { RalphContext } from "ralph:context";
  import type { Check } from "ralph:loop/types";
  /** The services of a run. Disposing stops them with their whole trees. */
  export interface Services extends AsyncDisposable {
      /** Origin that paths in acceptance criteria belong to: the first service's. \`null\` without services. */
      readonly base: string | null;
      /** The checks that bring the services up before pages are looked at: restarted where the configuration says so. */
      checks(): readonly Check[];
      /** Why pages cannot be looked at now, or \`null\`. */
      problem(): string | null;
      /**
       * Ends what a crashed run left running, and looks whether the ready URLs are free.
       * @throws {RalphError} service-foreign
       */
      prepare(): Promise<void>;
  }
  /** What services need of the context. */
  export type ServicesContext = Pick<RalphContext, "config" | "events" | "host" | "repository" | "root" | "run">;
  /**
   * The dev servers of \`services\` in the configuration. Nothing is started before a check asks for it; what was started
   * runs on for the next iteration.
   *
   * @example Services for a loop of your own
   * \`\`\`ts
   * import { openServices } from "ralph";
   * import { testContext } from "ralph/testing";
   *
   * await using ralph = await testContext({ config: { services: [{ name: "dev", ready: "http://localhost:3000" }] } });
   * await using services = openServices(ralph);
   * console.log(services.base); // http://localhost:3000
   * \`\`\`
   */
  export function openServices(ralph: ServicesContext): Services;
}

declare module "ralph:steps/prd/prd" {
  import type { RalphContext } from "ralph:context";
  import type { Outcome } from "ralph:steps/outcome";
  import type { PrdOutcome } from "ralph:steps/prd/outcome";
  /** Which feature. */
  export interface PrdOptions {
      /** Made where there is none of that name. */
      readonly feature: string;
      /** What "start execution" runs. */
      readonly run?: () => Promise<Outcome>;
  }
  /**
   * A feature's PRD, from where it stands: written with the agent, refined, finalized to prd.json, edited by hand, or
   * worked off. One action a call; the answers file names the questions \`prd.action\` and \`prd.finalize\`.
   *
   * @throws {RalphError} usage, agent-missing, agent-not-found, not-a-repository, run-locked, editor-missing
   */
  export function prd(ralph: RalphContext, { feature: name, run }: PrdOptions): Promise<PrdOutcome>;
}

declare module "ralph:steps/prd/outcome" {
  import type { Outcome } from "ralph:steps/outcome";
  /** Why a PRD did not come to be. */
  export type PrdFailure = {
      readonly status: "failed";
      readonly reason: "trespassed" | "agent-failed" | "agent-unusable" | "no-prd" | "invalid-prd" | "editor-failed";
      readonly reasons: readonly string[];
  } | {
      readonly status: "aborted";
  };
  /** How \`prd()\` ended. */
  export type PrdOutcome = 
  /** prd.json stands; \`next\` is the command that works it off. */
  {
      readonly status: "approved";
      readonly feature: string;
      readonly file: string;
      readonly next: readonly string[];
  }
  /** It is kept as it is, for later. */
   | {
      readonly status: "declined";
      readonly next: readonly string[];
  }
  /** Nobody could be asked. */
   | {
      readonly status: "blocked";
      readonly reasons: readonly string[];
  } | PrdFailure
  /** Execution was chosen, and ended so. */
   | Outcome;
}

declare module "ralph:steps/feature/feature_interface" {
  import type { FeatureBacklogOptions } from "ralph:backlogs/feature/backlog";
  import type { FeatureDirectory } from "ralph:backlogs/feature/directories";
  import type { RalphContext } from "ralph:context";
  import type { Services } from "ralph:services/create_services";
  /**
   * What the \`ui\` stories of a feature are looked at with: the services of the run and the machine's browser.
   *
   * @throws {RalphError} service-foreign, browser-missing from \`prepare()\`
   */
  export function featureInterface({ config, host, root }: Pick<RalphContext, "config" | "host" | "root">, feature: FeatureDirectory, services: Services): Required<Pick<FeatureBacklogOptions, "prepare" | "ui">>;
}

declare module "ralph:steps/feature/lock_feature" {
  import { type FeatureDirectory } from "ralph:backlogs/feature/directories";
  import type { RalphContext } from "ralph:context";
  /**
   * Holds \`.ralph/ralph.lock\` and the feature's \`prd.json.lock\`, beside the run lock: other programs that know the format
   * look for them. A dead holder's lock is taken over.
   *
   * @throws {RalphError} run-locked
   */
  export function lockFeature({ host, root }: Pick<RalphContext, "host" | "root">, feature: FeatureDirectory): Promise<AsyncDisposable>;
}

declare module "ralph:steps/feature/open_feature" {
  import { type FeatureDirectory } from "ralph:backlogs/feature/directories";
  import type { RalphContext } from "ralph:context";
  import type { Repository } from "ralph:git/types";
  /**
   * The directory of a feature. Without a name the only one that is not finished, which is said.
   *
   * @throws {RalphError} feature-missing, usage
   */
  export function openFeature(ralph: Pick<RalphContext, "events" | "repository" | "root">, name?: string): Promise<FeatureDirectory>;
  /** A feature that was found, and what to say where nobody named it. */
  export interface FoundFeature {
      readonly feature: FeatureDirectory;
      readonly said: string | null;
  }
  /** The same for commands that only look. @throws {RalphError} feature-missing, usage */
  export function findFeature(root: string, name: string, repository: Repository | null): Promise<FoundFeature>;
}

declare module "ralph:verifiers/browser" {
  import type { BrowserConfig } from "ralph:config/schema";
  import type { Host } from "ralph:host/types";
  import type { Check } from "ralph:loop/types";
  import type { PageUrl } from "ralph:verifiers/browser/urls";
  /** A look at pages. */
  export interface BrowserCheckOptions {
      /** What to look at. */
      readonly pages: readonly PageUrl[];
      /** Which browser, and how. */
      readonly config: BrowserConfig;
      /** Absolute path of the project. */
      readonly root: string;
      readonly host: Host;
      /** Begins the screenshots' names: \`auth-US-001\`. */
      readonly name: string;
      /** @default "" */
      readonly scope?: string;
      /** Why the pages cannot be looked at now, or \`null\`. */
      readonly problem?: () => string | null;
  }
  /**
   * A check that opens pages in the machine's Chrome or Chromium: status, console errors, uncaught exceptions, failed
   * requests, a visible error banner; one screenshot a page. Playwright is loaded when it runs.
   */
  export function browserCheck(options: BrowserCheckOptions): Check;
}

declare module "ralph:steps/spec/commit_plan" {
  import type { RalphContext } from "ralph:context";
  /** How the question of an uncommitted plan ended. */
  export type CommitPlanOutcome = {
      readonly status: "approved";
  } | {
      readonly status: "skipped";
      readonly reason: string;
  } | {
      readonly status: "declined";
      readonly next: readonly string[];
  } | {
      readonly status: "aborted";
  };
  /**
   * Before the loop of the spec workflow: a plan with uncommitted changes is committed when a person agrees (the default).
   *
   * @throws {RalphError} not-a-repository, git-identity-missing, git-operation-in-progress
   * @example A plan that is committed already
   * \`\`\`ts
   * import { commitPlan } from "ralph";
   * import { testContext } from "ralph/testing";
   *
   * await using ralph = await testContext({ files: { "ralph/plan.jsonl": '{"t": "spec", "spec": "a.md"}\\n' } });
   * console.log((await commitPlan(ralph)).status); // skipped
   * \`\`\`
   */
  export function commitPlan(ralph: RalphContext): Promise<CommitPlanOutcome>;
}

declare module "ralph:steps/spec/plan_spec" {
  import type { RalphContext } from "ralph:context";
  import { type LoopOutcome } from "ralph:steps/run_loop";
  /** What is planned. */
  export interface PlanSpecOptions {
      /** The spec's file: as given, or in \`ralph/specs/\` or \`specs/\`. */
      readonly spec: string;
      readonly signal?: AbortSignal;
  }
  /** How planning a spec ended. */
  export type PlanSpecOutcome = 
  /** \`tasks\`: how many are pending now. */
  {
      readonly status: "approved";
      readonly spec: string;
      readonly tasks: number;
  }
  /** A person kept the tasks of another spec. */
   | {
      readonly status: "declined";
      readonly next: readonly string[];
  } | {
      readonly status: "blocked";
      readonly reasons: readonly string[];
  } | {
      readonly status: "aborted";
  } | Exclude<LoopOutcome, {
      readonly status: "passed" | "unverified";
  }>;
  /**
   * Plans a spec: makes it the current one and lets the agent write the gap to the code as tasks. Unfinished tasks of another
   * spec are asked about; planning the same spec again brings its tasks up to date.
   *
   * @throws {RalphError} state-missing, state-invalid, not-a-repository, agent-missing, agent-not-found, run-locked,
   * git-identity-missing, git-operation-in-progress
   * @example Plan a spec
   * \`\`\`ts
   * import { planSpec } from "ralph";
   * import { testContext } from "ralph/testing";
   *
   * await using ralph = await testContext({
   *   files: { "specs/a.md": "# A" },
   *   agent: { turns: [{ say: "[RALPH] PLAN_COMPLETE: Added 0 tasks" }] },
   * });
   * console.log((await planSpec(ralph, { spec: "a.md" })).status); // approved
   * \`\`\`
   */
  export function planSpec(ralph: RalphContext, options: PlanSpecOptions): Promise<PlanSpecOutcome>;
}

declare module "ralph:steps/understand" {
  import type { RalphContext } from "ralph:context";
  import { type LoopOutcome } from "ralph:steps/run_loop";
  /** How long understanding may take. */
  export interface UnderstandOptions {
      /** Topics taken up at most; retries come on top. @default as many as are open */
      readonly maxItems?: number;
      /** Agent turns at most. */
      readonly maxIterations?: number;
      readonly signal?: AbortSignal;
  }
  /** How the understanding loop ended, with the topics that are left. */
  export type UnderstandOutcome = LoopOutcome & {
      readonly topicsLeft: readonly string[];
  };
  /**
   * Explores the code, one open topic of \`codebase_map.md\` an iteration. Nothing but the map may be written: anything
   * else ends the step as failed, whatever the agent said. A cap that is used up is no failure: the topics left are said.
   *
   * @throws {RalphError} as \`runLoop()\` does
   * @example Look at two topics
   * \`\`\`ts
   * import { understand } from "ralph";
   * import { testContext } from "ralph/testing";
   *
   * const note = "\\n## 2026-01-31 - How to run locally\\n\\n- \`make run\`\\n";
   * const turn = { append: { "scripts/ralph/codebase_map.md": note }, say: "<promise>COMPLETE</promise>" };
   * await using ralph = await testContext({ agent: { turns: [turn] } });
   * const understood = await understand(ralph, { maxItems: 1 });
   * console.log(understood.status, understood.topicsLeft.length); // passed 11
   * \`\`\`
   */
  export function understand(ralph: RalphContext, options?: UnderstandOptions): Promise<UnderstandOutcome>;
}

declare module "ralph/testing" {
  /**
   * \`ralph/testing\`: what tests of recipes, steps and backlogs need. Real repositories, real processes; only the model
   * is left out.
   *
   * @module
   */
  export type { Script, ScriptedTurn } from "ralph:agents/scripted/script";
  export { scriptedAgent, type ScriptedAgentOptions } from "ralph:agents/scripted/scripted_agent";
  export * from "ralph:testing/backlog_contract";
  export { type FakeClock, fakeClock } from "ralph:testing/fake_clock";
  export { type TemporaryRepository, temporaryRepository, type TemporaryRepositoryOptions, } from "ralph:testing/temporary_repository";
  export { type TestContext, testContext, type TestContextOptions } from "ralph:testing/test_context";
}

declare module "ralph:testing/backlog_contract" {
  import type { Backlog } from "ralph:loop/types";
  /** A backlog under test, and how to begin anew. */
  export interface BacklogContract<Data, Findings> {
      /** A fresh store with at least one open item, and the backlog on it. Opened again, it must read the same store. */
      open(): Promise<{
          readonly backlog: Backlog<Data, Findings>;
          /** The same store, read by a backlog made anew: as after a kill. Absent: the store is lost with the process. */
          readonly reopen?: () => Promise<Backlog<Data, Findings>>;
          /** The store's content, to be compared. */
          readonly snapshot: () => Promise<string>;
          /** Absolute path of the working tree. @default "." */
          readonly cwd?: string;
      }>;
  }
  /** One thing that every backlog owes, to be run by the test runner of your choice. Throws when it is not kept. */
  export interface ContractCase {
      readonly name: string;
      run(): Promise<void>;
  }
  /**
   * What the loop relies on, as test cases: items and attempts go through JSON, \`begin\` and \`settle\` are called twice, a
   * kill falls between any two calls.
   *
   * @example Run it with vitest
   * \`\`\`ts
   * import { memoryBacklog } from "ralph";
   * import { backlogContract } from "ralph/testing";
   *
   * const cases = backlogContract({
   *   async open() {
   *     const backlog = memoryBacklog([{ id: "a", title: "a", checks: ["true"] }]);
   *     return { backlog, snapshot: async () => JSON.stringify(await backlog.overview({ parked: [] })) };
   *   },
   * });
   * for (const { run } of cases) await run();
   * \`\`\`
   */
  export function backlogContract<Data, Findings>(contract: BacklogContract<Data, Findings>): readonly ContractCase[];
}

declare module "ralph:testing/fake_clock" {
  import type { Clock } from "ralph:host/types";
  /** A clock that stands still until it is told to go on. */
  export interface FakeClock extends Clock {
      /** Lets \`ms\` milliseconds pass: whoever slept that long wakes, in order. */
      advance(ms: number): void;
      /** How many are asleep. */
      readonly sleeping: number;
  }
  /**
   * A clock for tests, beginning at \`start\`.
   *
   * @param start milliseconds since 1970 @default 0
   *
   * @example A minute in no time
   * \`\`\`ts
   * import { fakeClock } from "ralph/testing";
   *
   * const clock = fakeClock();
   * const slept = clock.sleep(60_000);
   * clock.advance(60_000);
   * await slept;
   * console.log(clock.now()); // 60000
   * \`\`\`
   */
  export function fakeClock(start?: number): FakeClock;
}

declare module "ralph:testing/temporary_repository" {
  /** What a temporary repository holds. */
  export interface TemporaryRepositoryOptions {
      /** Path to content; a path that ends in \`.sh\` may be run. */
      readonly files?: Readonly<Record<string, string>>;
      /** Commit the files. @default true */
      readonly commit?: boolean;
  }
  /** A real git repository in a temporary folder, taken away when disposed. */
  export interface TemporaryRepository extends AsyncDisposable {
      /** Absolute path. */
      readonly path: string;
      /** Runs git there. @returns what it printed @throws {RalphError} git-failed */
      git(...arguments_: readonly string[]): Promise<string>;
      /** Text of a file, or \`null\`. */
      read(path: string): Promise<string | null>;
      write(files: Readonly<Record<string, string>>): Promise<void>;
  }
  /**
   * Makes a git repository with an identity of its own, on the branch \`main\`.
   *
   * @throws {RalphError} git-failed
   *
   * @example A repository with one file
   * \`\`\`ts
   * import { temporaryRepository } from "ralph/testing";
   *
   * await using repository = await temporaryRepository({ files: { "a.txt": "a\\n" } });
   * console.log(await repository.git("ls-files")); // a.txt
   * \`\`\`
   */
  export function temporaryRepository(options?: TemporaryRepositoryOptions): Promise<TemporaryRepository>;
}

declare module "ralph:testing/test_context" {
  import type { Script } from "ralph:agents/scripted/script";
  import type { Agent } from "ralph:agents/types";
  import type { RalphContext } from "ralph:context";
  import { type RalphOptions } from "ralph:create_ralph";
  import type { RalphEvent } from "ralph:events/types";
  import { type TemporaryRepository } from "ralph:testing/temporary_repository";
  /** What a test's context is made of: \`createRalph()\`'s options, with a repository and an agent made for the test. */
  export interface TestContextOptions extends Omit<RalphOptions, "agent" | "root" | "script"> {
      /** Files that are committed before the test: path to content. */
      readonly files?: Readonly<Record<string, string>>;
      /** The turns of a scripted agent, a command, or an agent of your own. @default an agent without turns */
      readonly agent?: Script | {
          readonly command: string;
      } | Agent;
  }
  /** A real context in a real, temporary repository. */
  export interface TestContext extends RalphContext, AsyncDisposable {
      /** The repository that the context works in. */
      readonly tree: TemporaryRepository;
      /** Every event so far. */
      readonly recorded: readonly RalphEvent[];
  }
  /**
   * A context for tests of steps and recipes. Nothing in it is faked but the agent, and what that does is real.
   *
   * @throws {RalphError} git-failed, config-invalid
   *
   * @example Test a loop without a model
   * \`\`\`ts
   * import { memoryBacklog, runLoop } from "ralph";
   * import { testContext } from "ralph/testing";
   *
   * const turn = { write: { "a.txt": "a\\n" }, say: "<ralph>DONE</ralph>" };
   * await using ralph = await testContext({ agent: { turns: [turn] } });
   * const run = await runLoop(ralph, memoryBacklog([{ id: "a", title: "write a.txt", checks: ["test -f a.txt"] }]));
   * console.log(run.status); // passed
   * \`\`\`
   */
  export function testContext(options?: TestContextOptions): Promise<TestContext>;
}

declare module "ralph:dax" {
  import type { $Type as InstalledType, CommandBuilder as InstalledBuilder } from "dax";
  type Installed<Type, Otherwise> = [0] extends [1 & Type] ? Otherwise : Type;
  interface LentCommand extends PromiseLike<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
    text(): Promise<string>;
    lines(): Promise<string[]>;
    json<Value = unknown>(): Promise<Value>;
    [more: string]: any;
  }
  interface LentShell {
    (strings: TemplateStringsArray, ...values: readonly unknown[]): LentCommand;
    [more: string]: any;
  }
  export type CommandBuilder = Installed<InstalledBuilder, LentCommand>;
  export type $Type = Installed<InstalledType, LentShell>;
}
`;
