/**
 * The PRD of the feature workflow, schema version 2, as it is in `.ralph/<date>-<feature>/prd.json`. Keys that are
 * not named here are kept.
 *
 * @module
 */
import type { PrdStory } from "../stories.ts";

/** How a story passed. */
export interface LastResult {
  /** ISO time. */
  readonly completedAt: string;
  /** Short hash of the commit that holds the work. */
  readonly commit: string;
  /** Subject of that commit. */
  readonly summary: string;
}

/** One user story: what one iteration works on. */
export interface FeatureStory extends PrdStory {
  /** As the PRD words it. */
  readonly description: string;
  /** `ui` adds services, browser checks of the URLs in the criteria, and `verify.ui`. */
  readonly tags: readonly string[];
  /** Failed attempts, and resets by the final verification. */
  readonly retries: number;
  /** Given up on after `maxRetries`. */
  readonly blocked: boolean;
  /** The result of the last attempt that passed, else `null`. */
  readonly lastResult: LastResult | null;
}

/** The run's part of the document. */
export interface FeatureRun {
  /** ISO time of the first iteration. */
  readonly startedAt: string | null;
  /** The story in work; taken up first when a run resumes. */
  readonly currentStoryId: string | null;
  /** Agents leave these findings for those that come after them. */
  readonly learnings: readonly string[];
  /** ISO time at which the final verification accepted everything; gone when a story is open again. */
  readonly verifiedAt?: string | null;
}

/** The whole document. */
export interface FeaturePrd {
  readonly schemaVersion: 2;
  readonly project: string;
  /** The branch that `ralph run` works on. */
  readonly branchName: string;
  readonly description: string;
  readonly run: FeatureRun;
  readonly userStories: readonly FeatureStory[];
  /** sha256 of the prd.md that it was made of. */
  readonly prdSha256?: string;
}
