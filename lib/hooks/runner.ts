import { join, relative } from "node:path";
import type { RalphContext } from "../context/context.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { appendText, ensureDirectory, removePath } from "../host/files.ts";
import type { Brief } from "../checks/brief/types.ts";
import { type Hook, hookProblems, hooksOf } from "./hook.ts";
import { createSlots } from "../host/slots.ts";
import type { Backlog, HookRecord, Item } from "../backlog/types.ts";
import { requireRepository } from "../context/require_repository.ts";
import { rootPaths, topLevelPaths } from "../git/tree_paths.ts";
import { type HookEnd, runHookAction } from "./action.ts";
import { commitTreeChanges } from "./commit.ts";
import { keepPatch, pendingPatch, tellLeftPatches } from "./left.ts";
import { applyPatch, createHookTrees } from "../git/worktree.ts";

/** An iteration, as hooks know it. */
export interface HookMoment {
  readonly iteration: number;
  readonly item: Item;
  /** Absolute path. */
  readonly transcript: string;
}

/** Which iteration it is, and where its transcript will be. `folder` is the run's. */
export function momentOf(
  { root }: Pick<RalphContext, "root">,
  folder: string,
  item: Item,
  count: number,
): HookMoment {
  const transcript = item.transcript === undefined
    ? join(folder, `iteration-${count}.log`)
    : join(root, item.transcript);
  return { iteration: item.iteration ?? count, item, transcript };
}

/** The hooks of one run. */
export interface HookRunner {
  /** Starts the hooks of this moment. Resolves when those that are not parallel have ended. */
  run(when: "after" | "before", moment: HookMoment): Promise<void>;
  /** Brings in what ended hooks changed. Call between two iterations. */
  apply(): Promise<void>;
  /** Waits for all of them, then brings in their changes. */
  finish(): Promise<void>;
  /** Ends all of them. */
  stop(): Promise<void>;
}

/** What the hooks of a run are made of. */
export interface HookRunnerOptions {
  readonly hooks: readonly Hook[];
  /** Parallel hooks at once. */
  readonly limit: number;
  /** Absolute path of the run's folder. */
  readonly folder: string;
  readonly signal: AbortSignal;
  /** What no hook may change. */
  readonly brief: Brief;
}

interface Change {
  readonly hook: Hook;
  readonly iteration: number;
  readonly file: string;
  readonly paths: readonly string[];
}

const NONE: HookRunner = { run: async () => {}, apply: async () => {}, finish: async () => {}, stop: async () => {} };

/** @throws {RalphError} hook-invalid, git-failed */
export async function createHookRunner<Data, Findings>(
  ralph: RalphContext,
  backlog: Backlog<Data, Findings>,
  options: HookRunnerOptions,
): Promise<HookRunner> {
  const { hooks } = options;
  const [problem] = hookProblems(hooks);
  if (problem !== undefined) {
    throw new RalphError("hook-invalid", { details: { hook: "", problem: hookProblems(hooks).join("; ") } });
  }
  if (!hooks.some(({ enabled }) => enabled !== false)) return NONE;

  const repository = requireRepository(ralph);
  const stopper = new AbortController();
  const signal = AbortSignal.any([options.signal, stopper.signal]);
  const state = topLevelPaths(ralph, backlog.stateFiles);
  const trees = createHookTrees(ralph, repository, state);
  await trees.sweep();
  const slots = createSlots(options.limit);
  const running = new Set<Promise<void>>();
  const changes: Change[] = [];
  const failures: unknown[] = [];
  const logs = backlog.logsDirectory === undefined ? options.folder : join(ralph.root, backlog.logsDirectory);
  await ensureDirectory(logs);
  await tellLeftPatches(ralph, backlog.logsDirectory === undefined ? null : logs, options.folder);

  /** One hook from its first record to its last. */
  async function one(hook: Hook, moment: HookMoment, commit: string | null): Promise<void> {
    const { iteration, item, transcript } = moment;
    const log = join(logs, `hook-iter${iteration}-${hook.id}.log`);
    const startedAt = ralph.host.clock.now();
    let known: HookRecord = {
      iteration,
      hookId: hook.id,
      status: "in-progress",
      pid: null,
      exitCode: null,
      startedAt,
      endedAt: null,
      log,
      transcript,
      message: null,
    };
    const told: Promise<void>[] = [];
    const tell = (more: Partial<HookRecord>): void => {
      known = { ...known, ...more };
      const written = backlog.hookRan?.(known) ?? Promise.resolve();
      written.catch(() => {}); // thrown where all of them are waited for
      told.push(written);
    };
    tell({});
    const parallel = hook.parallel ?? true;
    ralph.events.emit({ type: "hook-start", hook: hook.id, iteration, parallel, log: relative(ralph.root, log) });
    const end = await inItsTree(
      hook,
      moment,
      commit,
      (cwd) =>
        runHookAction(ralph, hook, {
          iteration,
          item,
          transcript,
          cwd,
          log,
          environment: {},
          signal,
          onStart: (pid) => tell({ pid }),
        }),
    ).catch(async (error: unknown): Promise<HookEnd> => {
      const message = error instanceof Error ? error.message : String(error);
      await appendText(log, `${message}\n`);
      return { exitCode: null, message };
    });
    const status = signal.aborted ? "interrupted" : end.message === null ? "completed" : "failed";
    const endedAt = ralph.host.clock.now();
    tell({ status, exitCode: end.exitCode, endedAt, message: end.message });
    const { message } = end;
    ralph.events.emit({
      type: "hook-end",
      hook: hook.id,
      iteration,
      status,
      exitCode: end.exitCode,
      durationMs: endedAt - startedAt,
      message,
    });
    await Promise.all(told);
  }

  async function inItsTree(
    hook: Hook,
    { iteration }: HookMoment,
    commit: string | null,
    work: (cwd: string) => Promise<HookEnd>,
  ): Promise<HookEnd> {
    if (commit === null) return await work(ralph.root);
    await using tree = await trees.open(commit);
    const end = await work(tree.cwd);
    if (signal.aborted) return end;
    const file = pendingPatch(logs, iteration, hook.id);
    const paths = await tree.collect(file); // before the end is recorded: what a hook did outlives a kill as this file
    if (paths.length > 0) changes.push({ hook, iteration, file, paths });
    return end;
  }

  function start(hook: Hook, moment: HookMoment, commit: string | null): void {
    const work = slots.run(async () => {
      if (!signal.aborted) await one(hook, moment, commit);
    }).catch((error: unknown) => void failures.push(error)).finally(() => running.delete(work));
    running.add(work);
  }

  async function applyOne({ hook, iteration, file, paths }: Change): Promise<void> {
    const subject = `hook: ${hook.id} (iteration ${iteration})`;
    const guarded = rootPaths(ralph, paths).filter((path) => options.brief.covers(path));
    const applied = guarded.length > 0
      ? { status: "kept" as const, reason: `it changes protected files: ${guarded.join(", ")}` }
      : await applyPatch(ralph, repository, { file, paths, subject });
    if (applied.status === "committed") ralph.events.emit({ type: "commit", commit: applied.commit, subject });
    if (applied.status !== "kept") return await removePath(file);
    const message = `${subject}: kept as ${relative(ralph.root, await keepPatch(file))}: ${applied.reason}`;
    ralph.events.emit({ type: "note", level: "warn", message });
  }

  async function apply(): Promise<void> {
    if (failures.length > 0) throw failures[0];
    changes.sort((one, other) => one.iteration - other.iteration);
    for (let change = changes.shift(); change !== undefined; change = changes.shift()) await applyOne(change);
  }

  return {
    apply,
    async run(when, moment) {
      if (signal.aborted) return;
      const beside = hooksOf(hooks, when, true);
      const isolated = beside.some((hook) => hook.isolated !== false);
      const commit = isolated ? await trees.snapshot() : null;
      for (const hook of beside) start(hook, moment, hook.isolated === false ? null : commit);
      for (const hook of hooksOf(hooks, when, false)) {
        const subject = `hook: ${hook.id} (iteration ${moment.iteration})`;
        await commitTreeChanges(ralph, { ...backlog, brief: options.brief }, subject, () => one(hook, moment, null));
      }
    },
    async finish() {
      while (running.size > 0) await Promise.all(running);
      await apply();
    },
    async stop() {
      stopper.abort();
      while (running.size > 0) await Promise.all(running);
    },
  };
}
