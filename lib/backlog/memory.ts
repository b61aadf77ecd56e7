import { failureOf, isOver, reasonOf } from "./attempts.ts";
import { howToEnd } from "./signals.ts";
import type { Attempt, Backlog, Check, Item, Settlement } from "./types.ts";

/** One piece of work of a list in memory. */
export interface MemoryTask {
  /** Unique in the list. */
  readonly id: string;
  /** What is to be done: the prompt, and the commit's subject. */
  readonly title: string;
  /** What the agent is told. @default the title */
  readonly prompt?: string;
  /** Commands or checks that must pass. */
  readonly checks?: readonly (string | Check)[];
}

/** How a list in memory is worked off. */
export interface MemoryBacklogOptions {
  /** @default "memory" */
  readonly name?: string;
  /** Attempts each task is given. @default 3 */
  readonly maxRetries?: number;
}

/**
 * A backlog that lives in memory: for build scripts and tests. What was done is forgotten with the process.
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
  return {
    name,
    stateFiles: [],
    unverified: "block",
    concurrent: true,
    retries: maxRetries,
    async overview({ parked }) {
      const given = new Set(parked.map(({ id }) => id));
      const open = tasks.filter(({ id }) => !passed.has(id) && !given.has(id));
      const unchecked = open.filter(({ checks }) => (checks ?? []).length === 0).map(({ id }) => id);
      return { total: tasks.length, passed: passed.size, open: open.length, parked: given.size, unchecked };
    },
    async next({ inFlight, parked }) {
      const open = tasks.filter(({ id }) => !passed.has(id));
      const task = open.find(({ id }) => !inFlight.includes(id) && !parked.some((item) => item.id === id));
      if (task !== undefined) {
        const { id, title, prompt } = task;
        const criteria = prompt === undefined ? {} : { criteria: [prompt] };
        return { status: "item", item: { id, kind: "task", title, ...criteria, data: task } };
      }
      if (open.some(({ id }) => inFlight.includes(id))) return { status: "waiting" };
      if (open.length > 0) return { status: "blocked", reasons: parked.map(({ id, reason }) => `${id}: ${reason}`) };
      return { status: "done" };
    },
    async work(item: Item<MemoryTask>, { nonce, previous }) {
      const { prompt, title, checks = [] } = item.data;
      const failure = previous === null ? "" : `\n\n${failureOf(previous)}`;
      return {
        prompt: `${prompt ?? title}${failure}\n\n${howToEnd(nonce)}`,
        checks: namedChecks(checks),
      };
    },
    async passed() {
      return tasks.filter(({ id }) => passed.has(id)).map(({ id, title, checks = [] }) => ({
        id,
        title,
        checks: namedChecks(checks),
      }));
    },
    async reopen(ids, reason) {
      for (const id of ids) passed.delete(id);
      return { status: "open", reason };
    },
    settle: (item, attempt) => Promise.resolve(settled(item, attempt, passed)),
  };
}

function namedChecks(checks: readonly (string | Check)[]): readonly Check[] {
  return checks.map((check) => typeof check === "string" ? { name: check, command: check } : check);
}

function settled(item: Item<MemoryTask>, attempt: Attempt, passed: Set<string>): Settlement {
  passed.delete(item.id); // a pass is reverted when its commit was refused
  if (attempt.status === "verified" || attempt.status === "unverified") {
    passed.add(item.id);
    return { status: "passed", commit: { subject: `feat: ${item.title}`, paths: [], work: true } };
  }
  if (attempt.status === "interrupted") return { status: "open" };
  return { status: isOver(attempt) ? "parked" : "open", reason: reasonOf(attempt) };
}
