import { childEnvironment } from "./child_environment.ts";
import { createWatchdog, type Watchdog } from "./watchdog.ts";
import { runChild, type RunningChild } from "./run_child.ts";
import { becomeSubreaper } from "./subreaper.ts";
import { endCarriers } from "./sweep.ts";
import type { Environment, Ids, ProcessEnd, Processes, ProcessRequest, Terminal } from "./types.ts";

/** How long what an older run left behind may take to end by itself after a signal. */
const SWEEP_GRACE_MS = 1000;

/** The processes of one Ralph: each child leads a group of its own and carries a mark, so that its whole tree can be ended. */
export function createProcesses(
  environment: Environment,
  ids: Ids,
  terminal: Pick<Terminal, "lend">,
): Processes {
  const runToken = `${ids.random(16)}`;
  const watchdog: Watchdog = createWatchdog(runToken);
  const running = new Set<RunningChild>();
  let count = 0;

  async function run(request: ProcessRequest): Promise<ProcessEnd> {
    const guarded = request.guarded ?? true;
    if (guarded) becomeSubreaper();
    const mark = guarded ? `${runToken}.${++count}` : null;
    const child = runChild(request, childEnvironment(environment, request.environment, mark, request.plain), mark);
    const id = guarded ? child.id : null;
    running.add(child);
    if (id !== null) watchdog.watch(id);
    try {
      return await child.end;
    } finally {
      running.delete(child);
      if (id !== null) watchdog.unwatch(id);
    }
  }

  async function dispose(): Promise<void> {
    const left = [...running];
    for (const child of left) child.abort();
    await Promise.allSettled(left.map((child) => child.end));
    watchdog.dismiss();
  }

  return {
    run: (request) => request.terminal === true ? terminal.lend(() => run(request)) : run(request),
    runToken,
    sweep: (older) => endCarriers(older, SWEEP_GRACE_MS),
    [Symbol.asyncDispose]: dispose,
  };
}
