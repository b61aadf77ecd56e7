/**
 * The public SDK of Ralph: composable steps, backlogs, agents and what they are made of. No logic lives here.
 *
 * @module
 */
export type { Agent, TurnRequest } from "./agents/types.ts";
export { commandAgent, type CommandAgentOptions } from "./agents/command_agent.ts";
export type { Script, ScriptedTurn } from "./agents/scripted/script.ts";
export { scriptedAgent, type ScriptedAgentOptions } from "./agents/scripted/scripted_agent.ts";
export type { Fence } from "./agents/fences.ts";
export { signalLines, type SignalOptions } from "./agents/signals.ts";
export { createRedactor, type Masker, type Redactor } from "./events/redact.ts";
export { secretValues } from "./events/secrets.ts";
export {
  gsdBacklog,
  type GsdBacklogContext,
  type GsdBacklogOptions,
  type GsdFindings,
} from "./backlogs/gsd/backlog.ts";
export type { GsdItemData } from "./backlogs/gsd/item_data.ts";
export { findPlan, type Noted, type Position, positionOf } from "./backlogs/gsd/position.ts";
export { readPlanning } from "./backlogs/gsd/read_planning.ts";
export type * from "./backlogs/gsd/types.ts";
export { memoryBacklog, type MemoryBacklogOptions, type MemoryTask } from "./backlogs/memory.ts";
export {
  prdBacklog,
  type PrdBacklogContext,
  type PrdBacklogOptions,
  type PrdItemData,
} from "./backlogs/prd/backlog.ts";
export type { Prd, Story } from "./backlogs/prd/types.ts";
export { formatPrd, parsePrd } from "./backlogs/prd/format.ts";
export { validatePrd } from "./backlogs/prd/validate.ts";
export { specBacklog, type SpecBacklogContext, type SpecBacklogOptions } from "./backlogs/spec/backlog.ts";
export type { SpecItemData } from "./backlogs/spec/item.ts";
export type { Stage } from "./backlogs/spec/stage.ts";
export { verifyCommands } from "./backlogs/prd/verify_commands.ts";
export { sprintBacklog, type SprintBacklogOptions } from "./backlogs/sprint/backlog.ts";
export { type CompiledSprint, type CompileOptions, compileSprint, sprintHooks } from "./backlogs/sprint/compile.ts";
export type { SprintFindings, SprintItemData } from "./backlogs/sprint/types.ts";
export { createStateFiles, type HandEdit, type StateFiles, type StateFilesOptions } from "./backlogs/state_files.ts";
export { todoBacklog, type TodoBacklogOptions, type TodoItem } from "./backlogs/todo.ts";
export { defaultConfig } from "./config/defaults.ts";
export {
  type CommitsConfig,
  type Config,
  CONFIG_SCHEMA,
  type LimitsConfig,
  type ProviderConfig,
  type VerifyConfig,
} from "./config/schema.ts";
export type { LoopDefaults, RalphContext, RunInfo } from "./context.ts";
export { createRalph, type DeepPartial, type RalphOptions } from "./create_ralph.ts";
export { ERROR_DEFINITIONS, type ErrorCode, type ErrorDefinition } from "./errors/definitions.ts";
export { EXIT, EXIT_MEANINGS } from "./errors/exit_codes.ts";
export { RalphError, type RalphErrorOptions } from "./errors/ralph_error.ts";
export {
  type AnswerSource,
  type EventBus,
  type EventItem,
  EVENTS_VERSION,
  type EventSink,
  type Glimpse,
  type RalphEvent,
} from "./events/types.ts";
export type { ChangedPath, CommitRequest, CommitResult, Repository, TreeSnapshot, TreeStatus } from "./git/types.ts";
export { createHost } from "./host/create_host.ts";
export type { Clock, Environment, Host, Ids, ProcessEnd, Processes, ProcessRequest, Terminal } from "./host/types.ts";
export { configuredHooks, type Hook, type HookAction, type HookContext, type HookOptions } from "./loop/hooks.ts";
export type * from "./loop/types.ts";
export { BACKLOG_VERSION } from "./loop/types.ts";
export type { BegunAttempt, Journal, JournalKey, Leftover, OpenItem } from "./loop/journal_types.ts";
export type { Progress } from "./loop/progress.ts";
export type { RunLock } from "./loop/run_lock.ts";
export {
  defineRecipe,
  type GoalArgs,
  type Recipe,
  type SchemaIssue,
  type SchemaResult,
  type StandardSchema,
} from "./steps/define_recipe.ts";
export { exitCodeOf, type Outcome, type Status, stops } from "./steps/outcome.ts";
export { openSprint, type OpenSprintOptions, type Sprint } from "./steps/open_sprint.ts";
export { type LoopOptions, type LoopOutcome, runLoop } from "./steps/run_loop.ts";
export { verify, type VerifyOptions } from "./steps/verify.ts";
export { type WorkedItem, workItem, type WorkItemOptions } from "./steps/work_item.ts";
export type { Answers } from "./ui/answers.ts";
export type { Answer, Choice, Prompter, Question } from "./ui/types.ts";
export type { CheckFunction, CheckLike, CommandLike } from "./verifiers/types.ts";
export { type RecipeMeta, runRecipe } from "./cli/run_recipe.ts";
export type { ExecArgs } from "./steps/exec_args.ts";
export { gate, type GateOptions, type GateOutcome } from "./steps/gate.ts";
export { gateRun, type GateRunOptions } from "./steps/gate_run.ts";
export { gateUnderstand, type GateUnderstandOptions, type PlannedFacts } from "./steps/gate_understand.ts";
export type { IterationCap } from "./steps/iteration_cap.ts";
export { plan, type PlanOptions, type PlanOutcome } from "./steps/plan.ts";
export { featureBacklog, type FeatureBacklogOptions, type FeatureItemData } from "./backlogs/feature/backlog.ts";
export type { FeatureDirectory } from "./backlogs/feature/directories.ts";
export { type FeatureFindings, featureSignals } from "./backlogs/feature/findings.ts";
export type { UserInterface } from "./backlogs/feature/story_checks.ts";
export type { FeaturePrd, FeatureRun, FeatureStory, LastResult } from "./backlogs/feature/types.ts";
export { validateFeaturePrd } from "./backlogs/feature/validate.ts";
export { openServices, type Services } from "./services/create_services.ts";
export { prd, type PrdOptions } from "./steps/prd/prd.ts";
export type { PrdOutcome } from "./steps/prd/outcome.ts";
export { featureInterface } from "./steps/feature/feature_interface.ts";
export { lockFeature } from "./steps/feature/lock_feature.ts";
export { openFeature } from "./steps/feature/open_feature.ts";
export { browserCheck, type BrowserCheckOptions } from "./verifiers/browser.ts";
export { type PageUrl, pageUrls } from "./verifiers/browser/urls.ts";
export { commitPlan, type CommitPlanOutcome } from "./steps/spec/commit_plan.ts";
export { planSpec, type PlanSpecOptions, type PlanSpecOutcome } from "./steps/spec/plan_spec.ts";
export type { Refusal } from "./steps/plan/collect.ts";
export type { Recommendation, Uncertainty } from "./steps/plan/state.ts";
export { understand, type UnderstandOptions, type UnderstandOutcome } from "./steps/understand.ts";
