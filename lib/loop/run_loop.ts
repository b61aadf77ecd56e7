import type { LimitsConfig } from "../config/schema.ts";
import type { RalphContext } from "../context/context.ts";
import { RalphError } from "../errors/ralph_error.ts";
import type { TreeSnapshot } from "../git/types.ts";
import { configuredHooks } from "../hooks/hook.ts";
import { journalKeyOf } from "../backlog/journal_key.ts";
import type { JournalKey } from "../backlog/journal_types.ts";
import type { Ownership } from "./ownership.ts";
import {
  advance,
  limitReached,
  noProgress,
  type Progress,
  sameFailures,
  timeBudget,
  untoldBudget,
} from "./progress.ts";
import type { Attempt, Backlog, Item, Next, Settlement } from "../backlog/types.ts";
import { usageOf } from "../backlog/usage.ts";
import { namedCheck } from "../checks/named_check.ts";
import type { CheckLike } from "../checks/types.ts";
import { answered } from "./answered.ts";
import { failingBefore } from "./baseline.ts";
import { onBranch } from "./branch.ts";
import { createHookRunner, type HookRunner, momentOf } from "../hooks/runner.ts";
import { endingOf } from "./ending.ts";
import { fixBrief, type FixedBrief } from "./fix_brief.ts";
import { createItemStarts, type ItemStart, type ItemStarts } from "../checks/integrity/item_start.ts";
import { recover, repairAfterKill } from "./recover.ts";
import { type Committer, createCommitter, settleAndCommit } from "./settle.ts";
import { limitsOf } from "./limits.ts";
import type { Ending, LoopOptions, LoopOutcome } from "./outcome.ts";
import { sweepCheckTrees } from "../checks/check_tree.ts";
import { requireRepository } from "../context/require_repository.ts";
import { topLevelPaths } from "../git/tree_paths.ts";
import { checksForUnchecked } from "../checks/unchecked_items.ts";
import { workItem } from "./work_item.ts";

export type { LoopOptions, LoopOutcome } from "./outcome.ts";

/** After these no hook starts: the run is over, or nothing is known of the iteration. */
const ENDED_BADLY: ReadonlySet<Attempt["status"]> = new Set(["interrupted", "trespassed", "agent-unusable"]);

/**
 * Takes items from a backlog, one fresh agent process each, until it is done, blocked, or a limit is reached. Nothing
 * passes without its checks. Killed at any moment, the same call continues where it was.
 *
 * @throws {RalphError} not-a-repository, agent-missing, agent-not-found, run-locked, git-identity-missing,
 * git-operation-in-progress, git-detached-head, branch-invalid, branch-failed, state-missing, state-invalid, brief-changed
 * @example A loop over a list in memory
 * ```ts
 * import { memoryBacklog, runLoop } from "ralph";
 * import { testContext } from "ralph/testing";
 *
 * await using ralph = await testContext({ agent: { turns: [{ write: { "a.txt": "a" }, say: "<ralph>DONE</ralph>" }] } });
 * const run = await runLoop(ralph, memoryBacklog([{ id: "a", title: "write a.txt", checks: ["test -f a.txt"] }]));
 * console.log(run.status, run.passed); // passed [ "a" ]
 * ```
 */
export async function runLoop<Data, Findings>(
  ralph: RalphContext,
  backlog: Backlog<Data, Findings>,
  options: LoopOptions = {},
): Promise<LoopOutcome> {
  const repository = requireRepository(ralph);
  const interrupted = ralph.journal.interrupted(backlog.name);
  if (!interrupted) await backlog.overview({ parked: [] }); // a missing or damaged store is told before anything is started
  await ralph.agent.ensureUsable();
  for (const check of options.checks ?? []) await namedCheck(check)?.ensureUsable?.();
  await using _lock = await ralph.lock.acquire(options.purpose ?? "run");
  await ralph.journal.refresh();
  if (interrupted) await repairAfterKill(ralph, backlog);
  await repository.ensureReady();
  await onBranch(ralph, backlog, options.branch ?? ralph.loop.branch);

  const key = await journalKeyOf(backlog);
  const committer = createCommitter(ralph);
  const { brief, begin, end } = await fixBrief(ralph, backlog, key);
  const ownership = await recover(ralph, committer, backlog, key, await repository.snapshot());
  if (options.retryBlocked ?? ralph.loop.retryBlocked) await ralph.journal.unpark(key);
  await backlog.resume?.();
  await sweepCheckTrees(ralph);
  await begin();
  const ended = await new Loop(ralph, backlog, { ...options, brief }, key, committer, ownership).run().finally(end);
  const outcome: LoopOutcome = brief.restored.length === 0 ? ended : { ...ended, restored: brief.restored };
  await ralph.journal.runEnded(key);
  const reasons = "reasons" in outcome ? outcome.reasons : "limit" in outcome ? [outcome.limit] : [];
  const { status, iterations, usage } = outcome;
  ralph.events.emit({ type: "run-end", status, reasons, iterations, usage });
  return outcome;
}

/** One run: what changes while it lasts. */
class Loop<Data, Findings> {
  readonly #ralph: RalphContext;
  readonly #backlog: Backlog<Data, Findings>;
  readonly #options: LoopOptions & Pick<FixedBrief, "brief">;
  readonly #key: JournalKey;
  readonly #committer: Committer;
  readonly #ownership: Ownership;
  readonly #signal: AbortSignal;
  readonly #limits: LimitsConfig;
  readonly #taken: Set<string> = new Set();
  readonly #starts: ItemStarts;
  #checks: readonly CheckLike[];
  #failedBefore: ReadonlySet<string> | null = null;
  #progress: Progress;
  #hooks: HookRunner | null = null;
  #folder = "";
  #last: Attempt<Findings> | null = null;

  constructor(
    ralph: RalphContext,
    backlog: Backlog<Data, Findings>,
    options: LoopOptions & Pick<FixedBrief, "brief">,
    key: JournalKey,
    committer: Committer,
    ownership: Ownership,
  ) {
    this.#ralph = ralph;
    this.#backlog = backlog;
    this.#options = options;
    this.#key = key;
    this.#committer = committer;
    this.#ownership = ownership;
    this.#signal = options.signal ?? ralph.signal;
    this.#limits = limitsOf(ralph, options);
    this.#checks = options.checks ?? [];
    this.#starts = createItemStarts(ralph);
    this.#progress = noProgress(ralph.host.clock.now());
  }

  async run(): Promise<LoopOutcome> {
    const ralph = this.#ralph;
    const folder = this.#folder = await ralph.run.folder(this.#backlog.runsDirectory ?? ".ralph/runs");
    const [head] = await requireRepository(ralph).log(1);
    ralph.events.emit({
      type: "run-start",
      workflow: this.#backlog.name,
      root: ralph.root,
      agent: ralph.agent.name,
      folder,
      ...(this.#backlog.scope === undefined || this.#backlog.scope === "" ? {} : { scope: this.#backlog.scope }),
      ...(head === undefined ? {} : { head: head.commit }),
    });
    const unchecked = await this.#askAboutUnchecked();
    if (unchecked !== null) return this.#end(unchecked);
    const hooks = this.#options.hooks ?? configuredHooks(ralph.config);
    this.#hooks = await createHookRunner(ralph, this.#backlog, {
      hooks,
      limit: this.#limits.hooks,
      folder,
      signal: this.#signal,
      brief: this.#options.brief,
    });
    try {
      for (;;) {
        const ending = await this.#iterate();
        if (ending === null) continue;
        await this.#hooks.finish();
        return this.#end(ending);
      }
    } catch (error) {
      await this.#hooks.stop();
      throw error;
    }
  }

  /** Items that name no check cannot pass: said before the first turn is paid for. */
  async #askAboutUnchecked(): Promise<Ending | null> {
    if (this.#backlog.unverified === "accept" || this.#checks.length > 0) return null;
    const { unchecked } = await this.#backlog.overview({ parked: this.#ralph.journal.parked(this.#key) });
    const found = await checksForUnchecked(this.#ralph, unchecked);
    if (found.status === "blocked") return { status: "blocked", reasons: found.reasons };
    this.#checks = [...this.#checks, ...found.checks];
    return null;
  }

  async #iterate(): Promise<Ending | null> {
    const ralph = this.#ralph;
    if (this.#signal.aborted) return { status: "aborted" };
    const view = { inFlight: [], parked: ralph.journal.parked(this.#key) };
    const next = answered(this.#backlog, "next()", await this.#backlog.next(view));
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
    if (this.#progress.iterations > 0 && !await this.#goOn()) return { status: "declined" };
    if (item.checksOnly !== true && !await this.#baseline()) return { status: "aborted" };
    return await this.#attempt(item);
  }

  #limitFor(item: Item<Data>): string | null {
    if (item.checksOnly === true) return null;
    const { maxItems } = this.#options;
    if (maxItems !== undefined && !this.#taken.has(item.id) && this.#taken.size >= maxItems) {
      return `${maxItems} item${maxItems === 1 ? "" : "s"}`;
    }
    return limitReached(this.#progress, this.#limits, this.#ralph.host.clock.now()) ??
      this.#options.stopWhen?.(this.#progress) ?? null;
  }

  async #goOn(): Promise<boolean> {
    if (!(this.#options.interactive ?? this.#ralph.loop.interactive)) return true;
    const question = {
      id: "loop.continue",
      kind: "confirm",
      message: "Continue with the next iteration?",
      initial: true,
    } as const;
    return (await this.#ralph.prompter.ask(question)).value === "yes";
  }

  /** Once, before the first turn. @returns false when it was interrupted */
  async #baseline(): Promise<boolean> {
    if (this.#failedBefore !== null) return true;
    const place = { logs: `${this.#folder}/baseline`, signal: this.#signal };
    this.#failedBefore = await failingBefore(this.#ralph, this.#checks, place);
    this.#progress = { ...this.#progress, failedBefore: [...this.#failedBefore ?? []] };
    return this.#failedBefore !== null;
  }

  async #attempt(item: Item<Data>): Promise<Ending | null> {
    const ralph = this.#ralph;
    const history = ralph.journal.history(this.#key, item) as readonly Attempt<Findings>[];
    const iteration = ralph.run.nextIteration();
    const id = `${ralph.run.id}.${iteration}`;
    const number = history.length + 1;
    if (item.checksOnly !== true) this.#taken.add(item.id);
    const named = { iteration, item: { id: item.id, kind: item.kind, title: item.title }, attempt: number };
    const { total, passed } = await this.#backlog.overview({ parked: ralph.journal.parked(this.#key) });
    const { iterations: cap } = this.#limits;
    const limit = cap === null || item.checksOnly === true ? {} : { limit: cap };
    ralph.events.emit({ type: "iteration-start", ...named, passed, total, ...limit });
    const started = ralph.host.clock.now();

    const moment = momentOf(ralph, this.#folder, item, iteration);
    await this.#hooks?.apply();
    if (item.checksOnly !== true) await this.#hooks?.run("before", moment);
    const before = item.checksOnly === true ? null : await requireRepository(ralph).snapshot();
    if (before !== null) this.#ownership.beforeTurn(before);
    await ralph.journal.begun(this.#key, item, { id, number, userPaths: [...this.#ownership.userPaths] });
    const begun = await this.#backlog.begin?.(item, id);
    if (begun !== undefined) await this.#committer.commit(begun, []);

    const worked = await workItem(ralph, this.#backlog, item, {
      attempt: { id, number },
      checks: this.#checks,
      previous: history.at(-1) ?? null,
      last: this.#last,
      signal: this.#signal,
      ...(before === null ? {} : { before, start: await this.#startOf(item, history, before) }),
      brief: this.#options.brief,
      failedBefore: this.#failedBefore ?? new Set(),
      budget: timeBudget(this.#progress, this.#limits),
    });
    const attempt = this.#orSameAgain(worked.attempt, history);
    if (worked.after !== null) this.#own(item, attempt, worked.after);
    const settlement = await this.#settle(item, attempt, worked.after);
    this.#progress = advance(this.#progress, item, this.#last ?? attempt, settlement);
    const untold = untoldBudget(this.#progress, this.#limits);
    if (untold !== null && this.#progress.turns === 1) {
      ralph.events.emit({ type: "note", level: "warn", message: untold });
    }
    ralph.events.emit({
      type: "iteration-end",
      ...named,
      result: (this.#last ?? attempt).status,
      settlement: settlement.status,
      message: reasonOf(settlement, this.#last ?? attempt),
      durationMs: Math.max(0, ralph.host.clock.now() - started),
      usage: usageOf(attempt),
      ...(settlement.reopened === undefined ? {} : { reopened: settlement.reopened }),
    });
    const ending = endingOf(ralph, attempt, settlement);
    if (attempt.turn !== null && !ENDED_BADLY.has(attempt.status)) await this.#hooks?.run("after", moment);
    return ending;
  }

  #startOf(item: Item<Data>, history: readonly Attempt[], before: TreeSnapshot): Promise<ItemStart> {
    const left = Object.keys(this.#ownership.workOf(item.id));
    return this.#starts.of(history, before, { user: this.#ownership.userPaths, item: left });
  }

  /** The same failure again and again is blocked, whatever the backlog's retries say. */
  #orSameAgain(attempt: Attempt<Findings>, history: readonly Attempt<Findings>[]): Attempt<Findings> {
    if (attempt.status !== "failed" && attempt.status !== "not-done") return attempt;
    const times = sameFailures(attempt, history);
    if (times < this.#limits.sameFailure) return attempt;
    const { reason: _, ...same } = { reason: null, ...attempt };
    return { ...same, status: "blocked", message: `failed the same way ${times} times: ${attempt.message}` };
  }

  #own(item: Item<Data>, attempt: Attempt<Findings>, after: TreeSnapshot): void {
    const changed = topLevelPaths(this.#ralph, attempt.turn?.changedFiles ?? []);
    const state = new Set(topLevelPaths(this.#ralph, this.#backlog.stateFiles));
    const mixed = this.#ownership.afterTurn(item.id, changed.filter((path) => !state.has(path)), after);
    if (mixed.length === 0) return;
    const message = `not committed, since they had changes before the turn: ${mixed.join(", ")}`;
    this.#ralph.events.emit({ type: "note", level: "warn", message });
  }

  async #settle(item: Item<Data>, attempt: Attempt<Findings>, after: TreeSnapshot | null): Promise<Settlement> {
    const { journal } = this.#ralph;
    const settled = await settleAndCommit(this.#ralph, this.#committer, {
      backlog: this.#backlog,
      key: this.#key,
      item,
      attempt,
      work: this.#ownership.workOf(item.id),
      ...(after === null ? {} : { known: after }),
    });
    this.#ownership.committed(settled.committed);
    this.#last = settled.attempt as Attempt<Findings>;
    await journal.settled(this.#key, item, settled.attempt, settled.settlement, this.#ownership.workOf(item.id));
    return settled.settlement;
  }

  #done({ verdict, summary, covers }: Extract<Next<Data>, { readonly status: "done" }>): Ending {
    if (verdict === "verified" && covers === true) this.#progress = { ...this.#progress, unverified: [] };
    const said = summary === undefined ? {} : { summary };
    if (verdict === "verified" && this.#progress.unverified.length === 0) return { status: "passed", ...said };
    const allowed = this.#backlog.unverified === "accept" || this.#ralph.config.verify.allowUnverified;
    return { status: "unverified", allowed, ...said };
  }

  #end(ending: Ending): LoopOutcome {
    return { ...this.#progress, ...ending } as LoopOutcome;
  }
}

function reasonOf(settlement: Settlement, attempt: Attempt): string | null {
  const given = "reason" in settlement ? settlement.reason ?? null : null;
  return given ?? ("message" in attempt ? attempt.message : null);
}
