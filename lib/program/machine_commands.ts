/**
 * Rows of the command table for work on many machines. Importing them loads no command.
 *
 * @module
 */
import type { Command } from "../cli/command.ts";
import {
  AGENT_FLAGS,
  CONSENT_FLAGS,
  DATA_FLAGS,
  LOOP_FLAGS,
  pick,
  PLACE_FLAGS,
  REPORT_FLAGS,
  ROOT_FLAG,
  SHOW_FLAGS,
} from "../cli/flags.ts";

/** `worker`, `queue`, `job`. */
export const MACHINES: readonly Command[] = [
  {
    name: "worker",
    summary: "work on the jobs that `ralph run --queue URL` hands out",
    usage: "",
    arity: [0, 0],
    flags: {
      ...pick(LOOP_FLAGS, "queue", "parallel"),
      repository: {
        type: "text",
        value: "URL",
        summary: "the repository whose jobs it takes; it pushes refs/ralph/* there",
      },
      name: { type: "text", value: "NAME", summary: "its name for `ralph queue` (default: the machine's)" },
      directory: { type: "text", value: "DIR", summary: "where its clone is (default: in the user's cache folder)" },
      ...AGENT_FLAGS,
      ...REPORT_FLAGS,
      ...SHOW_FLAGS,
    },
    details: [
      "It settles nothing: what an attempt changed is pushed as refs/ralph/attempts/ID, and the coordinator checks it again.",
      "The agent is the worker's own (`--agent`), never one that a job names. Ctrl-C ends the turns; their jobs are handed",
      "to another worker.",
    ],
    load: () => import("./commands/worker.ts"),
  },
  {
    name: "queue",
    insideRun: true,
    summary: "the queue of a repository: workers, jobs, their ages, and those that were given up",
    usage: "status",
    arity: [0, 1],
    flags: {
      ...pick(LOOP_FLAGS, "queue"),
      repository: { type: "text", value: "URL", summary: "the repository (default: `origin` of the one here)" },
      ...DATA_FLAGS,
      ...ROOT_FLAG,
      ...SHOW_FLAGS,
    },
    load: () => import("./commands/queue.ts"),
  },
  {
    name: "job",
    summary: "items as JSON, for a CI matrix or a batch system: take jobs, work on one anywhere, land the results",
    usage: "take | work JOB | land [RESULT...]",
    arity: [1, Number.POSITIVE_INFINITY],
    flags: {
      max: { type: "text", value: "N", summary: "take: jobs that are out at once (default 16)" },
      scope: { type: "text", value: "NAME", summary: "take, land: the feature, where the workflow has several" },
      "no-push": { type: "boolean", summary: "work: leave the result in this clone" },
      ...PLACE_FLAGS,
      ...CONSENT_FLAGS,
      ...AGENT_FLAGS,
      ...pick(
        LOOP_FLAGS,
        "verify",
        "allow-unverified",
        "strict",
        "retry-blocked",
        "accept-changes",
        "any-order",
        "branch",
      ),
      ...REPORT_FLAGS,
      ...DATA_FLAGS,
      ...SHOW_FLAGS,
    },
    details: [
      "JOB is the id of a job, a file with its JSON, or - for standard input; RESULT is what",
      "`work --json` printed (a file or -), or an id. Without one, `land` lands all that workers have",
      "pushed. Jobs and results are below refs/ralph/ of the remote `origin`; `take` and `land` push the",
      "branch, too. Each may be in a clone of its own, killed and repeated.",
      "`work` runs with this machine's agent (`--agent`): a job names none.",
    ],
    load: () => import("./commands/job.ts"),
  },
];
