import { doneOf, issuesOf, pendingOf, specLine, specOf } from "./plan_file.ts";
import type { Issue, Plan, Task } from "./types.ts";

/** The stage of a plan. */
export type Stage = "PLAN" | "DECOMPOSE" | "BUILD" | "VERIFY" | "INVESTIGATE" | "COMPLETE";

/** How often a task is cut into parts, and they again: a part that is still too large is a person's. */
export const MOST_PARTINGS = 3;

/** How often an issue leads to a task, and that to an issue: what is found then is a person's. */
export const MOST_ROUNDS = 3;

/** The stage of a plan: computed, never stored. A line that cannot be read may be a task. */
export function stageOf(plan: Plan): Stage {
  const pending = pendingOf(plan);
  if (specOf(plan) === null || isUnplanned(plan)) return "PLAN";
  if (pending.some(isDivided)) return "DECOMPOSE";
  if (pending.length > 0) return "BUILD";
  if (doneOf(plan).length > 0) return "VERIFY";
  if (issuesOf(plan).length > 0) return "INVESTIGATE";
  return plan.lines.some(({ entry }) => entry.type === "invalid") ? "BUILD" : "COMPLETE";
}

/** The current spec was set, and nothing has been planned for it. */
export function isUnplanned(plan: Plan): boolean {
  return specLine(plan)?.planned === false && pendingOf(plan).length + doneOf(plan).length === 0;
}

/** The task is to be taken apart: its turn ran out of time or context, and it is no part of parts of parts. */
export function isDivided({ kill, depth }: Task): boolean {
  return kill !== null && depth < MOST_PARTINGS;
}

/** An agent looks into the issue; one that the tasks of issues have led to too often is left to a person. */
export function isInvestigated({ rounds }: Issue): boolean {
  return rounds < MOST_ROUNDS;
}
