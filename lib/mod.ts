/**
 * The public SDK of Ralph: what a recipe needs. The rest is in `ralph/agents`, `ralph/backlog`, `ralph/host`,
 * `ralph/testing`, and one module for each workflow. No logic lives here.
 *
 * @module
 */
export { memoryBacklog, type MemoryBacklogOptions, type MemoryTask } from "./backlog/memory.ts";
export { todoBacklog, type TodoBacklogOptions } from "./backlog/todo.ts";
export type { Backlog, Check, CheckContext, CheckOutcome, CheckResult, Item, Verification } from "./backlog/types.ts";
export { reviewedBy, type ReviewOptions } from "./checks/reviewed_by.ts";
export type { CheckFunction, CheckLike, CommandLike } from "./checks/function.ts";
export { verify, type VerifyOptions } from "./checks/verify.ts";
export { type RecipeMeta, runRecipe } from "./workflows/run_recipe.ts";
export { defaultConfig } from "./config/defaults.ts";
export type { Config } from "./config/schema.ts";
export type { Agent, RalphContext } from "./context/context.ts";
export type { ErrorCode } from "./errors/definitions.ts";
export { EXIT } from "./errors/ralph_error.ts";
export { RalphError } from "./errors/ralph_error.ts";
export type { EventSink, RalphEvent } from "./events/types.ts";
export { configuredHooks, type Hook, type HookContext } from "./hooks/hook.ts";
export { type LoopOptions, type LoopOutcome, runLoop } from "./loop/run/run_loop.ts";
export { type VerdictSince, verdictSince } from "./loop/finish/note_verdict.ts";
export { type WorkedItem, workItem, type WorkItemOptions } from "./loop/attempt/work_item.ts";
export { createRalph, type RalphOptions } from "./recipe/create_ralph.ts";
export type { StandardSchema } from "./backlog/schema.ts";
export { defineRecipe, type GoalArgs, type Recipe } from "./recipe/define_recipe.ts";
export { gate, type GateOptions, type GateOutcome, type IterationCap } from "./recipe/gate.ts";
export { gateRun, type GateRunOptions } from "./recipe/gate_run.ts";
export { exitCodeOf, type Outcome, type Status, stops } from "./recipe/outcome.ts";
export { consoleSink, type ConsoleSinkOptions } from "./ui/create_reporter.ts";
export type { ExecArgs } from "./workflows/exec/types.ts";
export { prdBacklog, type PrdBacklogOptions } from "./workflows/exec/backlog.ts";
export { plan, type PlanOptions, type PlanOutcome } from "./workflows/exec/plan/plan.ts";
export { gateUnderstand, type GateUnderstandOptions } from "./workflows/exec/understand/gate.ts";
export { understand, type UnderstandOptions, type UnderstandOutcome } from "./workflows/exec/understand/understand.ts";
