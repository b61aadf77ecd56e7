import { readyTasks } from "../graph.ts";
import { doneOf, isLineOf, tasksOf, withChanged, withRecord } from "../plan_file.ts";
import { refused } from "../refused.ts";
import type { Plan, Task } from "../types.ts";
import { type Change, shortName } from "./change.ts";

/** Git's name for a commit that does not exist: the place of a task that was done before the first commit. */
const NO_COMMIT = "0000000";

/** Which task is rejected, and why. */
export interface Rejection {
  /** @default the first done task in topological order */
  readonly id?: string | undefined;
  readonly reason: string;
}

/** Puts a done task back to pending, with its reason and a tombstone. @throws {RalphError} usage when no such task is done */
export function rejectTask(plan: Plan, { id, reason }: Rejection): Change {
  const task = id === undefined ? firstDone(plan) : doneOf(plan).find((one) => one.id === id);
  if (task === undefined) {
    throw refused(
      id === undefined ? "no task is done" : `no done task has the id ${id}`,
      "`ralph query tasks` lists them",
    );
  }
  return { plan: withRejection(plan, task, reason), subject: `ralph: task reject - ${shortName(task.name)}` };
}

/** The plan with this task pending again and a tombstone for the commit at which it was done. */
export function withRejection(plan: Plan, task: Task, reason: string, head?: string | null): Plan {
  const doneAt = task.doneAt ?? head ?? NO_COMMIT;
  const changes = { s: "p", done_at: undefined, reject: reason };
  const pending = withChanged(plan, isLineOf(task), changes);
  return withRecord(pending, { t: "reject", id: task.id, done_at: doneAt, reason });
}

/** The first done task in topological order. */
export function firstDone(plan: Plan): Task | undefined {
  // Done tasks among themselves: which of them would have been built first.
  const done = doneOf(plan).map((task) => ({ ...task, s: "p" }));
  const first = readyTasks(done)[0];
  return first === undefined
    ? undefined
    : tasksOf(plan).find((task) => task.line === first.line && task.id === first.id && task.s === "d");
}
