import { openDependencies, openIds, readyTasks } from "../graph.ts";
import { doneOf, isLineOf, pendingOf, tasksOf, withChanged, without } from "../plan_file.ts";
import { refused } from "../refused.ts";
import type { Plan, Task } from "../types.ts";
import { type Change, shortName } from "./change.ts";
import { planned } from "./set_spec.ts";

/** Which task is done, and where the tree stood. */
export interface Done {
  /** @default the first in topological order, the most urgent first */
  readonly id?: string | undefined;
  /** Short hash of HEAD, or `null` before the first commit. */
  readonly head: string | null;
}

/** Marks a pending task as done. `null`: it is done already. @throws {RalphError} usage when there is no such task */
export function doneTask(plan: Plan, { id, head }: Done): Change | null {
  const task = id === undefined ? firstTask(plan) : pendingOf(plan).find((one) => one.id === id);
  if (task === undefined) {
    if (tasksOf(plan).some((one) => one.id === id && one.s === "d")) return null;
    throw refused(
      id === undefined ? "no task is pending" : `no pending task has the id ${id}`,
      "`ralph query tasks` lists them",
    );
  }
  const open = task.deps.length === 0 ? [] : openDependencies(task, openIds(tasksOf(plan)));
  const changed = withChanged(plan, isLineOf(task), {
    s: "d",
    ...(head === null ? {} : { done_at: head }),
    kill: undefined,
    kill_log: undefined,
    decompose: undefined,
  });
  return {
    plan: changed,
    subject: `ralph: task done - ${shortName(task.name)}`,
    warnings: open.length === 0 ? [] : [`${task.id} is done before what it depends on: ${open.join(", ")}`],
  };
}

/** The first in topological order; in a circle of dependencies, the first of the file. */
export function firstTask(plan: Plan): Task | undefined {
  return readyTasks(tasksOf(plan))[0] ?? pendingOf(plan)[0];
}

/** Takes all done tasks out of the file: they live on in git's history. @throws {RalphError} usage when none is done */
export function acceptTasks(plan: Plan): Change {
  const done = doneOf(plan);
  const [only] = done;
  if (only === undefined) {
    throw refused("no task is done", "`ralph query tasks` lists them; `ralph task done` marks one");
  }
  return {
    plan: planned(without(plan, (entry) => entry.type === "task" && entry.task.s === "d")),
    subject: `ralph: task accept - ${done.length === 1 ? shortName(only.name) : `${done.length} tasks`}`,
  };
}
