import type { Job } from "../../lib/machines/job.ts";

/** A job with nothing to do: what a queue carries, and no worker does. */
export function emptyJob(id: string, data: Job["item"]["data"] = {}): Job {
  const commit = "0".repeat(40);
  return {
    v: 1,
    ralph: "0.2.0",
    backlogVersion: 2,
    repository: "git.example.com/a/b",
    project: "",
    workflow: "exec",
    scope: "",
    attempt: { id, number: 1 },
    item: { id: `item ${id}`, kind: "story", title: "A story", criteria: ["Verify: `test -f a.txt`"], data },
    base: commit,
    left: null,
    previous: null,
    last: null,
    judging: { base: commit, steps: [], items: [] },
    failedBefore: [],
    greenBefore: null,
    unseenFailed: false,
    told: "",
    budget: null,
  };
}
