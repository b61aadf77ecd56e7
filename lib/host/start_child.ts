import type { SpawnOptions } from "node:child_process";
import { statSync } from "node:fs";
import process from "node:process";
import { orElse } from "./looks.ts";
import type { ProcessEnd, ProcessRequest } from "./types.ts";

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** The output of a child on one of its streams, for one reader. */
export interface ChildStream extends AsyncIterable<Uint8Array> {
  /** Reads no more, even where another process still has the other end open. */
  destroy(): void;
}

/** A child that runs. */
export interface StartedChild {
  readonly pid: number;
  readonly exited: Promise<Exit>;
  hasExited(): boolean;
  /** `null`: it has the terminal. */
  readonly stdout: ChildStream | null;
  readonly stderr: ChildStream | null;
  /** Closes its input, read or not. */
  closeInput(): void;
}

/** Starts one process in a group of its own, unless it is given the terminal. A promise: why it could not be started. */
export function startChild(request: ProcessRequest, env: Record<string, string>): StartedChild | Promise<Error> {
  const { Bun: bun } = globalThis as { readonly Bun?: BunRuntime };
  try {
    return bun !== undefined && request.terminal !== true ? startedByBun(bun, request, env) : started(request, env);
  } catch (error) {
    return Promise.resolve(error as Error);
  }
}

function started(
  { file, arguments: words, cwd, terminal, input }: ProcessRequest,
  env: Record<string, string>,
): StartedChild | Promise<Error> {
  const output = terminal ? "inherit" as const : "pipe" as const;
  const child = process.getBuiltinModule("node:child_process").spawn(file, words, {
    cwd,
    env,
    detached: terminal !== true && process.platform !== "win32",
    windowsHide: true,
    stdio: [terminal ? "inherit" : input === undefined ? "ignore" : "pipe", output, output],
  });
  const failed = new Promise<Error>((resolve) => child.on("error", resolve)); // later ones: a kill that failed
  const { pid, stdin, stdout, stderr } = child;
  if (pid === undefined) return failed;
  const exited = new Promise<Exit>((resolve) => child.on("exit", (code, signal) => resolve({ code, signal })));
  if (stdin !== null) {
    stdin.on("error", () => {}); // EPIPE: a child need not read its input
    stdin.end(input);
  }
  return {
    pid,
    exited,
    hasExited: () => child.exitCode !== null || child.signalCode !== null,
    stdout,
    stderr,
    closeInput: () => void stdin?.destroy(),
  };
}

/** A program that reads what it is told, and that nothing waits for. */
export interface Listener {
  /** 0 where it could not be started. */
  readonly pid: number;
  /** Settled when it has ended, or could not be started. */
  readonly gone: Promise<unknown>;
  tell(line: string): void;
}

/** Starts a program that listens, in a group of its own. */
export function startListener(file: string, words: readonly string[]): Listener {
  const { Bun: bun } = globalThis as { readonly Bun?: BunRuntime };
  const options = { cwd: "/", detached: true, stdio: ["pipe", "ignore", "ignore"] };
  if (bun !== undefined) {
    const child = orElse(() => bun.spawn([file, ...words], options), null);
    child?.unref();
    return {
      pid: child?.pid ?? 0,
      gone: Promise.resolve(child?.exited),
      tell(line) {
        child?.stdin.write(line);
        void Promise.resolve(child?.stdin.flush()).catch(() => {}); // it is gone
      },
    };
  }
  const child = process.getBuiltinModule("node:child_process").spawn(file, words, options as SpawnOptions);
  const { stdin } = child;
  child.unref();
  (stdin as { unref?(): void } | null)?.unref?.();
  const gone = new Promise((resolve) => {
    for (const one of [child, stdin]) one?.on("error", resolve);
    child.on("exit", resolve);
  });
  return { pid: child.pid ?? 0, gone, tell: (line) => void stdin?.write(line) };
}

/** The part of `Bun` that is used. */
interface BunRuntime {
  spawn(command: readonly string[], options: Readonly<Record<string, unknown>>): {
    readonly pid: number;
    readonly stdin: { write(text: string): unknown; flush(): unknown };
    unref(): void;
    readonly exited: Promise<number>;
    readonly exitCode: number | null;
    readonly signalCode: string | null;
    readonly stdout: ReadableStream<Uint8Array>;
    readonly stderr: ReadableStream<Uint8Array>;
  };
}

/** As `started()`, which takes Bun four times as long for the streams that it makes. */
function startedByBun(
  bun: BunRuntime,
  { file, arguments: words, cwd, input = "" }: ProcessRequest,
  env: Record<string, string>,
): StartedChild {
  const child = bun.spawn([file, ...words], {
    cwd,
    env,
    detached: process.platform !== "win32",
    windowsHide: true,
    stdio: [input.length === 0 ? "ignore" : Buffer.from(input), "pipe", "pipe"],
    lazy: true, // nothing is read before it is asked for
  });
  return {
    pid: child.pid,
    exited: child.exited.then(() => ({
      code: child.signalCode === null ? child.exitCode : null,
      signal: child.signalCode,
    })),
    hasExited: () => child.exitCode !== null || child.signalCode !== null,
    stdout: streamOf(child.stdout),
    stderr: streamOf(child.stderr),
    closeInput() {},
  };
}

function streamOf(stream: ReadableStream<Uint8Array>): ChildStream {
  const reader = stream.getReader();
  return {
    [Symbol.asyncIterator]: () => ({ next: () => reader.read() as Promise<IteratorResult<Uint8Array>> }),
    destroy: () => void reader.cancel().catch(() => {}), // it has been closed
  };
}

/** These pass: too many processes or open files, no memory. */
const PASSING: ReadonlySet<string | undefined> = new Set(["EAGAIN", "EMFILE", "ENFILE", "ENOMEM"]);

/** Tells a missing program from a system that had no room for another process. */
export function spawnReason(error: NodeJS.ErrnoException): "not-found" | "not-started" {
  return PASSING.has(error.code) ? "not-started" : "not-found";
}

/** Why a child could not be started, as if it had reported it itself. */
export function spawnProblem(error: Error, request: ProcessRequest): Pick<ProcessEnd, "stdout" | "stderr" | "tail"> {
  const text = describe(error, request);
  return { stdout: "", stderr: text, tail: text };
}

function describe(error: NodeJS.ErrnoException, request: ProcessRequest): string {
  const { file, cwd } = request;
  if (!orElse(() => statSync(cwd).isDirectory(), false)) return `the folder ${cwd} does not exist`;
  const { code = "", message } = error;
  if (code === "ENOENT" && !file.includes("/")) return `${file}: not found on PATH`;
  return `${file}: ${PROBLEMS[code]?.replace("{code}", code) ?? message}`;
}

const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: "no such file, or its interpreter is missing",
  EACCES: "not executable (permission denied)",
  EAGAIN: "the system has no room for another process ({code})",
  ENOMEM: "the system has no memory for another process ({code})",
  EMFILE: "too many open files ({code})",
  ENFILE: "too many open files ({code})",
  E2BIG: "arguments and environment are too long ({code})",
  ENOEXEC: "not a program that this system can run ({code})",
};
