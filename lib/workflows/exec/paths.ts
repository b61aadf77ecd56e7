/**
 * The exec workflow keeps its files here. All paths are relative to the root.
 *
 * @module
 */

/** The workflow's folder. Until a PRD is approved nothing outside it may change. */
export const EXEC_FOLDER = "scripts/ralph";
export const PRD_FILE = "scripts/ralph/prd.json";
export const PLAN_STATE_FILE = "scripts/ralph/plan_state.json";
export const PLAN_TRANSCRIPT_FILE = "scripts/ralph/plan_transcript.md";
export const CODEBASE_MAP_FILE = "scripts/ralph/codebase_map.md";
export const PROGRESS_FILE = "scripts/ralph/progress.txt";
export const UNDERSTAND_PROMPT_FILE = "scripts/ralph/understand_prompt.md";
/** Transcripts, events and files moved aside, one folder a run. */
export const EXEC_RUNS = "scripts/ralph/runs";
