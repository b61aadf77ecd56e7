import { endCarriers } from "./end_tree.ts";
import { createWatchdog, type Watchdog } from "./watchdog.ts";
import { runChild, type RunningChild } from "./run_child.ts";
import { becomeSubreaper } from "./subreaper.ts";
import { PLAIN_VARIABLE, TREE_VARIABLE } from "./sweep.ts";
import type { Environment, Ids, ProcessEnd, Processes, ProcessRequest, Terminal } from "./types.ts";

/** These would turn a compiled Ralph, or any Bun program that a child starts, into something else. */
const NEVER_HANDED_ON = ["BUN_OPTIONS", "BUN_BE_BUN"];

/** The processes of one Ralph: each child leads a group of its own and carries a mark, so that its whole tree can be ended. */
export function createProcesses(
  environment: Environment,
  ids: Ids,
  terminal: Pick<Terminal, "lend">,
): Processes {
  let token: string | undefined;
  let watchdog: Watchdog | undefined;
  const running = new Set<RunningChild>();
  let count = 0;

  /** Made when it is first asked for: commands that only look start nothing. */
  function runToken(): string {
    return token ??= ids.random(16);
  }

  async function run(request: ProcessRequest): Promise<ProcessEnd> {
    const guarded = request.guarded ?? true;
    if (guarded) becomeSubreaper();
    const mark = guarded ? `${runToken()}.${++count}` : null;
    const child = runChild(request, childEnvironment(environment, request, mark), mark);
    const id = guarded ? child.id : null;
    running.add(child);
    if (id !== null) (watchdog ??= createWatchdog(runToken())).watch(id);
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
