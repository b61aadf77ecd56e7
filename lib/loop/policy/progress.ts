import type { Attempt, Item, Settlement } from "../../backlog/types.ts";
import type { BranchWork } from "../../git/branch_work.ts";
import { addTurn, NO_USAGE, tokensOf, usagesOf, type UsageTotal } from "../../backlog/usage.ts";

/** Something about a run that its verdict does not say: in the last lines, the report and `--json`. */
export interface Notice {
  /** The subject, from a closed list. */
  readonly kind:
    | "green-before"
    | "no-own-check"
    | "old-tests"
    | "cannot-fail"
    | "weak-checks"
    | "challenge"
    | "not-claimed"
    | "sent-back"
    | "unsteady"
    | "restored"
    | "not-reproducible"
    | "not-committed"
    | "not-checked-as-commit"
    | "workspace"
    | "leftover"
    | "too-large"
    | "environment";
  /** Item, file or command. */
  readonly subject: string;
  /** The news about it, in words; may be empty. */
  readonly message: string;
}

/** Green checks without the agent's claim: what is missing, and how to do without it. */
export const NOT_CLAIMED: string =
  "the agent did not say that it was done: let it print the closing line that its prompt asks for, or set " +
  '`provider.claims` to `"optional"`, so that green checks are enough';

/** How far a run has come. Plain JSON. */
export interface Progress {
  /** Attempts made, those without an agent's turn included. */
  readonly iterations: number;
  /** Agent turns taken. */
  readonly turns: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Sums; `null` when no turn reported any. */
  readonly tokens: number | null;
  /** US dollars so far; `null` when no turn reported any. */
  readonly costUsd: number | null;
  /** All of what the turns used, with how many of them reported nothing. */
  readonly usage: UsageTotal;
  /** The same for each item, by its id. */
  readonly usageByItem: Readonly<Record<string, UsageTotal>>;
  /** Ids of items that passed and were not sent back, in order. */
  readonly passed: readonly string[];
  /** Passed items, of this run or before, that no check has seen, or no agent has claimed. */
  readonly unverified: readonly string[];
  /** Items given up on in this run. */
  readonly parked: readonly { readonly id: string; readonly reason: string }[];
  /** Turns in a row that changed no file and passed nothing. */
  readonly idleTurns: number;
  /** Turns in a row after which nothing passed for the first time. */
  readonly stalledTurns: number;
  /** Ids that have passed at some time in this run. */
  readonly everPassed: readonly string[];
  /** Commands of shared checks that failed before the first turn (`verify.baseline`). */
  readonly failedBefore: readonly string[];
  /** The notices that the last lines name beside the verdict. */
  readonly notices: readonly Notice[];
  /** At the end of a run: what a person asked for, where the backlog knows. */
  readonly goal?: string;
  /** At the end of a run: what the branch holds. */
  readonly work?: BranchWork;
}

/** A run that has not begun. */
export function newProgress(startedAt: number): Progress {
  return {
    iterations: 0,
    turns: 0,
    startedAt,
    tokens: null,
    costUsd: null,
    usage: NO_USAGE,
    usageByItem: {},
    passed: [],
    unverified: [],
    parked: [],
    idleTurns: 0,
    stalledTurns: 0,
    everPassed: [],
    failedBefore: [],
    notices: [],
  };
}

/** Items that may pass for the first time: those of the start, and so many more. */
export interface FirstPasses {
  /** Items at the start of the run; 0 for a free loop. */
  readonly atStart: number;
  /** Items that turns may add, as `limits.added`. */
  readonly added: number;
}

/** Progress after an attempt was settled. Pure. */
export function advance(
  progress: Progress,
  item: Item,
  attempt: Attempt,
  settlement: Settlement,
  { atStart, added }: FirstPasses = { atStart: 0, added: Infinity },
): Progress {
  const { turn } = attempt;
  const { reopened = [] } = settlement;
  const hasPassed = settlement.status === "passed" && item.checksOnly !== true;
  const moved = settlement.idle !== true && ((turn?.changedFiles.length ?? 0) > 0 || hasPassed);
  const isFirst = hasPassed && settlement.idle !== true && !progress.everPassed.includes(item.id) &&
    progress.everPassed.length < atStart + added;
  const isResult = hasPassed && item.preparatory !== true;
  const gone = new Set([item.id, ...reopened]);
  const kept = (ids: readonly string[]): readonly string[] => ids.filter((id) => !gone.has(id));
  const used = usagesOf(attempt);
  const counted = turn === null ? 0 : 1;
  const notices = [...attempt.doubts ?? [], ...stowedNotices(settlement)];
  const others: Progress = {
    ...progress,
    notices: progress.notices.filter(({ kind, subject }) => kind !== "not-claimed" || subject !== item.id),
  };
  return {
    ...notices.reduce((one, notice) => withNotice(one, { ...notice, subject: item.id }), others),
    iterations: progress.iterations + (item.checksOnly === true ? 0 : 1),
    turns: progress.turns + (turn === null || turn.end.reason === "rate-limited" ? 0 : 1),
    tokens: used.reduce((sum, usage) => add(sum, tokensOf(usage)), progress.tokens),
    costUsd: used.reduce((sum, usage) => add(sum, usage.costUsd), progress.costUsd),
    usage: used.reduce(addTurn, progress.usage),
    usageByItem: used.length === 0 ? progress.usageByItem : {
      ...progress.usageByItem,
      [item.id]: used.reduce(addTurn, progress.usageByItem[item.id] ?? NO_USAGE),
    },
    idleTurns: moved ? 0 : progress.idleTurns + counted,
    stalledTurns: isFirst ? 0 : progress.stalledTurns + counted,
    everPassed: isFirst ? [...progress.everPassed, item.id] : progress.everPassed,
    passed: isResult ? [...kept(progress.passed), item.id] : kept(progress.passed),
    unverified: isResult && attempt.status === "unverified"
      ? [...kept(progress.unverified), item.id]
      : kept(progress.unverified),
    parked: settlement.status === "parked"
      ? [...progress.parked.filter(({ id }) => id !== item.id), { id: item.id, reason: settlement.reason }]
      : progress.parked,
  };
}

function stowedNotices({ stowed }: Settlement): readonly Omit<Notice, "subject">[] {
  if (stowed === undefined) return [];
  return [{ kind: "leftover", message: `what its turns left; \`git diff HEAD...${stowed}\` shows it` }];
}

/** Progress with one more notice; one of the same kind and subject is replaced. Pure. */
export function withNotice(progress: Progress, notice: Notice): Progress {
  const others = progress.notices.filter(({ kind, subject }) => kind !== notice.kind || subject !== notice.subject);
  return { ...progress, notices: [...others, notice] };
}

/** Progress after the final check sent items back. Pure. */
export function withoutPassed(progress: Progress, ids: readonly string[]): Progress {
  const kept = (all: readonly string[]): readonly string[] => all.filter((id) => !ids.includes(id));
  return { ...progress, passed: kept(progress.passed), unverified: kept(progress.unverified) };
}

function add(sum: number | null, more: number | null): number | null {
  return more === null ? sum : (sum ?? 0) + more;
}
