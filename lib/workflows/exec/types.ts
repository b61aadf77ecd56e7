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
