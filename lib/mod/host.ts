/**
 * `ralph/host`: what a context is made of: machine, repository, events, prompter, configuration and errors.
 *
 * @module
 */
export {
  type CommitsConfig,
  CONFIG_SCHEMA,
  type LimitsConfig,
  type ProviderConfig,
  type TestsConfig,
  type VerifyConfig,
} from "../config/schema.ts";
export type { Answer, Choice, LoopDefaults, Prompter, Question, RunInfo } from "../context/context.ts";
export { ERROR_DEFINITIONS, type ErrorDefinition } from "../errors/definitions.ts";
export { EXIT_MEANINGS, type RalphErrorOptions } from "../errors/ralph_error.ts";
export { createRedactor, type Masker, type Redactor, secretValues } from "../events/redact.ts";
export {
  type AnswerSource,
  type EventBus,
  type EventItem,
  EVENTS_VERSION,
  type EventSink,
  type Preview,
  type RalphEvent,
} from "../events/types.ts";
export type {
  ChangedPath,
  CommitRequest,
  CommitResult,
  Repository,
  TreeSnapshot,
  TreeStatus,
} from "../git/repository.ts";
export type { HookAction, HookOptions } from "../hooks/hook.ts";
export { createHost } from "../host/create_host.ts";
export type { Clock, Environment, Host, Ids, ProcessEnd, Processes, ProcessRequest, Terminal } from "../host/types.ts";
export type { DeepPartial } from "../recipe/create_ralph.ts";
export type { SchemaIssue, SchemaResult } from "../backlog/schema.ts";
export type { Answers } from "../ui/find_answer.ts";
