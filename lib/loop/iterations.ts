import { note, type RalphContext } from "../context/context.ts";
import { failedUnseenCheck } from "../backlog/attempts.ts";
import type { Found, JournalKey, JudgingHistory, OpenItem } from "../backlog/journal_types.ts";
import type { Attempt, Backlog, Check, Item, LoopView, PassedItem, Settlement } from "../backlog/types.ts";
import type { CheckLike } from "../checks/function.ts";
import type { LimitsConfig } from "../config/schema.ts";
import type { EventBus, TurnChanges } from "../events/types.ts";
import { nestedIn, nestedMessage } from "../git/nested.ts";
import { requireRepository, rootPaths, topLevelPaths, type TreeSnapshot } from "../git/repository.ts";
import { hookIterationOf } from "../hooks/runner.ts";
import type { HookIteration, HookRunner } from "../hooks/runner_types.ts";
import type { WorkItemOptions } from "./attempt/attempt_parts.ts";
import { attemptsLeft, itemStart, previousOf, withRetries } from "./policy/attempts.ts";
import { asFound } from "./attempt/uncommitted.ts";
import { endingOf } from "./policy/ending.ts";
import * as policy from "./policy/progress.ts";
import type { LoopOptions, Stopped, StoppedEarly } from "./run/outcome.ts";
import { bringBack, type Committer, LeftByWorkers, type Ownership } from "./settle/committer.ts";
import { BETWEEN } from "./settle/run_line.ts";
import type { Settled } from "./settle/settle.ts";
import type { Brief } from "../checks/brief/types.ts";
import { onOneLine } from "../prompts/render.ts";
import { isResultOf, noChecks } from "../backlog/verify_commands.ts";
import { usageOf } from "../backlog/usage.ts";

/** After these no hook starts: the run is over, or nothing is known of the iteration. */
const ENDED_BADLY: ReadonlySet<Attempt["status"]> = new Set(["interrupted", "trespassed", "agent-unusable"]);

/** An attempt that has begun. */
export interface Begun {
  readonly item: Item;
  readonly id: string;
  readonly number: number;
  readonly named: NamedIteration;
  readonly history: readonly Attempt[];
  readonly sentBack: { readonly reason: string } | null;
  /** By `clock.steady()`. */
  readonly started: number;
  readonly hook: HookIteration;
  /** The project's tree before it; `null` where there is no turn. */
  readonly before: TreeSnapshot | null;
  readonly events: EventBus;
}

/** How an attempt ended. */
interface EndedAttempt {
  readonly attempt: Attempt;
  readonly settled: Settled;
  readonly checks: readonly Check[];
}

/** Items worked on in a run, and all that changes with each of them. Begin and end are called one at a time. */
export class Iterations {
  /** Ids of items that were taken up. */
  readonly taken: Set<string> = new Set();
  readonly passedNow: Map<string, PassedItem> = new Map();
  progress: policy.Progress;
  /** Checks that hold for every item. */
  shared: readonly CheckLike[];
  /** Commands that failed before the first turn; `null`: there was none yet. */
  failedBefore: ReadonlySet<string> | null = null;
  /** The tree a moment ago. */
  seen: TreeSnapshot | null = null;
  /** Items at the start of the run. */
  atStart = 0;
  hooks: HookRunner | null = null;
  /** Absolute path of the run's folder. */
  folder = "";
  readonly #parts: LoopParts;
  readonly #limits: LimitsConfig;
  readonly #foundOf: (path: string) => Found;
  /** `null`: workers continue with it themselves. */
  readonly #kept: LeftByWorkers | null;
  #last: Attempt | null = null;
  /** Commands that passed when the last item was settled: the tree is as they saw it. */
  #green: ReadonlySet<string> = new Set();

  /** @param foundOf a person's file as it was found first */
  constructor(parts: LoopParts, limits: LimitsConfig, foundOf: (path: string) => Found) {
    this.#parts = parts;
    this.#limits = limits;
    this.#foundOf = foundOf;
    this.#kept = parts.workers === 1 && parts.ralph.loop.elsewhere === undefined ? new LeftByWorkers(parts) : null;
    this.shared = parts.options.checks ?? [];
    this.progress = policy.newProgress(parts.ralph.host.clock.steady());
    this.#nameMixed();
  }

  /** The items that have passed in this run, and those of a killed one whose turns changed a person's files. */
  passedIds(): readonly string[] {
    const { ralph: { journal }, key, ownership: { overwritten } } = this.#parts;
    const killed = new Set([...overwritten.values()].map(({ itemId }) => itemId));
    return [...this.progress.passed, ...journal.passed(key).map(({ id }) => id).filter((id) => killed.has(id))];
  }

  /** Names a person's files that hold work of items that have passed. */
  #nameMixed(): void {
    const { ralph, ownership } = this.#parts;
    for (const path of ownership.uncommitted(this.passedIds())) {
      const message = `changed by a turn or a person${asFound(path, this.#foundOf(path))}`;
      this.notice({ kind: "not-committed", subject: rootPaths(ralph, [path])[0]!, message });
    }
  }

  view(): LoopView {
    const { ralph: { journal }, key } = this.#parts;
    return { parked: journal.parked(key), passed: journal.passed(key) };
  }

  /** Items that were given up on, and of which a person has said something since, come again. @returns how many */
  async takeUpTold(): Promise<number> {
    const { ralph: { journal, steering }, backlog, key } = this.#parts;
    await steering.keepTold(journal.told(key), async (item, text) => {
      const known = [...journal.parked(key), ...journal.open(key).map((open) => open.item)];
      if (known.every(({ id }) => id !== item)) return false;
      await journal.tell(key, item, text);
      return true;
    }, async () => {
      const { ids } = await backlog.overview(this.view());
      return ids === undefined
        ? null
        : [...new Set([...ids, ...this.taken, ...journal.parked(key).map(({ id }) => id)])];
    });
    const ids = journal.parked(key).map(({ id }) => id).filter((id) => journal.answered(key).has(id));
    if (ids.length === 0) return 0;
    await journal.unpark(key, ids);
    await backlog.record?.({ type: "items-told", ids });
    const parked = this.progress.parked.filter(({ id }) => !ids.includes(id));
    this.progress = { ...this.progress, parked };
    return ids.length;
  }

  notice(notice: policy.Notice): void {
    this.progress = policy.withNotice(this.progress, notice);
  }

  /**
   * @param lane given where it is worked on in a tree of its own: where its events go
   * @param handedOut the attempt, where an earlier run has begun it and another process is making it
   */
  async begin(item: Item, lane?: Pick<RalphContext, "events">, handedOut: OpenItem | null = null): Promise<Begun> {
    const { ralph, backlog, key, ownership } = this.#parts;
    const { events } = lane ?? ralph;
    const apart = lane !== undefined;
    const { journal } = ralph;
    const sentBack = journal.reopened(key).get(item.id) ?? null;
    const history = journal.history(key, item);
    const iteration = ralph.run.nextIteration();
    const id = handedOut?.attemptId ?? `${ralph.run.id}.${iteration}`;
    const number = handedOut?.number ?? history.length + 1;
    if (item.checksOnly !== true) this.taken.add(item.id);
    const shown = { id: item.id, kind: item.kind, title: item.title, ...item.preparatory && { preparatory: true } };
    const named = { iteration, item: shown, attempt: number };
    const limit = item.checksOnly === true ? null : this.#limits.iterations;
    const { total, passed } = await backlog.overview(this.view());
    announceIteration({ events }, named, { passed, total, ...limit !== null && { limit } }, item.criteria);
    const started = ralph.host.clock.steady();

    const hook = hookIterationOf(ralph, this.folder, item, iteration);
    if (handedOut !== null) return { item, id, number, named, history, sentBack, started, hook, before: null, events };
    if (await this.#parts.committer.line.hold(BETWEEN)) this.seen = null;
    await this.hooks?.apply();
    if (item.checksOnly !== true) await this.hooks?.run("before", hook);
    const seen = apart || this.hooks !== null ? null : this.seen;
    this.seen = null;
    let before = item.checksOnly === true ? null : seen ?? await requireRepository(ralph).snapshot();
    if (before !== null) ownership.beforeTurn(before, item);
    const userPaths = [...ownership.userPaths];
    const place = { head: before?.head, ...(apart ? { apart } : { branch: before?.branch }) };
    await journal.begun(key, item, { id, number, userPaths, ...place });
    before = await this.#recordBegin(item, before); // what Ralph writes is no part of the turn
    const mayBring = before !== null && !apart;
    const isStowed = mayBring && await bringBack(this.#parts, item);
    const isKept = mayBring && !isStowed && await this.#kept?.bringBack(item) === true;
    if (isKept) await backlog.record?.({ type: "work-returned", item, root: ralph.root, attemptId: id });
    if (isStowed || isKept) before = await requireRepository(ralph).snapshot();
    return { item, id, number, named, history, sentBack, started, hook, before, events };
  }

  /** Records in the store that the item is in progress. @returns the tree after that */
  async #recordBegin(item: Item, before: TreeSnapshot | null): Promise<TreeSnapshot | null> {
    const { ralph, backlog, committer } = this.#parts;
    if (backlog.record === undefined) return before;
    const { stateFiles } = backlog;
    const readAll = (): Promise<readonly (string | null)[]> =>
      Promise.all(stateFiles.map((path) => ralph.state.read(path)));
    const texts = await readAll();
    const commit = await backlog.record({ type: "item-began", item });
    if (commit === undefined) return before;
    const { status } = await committer.commit(commit, [], { isOfAttempt: true });
    if (before === null) return null;
    const repository = requireRepository(ralph);
    if (status !== "nothing" || !committer.knows(stateFiles)) return await repository.snapshot();
    const now = await readAll();
    const written = stateFiles.filter((_, at) => now[at] !== texts[at]);
    return await repository.withWritten(before, topLevelPaths(ralph, written));
  }

  /** The options of `workItem()` for the attempt. @param before the tree that it is worked on in */
  workOptions(
    { item, id, number, history, sentBack }: Begun,
    before: TreeSnapshot | null,
    left: Readonly<Record<string, unknown>>,
  ): WorkItemOptions & { readonly judging: JudgingHistory } {
    const { ralph, key } = this.#parts;
    // never taken over work: where none is known and there is some, the checks are not said to prove nothing
    const isFirst = history.length === 0 && sentBack === null && Object.keys(left).length === 0;
    const greenBefore = ralph.journal.baseline(key, item) ?? (isFirst ? null : false);
    return {
      attempt: { id, number },
      checks: this.shared,
      previous: previousOf(id, { history, sentBack, left }),
      last: this.#last,
      ...(before === null ? {} : { before, start: itemStart(ralph, history, before, left) }),
      judging: ralph.journal.judging(key),
      failedBefore: this.failedBefore ?? new Set(),
      green: this.#green,
      ...(greenBefore === null ? {} : { greenBefore }),
      baselineTaken: (green) => ralph.journal.baselineTaken(key, item, green),
      unseenFailed: history.some(failedUnseenCheck),
      budget: policy.timeBudget(this.progress, this.#limits, ralph.steering.pausedMs()),
    };
  }

  /** The attempt with what the limits make of it. */
  limited({ item, history }: Begun, one: Attempt): Attempt {
    const left = attemptsLeft(this.#parts.backlog, item, one, this.#parts.ralph.config.maxRetries);
    return withRetries(one, history, { left, sameFailure: this.#limits.sameFailure });
  }

  /** Notes which changes of the tree are this item's after its turn. @returns a person's files that have changed as well */
  async own(item: Item, attempt: Attempt, after: TreeSnapshot): Promise<readonly string[]> {
    const { ralph, backlog, ownership } = this.#parts;
    const changed = topLevelPaths(ralph, attempt.turn?.changedFiles ?? []);
    const nested = await nestedIn(requireRepository(ralph), changed);
    if (nested.length > 0) note(ralph, "warn", nestedMessage(nested));
    const state = new Set(topLevelPaths(ralph, backlog.stateFiles));
    return ownership.afterTurn(item.id, changed.filter((path) => !state.has(path)), after);
  }

  /** Records how an attempt was settled, reports it, starts its hooks. @returns why the run ends, or `null` */
  async end(
    begun: Begun,
    { attempt, settled, checks }: EndedAttempt,
    kept: Readonly<Record<string, string | null>>,
  ): Promise<StoppedEarly | null> {
    const { ralph, key } = this.#parts;
    const { item } = begun;
    const { settlement, passed } = settled;
    const last = settled.attempt;
    this.#last = last;
    const mixed = this.#parts.ownership.uncommitted([item.id]).map((path) => [path, this.#foundOf(path)] as const);
    const overwritten = mixed.length === 0 ? {} : { overwritten: Object.fromEntries(mixed) };
    await ralph.journal.settled(key, item, last, {
      settlement,
      kept,
      ...overwritten,
      ...passed !== null && { passed },
    });
    if (passed !== null) await this.#kept?.passed(item);
    if (passed !== null && item.preparatory !== true && item.checksOnly !== true) {
      const { id, title, fingerprint } = item;
      this.passedNow.set(id, { id, title, checks, ...(fingerprint === undefined ? {} : { fingerprint }) });
    }
    for (const id of settlement.reopened ?? []) this.passedNow.delete(id);
    this.#green = new Set(passed === null ? [] : greenOf(last, checks));
    this.#advance(item, last, settlement, checks.some(({ own }) => own === true));
    announceEnd(begun, attempt, settled, ralph.host.clock.steady());
    const ending = endingOf(begun, attempt, settlement);
    if (attempt.turn !== null && !ENDED_BADLY.has(attempt.status)) await this.hooks?.run("after", begun.hook);
    return ending;
  }

  #advance(item: Item, attempt: Attempt, settlement: Settlement, hasOwnCheck: boolean): void {
    const { ralph } = this.#parts;
    const { added } = this.#limits;
    this.progress = policy.advance(this.progress, item, attempt, settlement, { atStart: this.atStart, added });
    this.#nameMixed();
    const unreported = policy.unreportedBudget(this.progress, this.#limits);
    if (unreported !== null && this.progress.turns === 1) note(ralph, "warn", unreported);
    if (settlement.status !== "passed" || item.checksOnly === true || item.preparatory === true) return;
    if (attempt.greenBefore === true) this.notice({ kind: "green-before", subject: item.id, message: "" });
    else if (!hasOwnCheck) this.notice({ kind: "no-own-check", subject: item.id, message: "" });
  }
}

export interface LoopParts {
  readonly ralph: RalphContext;
  readonly backlog: Backlog;
  readonly options: LoopOptions;
  readonly key: JournalKey;
  readonly committer: Committer;
  readonly ownership: Ownership;
  readonly brief: Brief;
  /** The project's tree when the run began. */
  readonly before: TreeSnapshot;
  /** Items worked on at once; with one, in the project's own tree. */
  readonly workers: number;
}

/** The next thing to work on. */
export type Picked =
  | { readonly status: "item"; readonly item: Item }
  /** Nothing starts before something that is in flight has ended. */
  | { readonly status: "waiting" }
  | Stopped;

/** So many of the files that a turn changed are named. */
const PATHS = 20;

/** An iteration, as events name it. */
interface NamedIteration {
  readonly iteration: number;
  readonly item: Pick<Item, "id" | "kind" | "title">;
  readonly attempt: number;
}

/** The event of an item holds this much of its criteria. */
const MOST_CRITERIA = 50;
const LONGEST_CRITERION = 500;

/** Says that a run begins, and on which commit. */
export async function announceRun(
  { ralph, backlog, workers }: Pick<LoopParts, "ralph" | "backlog" | "workers">,
  folder: string,
): Promise<void> {
  const { scope = "", name } = backlog;
  const repository = requireRepository(ralph);
  const { head, branch } = await repository.head();
  const goal = (await backlog.brief?.())?.goal ?? null;
  ralph.events.emit({
    type: "run-start",
    workflow: name,
    root: ralph.root,
    agent: ralph.agent.name,
    folder,
    ...(scope === "" ? {} : { scope }),
    ...(head === null ? {} : { head }),
    ...(goal === null ? {} : { goal: onOneLine(goal) }),
    ...(branch === null ? {} : { branch }),
    ...(workers === 1 ? {} : { workers }),
    ...(ralph.config.trust === "strict" ? { strict: true } : {}),
  });
}

/** Says that an iteration begins. `limit`: turns at most. */
function announceIteration(
  { events }: Pick<RalphContext, "events">,
  named: NamedIteration,
  counts: { readonly passed: number; readonly total: number | null; readonly limit?: number },
  criteria: readonly string[] = [],
): void {
  const shown = criteria.slice(0, MOST_CRITERIA).map((text) => text.slice(0, LONGEST_CRITERION));
  events.emit({ type: "iteration-start", ...named, ...counts, ...shown.length > 0 && { criteria: shown } });
  if (named.attempt !== 1) return;
  for (const message of noChecks({ id: named.item.id, acceptanceCriteria: shown })) {
    note({ events }, "warn", message);
  }
}

/** Says how an iteration ended. @param worked the attempt before it was settled @param now by `clock.steady()` */
function announceEnd(
  { events, named, started }: Begun,
  worked: Attempt,
  { attempt, settlement }: Settled,
  now: number,
): void {
  events.emit({
    type: "iteration-end",
    ...named,
    result: attempt.status,
    settlement: settlement.status,
    message: reasonOf(settlement, attempt),
    durationMs: Math.max(0, now - started),
    usage: usageOf(worked),
    ...(settlement.reopened === undefined ? {} : { reopened: settlement.reopened }),
    ...changesOf(worked),
  });
}

function changesOf({ turn }: Attempt): { readonly changes?: TurnChanges } {
  if (turn === null || turn.changedFiles.length === 0) return {};
  const { changedFiles: paths, diff = { added: 0, removed: 0 } } = turn;
  return { changes: { paths: paths.slice(0, PATHS), files: paths.length, ...diff } };
}

/** Commands that passed in an attempt. Pure. */
function greenOf({ verification }: Attempt, checks: readonly Check[]): readonly string[] {
  const passed = verification?.results.filter(({ ok }) => ok) ?? [];
  const isGreen = (check: Check): boolean => passed.some((result) => isResultOf(result, check));
  return checks.flatMap((check) => check.command !== undefined && isGreen(check) ? [check.command] : []);
}

function reasonOf(settlement: Settlement, attempt: Attempt): string | null {
  const given = "reason" in settlement ? settlement.reason ?? null : null;
  if ("message" in attempt) return given ?? attempt.message;
  return given ?? attempt.doubts?.find(({ kind }) => kind === "not-claimed")?.message ?? null;
}
