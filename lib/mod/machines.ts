/**
 * `ralph/machines`: items worked on elsewhere, with whatever runs programs as the engine: jobs are taken, worked on
 * anywhere, and landed.
 *
 * @module
 */
export type { Job, JobResult } from "../machines/job.ts";
export {
  type JobsOptions,
  type LandedResults,
  landResult,
  takeJobs,
  type TakenJobs,
  type TakeOptions,
  workJob,
  type WorkJobOptions,
} from "../machines/jobs.ts";
