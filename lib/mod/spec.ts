/**
 * `ralph/spec`: plan a spec, and build it by its plan.
 *
 * @module
 */
export { specBacklog, type SpecBacklogContext, type SpecBacklogOptions } from "../workflows/spec/backlog.ts";
export { commitPlan, type CommitPlanOutcome } from "../workflows/spec/store.ts";
export type { SpecItemData, Stage } from "../workflows/spec/item.ts";
export { planSpec, type PlanSpecOptions, type PlanSpecOutcome } from "../workflows/spec/plan_spec.ts";
