import { statSync } from "node:fs";
import process from "node:process";
import type { Readable } from "node:stream";
import type { ProcessEnd, ProcessRequest } from "./types.ts";

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** The bytes that a child prints on one of its streams. */
export interface ByteSource {
  /**
   * Gives each chunk as it comes; nothing is read while a promise that it returns is pending. Resolves at the stream's
   * end, or once it is closed. For one reader.
   */
  read(take: (chunk: Uint8Array) => void | Promise<void>): Promise<void>;
  /** Reads no more, even where another process still has the other end open. */
  close(): void;
}

/** A child that runs, whatever started it. */
export interface StartedChild {
  readonly pid: number;
  readonly exited: Promise<Exit>;
  hasExited(): boolean;
  readonly stdout: ByteSource;
  readonly stderr: ByteSource;
  /** Closes its input, read or not. */
  closeInput(): void;
}

/** The part of `Bun` that is used: a child costs a third of what `node:child_process` takes for it. */
interface BunRuntime {
  spawn(command: readonly string[], options: Readonly<Record<string, unknown>>): {
    readonly pid: number;
    readonly exited: Promise<number>;
    readonly exitCode: number | null;
    readonly signalCode: string | null;
    readonly stdout?: ReadableStream<Uint8Array>;
    readonly stderr?: ReadableStream<Uint8Array>;
  };
}

/** Starts one process in a group of its own, unless it is given the terminal. A promise: why it could not be started. */
export function startChild(request: ProcessRequest, env: Record<string, string>): StartedChild | Promise<Error> {
  const bun = (globalThis as { readonly Bun?: BunRuntime }).Bun;
  try {
    return bun === undefined ? startByNode(request, env) : startByBun(bun, request, env);
  } catch (error) {
    return Promise.resolve(error as Error);
  }
}

function startByBun(bun: BunRuntime, request: ProcessRequest, env: Record<string, string>): StartedChild {
  const { input } = request;
  const given = typeof input === "string" ? Buffer.from(input) : input;
  const output = request.terminal ? "inherit" : "pipe";
  const child = bun.spawn([request.file, ...request.arguments], {
    ...optionsFor(request, env),
    stdio: [
      request.terminal ? "inherit" : given === undefined || given.length === 0 ? "ignore" : given,
      output,
      output,
    ],
    lazy: true, // nothing is read before it is asked for
  });
  const source = (stream: ReadableStream<Uint8Array> | undefined): ByteSource =>
    request.terminal || stream === undefined ? noSource() : readableSource(stream);
  return {
    pid: child.pid,
    exited: child.exited.then(() => ({
      code: child.signalCode === null ? child.exitCode : null,
      signal: child.signalCode,
    })),
    hasExited: () => child.exitCode !== null || child.signalCode !== null,
    stdout: source(child.stdout),
    stderr: source(child.stderr),
    closeInput() {},
  };
}

function startByNode(request: ProcessRequest, env: Record<string, string>): StartedChild | Promise<Error> {
  const output = request.terminal ? "inherit" as const : "pipe" as const;
  const child = process.getBuiltinModule("node:child_process").spawn(request.file, request.arguments, {
    ...optionsFor(request, env),
    stdio: [request.terminal ? "inherit" : request.input === undefined ? "ignore" : "pipe", output, output],
  });
  const failed = new Promise<Error>((resolve) => child.on("error", resolve)); // later ones: a kill that failed
  if (child.pid === undefined) return failed;
  const exited = new Promise<Exit>((resolve) => child.on("exit", (code, signal) => resolve({ code, signal })));
  if (child.stdin !== null) {
    child.stdin.on("error", () => {}); // EPIPE: a child need not read its input
    child.stdin.end(request.input);
  }
  return {
    pid: child.pid,
    exited,
    hasExited: () => child.exitCode !== null || child.signalCode !== null,
    stdout: child.stdout === null ? noSource() : streamSource(child.stdout),
    stderr: child.stderr === null ? noSource() : streamSource(child.stderr),
    closeInput: () => void child.stdin?.destroy(),
  };
}

function optionsFor({ cwd, terminal }: ProcessRequest, env: Record<string, string>) {
  return { cwd, env, detached: terminal !== true && process.platform !== "win32", windowsHide: true };
}

/** Nothing is captured. */
function noSource(): ByteSource {
  return { read: () => Promise.resolve(), close() {} };
}

/** A stream of Bun's. */
function readableSource(stream: ReadableStream<Uint8Array>): ByteSource {
  const reader = stream.getReader();
  return {
    async read(take) {
      for (;;) {
        const next = await reader.read().catch(() => null); // a broken pipe: there is no more
        if (next === null || next.done) return;
        const pending = take(next.value);
        if (pending !== undefined) await pending;
      }
    },
    close: () => void reader.cancel().catch(() => {}),
  };
}

/** A stream of Node's. */
function streamSource(stream: Readable): ByteSource {
  return {
    read: (take) =>
      new Promise((resolve) => {
        stream.on("data", (chunk: Uint8Array) => {
          const pending = take(chunk);
          if (pending === undefined) return;
          stream.pause();
          void pending.then(() => void stream.resume());
        });
        for (const event of ["end", "close", "error"]) stream.on(event, () => resolve());
      }),
    close: () => void stream.destroy(),
  };
}

/** These pass: too many processes or open files, no memory. */
const PASSING: ReadonlySet<string | undefined> = new Set(["EAGAIN", "EMFILE", "ENFILE", "ENOMEM"]);

/** Tells a missing program from a system that had no room for another process. */
export function spawnReason(error: NodeJS.ErrnoException): "not-found" | "not-started" {
  return PASSING.has(error.code) ? "not-started" : "not-found";
}

/** Why a child could not be started, as if it had reported it itself. */
export function spawnProblem(
  error: Error,
  request: ProcessRequest,
): Pick<ProcessEnd, "stdout" | "stderr" | "tail"> {
  const text = describe(error, request);
  return { stdout: "", stderr: text, tail: text };
}

function describe(error: NodeJS.ErrnoException, request: ProcessRequest): string {
  const { file, cwd } = request;
  if (!isFolder(cwd)) return `the folder ${cwd} does not exist`;
  switch (error.code) {
    case "ENOENT":
      return file.includes("/") ? `${file}: no such file, or its interpreter is missing` : `${file}: not found on PATH`;
    case "EACCES":
      return `${file}: not executable (permission denied)`;
    case "EAGAIN":
      return `${file}: the system has no room for another process (EAGAIN)`;
    case "ENOMEM":
      return `${file}: the system has no memory for another process (ENOMEM)`;
    case "EMFILE":
    case "ENFILE":
      return `${file}: too many open files (${error.code})`;
    case "E2BIG":
      return `${file}: arguments and environment are too long (E2BIG)`;
    case "ENOEXEC":
      return `${file}: not a program that this system can run (ENOEXEC)`;
    default:
      return `${file}: ${error.message}`;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
