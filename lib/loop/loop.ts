import type { JournalKey } from "../backlog/journal_types.ts";
import type { Attempt, Backlog, Check, Item, LoopView, Next, PassedItem, Settlement } from "../backlog/types.ts";
import { restoreBrief } from "../checks/brief/restore_brief.ts";
import type { Brief } from "../checks/brief/types.ts";
import { failedUnseenCheck } from "../checks/challenge/prompt.ts";
import type { CheckLike } from "../checks/types.ts";
import { checksForUnchecked } from "../checks/unchecked_items.ts";
import type { LimitsConfig } from "../config/schema.ts";
import type { RalphContext } from "../context/context.ts";
import { requireRepository } from "../git/require_repository.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { rootPaths, topLevelPaths } from "../git/tree_paths.ts";
import type { TreeSnapshot } from "../git/types.ts";
import { configuredHooks } from "../hooks/hook.ts";
import { createHookRunner, hookIterationOf, type HookRunner } from "../hooks/runner.ts";
import { announceEnd, announceIteration, announceRun, greenOf } from "./announce.ts";
import { answered, type Committer, settleAndCommit } from "./settle.ts";
import { attemptsLeft, itemStart, previousOf, withRetries } from "./attempts.ts";
import { baselineOf } from "./baseline.ts";
import { type CleanRun, createCleanRun } from "./clean.ts";
import { conclude } from "./conclude.ts";
import { endingOf } from "./ending.ts";
import { receiveInbox } from "./inbox.ts";
import { askToContinue, limitReached, limitsOf, rest, timeBudget, timeReached, unreportedBudget } from "./limits.ts";
import type { Ending, LoopOptions, LoopOutcome, Stopped, StoppedEarly } from "./outcome.ts";
import type { Ownership } from "./ownership.ts";
import { advance, newProgress, type Notice, type Progress, withNotice, withoutPassed } from "./progress.ts";
import { createTurnGuard, type TurnGuard } from "./turn_guard.ts";
import { workItem } from "./work_item.ts";

/** After these no hook starts: the run is over, or nothing is known of the iteration. */
const ENDED_BADLY: ReadonlySet<Attempt["status"]> = new Set(["interrupted", "trespassed", "agent-unusable"]);

const NOT_APPLIED = "what a hook changed, which no longer fits: `git apply --3way` with it, and fix what differs";

/** What a run is made of. */
export interface LoopParts<Data, Findings> {
  readonly ralph: RalphContext;
  readonly backlog: Backlog<Data, Findings>;
  readonly options: LoopOptions;
  readonly key: JournalKey;
  readonly committer: Committer;
  readonly ownership: Ownership;
  readonly brief: Brief;
}

/** One run: what changes while it lasts. */
export class Loop<Data, Findings> {
  readonly #parts: LoopParts<Data, Findings>;
  readonly #ralph: RalphContext;
  readonly #backlog: Backlog<Data, Findings>;
  readonly #signal: AbortSignal;
  readonly #limits: LimitsConfig;
  readonly #taken: Set<string> = new Set();
  readonly #passedNow: Map<string, PassedItem> = new Map();
  readonly #guard: TurnGuard;
  readonly #clean: CleanRun;
  #shared: readonly CheckLike[];
  #failedBefore: ReadonlySet<string> | null = null;
  #progress: Progress;
  #atStart = 0;
  #hooks: HookRunner | null = null;
  #folder = "";
  #last: Attempt<Findings> | null = null;
  /** Commands that passed when the last item was settled: the tree is as they saw it. */
  #green: ReadonlySet<string> = new Set();

  constructor(parts: LoopParts<Data, Findings>) {
    const { ralph, backlog, options } = parts;
    this.#parts = parts;
    this.#ralph = ralph;
    this.#backlog = backlog;
    this.#signal = options.signal ?? ralph.signal;
    this.#limits = limitsOf(ralph, options);
    this.#shared = options.checks ?? [];
    this.#guard = createTurnGuard(ralph, { userPaths: parts.ownership.userPaths, stateFiles: backlog.stateFiles });
    this.#clean = createCleanRun(ralph, parts);
    this.#progress = newProgress(ralph.host.clock.now());
  }

  async run(): Promise<LoopOutcome> {
    this.#folder = await this.#ralph.run.folder(this.#backlog.runsDirectory ?? ".ralph/runs");
    await announceRun(this.#ralph, this.#backlog, this.#folder);
    const sandbox = await this.#ralph.host.sandbox?.announce();
    if (sandbox?.on === false || (sandbox === undefined && this.#ralph.config.trust === "strict")) {
      this.#notice({ kind: "environment", subject: "no sandbox", message: "" });
    }
    const unchecked = await this.#askAboutUnchecked();
    if (unchecked !== null) return this.#end(unchecked);
    this.#hooks = await createHookRunner(this.#ralph, this.#backlog, {
      hooks: this.#parts.options.hooks ?? configuredHooks(this.#ralph.config),
      limit: this.#limits.hooks,
      folder: this.#folder,
      signal: this.#signal,
      brief: this.#parts.brief,
    });
    await using _clean = this.#clean;
    try {
      for (;;) {
        const stopped = await this.#iterate();
        if (stopped === null) continue;
        await this.#hooks.finish();
        if (await receiveInbox(this.#ralph, this.#backlog) > 0 && stopped.status === "done") continue;
        const ending = await this.#conclude(stopped);
        if (ending !== null) return this.#end(ending);
      }
    } catch (error) {
      await this.#hooks.stop();
      throw error;
    }
  }

  /** Items that name no check cannot pass: asked about before the first turn is paid for. */
  async #askAboutUnchecked(): Promise<Ending | null> {
    const { unchecked, total, checkForm } = await this.#backlog.overview(this.#view());
    this.#atStart = total ?? 0;
    if (this.#backlog.unverified === "accept" || this.#shared.length > 0) return null;
    const found = await checksForUnchecked(this.#ralph, unchecked, checkForm);
    if (found.status === "blocked") return { status: "blocked", reasons: found.reasons };
    this.#shared = [...this.#shared, ...found.checks];
    return null;
  }

  #view(): LoopView {
    const { journal } = this.#ralph;
    return { parked: journal.parked(this.#parts.key), passed: journal.passed(this.#parts.key) };
  }

  /** One iteration, or why there is none. */
  async #iterate(): Promise<Stopped | null> {
    if (this.#signal.aborted) return { status: "aborted" };
    await receiveInbox(this.#ralph, this.#backlog);
    const view = this.#view();
    const next = answered(this.#backlog, "next()", await this.#backlog.next({ ...view, inFlight: [] }));
    switch (next.status) {
      case "done":
        return this.#done(next);
      case "blocked":
        return {
          status: "blocked",
          reasons: next.reasons,
          parkedBefore: view.parked.length - this.#progress.parked.length,
        };
      case "waiting":
        throw new RalphError("backlog-invalid", {
          details: { backlog: this.#backlog.name, problem: "next() waits although nothing is in flight" },
        });
      case "item":
        break;
    }
    const { item } = next;
    const limit = this.#limitFor(item);
    if (limit !== null) return { status: "exhausted", limit };
    if (this.#progress.iterations > 0 && !await askToContinue(this.#ralph, this.#parts.options)) {
      return { status: "declined" };
    }
    const early = item.checksOnly === true ? null : await rest(this.#ralph, this.#signal) ?? await this.#baseline();
    return early ?? await this.#attempt(item);
  }

  #done(next: Extract<Next<Data>, { readonly status: "done" }>): Stopped {
    if ("verdict" in next) {
      const problem = "next() answers a `verdict`, as version 1 of the interface asked for: the loop computes it now";
      throw new RalphError("backlog-invalid", { details: { backlog: this.#backlog.name, problem } });
    }
    return { status: "done", ...(next.summary === undefined ? {} : { summary: next.summary }) };
  }

  #limitFor(item: Item<Data>): string | null {
    const { maxItems, stopWhen } = this.#parts.options;
    const now = this.#ralph.host.clock.now();
    if (item.checksOnly === true) return timeReached(this.#progress, this.#limits, now);
    if (maxItems !== undefined && !this.#taken.has(item.id) && this.#taken.size >= maxItems) {
      return `${maxItems} item${maxItems === 1 ? "" : "s"}`;
    }
    return limitReached(this.#progress, this.#limits, now) ?? stopWhen?.(this.#progress) ?? null;
  }

  /** Once, before the first turn. @returns why there is none */
  async #baseline(): Promise<StoppedEarly | null> {
    if (this.#failedBefore !== null) return null;
    const place = { logs: `${this.#folder}/baseline`, signal: this.#signal, clean: this.#clean };
    await this.#clean.open();
    const baseline = await baselineOf(this.#ralph, this.#shared, place);
    if (baseline.status !== "known") return baseline;
    this.#failedBefore = baseline.failing;
    this.#progress = { ...this.#progress, failedBefore: [...baseline.failing] };
    return null;
  }

  async #attempt(item: Item<Data>): Promise<Stopped | null> {
    const ralph = this.#ralph;
    const { key, committer, ownership } = this.#parts;
    const sentBack = ralph.journal.reopened(key).get(item.id) ?? null;
    const history = ralph.journal.history(key, item) as readonly Attempt<Findings>[];
    const iteration = ralph.run.nextIteration();
    const id = `${ralph.run.id}.${iteration}`;
    const number = history.length + 1;
    if (item.checksOnly !== true) this.#taken.add(item.id);
    const named = { iteration, item: { id: item.id, kind: item.kind, title: item.title }, attempt: number };
    const cap = item.checksOnly === true ? null : this.#limits.iterations;
    await announceIteration(ralph, this.#backlog, named, { view: this.#view(), cap });
    const started = ralph.host.clock.now();

    const hookIteration = hookIterationOf(ralph, this.#folder, item, iteration);
    await this.#hooks?.apply();
    if (item.checksOnly !== true) await this.#hooks?.run("before", hookIteration);
    let before = item.checksOnly === true ? null : await requireRepository(ralph).snapshot();
    if (before !== null) ownership.beforeTurn(before, item);
    await ralph.journal.begun(key, item, { id, number, userPaths: [...ownership.userPaths], head: before?.head });
    const begun = await this.#backlog.begin?.(item, id);
    if (begun !== undefined) await committer.commit(begun, []);
    if (begun !== undefined && before !== null) before = await requireRepository(ralph).snapshot(); // no part of the turn

    const worked = await workItem(ralph, this.#backlog, item, {
      attempt: { id, number },
      checks: this.#shared,
      previous: previousOf(id, { history, sentBack, left: ownership.workOf(item.id) }),
      last: this.#last,
      signal: this.#signal,
      ...(before === null ? {} : { before, start: itemStart(ralph, history, before, ownership.workOf(item.id)) }),
      judging: ralph.journal.judging(key),
      brief: this.#parts.brief,
      failedBefore: this.#failedBefore ?? new Set(),
      green: this.#green,
      ...(history.length === 0 ? {} : { greenBefore: history.some((earlier) => earlier.greenBefore === true) }),
      unseenFailed: history.some(failedUnseenCheck),
      guard: this.#guard,
      clean: this.#clean,
      budget: timeBudget(this.#progress, this.#limits),
    });
    const limited = (one: Attempt<Findings>): Attempt<Findings> =>
      withRetries(one, history, {
        left: attemptsLeft(this.#backlog, item, one, {
          maxRetries: ralph.config.maxRetries,
          sentBack: sentBack !== null,
        }),
        sameFailure: this.#limits.sameFailure,
      });
    const attempt = limited(worked.attempt);
    if (worked.after !== null) this.#own(item, attempt, worked.after);
    const settlement = await this.#settle(item, { attempt, limited, checks: worked.checks, after: worked.after });
    this.#advance(item, this.#last ?? attempt, settlement, worked.checks.some(({ own }) => own === true));
    announceEnd(ralph, named, { attempt: this.#last ?? attempt, worked: attempt, settlement, started });
    const ending = endingOf(ralph, attempt, settlement);
    if (attempt.turn !== null && !ENDED_BADLY.has(attempt.status)) await this.#hooks?.run("after", hookIteration);
    return ending;
  }

  #own(item: Item<Data>, attempt: Attempt<Findings>, after: TreeSnapshot): void {
    const changed = topLevelPaths(this.#ralph, attempt.turn?.changedFiles ?? []);
    const state = new Set(topLevelPaths(this.#ralph, this.#backlog.stateFiles));
    const mixed = this.#parts.ownership.afterTurn(item.id, changed.filter((path) => !state.has(path)), after);
    if (mixed.length === 0) return;
    const message = `not committed, since they had changes before the turn: ${mixed.join(", ")}`;
    this.#ralph.events.emit({ type: "note", level: "warn", message });
  }

  async #settle(
    item: Item<Data>,
    { attempt, limited, checks, after }: {
      readonly attempt: Attempt<Findings>;
      readonly limited: (attempt: Attempt<Findings>) => Attempt<Findings>;
      readonly checks: readonly Check[];
      readonly after: TreeSnapshot | null;
    },
  ): Promise<Settlement> {
    const { key, committer, ownership } = this.#parts;
    const settled = await settleAndCommit(this.#ralph, committer, {
      backlog: this.#backlog,
      key,
      item,
      attempt,
      limited,
      checks,
      work: ownership.workOf(item.id),
      ...(after === null ? {} : { known: after }),
    });
    ownership.committed(settled.committed);
    if (settled.settlement.status === "passed") this.#guard.verified();
    this.#last = settled.attempt as Attempt<Findings>;
    const { settlement } = settled;
    await this.#ralph.journal.settled(key, item, settled.attempt, {
      settlement,
      kept: ownership.workOf(item.id),
      ...(settled.passed === null ? {} : { passed: settled.passed }),
    });
    if (settled.passed !== null && item.preparatory !== true && item.checksOnly !== true) {
      const { id, title, fingerprint } = item;
      this.#passedNow.set(id, { id, title, checks, ...(fingerprint === undefined ? {} : { fingerprint }) });
    }
    for (const id of settlement.reopened ?? []) this.#passedNow.delete(id);
    this.#green = new Set(settled.passed === null ? [] : greenOf(settled.attempt, checks));
    return settlement;
  }

  #advance(item: Item<Data>, attempt: Attempt<Findings>, settlement: Settlement, hasOwnCheck: boolean): void {
    const { added } = this.#limits;
    this.#progress = advance(this.#progress, item, attempt, settlement, { atStart: this.#atStart, added });
    for (const path of rootPaths(this.#ralph, this.#parts.ownership.uncommitted(this.#progress.passed))) {
      this.#notice({ kind: "not-committed", subject: path, message: "" });
    }
    const unreported = unreportedBudget(this.#progress, this.#limits);
    if (unreported !== null && this.#progress.turns === 1) {
      this.#ralph.events.emit({ type: "note", level: "warn", message: unreported });
    }
    if (settlement.status !== "passed" || item.checksOnly === true || item.preparatory === true) return;
    if (attempt.greenBefore === true) this.#notice({ kind: "green-before", subject: item.id, message: "" });
    else if (!hasOwnCheck) this.#notice({ kind: "no-own-check", subject: item.id, message: "" });
  }

  #notice(notice: Notice): void {
    this.#progress = withNotice(this.#progress, notice);
  }

  /** The final check and the verdict, or `null`: items come again. */
  async #conclude(stopped: Stopped): Promise<Ending | null> {
    const { key, committer, brief } = this.#parts;
    await restoreBrief(brief);
    const concluded = await conclude(this.#ralph, {
      backlog: this.#backlog,
      key,
      committer,
      stopped,
      progress: this.#progress,
      limits: this.#limits,
      shared: this.#shared,
      passedNow: [...this.#passedNow.values()],
      view: this.#view(),
      logs: `${this.#folder}/final-check-${this.#progress.iterations}`,
      signal: this.#signal,
      clean: this.#clean,
      userPaths: this.#parts.ownership.userPaths,
    });
    const { sentBack, unverified, notices } = concluded;
    this.#progress = { ...withoutPassed(this.#progress, sentBack), ...(unverified === null ? {} : { unverified }) };
    const kept = (this.#hooks?.kept() ?? []).map((subject): Notice => ({
      kind: "leftover",
      subject,
      message: NOT_APPLIED,
    }));
    for (const notice of [...notices, ...kept]) this.#notice(notice);
    for (const id of sentBack) this.#passedNow.delete(id);
    return concluded.ending;
  }

  #end(ending: Ending): LoopOutcome {
    return { ...this.#progress, ...ending } as LoopOutcome;
  }
}
