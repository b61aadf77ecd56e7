import type { Readable } from "node:stream";
import { createCollector } from "./collect.ts";
import { createTail } from "./tail.ts";
import type { ProcessRequest } from "./types.ts";

/** What a child prints: passed on chunk by chunk, the end of it kept. */
export interface ChildOutput {
  /** Resolves when both streams have ended. */
  readonly closed: Promise<void>;
  isClosed(): boolean;
  /** Resolves when both streams have ended, or after `quietMs` without a byte while nobody holds the stream back. */
  drain(quietMs: number, maxBytes: number): Promise<void>;
  /** Hands over what a mask holds back, and waits until the receiver has taken it. */
  finish(): Promise<void>;
  /** Lets go of the streams, whoever may still hold the other end. */
  destroy(): void;
  /** `performance.now()` of the last byte, or of the last time that the receiver let the stream continue. */
  lastActivity(): number;
  /** True while the receiver of the chunks holds the stream back. */
  isHeld(): boolean;
  tails(): { readonly stdout: string; readonly stderr: string; readonly tail: string };
}

/** Reads both streams. `onFailure` is told of an error of the receiver. */
export function readOutput(
  streams: { readonly stdout: Readable | null; readonly stderr: Readable | null },
  request: Pick<ProcessRequest, "mask" | "onRaw" | "onOutput" | "tailBytes">,
  onFailure: (error: unknown) => void,
): ChildOutput {
  const limit = request.tailBytes ?? 16_384;
  const kept = { stdout: createTail(limit), stderr: createTail(limit), tail: createTail(limit) };
  const collect = createCollector();
  let open = 0;
  let held = 0;
  let failed = false;
  let bytes = 0;
  let activity = performance.now();
  let resolveClosed: () => void = () => {};
  let taken: Promise<void> = Promise.resolve();
  const flushes: (() => void)[] = [];
  const closed = new Promise<void>((resolve) => (resolveClosed = resolve));

  function read(stream: Readable, name: "stdout" | "stderr"): void {
    let isOpen = true;
    const mask = request.mask?.();
    open++;
    if (mask !== undefined) flushes.push(() => pass(mask.end()));
    const close = (): void => {
      if (!isOpen) return;
      isOpen = false;
      if (--open === 0) resolveClosed();
    };
    stream.on("data", (chunk: Uint8Array) => {
      activity = performance.now();
      bytes += chunk.length;
      collect(chunk.length);
      request.onRaw?.(chunk, name);
      pass(mask === undefined ? chunk : mask.push(chunk));
    });
    stream.on("end", close);
    stream.on("close", close);
    stream.on("error", close);

    function pass(chunk: Uint8Array): void {
      if (chunk.length === 0) return;
      kept[name].push(chunk);
      kept.tail.push(chunk);
      hand(stream, name, chunk);
    }
  }

  function hand(stream: Readable, name: "stdout" | "stderr", chunk: Uint8Array): void {
    try {
      const pending = request.onOutput?.(chunk, name);
      if (pending === undefined) return;
      stream.pause();
      held++;
      const done = pending.then(release, fail);
      taken = Promise.all([taken, done]).then(() => {});
    } catch (error) {
      fail(error);
    }

    /** Nobody takes the rest: it is not waited for. */
    function fail(error: unknown): void {
      failed = true;
      onFailure(error);
    }

    function release(): void {
      held--;
      activity = performance.now();
      stream.resume();
    }
  }

  async function drain(quietMs: number, maxBytes: number): Promise<void> {
    const start = bytes;
    const from = performance.now();
    while (open > 0 && !failed && bytes - start <= maxBytes) {
      const quietFor = held > 0 ? 0 : performance.now() - Math.max(activity, from);
      if (quietFor >= quietMs) return;
      await race(closed, Math.max(1, quietMs - quietFor));
    }
  }

  if (streams.stdout !== null) read(streams.stdout, "stdout");
  if (streams.stderr !== null) read(streams.stderr, "stderr");
  if (open === 0) resolveClosed();

  return {
    closed,
    isClosed: () => open === 0,
    drain,
    finish() {
      for (const flush of flushes) flush();
      return taken;
    },
    destroy() {
      streams.stdout?.destroy();
      streams.stderr?.destroy();
    },
    lastActivity: () => activity,
    isHeld: () => held > 0,
    tails: () => ({ stdout: kept.stdout.text(), stderr: kept.stderr.text(), tail: kept.tail.text() }),
  };
}

/** Waits for a promise, but not longer than this. */
export async function race(promise: Promise<unknown>, limitMs: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  await Promise.race([promise, new Promise((resolve) => (timer = setTimeout(resolve, limitMs)))]);
  clearTimeout(timer);
}
