import { fingerprintOf } from "./attempts.ts";
import { listBacklog, type ListItem } from "./list.ts";
import type { Backlog } from "./types.ts";

/** One piece of work of a list in memory. */
export type MemoryTask = Pick<ListItem, "checks" | "id" | "prompt" | "title">;

/** How a list in memory is worked off. */
export interface MemoryBacklogOptions {
  /** @default "memory" */
  readonly name?: string;
  /** Attempts each task is given. @default 3 */
  readonly maxRetries?: number;
}

/**
 * A backlog that lives in memory: for build scripts and tests. It forgets its work with the process.
 *
 * @example Two tasks, worked off in order
 * ```ts
 * import { memoryBacklog } from "ralph";
 *
 * const backlog = memoryBacklog([{ id: "lint", title: "Fix the lint errors", checks: ["true"] }]);
 * console.log((await backlog.overview({ parked: [] })).open); // 1
 * ```
 */
export function memoryBacklog(tasks: readonly MemoryTask[], options: MemoryBacklogOptions = {}): Backlog<MemoryTask> {
  const { name = "memory", maxRetries = 3 } = options;
  const passed = new Set<string>();
  return listBacklog<MemoryTask>({
    name,
    policy: { retries: maxRetries },
    // checks may be functions: an item is plain JSON
    read: () => tasks.map(({ checks: _, ...task }) => task),
    write(ids, done) {
      for (const id of ids) {
        if (done) passed.add(id);
        else passed.delete(id);
      }
    },
    itemOf({ id, title, prompt }) {
      const { checks = [] } = tasks.find((task) => task.id === id) ?? {};
      const fingerprint = fingerprintOf([title, prompt ?? ""]);
      return { id, title, ...(prompt === undefined ? {} : { prompt }), checks, done: passed.has(id), fingerprint };
    },
  });
}
