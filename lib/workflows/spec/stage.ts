import { doneOf, issuesOf, pendingOf, specOf } from "./plan_file.ts";
import type { Plan } from "./types.ts";

/** The stage of a plan. */
export type Stage = "PLAN" | "DECOMPOSE" | "BUILD" | "VERIFY" | "INVESTIGATE" | "COMPLETE";

/** The stage of a plan: computed, never stored. */
export function stageOf(plan: Plan): Stage {
  if (specOf(plan) === null) return "PLAN";
  const pending = pendingOf(plan);
  if (pending.some(({ kill }) => kill !== null)) return "DECOMPOSE";
  if (pending.length > 0) return "BUILD";
  if (doneOf(plan).length > 0) return "VERIFY";
  return issuesOf(plan).length > 0 ? "INVESTIGATE" : "COMPLETE";
}
