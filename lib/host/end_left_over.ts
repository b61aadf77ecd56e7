import { endTree } from "./end_tree.ts";
import { processStart } from "./process_start.ts";
import { signalProcess } from "./sweep.ts";

/** A process that an earlier Ralph started and could not end. */
export interface LeftOver {
  readonly pid: number;
  /** What `processStart()` said of it then: another process with the same pid is left alone. */
  readonly started: string;
}

/** Milliseconds between SIGTERM and SIGKILL. */
const GRACE_MS = 1000;

/** Ends a process that was left over, with its group and its descendants. False when it runs no more. */
export async function endLeftOver({ pid, started }: LeftOver): Promise<boolean> {
  if (await processStart(pid) !== started) return false;
  const hasExited = (): boolean => !signalProcess(pid, 0);
  await endTree(
    { pid, grouped: process.platform !== "win32", mark: null, startedAt: performance.now(), hasExited },
    GRACE_MS,
  );
  return true;
}
