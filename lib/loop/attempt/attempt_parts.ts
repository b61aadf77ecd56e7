import { note, type RalphContext } from "../../context/context.ts";
import { missingTool } from "../../checks/missing_tool.ts";
import type { JudgingHistory } from "../../backlog/journal_types.ts";
import type * as types from "../../backlog/types.ts";
import type { Beside } from "../../checks/beside.ts";
import type { Brief, BriefChange } from "../../checks/brief/types.ts";
import { type CheckLike, namedCheck } from "../../checks/function.ts";
import { verify } from "../../checks/verify.ts";
import type { TreeSnapshot } from "../../git/repository.ts";
import type { CleanRun } from "../finish/clean.ts";
import type { GuardedTurn, TurnGuard } from "./turn_guard.ts";

/** One attempt, and what is known before it. */
export interface WorkItemOptions {
  /** @default the run's next iteration, number 1 */
  readonly attempt?: { readonly id: string; readonly number: number };
  /** Run after the backlog's own checks. */
  readonly checks?: readonly CheckLike[];
  /** The item's last attempt, reported to the agent. @default none */
  readonly previous?: types.Attempt | null;
  /** The last attempt of the run, at whatever item. @default none */
  readonly last?: types.Attempt | null;
  /** Ends the turn and the checks. @default the one of the context */
  readonly signal?: AbortSignal;
  /** The tree before, when that is known. */
  readonly before?: TreeSnapshot;
  /** How the tree was before the first attempt at the item. @default as it is now */
  readonly start?: types.WorkDone;
  /**
   * The history that decides how old tests are, for `tests.integrity: "block"`.
   *
   * @default they are old as the turn finds them
   */
  readonly judging?: JudgingHistory;
  /** The brief that judges the attempt, and is restored after the turn. @default what it is now */
  readonly brief?: Brief;
  /** Commands that failed before the run's first turn. */
  readonly failedBefore?: ReadonlySet<string>;
  /** Commands that passed when the last item was settled, on this very tree: green, without running them again. */
  readonly green?: ReadonlySet<string>;
  /** The item's own checks were all green before anything was done for it; absent: nothing was done, and they are run. */
  readonly greenBefore?: boolean;
  /** Called with what they came to, before the turn. */
  readonly baselineTaken?: (green: boolean) => Promise<void>;
  /** An earlier attempt at the item failed by its unseen check (`verify.challenge`): another failure is only named. */
  readonly unseenFailed?: boolean;
  /** When the run's time is up: nothing is waited for beyond it. */
  readonly budget?: types.TimeBudget | null;
  /** Put behind the prompt. */
  readonly note?: string;
  /** Looks at checks that are red before the work: whether the checkout can make them. @default nothing is looked at */
  readonly clean?: Pick<CleanRun, "look"> & Partial<Pick<CleanRun, "bringUp">>;
  /** How checks run where other workers' run as well. @default nothing else runs */
  readonly beside?: Beside;
  /** Looks after history and uncommitted work. @default one for this attempt: what is dirty is a person's */
  readonly guard?: TurnGuard;
}

/** An attempt with the tree before and after the agent's turn, for the caller that commits. */
export interface WorkedItem<Findings = unknown> {
  /** How it ended. */
  readonly attempt: types.Attempt<Findings>;
  /** The item's checks, the backlog's own first. */
  readonly checks: readonly types.Check[];
  /** The tree before the turn; `null` where no turn was taken. */
  readonly before: TreeSnapshot | null;
  /** The tree after it; `null` where no turn was taken. */
  readonly after: TreeSnapshot | null;
}

/** All that one attempt works with. */
export interface AttemptParts {
  readonly ralph: RalphContext;
  readonly backlog: types.Backlog;
  readonly item: types.Item;
  readonly context: types.WorkContext;
  readonly work: types.Work;
  readonly checks: readonly CheckLike[];
  readonly options: WorkItemOptions;
  readonly brief: Brief;
  readonly signal: AbortSignal;
  readonly id: string;
  /** Absolute path of the run's folder. */
  readonly folder: string;
  /** Absolute path of the folder for the checks' logs. */
  readonly logs: string;
}

export interface TakenTurn extends GuardedTurn {
  readonly claim: types.Claim | null;
  /** Why the turn was none, although it ended in order. */
  readonly refusal: string | null;
  /** The agent was asked for a claim and has made none: its checks alone verify nothing. */
  readonly unclaimed: boolean;
  /** It edited state files, which were restored. */
  readonly edited: boolean;
  /** The other parts of the brief that it changed, and that were restored. */
  readonly restored: readonly BriefChange[];
}

/** Runs checks before the turn. */
export async function verifyBefore(
  { ralph, item, signal, logs, options }: AttemptParts,
  checks: readonly CheckLike[],
): Promise<types.Verification> {
  const logged = { item, signal, logs: `${logs}-before`, beforeWork: true, ...failedBefore(options) };
  const look = (): Promise<types.Verification> => verify(ralph, checks, logged);
  const found = await (options.beside?.run(look) ?? look());
  for (const result of found.results) {
    const tool = missingTool(result);
    if (tool === null) continue;
    note(ralph, "warn", `${item.id}: ${result.name} cannot run yet: ${tool} was not found; the work may bring it`);
  }
  return found;
}

/** Commands that failed before the run, as an option of `verify()`. */
export function failedBefore(options: WorkItemOptions): { readonly failedBefore: ReadonlySet<string> } {
  return { failedBefore: options.failedBefore ?? new Set() };
}

/** A claim settles an item that no check has seen. */
export function allowsUnverified({ backlog, ralph }: AttemptParts): boolean {
  return backlog.unverified === "accept" || ralph.config.verify.allowUnverified;
}

/** Tells whether a check costs a turn of its own. */
export function isReview(check: CheckLike): boolean {
  return namedCheck(check)?.review === true;
}

/** The checks that cost no turn. */
export function withoutReviews(checks: readonly CheckLike[]): readonly CheckLike[] {
  return checks.filter((check) => !isReview(check));
}
