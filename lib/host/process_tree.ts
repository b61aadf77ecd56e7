import { becomeSubreaper, endCarriers, endRest, endTree, follow as followed, type Tree } from "./end_tree.ts";
import { createWatchdog, type Watchdog } from "./watchdog.ts";
import { PLAIN_VARIABLE, TREE_VARIABLE } from "./sweep.ts";
import type { Environment, Ids, ProcessEnd, Processes, ProcessRequest, Terminal } from "./types.ts";
import process from "node:process";
import { ChildOutput, race } from "./child_output.ts";
import { startOf } from "./process_table.ts";
import { type Exit, spawnProblem, spawnReason, startChild, type StartedChild } from "./start_child.ts";

/** These would turn a compiled Ralph, or any Bun program that a child starts, into something else. */
const NEVER_HANDED_ON = ["BUN_OPTIONS", "BUN_BE_BUN"];

/** The processes of one Ralph: each child leads a group of its own and carries a mark, so that its whole tree can be ended. */
export function createProcesses(environment: Environment, ids: Ids, terminal: Pick<Terminal, "lend">): Processes {
  let token: string | undefined;
  let watchdog: Watchdog | undefined;
  const running = new Set<RunningChild>();
  let count = 0;

  /** Made when it is first asked for: commands that only look start nothing. */
  function runToken(): string {
    return token ??= ids.random(16);
  }

  function guard(): Watchdog {
    return watchdog ??= createWatchdog(runToken());
  }

  async function run(request: ProcessRequest): Promise<ProcessEnd> {
    const guarded = request.guarded ?? true;
    if (guarded) becomeSubreaper();
    const mark = guarded ? `${runToken()}.${++count}` : null;
    const child = runChild(request, childEnvironment(environment, request, mark), mark);
    const id = guarded ? child.id : null;
    running.add(child);
    if (id !== null) guard().watch(id);
    try {
      return await child.end;
    } finally {
      running.delete(child);
      if (id !== null) watchdog?.unwatch(id);
    }
  }

  async function dispose(): Promise<void> {
    const left = [...running];
    for (const child of left) child.abort();
    await Promise.allSettled(left.map((child) => child.end));
    watchdog?.dismiss();
  }

  return {
    run: (request) => request.terminal === true ? terminal.lend(() => run(request)) : run(request),
    get runToken() {
      return runToken();
    },
    sweep: endCarriers,
    touchAtEnd: (file) => guard().touchAtEnd(file),
    [Symbol.asyncDispose]: dispose,
  };
}

/** A child's whole environment: the host's, what the request lays over it, and the tree's mark; `plain` under a name that many have. */
function childEnvironment(
  environment: Environment,
  { environment: overlay, plain }: Pick<ProcessRequest, "environment" | "plain">,
  mark: string | null,
): Record<string, string> {
  const merged: Record<string, string | undefined> = { ...environment.variables, ...environment.overlay, ...overlay };
  for (const name of NEVER_HANDED_ON) delete merged[name];
  const outer = environment.variables[TREE_VARIABLE];
  if (mark !== null && plain === true) merged[PLAIN_VARIABLE] = mark;
  else if (mark !== null) merged[TREE_VARIABLE] = outer ? `${outer}:${mark}` : mark;
  return Object.fromEntries(
    Object.entries(merged).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** A child that has been started, or could not be. */
interface RunningChild {
  /** Signals go to it: the group (negative), or the process if the terminal is handed over; `null` if it never ran. */
  readonly id: number | null;
  readonly end: Promise<ProcessEnd>;
  abort(): void;
}

type EndReason = "timed-out" | "idle" | "aborted";

/** Output that is still in the pipe when the child has ended is waited for this long. */
const DRAIN_QUIET_MS = 300;
const DRAIN_BYTES = 4 << 20;
/** A process that even SIGKILL does not end (stuck in the kernel) is given up after this. */
const STUCK_MS = 2000;
const GRACE_MS = 2000;
/** A timer of more ends at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Starts one child and follows it to its end. */
function runChild(request: ProcessRequest, env: Record<string, string>, mark: string | null): RunningChild {
  const startedAt = performance.now();
  if (request.signal?.aborted) return never(ending("aborted", startedAt));
  const child = startChild(request, env);
  if (!("pid" in child)) {
    return never(child.then((error) => ending(spawnReason(error), startedAt, spawnProblem(error, request))));
  }
  const own = followed(child.pid);
  const started = mark === null ? null : startOf(child.pid);
  request.onStart?.(child.pid);
  const grouped = !request.terminal && process.platform !== "win32";
  let abort = (): void => {};
  const end = follow(child, request, {
    pid: child.pid,
    grouped,
    mark,
    startedAt,
    started,
    hasExited: () => child.hasExited(),
  }, (stop) => (abort = stop)).finally(() => own[Symbol.dispose]());
  return { id: grouped ? -child.pid : child.pid, end, abort: () => abort() };
}

async function follow(child: StartedChild, request: ProcessRequest, tree: Tree, onAbort: (stop: () => void) => void) {
  let reason: EndReason | undefined;
  let ended: Promise<void> | undefined;
  let failure: { readonly error: unknown } | undefined;
  const timers = new Set<ReturnType<typeof setTimeout>>();
  let giveUp: (exit: Exit) => void = () => {};

  function stop(why: EndReason): void {
    if (ended !== undefined || tree.hasExited()) return;
    reason = why;
    ended = endTree(tree, request.graceMs ?? GRACE_MS).then(() => {
      timers.add(setTimeout(() => giveUp({ code: null, signal: "SIGKILL" }), STUCK_MS));
    });
  }

  const exited = new Promise<Exit>((resolve) => {
    giveUp = resolve;
    void child.exited.then(resolve);
  });
  const output = new ChildOutput(child, request, (error) => {
    failure ??= { error };
    stop("aborted");
  });
  const abort = (): void => stop("aborted");
  onAbort(abort);
  request.signal?.addEventListener("abort", abort, { once: true });
  if (request.timeoutMs !== undefined) {
    timers.add(setTimeout(() => stop("timed-out"), Math.min(request.timeoutMs, LONGEST_TIMER_MS)));
  }
  if (request.idleTimeoutMs !== undefined) watchIdle(request.idleTimeoutMs);

  function watchIdle(limit: number): void {
    const quietFor = output.isHeld() ? 0 : performance.now() - output.lastActivity();
    if (quietFor >= limit) return stop("idle");
    const timer = setTimeout(
      () => (timers.delete(timer), watchIdle(limit)),
      Math.min(Math.max(1, limit - quietFor), LONGEST_TIMER_MS),
    );
    timers.add(timer);
  }

  const exit = await exited;
  request.signal?.removeEventListener("abort", abort);
  await ended;
  for (const timer of timers) clearTimeout(timer);
  if (!output.isClosed()) await race(output.closed, 20);
  await output.drain(DRAIN_QUIET_MS, DRAIN_BYTES);
  await endRest(tree);
  await output.drain(DRAIN_QUIET_MS, DRAIN_BYTES);
  await output.finish();
  output.destroy();
  child.closeInput();
  if (failure !== undefined) throw failure.error;
  return { ...ending(reason ?? "exited", tree.startedAt, output.tails()), exitCode: exit.code, signal: exit.signal };
}

function ending(
  reason: ProcessEnd["reason"],
  startedAt: number,
  tails: Pick<ProcessEnd, "stdout" | "stderr" | "tail"> = { stdout: "", stderr: "", tail: "" },
): ProcessEnd {
  return { reason, exitCode: null, signal: null, durationMs: performance.now() - startedAt, ...tails };
}

function never(end: ProcessEnd | Promise<ProcessEnd>): RunningChild {
  return { id: null, end: Promise.resolve(end), abort() {} };
}
