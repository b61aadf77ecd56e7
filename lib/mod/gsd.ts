/**
 * `ralph/gsd`: the plans of a GSD project.
 *
 * @module
 */
export {
  gsdBacklog,
  type GsdBacklogContext,
  type GsdBacklogOptions,
  type GsdFindings,
} from "../workflows/gsd/backlog.ts";
export type { GsdItemData } from "../workflows/gsd/item_data.ts";
export { findPlan, type Noted, type Position, positionOf } from "../workflows/gsd/position.ts";
export { type PlanMemo, type PlanningSource, readPlanning } from "../workflows/gsd/read_planning.ts";
export type * from "../workflows/gsd/types.ts";
