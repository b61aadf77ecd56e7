import { join, relative } from "node:path";
import type { RalphContext } from "../context/context.ts";
import { appendText, ensurePrivateDirectory, PRIVATE_FILE, resolveInside } from "../host/files.ts";
import { type Hook, type HookRecord, hooksOf, type HookStore } from "./hook.ts";
import { commitOfTree } from "../checks/checkout/open_checkout.ts";
import { createSlots, type Slots } from "../host/slots.ts";
import type { Backlog } from "../backlog/types.ts";
import { requireRepository, topLevelPaths } from "../git/repository.ts";
import * as action from "./action.ts";
import type { HookIteration, HookRunner, HookRunnerOptions } from "./runner_types.ts";

/** The hooks of a run that has some. @throws {RalphError} git-failed */
export async function startHooks<Data, Findings>(
  ralph: RalphContext,
  backlog: Backlog<Data, Findings>,
  options: HookRunnerOptions,
): Promise<HookRunner> {
  const { hooks, folder } = options;
  const trees = new action.HookTrees(ralph.root, requireRepository(ralph), topLevelPaths(ralph, backlog.stateFiles));
  await trees.sweep();
  const store = hooks.find((hook) => hook.store !== undefined)?.store;
  const directory = store?.directory;
  const logs = directory === undefined ? folder : await resolveInside(ralph.root, directory);
  await ensurePrivateDirectory(logs);
  await action.reportLeftPatches(ralph, directory === undefined ? null : logs, folder);
  return new RunHooks(ralph, { ...options, stateFiles: backlog.stateFiles, logs, trees, store });
}

interface RunHooksParts extends HookRunnerOptions {
  readonly stateFiles: readonly string[];
  readonly logs: string;
  readonly trees: action.HookTrees;
  readonly store: HookStore | undefined;
}

class RunHooks implements HookRunner {
  readonly #ralph: RalphContext;
  readonly #parts: RunHooksParts;
  readonly #slots: Slots;
  readonly #stopper = new AbortController();
  readonly #signal: AbortSignal;
  readonly #running = new Set<Promise<void>>();
  readonly #changes: action.HookChange[] = [];
  readonly #kept: string[] = [];
  readonly #failures: unknown[] = [];

  constructor(ralph: RalphContext, parts: RunHooksParts) {
    this.#ralph = ralph;
    this.#parts = parts;
    this.#slots = createSlots(parts.limit);
    this.#signal = AbortSignal.any([parts.signal, this.#stopper.signal]);
  }

  async repeat(): Promise<void> {
    const left = await this.#parts.store?.left() ?? [];
    const known = left.flatMap(({ hookId, ...iteration }) => {
      const hook = this.#parts.hooks.find(({ id, enabled }) => id === hookId && enabled !== false);
      return hook === undefined ? [] : [{ hook, iteration: { ...iteration, item: null } }];
    });
    const again = known.filter(({ hook }) => hook.parallel !== false && hook.isolated !== false);
    const commit = again.length === 0 ? null : await commitOfTree(this.#ralph);
    for (const { hook, iteration } of again) this.#start(hook, iteration, commit);
    for (const { hook, iteration: { iteration } } of known.filter((one) => !again.includes(one))) {
      const message = `the hook ${hook.id} of iteration ${iteration} was interrupted in the project's own tree: ` +
        "it is not started again";
      this.#ralph.events.emit({ type: "note", level: "warn", message, hook: hook.id });
    }
  }

  async run(when: "after" | "before", iteration: HookIteration): Promise<void> {
    if (this.#signal.aborted) return;
    const hooks = hooksOf(this.#parts.hooks, when);
    const parallel = hooks.filter((hook) => hook.parallel ?? true);
    const isolated = parallel.some((hook) => hook.isolated !== false);
    const commit = isolated ? await commitOfTree(this.#ralph) : null;
    for (const hook of parallel) this.#start(hook, iteration, hook.isolated === false ? null : commit);
    for (const hook of hooks.filter((one) => !parallel.includes(one))) {
      const named = { hook: hook.id, subject: action.hookSubject(hook.id, iteration.iteration) };
      await action.commitTreeChanges(this.#ralph, this.#parts, named, async () => {
        await this.#runHook(hook, iteration, null);
        await this.#ralph.lookAfter?.(`the hook ${hook.id}`);
      });
    }
  }

  async apply(): Promise<void> {
    if (this.#failures.length > 0) throw this.#failures[0];
    this.#changes.sort((one, other) => one.iteration - other.iteration);
    for (let change = this.#changes.shift(); change !== undefined; change = this.#changes.shift()) {
      const kept = await action.applyChange(this.#ralph, this.#parts.brief, change);
      if (kept !== null) this.#kept.push(kept);
    }
  }

  kept(): readonly string[] {
    return this.#kept;
  }

  async finish(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
    await this.#ralph.lookAfter?.("a hook");
    await this.apply();
  }

  async stop(): Promise<void> {
    this.#stopper.abort();
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #start(hook: Hook, iteration: HookIteration, commit: string | null): void {
    const work = this.#slots.run(async () => {
      if (!this.#signal.aborted) await this.#runHook(hook, iteration, commit);
    }).catch((error: unknown) => void this.#failures.push(error)).finally(() => this.#running.delete(work));
    this.#running.add(work);
  }

  /** @param commit the snapshot that an isolated hook works in a tree of; `null` for the root itself */
  async #runHook(hook: Hook, context: HookIteration, commit: string | null): Promise<void> {
    const log = join(this.#parts.logs, `hook-iter${context.iteration}-${hook.id}.log`);
    const { iteration } = context;
    const start = { ...context, hook, log, signal: this.#signal };
    await recordHook(this.#ralph, this.#parts.store, start, (onStart) => {
      const work = (cwd: string): Promise<action.HookEnd> =>
        action.runHookAction(this.#ralph, hook, { ...context, cwd, log, signal: this.#signal, onStart });
      return commit === null ? work(this.#ralph.root) : this.#inTree(hook, iteration, commit, work);
    });
  }

  async #inTree(
    hook: Hook,
    iteration: number,
    commit: string,
    work: (cwd: string) => Promise<action.HookEnd>,
  ): Promise<action.HookEnd> {
    await using tree = await this.#parts.trees.open(commit);
    const end = await work(tree.cwd);
    if (this.#signal.aborted) return end;
    const file = action.pendingPatch(this.#parts.logs, iteration, hook.id);
    const change = await tree.collect(file); // before the end is recorded: what a hook did outlives a kill as this file
    if (change !== null) this.#changes.push({ ...change, hook: hook.id, iteration, file });
    return end;
  }
}

/** One run of a hook, as it is recorded from its start on. */
interface HookStart extends HookIteration {
  readonly hook: Hook;
  /** Absolute path. */
  readonly log: string;
  readonly signal: AbortSignal;
}

/** Carries out one hook and records it, before and after, in the store and as events. */
async function recordHook(
  ralph: Pick<RalphContext, "events" | "host" | "root">,
  store: HookStore | undefined,
  { hook, iteration, transcript, log, signal }: HookStart,
  work: (onStart: (pid: number) => void) => Promise<action.HookEnd>,
): Promise<void> {
  const { clock } = ralph.host;
  const startedAt = clock.now();
  const began = clock.steady();
  const base = { iteration, hookId: hook.id, pid: null, exitCode: null, startedAt, endedAt: null, log, transcript };
  let record: HookRecord = { ...base, status: "in-progress", message: null };
  const writes: Promise<void>[] = [];
  const write = (more: Partial<HookRecord>): void => {
    record = { ...record, ...more };
    const written = store?.record(record) ?? Promise.resolve();
    written.catch(() => {}); // thrown where all of them are waited for
    writes.push(written);
  };
  write({});
  const parallel = hook.parallel ?? true;
  ralph.events.emit({ type: "hook-start", hook: hook.id, iteration, parallel, log: relative(ralph.root, log) });
  const { exitCode, message } = await work((pid) => write({ pid })).catch(
    async (error: unknown): Promise<action.HookEnd> => {
      const problem = error instanceof Error ? error.message : String(error);
      await appendText(log, `${problem}\n`, PRIVATE_FILE);
      return { exitCode: null, message: problem };
    },
  );
  const ended = message === null ? "completed" : "failed";
  const status = signal.aborted ? "interrupted" : ended;
  const endedAt = clock.now();
  write({ status, exitCode, endedAt, message });
  const durationMs = clock.steady() - began;
  ralph.events.emit({ type: "hook-end", hook: hook.id, iteration, status, exitCode, durationMs, message });
  await Promise.all(writes);
}
