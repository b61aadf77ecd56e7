import { relative } from "node:path";
import { localTime } from "../../host/local_date.ts";
import { ownFiles, type RalphContext, type RunLock } from "../../context/context.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { requireRepository } from "../../git/repository.ts";
import { takeLock } from "../../host/lock.ts";

/**
 * The working tree's lock, and the root's where that is a folder of it: two roots of one tree share HEAD and index. A
 * living holder is refused; a dead one's lock is taken over, and what its processes left behind is ended.
 */
export function createRunLock(
  { host, repository, root }: Pick<RalphContext, "host" | "repository" | "root">,
): RunLock {
  let holders = 0;
  let overAt: number | null = null;
  const held: (() => Promise<void>)[] = [];

  async function takeOne(file: string, purpose: string): Promise<void> {
    const lock = await takeLock(file, { purpose, host });
    if (lock.status === "busy") {
      const { pid, since, purpose: theirs } = lock.holder;
      throw new RalphError("run-locked", { details: { purpose: theirs, pid, startedAt: localTime(since) } });
    }
    held.push(lock.release);
    host.processes.touchAtEnd?.(file);
    overAt = lock.overAt ?? overAt;
    if (lock.tookOver !== null && lock.tookOver.runToken !== "") await host.processes.sweep(lock.tookOver.runToken);
  }

  async function take(purpose: string): Promise<void> {
    const { topLevel } = requireRepository({ repository, root });
    const tree = ownFiles(repository, topLevel).runLock;
    const own = ownFiles(repository, root).runLock;
    if (own === tree) return await takeOne(tree, purpose);
    try {
      await takeOne(tree, `${purpose} --root ${relative(topLevel, root)}`);
      await takeOne(own, purpose);
    } catch (error) {
      await release();
      throw error;
    }
  }

  async function release(): Promise<void> {
    holders = 0;
    for (const letGo of held.splice(0).reverse()) await letGo();
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
    get overAt() {
      return overAt;
    },
    release,
  };
}
