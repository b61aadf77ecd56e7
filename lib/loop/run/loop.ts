import { note, type RalphContext } from "../../context/context.ts";
import type { Backlog, CheckResult, Item, Next } from "../../backlog/types.ts";
import { restoreBrief } from "../../checks/brief/create_brief.ts";
import { checksForUnchecked } from "../../checks/unchecked_items.ts";
import type { Found } from "../../backlog/journal_types.ts";
import type { LimitsConfig } from "../../config/schema.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { markingEnvironment } from "../../git/turn_mark.ts";
import { requireRepository, rootPaths } from "../../git/repository.ts";
import { configuredHooks } from "../../hooks/hook.ts";
import { createHookRunner } from "../../hooks/runner.ts";
import { announceRun, Iterations, type LoopParts, type Picked } from "../iterations.ts";
import { baselineOf } from "./baseline.ts";
import { ownPaths } from "../settle/committer.ts";
import { type CleanRun, createCleanRun } from "../finish/clean.ts";
import { conclude } from "../finish/conclude.ts";
import { receiveInbox } from "../recover/inbox.ts";
import * as policy from "../policy/progress.ts";
import type { Ending, LoopOutcome, Stopped, StoppedEarly } from "./outcome.ts";
import type { Dispatcher } from "../parallel/dispatch.ts";
import { isLate } from "../settle/committer.ts";
import { answered, settleAndCommit, waitsInVain } from "../settle/settle.ts";
import { tidied } from "./tidied.ts";
import { createTurnGuard, type TurnGuard } from "../attempt/turn_guard.ts";
import { asFound, foundIn, warnOfChanged } from "../attempt/uncommitted.ts";
import { workItem } from "../attempt/work_item.ts";

const NOT_APPLIED = "what a hook changed, which no longer fits: `git apply --3way` with it, and fix what differs";

/** One run: what changes while it lasts. */
export class Loop {
  readonly #parts: LoopParts;
  readonly #ralph: RalphContext;
  readonly #backlog: Backlog;
  readonly #signal: AbortSignal;
  readonly #limits: LimitsConfig;
  readonly #guard: TurnGuard;
  readonly #clean: CleanRun;
  readonly #iterations: Iterations;
  /** The results of the newest final check. */
  results: readonly CheckResult[] = [];
  /** The commit that it saw; `null`: it saw the working tree, or did not run. */
  checked: string | null = null;

  constructor(parts: LoopParts) {
    const { ralph, backlog, options } = parts;
    this.#parts = parts;
    this.#ralph = { ...marked(ralph), lookAfter: (by) => this.#guard.look(by) };
    this.#backlog = backlog;
    this.#signal = options.signal ?? ralph.signal;
    this.#limits = policy.limitsOf(ralph, options, parts.workers);
    this.#guard = createTurnGuard(ralph, {
      userPaths: parts.ownership.userPaths,
      stateFiles: backlog.stateFiles,
      record: (itemId, kept) => ralph.journal.kept(parts.key, itemId, kept),
      line: parts.committer.line,
    });
    this.#clean = createCleanRun(ralph, parts);
    this.#iterations = new Iterations(parts, this.#limits, (path) => this.#foundOf(path));
  }

  async run(): Promise<LoopOutcome> {
    const iterations = this.#iterations;
    iterations.folder = await this.#ralph.run.folder(this.#backlog.runsDirectory ?? ".ralph/runs");
    await announceRun(this.#parts, iterations.folder);
    const sandbox = await this.#ralph.host.sandbox?.announce();
    const { sandbox: { mode }, trust } = this.#ralph.config;
    if ((sandbox?.on === false && mode !== "auto") || (sandbox === undefined && trust === "strict")) {
      iterations.notice({ kind: "environment", subject: "no sandbox", message: "" });
    }
    const unchecked = await this.#askAboutUnchecked();
    if (unchecked !== null) return this.#end(unchecked);
    const hooks = iterations.hooks = await createHookRunner(this.#ralph, this.#backlog, {
      hooks: this.#parts.options.hooks ?? configuredHooks(this.#ralph.config),
      limit: this.#limits.hooks,
      folder: iterations.folder,
      signal: this.#signal,
      brief: this.#parts.brief,
    });
    await using _clean = this.#clean;
    await using workers = this.#workers();
    await this.#keep();
    try {
      await hooks?.repeat();
      for (;;) {
        const stopped = await workers.idle() ?? await ((await workers.open())?.run() ?? this.#iterate());
        if (stopped === null) continue;
        await hooks?.finish();
        if (await receiveInbox(this.#ralph, this.#backlog) > 0 && stopped.status === "done") continue;
        if (stopped.status === "blocked" && await this.#iterations.takeUpTold() > 0) continue;
        const ending = await this.#conclude(stopped);
        if (ending?.status === "passed") await workers.passed();
        if (ending !== null) return this.#end(ending);
      }
    } catch (error) {
      await hooks?.stop();
      if (this.#signal.aborted && isLate(error)) return this.#end({ status: "aborted" });
      this.#announceError(error);
      throw error;
    }
  }

  /** A person's uncommitted work is kept before anything runs that could write. */
  async #keep(): Promise<void> {
    const { before, ownership, workers } = this.#parts;
    ownership.beforeTurn(before, { id: "" });
    await this.#guard.keep(null, before, workers === 1 && this.#ralph.loop.elsewhere === undefined);
  }

  /** Workers that may come later: loaded only where items are worked on at once, and opened when there is a commit. */
  #workers() {
    const { workers } = this.#parts;
    const ralph = this.#ralph;
    const isOne = workers === 1 && ralph.loop.elsewhere === undefined;
    let opened: Dispatcher | null = null;
    let waits = false;
    return {
      /** Before any tree is made: why nothing needs one, or `null`. */
      idle: async (): Promise<Stopped | null> => {
        if (workers === 1 || ralph.loop.elsewhere !== undefined || opened !== null) return null;
        if (this.#iterations.progress.iterations > 0) return null;
        const picked = await this.#pick([], 0);
        if (picked.status === "item" || picked.status === "waiting") return null;
        if (!ralph.config.parallel.keep) {
          const { rescueTrees } = await import("../parallel/leftover_trees.ts");
          await tidied(ralph, () => rescueTrees(ralph, this.#backlog.stateFiles, 1));
        }
        return picked;
      },
      passed: async (): Promise<void> => {
        if (!isOne) await (await import("../parallel/dispatch.ts")).letGo(this.#parts);
      },
      /** `null`: the next item is worked on in the project's own tree. */
      open: async (): Promise<Dispatcher | null> => {
        if (isOne || opened !== null) return opened;
        const { openWorkers } = await import("../parallel/dispatch.ts");
        opened = await openWorkers(this.#parts, {
          iterations: this.#iterations,
          clean: this.#clean,
          limits: this.#limits,
          signal: this.#signal,
          pick: (inFlight, turns) => this.#pick(inFlight, turns),
          rest: () => policy.rest(ralph, this.#signal),
          baseline: () => this.#baseline(),
          attempt: (item) => this.#attempt(item),
          guard: this.#guard,
        });
        if (opened === null && !waits) {
          waits = true;
          note(ralph, "info", "one item at a time until there is a commit: workers have none to begin with");
        }
        return opened;
      },
      async [Symbol.asyncDispose](): Promise<void> {
        await opened?.[Symbol.asyncDispose]();
      },
    };
  }

  /** Items that name no check cannot pass: asked about before the first turn is paid for. */
  async #askAboutUnchecked(): Promise<Ending | null> {
    const iterations = this.#iterations;
    const { unchecked, total, checkForm } = await this.#backlog.overview(iterations.view());
    iterations.atStart = total ?? 0;
    if (this.#backlog.unverified === "accept" || iterations.shared.length > 0) return null;
    const found = await checksForUnchecked(this.#ralph, unchecked, checkForm);
    if (found.status === "blocked") return { status: "blocked", reasons: found.reasons };
    iterations.shared = [...iterations.shared, ...found.checks];
    return null;
  }

  /** One iteration, or why there is none. */
  async #iterate(): Promise<Stopped | null> {
    const picked = await this.#pick([], 0);
    if (picked.status === "waiting") throw waitsInVain(this.#backlog);
    if (picked.status !== "item") return picked;
    const { item } = picked;
    const early = item.checksOnly === true
      ? null
      : await policy.rest(this.#ralph, this.#signal) ?? await this.#baseline();
    return early ?? await this.#attempt(item);
  }

  /** The next item that may start now. As `DispatchParts.pick`. */
  async #pick(inFlight: readonly string[], turns: number): Promise<Picked> {
    if (this.#signal.aborted) return { status: "aborted" };
    await receiveInbox(this.#ralph, this.#backlog);
    await this.#iterations.takeUpTold();
    const view = this.#iterations.view();
    const next = answered(this.#backlog, "next()", await this.#backlog.next({ ...view, inFlight }));
    const { progress } = this.#iterations;
    if (next.status === "done") return this.#done(next);
    if (next.status === "waiting") return next;
    if (next.status === "blocked") {
      const parkedBefore = view.parked.length - progress.parked.length + (next.givenUp ?? 0);
      return { status: "blocked", reasons: next.reasons, parkedBefore };
    }
    const { item } = next;
    const limit = this.#limitFor(item, turns);
    if (limit !== null) return { status: "exhausted", limit };
    if (progress.iterations > 0 && !await policy.askToContinue(this.#ralph, this.#parts.options)) {
      return { status: "declined" };
    }
    return { status: "item", item };
  }

  #done(next: Extract<Next<unknown>, { readonly status: "done" }>): Stopped {
    if ("verdict" in next) {
      const problem = "next() answers a `verdict`, as version 1 of the interface asked for: the loop computes it now";
      const hint = "take `verdict` out of what next() answers (docs/guides/write-a-backlog.md)";
      throw new RalphError("backlog-invalid", { details: { backlog: this.#backlog.name, problem }, hint });
    }
    return { status: "done", ...(next.summary === undefined ? {} : { summary: next.summary }) };
  }

  #limitFor(item: Item, inFlight: number): string | null {
    const { maxItems, stopWhen } = this.#parts.options;
    const { taken, progress } = this.#iterations;
    const now = policy.workingTime(this.#ralph);
    if (item.checksOnly === true) return policy.timeReached(progress, this.#limits, now);
    if (maxItems !== undefined && !taken.has(item.id) && taken.size >= maxItems) {
      return `${maxItems} item${maxItems === 1 ? "" : "s"}`;
    }
    return policy.limitReached(progress, this.#limits, now, inFlight) ?? stopWhen?.(progress, inFlight) ?? null;
  }

  /** Once, before the first turn. @returns why there is none */
  async #baseline(): Promise<StoppedEarly | null> {
    const iterations = this.#iterations;
    if (iterations.failedBefore !== null) return null;
    const own = ownPaths(this.#ralph, this.#backlog);
    const hooks = this.#parts.options.hooks ?? configuredHooks(this.#ralph.config);
    const found = hooks.length === 0 ? { found: { tree: this.#parts.before, own } } : {};
    const place = { logs: `${iterations.folder}/baseline`, signal: this.#signal, clean: this.#clean, ...found };
    await this.#clean.open();
    await this.#tryCommit();
    const baseline = await baselineOf(this.#ralph, iterations.shared, place);
    if (baseline.status !== "known") return baseline;
    await restoreBrief(this.#parts.brief); // checks run code of earlier runs, and a person may edit beside them
    iterations.failedBefore = baseline.failing;
    iterations.seen = baseline.tree ?? null;
    iterations.progress = { ...iterations.progress, failedBefore: [...baseline.failing] };
    return null;
  }

  /** Finds what would make each commit fail before a turn is paid for. @throws {RalphError} git-failed */
  async #tryCommit(): Promise<void> {
    const { config, events } = this.#ralph;
    if (!config.commits.work && !config.commits.prdChanges) return;
    for (const { path, reason } of await requireRepository(this.#ralph).tryCommit()) {
      note({ events }, "warn", `a new file ${path} cannot be committed: ${reason}`);
    }
  }

  /** One attempt in the project's own tree. */
  async #attempt(item: Item): Promise<StoppedEarly | null> {
    const ralph = this.#ralph;
    const { backlog, key, committer, ownership, brief } = this.#parts;
    const iterations = this.#iterations;
    await this.#adoptSettings();
    await restoreBrief(brief); // what a person or a check has changed since is no turn's, and nothing to be kept
    const begun = await iterations.begin(item);
    const worked = await workItem(ralph, backlog, item, {
      ...iterations.workOptions(begun, begun.before, ownership.workOf(item.id)),
      signal: this.#signal,
      brief,
      guard: this.#guard,
      clean: this.#clean,
    });
    const attempt = iterations.limited(begun, worked.attempt);
    const changed = worked.after === null ? [] : await iterations.own(item, attempt, worked.after);
    warnOfChanged(ralph, changed, (path) => this.#foundOf(path));
    const settled = await settleAndCommit(ralph, committer, {
      backlog,
      key,
      item,
      attempt,
      limited: (one) => iterations.limited(begun, one as typeof attempt),
      checks: worked.checks,
      work: ownership.workOf(item.id),
      ...(worked.after === null ? {} : { known: worked.after }),
    });
    ownership.committed(settled.committed);
    await this.#guard.settled(settled.settlement.status === "passed" ? "passed" : "open");
    await restoreBrief(brief, "git"); // git's hooks may run what the turn wrote
    return await iterations.end(begun, { attempt, settled, checks: worked.checks }, ownership.workOf(item.id));
  }

  /** A person may change git's settings between turns: where items are worked on at once, a turn is never far. */
  async #adoptSettings(): Promise<void> {
    if (this.#parts.workers === 1) await this.#parts.brief.adoptSettings();
  }

  /** The final check and the verdict, or `null`: items come again. */
  async #conclude(stopped: Stopped): Promise<Ending | null> {
    const { brief } = this.#parts;
    const iterations = this.#iterations;
    await this.#adoptSettings();
    await restoreBrief(brief);
    if (iterations.progress.turns > 0) brief.lookAtPrograms(); // a false one may take itself away when it runs
    const { sentBack, unverified, notices, ending, results = [], commit = null } = await conclude(this.#ralph, {
      ...this.#parts,
      stopped,
      progress: iterations.progress,
      limits: this.#limits,
      shared: iterations.shared,
      passedNow: [...iterations.passedNow.values()],
      view: iterations.view(),
      logs: `${iterations.folder}/final-check-${iterations.progress.iterations}`,
      signal: this.#signal,
      clean: this.#clean,
      uncommitted: await this.#uncommitted(),
    });
    this.results = results;
    this.checked = commit;
    iterations.progress = {
      ...policy.withoutPassed(iterations.progress, sentBack),
      ...(unverified === null ? {} : { unverified }),
    };
    const kept = (iterations.hooks?.kept() ?? []).map((subject) => leftover(subject, NOT_APPLIED));
    const aside = this.#ralph.host.sandbox?.aside?.() ?? null;
    if (aside !== null) iterations.notice({ kind: "environment", subject: aside, message: "" });
    const all = [...notices, ...kept, ...await this.#changedByTurns(), ...this.#lost()];
    for (const notice of all) iterations.notice(notice);
    for (const id of sentBack) iterations.passedNow.delete(id);
    return ending;
  }

  /** Work of items that have passed, in files that had changes before: no commit holds it. */
  async #uncommitted(): Promise<readonly string[]> {
    const mixed = this.#parts.ownership.uncommitted(this.#iterations.passedIds());
    if (mixed.length === 0) return [];
    const changed = new Set((await requireRepository(this.#ralph).status()).changed.map(({ path }) => path));
    return rootPaths(this.#ralph, mixed.filter((path) => changed.has(path)));
  }

  /** A person's files that turns of other items have changed. */
  async #changedByTurns(): Promise<readonly policy.Notice[]> {
    const { ownership } = this.#parts;
    const passed = ownership.uncommitted(this.#iterations.passedIds());
    const paths = ownership.uncommitted().filter((path) => !passed.includes(path));
    if (paths.length === 0) return [];
    const { contents } = await requireRepository(this.#ralph).snapshot();
    const changed = paths.filter((path) => this.#foundOf(path).content !== contents.get(path));
    const message = (path: string): string => `changed by turns or a person${asFound(path, this.#foundOf(path))}`;
    return changed.map((path) => leftover(rootPaths(this.#ralph, [path])[0]!, message(path)));
  }

  /** A person's files that are gone: too large to be kept. */
  #lost(): readonly policy.Notice[] {
    return [...this.#guard.lost].map(([path, by]) => ({
      kind: "lost",
      subject: rootPaths(this.#ralph, [path])[0]!,
      message: `${by} changed or removed it, and it was too large to be kept`,
    }));
  }

  /** A person's file as this run, or a killed one before it, found it. */
  #foundOf(path: string): Found {
    return this.#parts.ownership.overwritten.get(path) ?? foundIn(this.#ralph, this.#guard.found, path);
  }

  /** Who reads the report, or is elsewhere, learns why. */
  #announceError(error: unknown): void {
    const { iterations, usage } = this.#iterations.progress;
    const reasons = [error instanceof Error ? error.message : String(error)];
    this.#ralph.events.emit({ type: "run-end", status: "error", reasons, iterations, usage });
  }

  #end(ending: Ending): LoopOutcome {
    return { ...this.#iterations.progress, ...ending } as LoopOutcome;
  }
}

function leftover(subject: string, message: string): policy.Notice {
  return { kind: "leftover", subject, message };
}

/** The context of checks and hooks: what they commit can be told from a person's commits, as a turn's can. */
function marked(ralph: RalphContext): RalphContext {
  const { host } = ralph;
  const run: typeof host.processes.run = async (request) => {
    const mark = await markingEnvironment(requireRepository(ralph), host.environment.variables);
    return await host.processes.run({ ...request, environment: { ...mark, ...request.environment } });
  };
  return { ...ralph, host: { ...host, processes: { ...host.processes, run } } };
}
