/**
 * `ralph/backlog`: what writing a backlog of your own takes, and the parts that backlogs share.
 *
 * @module
 */
export type * from "../backlog/types.ts";
export type { Fence } from "../backlog/fences.ts";
export type { BegunAttempt, Journal, JournalKey, Leftover, OpenItem } from "../backlog/journal_types.ts";
export { memoryBacklog, type MemoryBacklogOptions, type MemoryTask } from "../backlog/memory.ts";
export type { ClaimLine } from "../backlog/claims.ts";
export { failureOf, fingerprintOf, isOver, isParked, reasonOf } from "../backlog/attempts.ts";
export { howToEnd, type Signal, signalLines, type SignalOptions, signalsOf } from "../backlog/signals.ts";
export type { JsonFile, JsonSchema } from "../backlog/state_json.ts";
export { listBacklog, type ListBacklogOptions, type ListItem } from "../backlog/list.ts";
export { createStateFiles, type ManualEdit, type StateFiles, type StateFilesOptions } from "../backlog/state_files.ts";
export { todoBacklog, type TodoBacklogOptions, type TodoItem } from "../backlog/todo.ts";
export { BACKLOG_VERSION } from "../backlog/types.ts";
export { changesTests } from "../backlog/changes_tests.ts";
export { verifyCommands } from "../backlog/verify_commands.ts";
export type { RunLock } from "../context/context.ts";
export type { Progress } from "../loop/policy/progress.ts";
export type { GatedBacklog, GateTexts } from "../recipe/gate_run.ts";
