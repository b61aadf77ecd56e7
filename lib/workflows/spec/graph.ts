import type { Priority, Task } from "./types.ts";

const RANK: Readonly<Record<Priority, number>> = { high: 0, medium: 1, low: 2 };

/**
 * Pending tasks that wait for nothing, the most urgent first, then in the order of the file: the first of them is the
 * first in topological order. A dependency that is not in the file counts as done.
 */
export function readyTasks(tasks: readonly Task[]): readonly Task[] {
  const pending = tasks.filter(({ s }) => s === "p");
  const free = pending.some(({ deps }) => deps.length > 0) ? withoutOpenDependencies(pending) : pending;
  return free.toSorted((one, other) => RANK[one.priority] - RANK[other.priority]);
}

function withoutOpenDependencies(pending: readonly Task[]): readonly Task[] {
  const open = openIds(pending);
  return pending.filter(({ deps }) => !deps.some((id) => open.has(id)));
}

/** Ids of the tasks that are still pending. */
export function openIds(tasks: readonly Task[]): ReadonlySet<string> {
  return new Set(tasks.filter(({ s }) => s === "p").map(({ id }) => id));
}

/** Ids of the dependencies that are still pending. */
export function openDependencies(task: Task, open: ReadonlySet<string>): readonly string[] {
  return task.deps.filter((id) => open.has(id));
}

/** So many ids of a circle are shown at each of its ends. */
const SHOWN = 6;

/** A circle of dependencies, its first id again at the end, or `null`. */
export function findCycle(
  tasks: readonly { readonly id: string; readonly deps: readonly string[] }[],
): readonly string[] | null {
  const dependent = tasks.filter(({ deps }) => deps.length > 0); // what waits for nothing is in no circle
  const byId = new Map(dependent.map((task) => [task.id, task.deps]));
  const finished = new Set<string>();
  for (const { id } of dependent) {
    const found = walk(id, byId, finished);
    if (found !== null) return found;
  }
  return null;
}

/** A circle for people: a long one is shortened in its middle. Pure. */
export function describeCycle(cycle: readonly string[]): string {
  const left = cycle.length - 2 * SHOWN;
  const shown = left <= 1 ? cycle : [...cycle.slice(0, SHOWN), `… ${left} more …`, ...cycle.slice(-SHOWN)];
  return shown.join(" → ");
}

function walk(
  start: string,
  byId: ReadonlyMap<string, readonly string[]>,
  finished: Set<string>,
): readonly string[] | null {
  const path: { readonly id: string; next: number }[] = [{ id: start, next: 0 }];
  const onPath = new Set([start]);
  while (path.length > 0) {
    const top = path.at(-1) as { readonly id: string; next: number };
    const deps = finished.has(top.id) ? [] : byId.get(top.id) ?? [];
    const dependency = deps[top.next];
    if (dependency === undefined) {
      finished.add(top.id);
      onPath.delete(top.id);
      path.pop();
      continue;
    }
    top.next += 1;
    if (onPath.has(dependency)) {
      const ids = path.map(({ id }) => id);
      return [...ids.slice(ids.indexOf(dependency)), dependency];
    }
    path.push({ id: dependency, next: 0 });
    onPath.add(dependency);
  }
  return null;
}
