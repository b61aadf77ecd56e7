/**
 * `ralph/exec`: the file `prd.json`, and the parts of what planning returns. The steps themselves are in `ralph`.
 *
 * @module
 */
export type { PrdBacklogContext, PrdItemData } from "../workflows/exec/backlog.ts";
export { formatPrd, parsePrd } from "../workflows/exec/format.ts";
export type { Refusal } from "../workflows/exec/plan/questions.ts";
export type { Recommendation, Uncertainty } from "../generated/plan.ts";
export { type Prd, type Story, validatePrd } from "../workflows/exec/types.ts";
export type { PlannedFacts } from "../workflows/exec/understand/gate.ts";
