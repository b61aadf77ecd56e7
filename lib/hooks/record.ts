import { relative } from "node:path";
import type { RalphContext } from "../context/context.ts";
import { appendText, PRIVATE_FILE } from "../host/files.ts";
import type { HookEnd } from "./action.ts";
import type { Hook, HookRecord, HookStore } from "./hook.ts";

/** One run of a hook, as it is recorded from its start on. */
export interface HookStart {
  readonly hook: Hook;
  readonly iteration: number;
  /** Absolute paths. */
  readonly transcript: string;
  readonly log: string;
  readonly signal: AbortSignal;
}

/** Carries out one hook and records it, before and after, in the store and as events. */
export async function recordHook(
  ralph: Pick<RalphContext, "events" | "host" | "root">,
  store: HookStore | undefined,
  { hook, iteration, transcript, log, signal }: HookStart,
  work: (onStart: (pid: number) => void) => Promise<HookEnd>,
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
  const { exitCode, message } = await work((pid) => write({ pid })).catch(async (error: unknown): Promise<HookEnd> => {
    const problem = error instanceof Error ? error.message : String(error);
    await appendText(log, `${problem}\n`, PRIVATE_FILE);
    return { exitCode: null, message: problem };
  });
  const ended = message === null ? "completed" : "failed";
  const status = signal.aborted ? "interrupted" : ended;
  const endedAt = clock.now();
  write({ status, exitCode, endedAt, message });
  const durationMs = clock.steady() - began;
  ralph.events.emit({ type: "hook-end", hook: hook.id, iteration, status, exitCode, durationMs, message });
  await Promise.all(writes);
}
