import { failureOf, fingerprintOf, isOver, isParked, reasonOf } from "./attempts.ts";
import { howToEnd } from "./signals.ts";
import type { Attempt, Backlog, Check, Item, Settlement } from "./types.ts";

/** One piece of work of a list in memory. */
export interface MemoryTask {
  /** Unique in the list. */
  readonly id: string;
  /** What is to be done: the prompt, and the commit's subject. */
  readonly title: string;
  /** What the agent is asked to do. @default the title */
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
  const itemOf = ({ id, title, prompt }: MemoryTask): Item<MemoryTask> => ({
    id,
    kind: "task",
    title,
    ...(prompt === undefined ? {} : { criteria: [prompt] }),
    fingerprint: fingerprintOf([title, prompt ?? ""]),
    data: { id, title, ...(prompt === undefined ? {} : { prompt }) },
  });
  const checksOf = (wanted: string): readonly Check[] =>
    (tasks.find(({ id }) => id === wanted)?.checks ?? []).map((check) =>
      typeof check === "string" ? { name: check, command: check } : check
    );
  return {
    name,
    stateFiles: [],
    unverified: "block",
    concurrent: true,
    retries: maxRetries,
    async overview({ parked }) {
      const left = tasks.filter(({ id }) => !passed.has(id));
      const open = left.filter((task) => !isParked(itemOf(task), parked));
      const unchecked = open.map(({ id }) => id).filter((id) => checksOf(id).length === 0);
      return {
        total: tasks.length,
        passed: passed.size,
        open: open.length,
        parked: left.length - open.length,
        unchecked,
      };
    },
    async next({ inFlight, parked }) {
      const open = tasks.filter(({ id }) => !passed.has(id));
      const item = open.map(itemOf).find((one) => !inFlight.includes(one.id) && !isParked(one, parked));
      if (item !== undefined) return { status: "item", item };
      if (open.some(({ id }) => inFlight.includes(id))) return { status: "waiting" };
      if (open.length > 0) return { status: "blocked", reasons: parked.map(({ id, reason }) => `${id}: ${reason}`) };
      return { status: "done" };
    },
    async work({ id, data: { prompt, title } }, { nonce, previous }) {
      const failure = previous === null ? "" : `\n\n${failureOf(previous)}`;
      return {
        prompt: `${prompt ?? title}${failure}\n\n${howToEnd(nonce)}`,
        checks: checksOf(id),
      };
    },
    async passed() {
      return tasks.filter(({ id }) => passed.has(id)).map(({ id, title }) => ({ id, title, checks: checksOf(id) }));
    },
    async reopen(ids, reason) {
      for (const id of ids) passed.delete(id);
      return { status: "open", reason };
    },
    settle: (item, attempt) => Promise.resolve(settled(item, attempt, passed)),
  };
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
