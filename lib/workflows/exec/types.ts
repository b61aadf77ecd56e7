/**
 * The strict PRD of the exec workflow, as it is in `scripts/ralph/prd.json`.
 *
 * @module
 */

/** One user story: what one iteration works on. */
export interface Story {
  /** Such as `US-001`. */
  readonly id: string;
  /** One line. */
  readonly title: string;
  /** A criterion ``Verify: `cmd` `` names a check. */
  readonly acceptanceCriteria: readonly string[];
  /** The lowest comes first. */
  readonly priority: number;
  /** Set by Ralph, after every check of the story passed. */
  readonly passes: boolean;
  /** Ralph keeps the last failure's reason here. */
  readonly notes: string;
}

/** The whole document: these two keys and no others. */
export interface Prd {
  /** The branch that `ralph run` works on. */
  readonly branchName: string;
  readonly userStories: readonly Story[];
}

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
