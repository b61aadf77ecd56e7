import { circlesOf } from "../dependencies.ts";
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
  const [circle] = circlesOf(tasks.map(({ id, deps }) => ({ id, dependsOn: deps })));
  const [first] = circle ?? [];
  if (circle === undefined || first === undefined) return null;
  const ids = [...circle, first];
  const hidden = ids.length - 2 * SHOWN;
  const shown = hidden <= 1 ? ids : [...ids.slice(0, SHOWN), `… ${hidden} more …`, ...ids.slice(-SHOWN)];
  return { first, text: shown.join(" → ") };
}
