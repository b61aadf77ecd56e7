/**
 * `ralph/sprint`: a loop over a goal, with hooks that run with each iteration.
 *
 * @module
 */
export { sprintBacklog, type SprintBacklogOptions } from "../workflows/sprint/backlog.ts";
export { type CompiledSprint, type CompileOptions, compileSprint, sprintHooks } from "../workflows/sprint/compile.ts";
export { openSprint, type OpenSprintOptions, type Sprint } from "../workflows/sprint/open_sprint.ts";
export type { SprintFindings, SprintItemData } from "../workflows/sprint/types.ts";
