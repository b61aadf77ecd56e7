import { mapAge, parseCodebaseMap } from "./codebase_map.ts";
import type { Recommendation, Uncertainty } from "../plan/state.ts";

/** What speaks for understanding the code first. */
export interface UnderstandTriggers {
  readonly missing: boolean;
  readonly stale: boolean;
  readonly uncertain: boolean;
  /** The reasons in words; none when nothing speaks for it. */
  readonly reasons: readonly string[];
  /** Shown, but no reason. */
  readonly warnings: readonly string[];
}

/** What the triggers are computed from. */
export interface TriggerFacts {
  /** Text of the codebase map, `null` when there is none. */
  readonly map: string | null;
  /** There was none when planning began: what is there now is the empty template. */
  readonly mapWasMissing: boolean;
  readonly uncertainties: readonly Uncertainty[];
  readonly recommendUnderstand: Recommendation;
  /** Local day, `YYYY-MM-DD`. */
  readonly today: string;
}

/** Whether understanding is recommended: the map is missing, it is stale, or the planner was uncertain. Pure. */
export function understandTriggers(facts: TriggerFacts): UnderstandTriggers {
  const { uncertainties, recommendUnderstand: { shouldRun, reasons: recommended } } = facts;
  const map = facts.map === null ? null : parseCodebaseMap(facts.map);
  const missing = map === null || (facts.mapWasMissing && map.entries.length === 0);
  const age = map === null ? null : mapAge(map, facts.today);
  const stale = !missing && age !== null && age.stale;
  const uncertain = uncertainties.length > 0 || shouldRun;
  const reasons = [
    ...(missing ? ["The codebase map is missing"] : []),
    ...(stale && age.lastEntry === null ? ["The codebase map is stale: it has no dated entry"] : []),
    ...(stale && age.lastEntry !== null ? [`The codebase map is stale: its last entry is of ${age.lastEntry}`] : []),
    ...(uncertainties.length > 0
      ? [`The planner is uncertain about: ${uncertainties.map(({ topic }) => topic).join(", ")}`]
      : []),
    ...(uncertainties.length === 0 && shouldRun ? ["The planner recommends it"] : []),
    ...(recommended.length > 0 ? [`The planner says: ${recommended.join("; ")}`] : []),
  ];
  return { missing, stale, uncertain, reasons, warnings: age?.warnings ?? [] };
}
