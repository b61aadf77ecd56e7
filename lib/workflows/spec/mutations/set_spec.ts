import { doneOf, pendingOf, tasksOf, withChanged, without, withRecord } from "../plan_file.ts";
import type { Entry, Plan, Task } from "../types.ts";
import type { Change } from "./change.ts";

/** Makes a spec the current one; everything else in the file stays. Another one is not planned yet. */
export function setSpec(plan: Plan, spec: string): Change {
  const subject = `ralph: set spec ${spec}`;
  const last = plan.lines.findLast(({ entry }) => entry.type === "spec")?.entry;
  if (last === undefined) return { plan: withRecord(plan, { t: "spec", spec, planned: false }), subject };
  const one = without(plan, (entry) => entry.type === "spec" && entry !== last);
  if (last.type === "spec" && last.spec === spec) return { plan: one, subject };
  return { plan: withChanged(one, (entry) => entry === last, { spec, planned: false }), subject };
}

/** The current spec was planned, or its tasks were accepted: with nothing left it is complete. */
export function planned(plan: Plan): Plan {
  const isLeft = (entry: Entry): boolean => entry.type === "spec" && !entry.planned;
  return plan.lines.some(({ entry }) => isLeft(entry)) ? withChanged(plan, isLeft, { planned: undefined }) : plan;
}

/** Unfinished tasks of other specs. */
export function unfinishedOf(plan: Plan, spec: string): readonly Task[] {
  return tasksOf(plan).filter((task) => (task.s === "p" || task.s === "d") && task.spec !== spec);
}

/**
 * Begins to plan a spec. Starting fresh (another spec, or nothing is left of this one) clears the tombstones; tasks of
 * other specs go, since the person said so; issues stay.
 */
export function beginSpec(plan: Plan, spec: string): Change {
  const foreign = new Set(unfinishedOf(plan, spec));
  const isForeign = (entry: Entry): boolean => entry.type === "task" && foreign.has(entry.task);
  const kept = without(plan, isForeign);
  const isFresh = pendingOf(kept).length + doneOf(kept).length === 0;
  return setSpec(isFresh ? without(kept, ({ type }) => type === "reject") : kept, spec);
}
