/**
 * The host offers time, chance, the environment, the terminal and processes to the layers above. Only `lib/host` and
 * `lib/std` touch the real ones.
 *
 * @module
 */
import type { SandboxRequest } from "./confinement.ts";

/** Wall-clock time, replaceable in tests. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** The same, as if nobody had set the clock since the program began: what durations and limits go by. */
  steady(): number;
  /** Resolves after `ms` milliseconds, or at once when `signal` aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `act` every `ms` milliseconds until it is disposed of. Keeps no process alive. */
  every(ms: number, act: () => void): Disposable;
}

/** Random names. */
export interface Ids {
  /** `length` random lower-case letters and digits. */
  random(length: number): string;
}

/** Variables of an environment; `undefined` takes one away. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** The process's own surroundings, read once. */
export interface Environment {
  /** Environment variables. */
  readonly variables: Variables;
  /** Laid over what every child gets, from now on: set while a run lasts. */
  readonly overlay?: Record<string, string>;
  /** As `process.platform` has it. */
  readonly platform: string;
  /** Absolute path of the current folder. */
  readonly cwd: string;
  /** Absolute path of the user's home folder. */
  readonly home: string;
  /** Ralph's own. */
  readonly pid: number;
  /** Absolute path of the program that runs this process: `bun`, `deno`, `node` or the compiled `ralph`. */
  readonly executable: string;
  /** Absolute path of the script, or `null` in the compiled binary. */
  readonly script: string | null;
  /** True in the single-file executable. */
  readonly compiled: boolean;
}

/** The streams that prompts and reports use. */
export interface Terminal {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
  /** Both standard input and standard error are a terminal. */
  readonly interactive: boolean;
  isTerminal(stream: "stdin" | "stdout" | "stderr"): boolean;
  /** Writes all of the text before it returns. Text that no one reads any longer is dropped. */
  write(stream: "stdout" | "stderr", text: string): void;
  /** Why standard output has less than was written to it: a full disk for one; `null` where it has all of it. */
  readonly unwritten: Error | null;
  /** The size of the terminal at standard error, now. */
  size(): { readonly columns: number; readonly rows: number };
  /**
   * Keeps these lines at the bottom of standard error, below whatever is written; none take them away. Each must be
   * narrower than the terminal. They are gone when the process ends.
   */
  footer(lines: readonly string[]): void;
  /** Runs what writes to the terminal, or reads from it, by itself: no footer is shown meanwhile. */
  lend<Value>(run: () => Promise<Value>): Promise<Value>;
}

/** The sandbox of a run, or that there is none. */
export interface Sandbox extends AsyncDisposable {
  /**
   * Looks whether processes can be confined here.
   *
   * @throws {RalphError} sandbox-missing where one is required
   */
  ensureUsable(): Promise<SandboxState>;
  /** Reports it as an event: at the start of each loop, else before the first process. */
  announce(): Promise<SandboxState>;
  /** Everything that runs the project's code is confined: not with `light`. */
  readonly isWhole: boolean;
  /** The newest files that a turn wrote outside of the tree, and their place now. A check may have passed by them. */
  aside?(): string | null;
}

/** Tells whether the processes of a run are confined. */
export interface SandboxState {
  readonly on: boolean;
  /** How, or why not. */
  readonly by: string;
  /** Hosts that can be reached beside the agent's own. */
  readonly network: "all" | "none" | "unknown" | readonly string[];
}

/** Masks a stream of bytes: what `push` and `end` return, one after the other, is the masked stream. */
export interface OutputMask {
  /** The returned bytes are the host's. */
  push(chunk: Uint8Array): Uint8Array;
  /** The bytes that were held back because more could have belonged to them. */
  end(): Uint8Array;
}

/** One child process and how it may end. */
export interface ProcessRequest {
  /** A name looked up on PATH, or a path. Never a shell line. */
  readonly file: string;
  /** Given as they are; no shell reads them. */
  readonly arguments: readonly string[];
  /** Absolute path. */
  readonly cwd: string;
  /** Laid over the host's environment; `undefined` takes a variable away. */
  readonly environment?: Variables;
  /** Text for standard input, which is closed after it. Absent: an empty, closed input. */
  readonly input?: string | Uint8Array;
  /** Hand the terminal over: all three streams are inherited and nothing is captured. */
  readonly terminal?: boolean;
  /** Milliseconds until the tree is ended. Absent: no limit. */
  readonly timeoutMs?: number;
  /** Milliseconds without a byte of output until the tree is ended. Absent: no limit. */
  readonly idleTimeoutMs?: number;
  /** Milliseconds between SIGTERM and SIGKILL. @default 2000 */
  readonly graceMs?: number;
  /** Ends the whole tree. */
  readonly signal?: AbortSignal;
  /** Called with the process's id once it runs. */
  readonly onStart?: (pid: number) => void;
  /** Masks secrets in each stream, before anything but `onRaw` sees it. Absent: nothing is masked. */
  readonly mask?: () => OutputMask;
  /** Called with each chunk as the child printed it: for what is compared and not kept. */
  readonly onRaw?: (chunk: Uint8Array, stream: "stdout" | "stderr") => void;
  /**
   * Called with each chunk as it comes; a promise holds the stream back (constant memory). Its memory may be used again:
   * copy what is kept.
   */
  readonly onOutput?: (chunk: Uint8Array, stream: "stdout" | "stderr") => void | Promise<void>;
  /** How many bytes of the end of the output are kept, each stream and both together. @default 16384 */
  readonly tailBytes?: number;
  /**
   * Ended with Ralph, whatever ends Ralph: registered with the watchdog, tagged with a run token, swept afterwards.
   * `false` for git, which may finish its write. @default true
   */
  readonly guarded?: boolean;
  /** The run token gets a name that does not show who runs the child. @default false */
  readonly plain?: boolean;
  /** It is confined where the run has a sandbox. Absent: never, as Ralph's own git. */
  readonly sandbox?: SandboxRequest;
}

/** How a child process ended. Never an exception, but for a broken host. */
export interface ProcessEnd {
  /** `not-found`: the file does not exist or may not be run. `not-started`: the system had no room for it just then. */
  readonly reason: "exited" | "timed-out" | "idle" | "aborted" | "not-found" | "not-started";
  /** `null` for a process that a signal ended, or that did not start. */
  readonly exitCode: number | null;
  /** The signal that ended it, such as `SIGKILL`. */
  readonly signal: string | null;
  /** Milliseconds from start to end. */
  readonly durationMs: number;
  /** The last `tailBytes` of each stream, decoded as UTF-8 with damaged bytes replaced. */
  readonly stdout: string;
  /** The end of standard error. */
  readonly stderr: string;
  /** The last `tailBytes` of both together, in the order in which they came. */
  readonly tail: string;
}

/** Starts processes and ends their whole trees. Disposing ends all that are left. */
export interface Processes extends AsyncDisposable {
  run(request: ProcessRequest): Promise<ProcessEnd>;
  /** The value of `RALPH_TREE` that marks every guarded descendant: `<run token>.<n>`. */
  readonly runToken: string;
  /** Ends what carries an older run's token. Returns how many processes were ended. */
  sweep(runToken: string): Promise<number>;
  /** Has a file touched that holds the run token, once all has ended that was started here: where this process is killed. */
  touchAtEnd?(file: string): void;
}

/** The place of a repository. Absolute paths. */
export interface WatchedRepository {
  readonly topLevel: string;
  readonly gitDirectory: string;
  readonly commonDirectory: string;
  /** Absolute paths of files that its settings include; with a sandbox, also of those that their commands name. */
  readonly included?: readonly string[];
}

/** Looks after what Ralph's own git, and Ralph itself, open after a turn. */
export interface GitGuard {
  /** Turns are confined: files of the tree that git's commands name are looked after, too. @default false */
  readonly isStrict?: boolean;
  /** Looks after this repository too. It is read when the next turn begins. */
  watch(repository: WatchedRepository): void;
  /** Its working tree is about to be removed: nothing is put back there any more. */
  forget(topLevel: string): void;
  /** No link of a turn's making is to be at this path, in it, or above it up to the top level. */
  keep(path: string): void;
  /** From now on settings of git that name a program are put back after a turn: it is confined, and git is not. */
  holdSettings(): void;
  /** Call before what an agent decides about runs: remembers what is there. */
  begin(): void;
  /** Call when it has ended: sets aside what it put there, and reports it. */
  look(): Promise<void>;
  /** The links of the newest turn that stood at paths of `keep()`, or above them, and the place of each now. */
  readonly moved: ReadonlyMap<string, string>;
}

/** The parts of the outside that a test or an embedder may replace; files are in `host/files.ts`. */
export interface Host {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly environment: Environment;
  readonly terminal: Terminal;
  readonly processes: Processes;
  /** The sandbox that `processes` confines with. Absent: nothing is confined. */
  readonly sandbox?: Sandbox;
  /** Sets aside what turns put into the way of Ralph's own git. Absent: nothing does. */
  readonly guard?: GitGuard;
}
