import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createHost } from "../../lib/host/create_host.ts";
import { createSlots } from "../../lib/host/slots.ts";

import { openEngine } from "../../lib/machines/open_engine.ts";
import { emptyJob } from "./empty_job.ts";
import { Postgres } from "./postgres.ts";
import { childrenOf, cpuOfTree, peakMiB, privateMiB, sum } from "./usage.ts";
import { needs, only } from "../needs.ts";

/** `RALPH_MACHINES=all`: the figures of docs/scale.md. */
const isWhole = process.env["RALPH_MACHINES"] === "all";
const WORKERS = 10;

test(
  "3,000 jobs cost the queue as much each as 300, with 10 workers",
  { timeout: 580_000, ...(isWhole ? needs("postgresql") : only(false, "the long form")) },
  async () => {
    const few = await load(300);
    const many = await load(3000);
    console.log(JSON.stringify({ few, many }, null, 2));
    expect(many.databaseMs / few.databaseMs).toBeLessThan(1.6);
    expect(many.coordinatorMs / few.coordinatorMs).toBeLessThan(1.6);
  },
);

/** Milliseconds of CPU a job, MiB, jobs a second. */
interface Load {
  readonly jobs: number;
  readonly perSecond: number;
  readonly coordinatorMs: number;
  readonly workerMs: number;
  readonly databaseMs: number;
  readonly workerMiB: number;
  readonly databaseMiB: number;
}

async function load(jobs: number): Promise<Load> {
  using postgres = await Postgres.start();
  const { clock } = createHost();
  const engine = await openEngine({ url: postgres.url, queue: "load", clock });
  const file = fileURLToPath(new URL("empty_worker.ts", import.meta.url));
  const bun = fileURLToPath(new URL("../../node_modules/.bin/bun", import.meta.url));
  const workers = Array.from(
    { length: WORKERS },
    (_, index): ChildProcess =>
      spawn(bun, [file, postgres.url, "load", `w${index}`], { stdio: ["pipe", "inherit", "inherit"] }),
  );
  const slots = createSlots(16); // as many as a coordinator has out
  const signal = new AbortController().signal;
  const [started, cpu] = [performance.now(), process.cpuUsage()];
  await Promise.all(Array.from({ length: jobs }, (_, index) =>
    slots.run(async () => {
      const id = `run.${index + 1}`;
      await engine.submit(id, emptyJob(id, { notes: "x".repeat(500) }));
      while (!(await engine.ended([id])).has(id)) await engine.change(signal);
    })));
  const seconds = (performance.now() - started) / 1000;
  const used = process.cpuUsage(cpu);
  const workerMs = 1_000 * sum(workers.map(({ pid }) => cpuOfTree(pid ?? 0))) / jobs;
  const workerMiB = Math.max(...workers.map(({ pid }) => peakMiB(pid ?? 0)));
  const backends = childrenOf(postgres.pid);
  const databaseMs = 1_000 * cpuOfTree(postgres.pid) / jobs;
  const databaseMiB = sum(backends.map(privateMiB));
  const ends = workers.map((worker) => new Promise((resolve) => worker.once("exit", resolve)));
  for (const worker of workers) worker.stdin?.end();
  await Promise.all(ends);
  await engine.close();
  const coordinatorMs = (used.user + used.system) / 1000 / jobs;
  const rounded = (value: number): number => Math.round(value * 10) / 10;
  return {
    jobs,
    perSecond: rounded(jobs / seconds),
    coordinatorMs: rounded(coordinatorMs),
    workerMs: rounded(workerMs),
    databaseMs: rounded(databaseMs),
    workerMiB: rounded(workerMiB),
    databaseMiB: rounded(databaseMiB),
  };
}
