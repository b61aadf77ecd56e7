/** A worker whose attempts take no time: `empty_worker.ts URL QUEUE NAME`. Ends when its standard input does. */
import process from "node:process";
import { createHost } from "../../lib/host/create_host.ts";
import { openEngine } from "../../lib/machines/open_engine.ts";
import type { Job, JobResult } from "../../lib/machines/job.ts";

const [, , url = "", queue = "", worker = ""] = process.argv;
const ended = new AbortController();
process.stdin.on("end", () => ended.abort()).resume();
const engine = await openEngine({ url, queue, clock: createHost().clock });
await engine.work({
  worker,
  lanes: 1,
  once: false,
  signal: ended.signal,
  handle: (given) => {
    const { attempt: { id, number } } = given as Job;
    const attempt = { id, number, claim: null, turn: null, verification: null, status: "verified" } as const;
    const result: JobResult = { v: 1, attempt, commit: null, own: { subjects: [], trailers: [] }, worker };
    return Promise.resolve(result);
  },
});
await engine.close();
process.exit(0);
