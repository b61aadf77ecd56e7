/**
 * The public SDK of Ralph: composable steps, backlogs, agents and what they are made of. No logic lives here.
 *
 * @module
 */
export type { Agent, TurnRequest } from "./context/agent.ts";
export { commandAgent, type CommandAgentOptions } from "./agents/command_agent.ts";
export type { Script, ScriptedTurn } from "./agents/scripted/script.ts";
export { scriptedAgent, type ScriptedAgentOptions } from "./agents/scripted/scripted_agent.ts";
export type { Fence } from "./backlog/fences.ts";
export { type ClaimLine } from "./backlog/claims.ts";
export { type Signal, signalLines, type SignalOptions, signalsOf } from "./backlog/signals.ts";
export { createRedactor, type Masker, type Redactor } from "./events/redact.ts";
export { secretValues } from "./events/secrets.ts";
export {
  gsdBacklog,
  type GsdBacklogContext,
  type GsdBacklogOptions,
  type GsdFindings,
} from "./workflows/gsd/backlog.ts";
export type { GsdItemData } from "./workflows/gsd/item_data.ts";
export { findPlan, type Noted, type Position, positionOf } from "./workflows/gsd/position.ts";
export { readPlanning } from "./workflows/gsd/read_planning.ts";
export type * from "./workflows/gsd/types.ts";
export { memoryBacklog, type MemoryBacklogOptions, type MemoryTask } from "./backlog/memory.ts";
export {
  prdBacklog,
  type PrdBacklogContext,
  type PrdBacklogOptions,
  type PrdItemData,
} from "./workflows/exec/backlog.ts";
export type { Prd, Story } from "./workflows/exec/types.ts";
export { formatPrd, parsePrd } from "./workflows/exec/format.ts";
export { validatePrd } from "./workflows/exec/validate.ts";
export { specBacklog, type SpecBacklogContext, type SpecBacklogOptions } from "./workflows/spec/backlog.ts";
export type { SpecItemData } from "./workflows/spec/item.ts";
export type { Stage } from "./workflows/spec/stage.ts";
export { verifyCommands } from "./backlog/verify_commands.ts";
export { sprintBacklog, type SprintBacklogOptions } from "./workflows/sprint/backlog.ts";
export { type CompiledSprint, type CompileOptions, compileSprint, sprintHooks } from "./workflows/sprint/compile.ts";
export type { SprintFindings, SprintItemData } from "./workflows/sprint/types.ts";
export { createStateFiles, type ManualEdit, type StateFiles, type StateFilesOptions } from "./backlog/state_files.ts";
export { todoBacklog, type TodoBacklogOptions, type TodoItem } from "./backlog/todo.ts";
export { defaultConfig } from "./config/defaults.ts";
export {
  type CommitsConfig,
  type Config,
  CONFIG_SCHEMA,
  type LimitsConfig,
  type ProviderConfig,
  type TestsConfig,
  type VerifyConfig,
} from "./config/schema.ts";
export type { LoopDefaults, RalphContext, RunInfo } from "./context/context.ts";
export { createRalph, type DeepPartial, type RalphOptions } from "./recipe/create_ralph.ts";
export { ERROR_DEFINITIONS, type ErrorCode, type ErrorDefinition } from "./errors/definitions.ts";
export { EXIT, EXIT_MEANINGS } from "./errors/exit_codes.ts";
export { RalphError, type RalphErrorOptions } from "./errors/ralph_error.ts";
export {
  type AnswerSource,
  type EventBus,
  type EventItem,
  EVENTS_VERSION,
  type EventSink,
  type Preview,
  type RalphEvent,
} from "./events/types.ts";
export type { ChangedPath, CommitRequest, CommitResult, Repository, TreeSnapshot, TreeStatus } from "./git/types.ts";
export { createHost } from "./host/create_host.ts";
export type { Clock, Environment, Host, Ids, ProcessEnd, Processes, ProcessRequest, Terminal } from "./host/types.ts";
export { configuredHooks, type Hook, type HookAction, type HookContext, type HookOptions } from "./hooks/hook.ts";
export type * from "./backlog/types.ts";
export { BACKLOG_VERSION } from "./backlog/types.ts";
export type { BegunAttempt, Journal, JournalKey, Leftover, OpenItem } from "./backlog/journal_types.ts";
export type { Progress } from "./loop/progress.ts";
export type { RunLock } from "./loop/run_lock.ts";
export {
  defineRecipe,
  type GoalArgs,
  type Recipe,
  type SchemaIssue,
  type SchemaResult,
  type StandardSchema,
} from "./recipe/define_recipe.ts";
export { exitCodeOf, type Outcome, type Status, stops } from "./recipe/outcome.ts";
export { openSprint, type OpenSprintOptions, type Sprint } from "./workflows/sprint/open_sprint.ts";
export { type LoopOptions, type LoopOutcome, runLoop } from "./loop/run_loop.ts";
export { reviewedBy, type ReviewOptions } from "./checks/reviewed_by.ts";
export { verify, type VerifyOptions } from "./checks/verify.ts";
export type { ItemStart } from "./checks/integrity/item_start.ts";
export { type WorkedItem, workItem, type WorkItemOptions } from "./loop/work_item.ts";
export type { Answers } from "./ui/answers.ts";
export type { Answer, Choice, Prompter, Question } from "./context/prompter.ts";
export type { CheckFunction, CheckLike, CommandLike } from "./checks/types.ts";
export { type RecipeMeta, runRecipe } from "./cli/run_recipe.ts";
export type { ExecArgs } from "./workflows/exec/args.ts";
export { gate, type GateOptions, type GateOutcome } from "./recipe/gate.ts";
export { gateRun, type GateRunOptions } from "./recipe/gate_run.ts";
export { gateUnderstand, type GateUnderstandOptions, type PlannedFacts } from "./workflows/exec/understand/gate.ts";
export type { IterationCap } from "./recipe/iteration_cap.ts";
export { plan, type PlanOptions, type PlanOutcome } from "./workflows/exec/plan/plan.ts";
export { featureBacklog, type FeatureBacklogOptions, type FeatureItemData } from "./workflows/feature/backlog.ts";
export type { FeatureDirectory } from "./workflows/feature/directories.ts";
export { type FeatureFindings, featureSignals } from "./workflows/feature/findings.ts";
export type { UserInterface } from "./workflows/feature/story_checks.ts";
export type { FeaturePrd, FeatureRun, FeatureStory, LastResult } from "./workflows/feature/types.ts";
export { validateFeaturePrd } from "./workflows/feature/validate.ts";
export { openServices, type Services } from "./services/create_services.ts";
export { prd, type PrdOptions } from "./workflows/feature/prd/prd.ts";
export type { PrdOutcome } from "./workflows/feature/prd/outcome.ts";
export { featureInterface } from "./workflows/feature/feature_interface.ts";
export { lockFeature } from "./workflows/feature/lock_feature.ts";
export { openFeature } from "./workflows/feature/open_feature.ts";
export { browserCheck, type BrowserCheckOptions } from "./checks/browser/check.ts";
export { type PageUrl, pageUrls } from "./checks/browser/urls.ts";
export { commitPlan, type CommitPlanOutcome } from "./workflows/spec/commit_plan.ts";
export { planSpec, type PlanSpecOptions, type PlanSpecOutcome } from "./workflows/spec/plan_spec.ts";
export type { Refusal } from "./workflows/exec/plan/collect.ts";
export type { Recommendation, Uncertainty } from "./workflows/exec/plan/state.ts";
export { understand, type UnderstandOptions, type UnderstandOutcome } from "./workflows/exec/understand/understand.ts";
