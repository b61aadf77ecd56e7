import { localTime } from "../host/local_date.ts";
import type { RunLock } from "../context/context.ts";
import { RalphError } from "../errors/ralph_error.ts";
import type { Repository } from "../git/types.ts";
import { takeLock } from "../host/lock.ts";
import type { Host } from "../host/types.ts";

/** What the lock is about. */
export interface RunLockOptions {
  readonly host: Host;
  readonly repository: Repository | null;
  readonly root: string;
  /** Absolute path of the lock file. */
  readonly file: string;
}

/** A living holder is refused; a dead one's lock is taken over, and what its processes left behind is ended. */
export function createRunLock({ host, repository, root, file }: RunLockOptions): RunLock {
  let holders = 0;
  let letGo: (() => Promise<void>) | null = null;

  async function take(purpose: string): Promise<void> {
    if (repository === null) throw new RalphError("not-a-repository", { details: { root } });
    const lock = await takeLock(file, { purpose, host });
    if (lock.status === "busy") {
      const { pid, since, purpose: theirs } = lock.holder;
      throw new RalphError("run-locked", { details: { purpose: theirs, pid, startedAt: localTime(since) } });
    }
    letGo = lock.release;
    if (lock.tookOver !== null && lock.tookOver.runToken !== "") await host.processes.sweep(lock.tookOver.runToken);
  }

  async function release(): Promise<void> {
    const release_ = letGo;
    letGo = null;
    holders = 0;
    await release_?.();
  }

  return {
    async acquire(purpose) {
      if (holders === 0) await take(purpose);
      holders += 1;
      let held = true;
      return {
        async [Symbol.asyncDispose]() {
          if (!held) return;
          held = false;
          holders -= 1;
          if (holders === 0) await release();
        },
      };
    },
    release,
  };
}
