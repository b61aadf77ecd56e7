import type { ChildStream } from "./start_child.ts";
import { createTail, type Tail } from "./tail.ts";
import type { OutputMask, ProcessRequest } from "./types.ts";

type StreamName = "stdout" | "stderr";
type Receiver = Pick<ProcessRequest, "mask" | "onOutput" | "onRaw" | "tailBytes">;

/** Looks at the memory every so many bytes of a stream; above the mark, what was made of it is collected at once. */
const EVERY_BYTES = 16_000_000;
const ABOVE_BYTES = 100_000_000;

/** The streams of a child. */
export type ChildStreams = Readonly<Record<StreamName, ChildStream | null>>;

/** The output of a child: passed on chunk by chunk, the end of it kept. */
export class ChildOutput {
  /** Resolves when both streams have ended. */
  readonly closed: Promise<void>;
  readonly #streams: ChildStreams;
  readonly #request: Receiver;
  readonly #onFailure: (error: unknown) => void;
  readonly #tails: { readonly stdout: Tail; readonly stderr: Tail; readonly tail: Tail };
  readonly #flushes: (() => void | Promise<void>)[] = [];
  #taken: Promise<void> = Promise.resolve();
  #open = 2;
  #held = 0;
  #failed = false;
  #bytes = 0;
  #activity = performance.now();

  /** Reads both streams. `onFailure` gets an error of the receiver. */
  constructor(streams: ChildStreams, request: Receiver, onFailure: (error: unknown) => void) {
    this.#streams = streams;
    this.#request = request;
    this.#onFailure = onFailure;
    const limit = request.tailBytes ?? 16_384;
    this.#tails = { stdout: createTail(limit), stderr: createTail(limit), tail: createTail(limit) };
    this.closed = Promise.all([this.#read("stdout"), this.#read("stderr")]).then(() => {});
  }

  isClosed(): boolean {
    return this.#open === 0;
  }

  /** `performance.now()` of the last byte, or of the last time that the receiver let the stream continue. */
  lastActivity(): number {
    return this.#activity;
  }

  /** True while the receiver of the chunks holds the stream back. */
  isHeld(): boolean {
    return this.#held > 0;
  }

  tails(): { readonly stdout: string; readonly stderr: string; readonly tail: string } {
    const { stdout, stderr, tail } = this.#tails;
    return { stdout: stdout.text(), stderr: stderr.text(), tail: tail.text() };
  }

  /** Closes the streams, even if another process still has the other end open. */
  destroy(): void {
    this.#streams.stdout?.destroy();
    this.#streams.stderr?.destroy();
  }

  /** Resolves when both streams have ended, or after `quietMs` without a byte while the receiver holds none back. */
  async drain(quietMs: number, maxBytes: number): Promise<void> {
    const start = this.#bytes;
    const from = performance.now();
    while (this.#open > 0 && !this.#failed && this.#bytes - start <= maxBytes) {
      const quietFor = this.#held > 0 ? 0 : performance.now() - Math.max(this.#activity, from);
      if (quietFor >= quietMs) return;
      await race(this.closed, Math.max(1, quietMs - quietFor));
    }
  }

  /** Hands over what a mask holds back, and waits until the receiver has taken it. */
  async finish(): Promise<void> {
    for (const flush of this.#flushes) await flush();
    await this.#taken;
  }

  async #read(name: StreamName): Promise<void> {
    const mask = this.#request.mask?.();
    if (mask !== undefined) this.#flushes.push(() => this.#pass(name, mask.end()));
    try {
      for await (const chunk of this.#streams[name] ?? []) {
        const pending = this.#take(name, chunk as Uint8Array, mask);
        if (pending !== undefined) await pending;
      }
    } catch {
      // a broken pipe, or closed here: there is no more
    }
    this.#open -= 1;
  }

  #take(name: StreamName, chunk: Uint8Array, mask: OutputMask | undefined): void | Promise<void> {
    this.#activity = performance.now();
    if (this.#bytes % EVERY_BYTES + chunk.length >= EVERY_BYTES) collect();
    this.#bytes += chunk.length;
    if (this.#failed) return;
    try {
      this.#request.onRaw?.(chunk, name);
    } catch (error) {
      return this.#fail(error);
    }
    return this.#pass(name, mask?.push(chunk) ?? chunk);
  }

  /** A promise, which never rejects: the receiver holds the stream back. */
  #pass(name: StreamName, chunk: Uint8Array): void | Promise<void> {
    if (chunk.length === 0 || this.#failed) return;
    this.#tails[name].push(chunk);
    this.#tails.tail.push(chunk);
    try {
      const pending = this.#request.onOutput?.(chunk, name);
      if (pending === undefined) return;
      this.#held += 1;
      const done = pending.then(() => this.#release(), (error: unknown) => this.#fail(error));
      this.#taken = Promise.all([this.#taken, done]).then(() => {});
      return done;
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The receiver takes no more: the rest is not waited for. */
  #fail(error: unknown): void {
    this.#failed = true;
    this.#onFailure(error);
  }

  #release(): void {
    this.#held -= 1;
    this.#activity = performance.now();
  }
}

/** Waits for a promise, but not longer than this. */
export async function race(promise: Promise<unknown>, limitMs: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  await Promise.race([promise, new Promise((resolve) => (timer = setTimeout(resolve, limitMs)))]);
  clearTimeout(timer);
}

/** Bun lets what is made of a fast stream, such as its texts, grow to twice the memory before it collects it. */
function collect(): void {
  const { Bun: bun } = globalThis as { readonly Bun?: { gc(force: boolean): void } };
  if (bun !== undefined && process.memoryUsage.rss() > ABOVE_BYTES) bun.gc(true);
}
