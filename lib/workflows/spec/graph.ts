import type { Priority, Task } from "./types.ts";

const RANK: Readonly<Record<Priority, number>> = { high: 0, medium: 1, low: 2 };

/** So many ids of a circle are shown at each of its ends. */
const SHOWN = 6;

/**
 * The tasks that wait for none of the others, the most urgent first, then in their order: the first of them is the first
 * in topological order. A dependency that is not among them counts as done.
 */
export function readyTasks(open: readonly Task[]): readonly Task[] {
  const ids = new Set(open.map(({ id }) => id));
  return open.filter(({ deps }) => !deps.some((id) => ids.has(id)))
    .toSorted((one, other) => RANK[one.priority] - RANK[other.priority]);
}

/** A circle of dependencies, in words; a long one is shortened in its middle. `null`: there is none. Pure. */
export function circleIn(
  tasks: readonly Pick<Task, "deps" | "id">[],
): { readonly first: string; readonly text: string } | null {
  const left = new Map(tasks.map(({ id, deps }) => [id, deps]));
  for (let size = -1; size !== left.size;) { // what waits for nothing that is left is in no circle
    size = left.size;
    for (const [id, deps] of left) if (!deps.some((one) => left.has(one))) left.delete(id);
  }
  const path = new Set<string>();
  let id: string | undefined = [...left.keys()][0];
  while (id !== undefined && !path.has(id)) {
    path.add(id);
    id = left.get(id)?.find((one) => left.has(one));
  }
  if (id === undefined) return null;
  const circle = [...[...path].slice([...path].indexOf(id)), id];
  const hidden = circle.length - 2 * SHOWN;
  const shown = hidden <= 1 ? circle : [...circle.slice(0, SHOWN), `… ${hidden} more …`, ...circle.slice(-SHOWN)];
  return { first: id, text: shown.join(" → ") };
}
