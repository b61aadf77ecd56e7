import { plain, tryJson } from "../../plain.ts";

/** Ralph shows this of a plan that was begun. */
export interface BegunPlan {
  readonly goal: string;
  readonly state: string;
}

/** Reads plan_state.json for what is shown; `null` where it is missing or damaged: `ralph validate` says why. Pure. */
export function begunPlan(text: string | null): BegunPlan | null {
  const { goal, state = "collect_context" } = plain(tryJson(text ?? ""));
  return typeof goal === "string" && typeof state === "string" ? { goal, state } : null;
}
