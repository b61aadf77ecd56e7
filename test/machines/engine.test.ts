import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { RalphError } from "../../lib/errors/ralph_error.ts";
import { createHost } from "../../lib/host/create_host.ts";
import type { Engine, WorkOptions } from "../../lib/machines/engine.ts";
import type { Job, JobResult } from "../../lib/machines/job.ts";
import { turnEvent, turnReporter } from "../../lib/machines/turn_events.ts";
import { openEngine } from "../../lib/machines/open_engine.ts";
import { emptyJob } from "./empty_job.ts";
import { Postgres } from "./postgres.ts";
import { needs } from "../needs.ts";

const BASE = "0".repeat(40);
const { clock } = createHost();

function result(id: string, worker: string): JobResult {
  const attempt = { id, number: 1, claim: null, turn: null, verification: null, status: "verified" } as const;
  return { v: 1, attempt, commit: BASE, own: { subjects: [], trailers: [] }, worker };
}

describe("a queue in PostgreSQL", needs("postgresql"), () => {
  let postgres: Postgres;
  let queues = 0;
  const opened: Engine[] = [];

  beforeAll(async () => {
    postgres = await Postgres.start();
  });

  // each holds up to five of the hundred connections that the database gives
  afterEach(async () => {
    await Promise.allSettled(opened.splice(0).map((engine) => engine.close()));
  });

  afterAll(() => postgres[Symbol.dispose]());

  const open = async (queue: string): Promise<Engine> => {
    const engine = await openEngine({ url: postgres.url, queue, clock });
    opened.push(engine);
    return engine;
  };

  const until = async (engine: Engine, ids: readonly string[]) => {
    const signal = AbortSignal.timeout(50_000);
    for (;;) {
      const ends = await engine.ended(ids);
      if (ends.size === ids.length) return ends;
      signal.throwIfAborted();
      await engine.change(signal);
    }
  };

  const start = (engine: Engine, options: Partial<WorkOptions> & Pick<WorkOptions, "handle">) => {
    const stop = new AbortController();
    const done = engine.work({ worker: "w", lanes: 1, once: false, signal: stop.signal, ...options });
    return async () => {
      stop.abort();
      await done;
    };
  };

  test("gives each job to one worker, and what is submitted twice is one job", async () => {
    const queue = `q${++queues}`;
    const [coordinator, one, other] = [await open(queue), await open(queue), await open(queue)];
    const ids = Array.from({ length: 12 }, (_, index) => `run-a.${index}`);
    for (const id of [...ids, ...ids]) await coordinator.submit(id, emptyJob(id));
    const seen: string[] = [];
    const handle: WorkOptions["handle"] = async (given) => {
      const { attempt } = given as Job;
      seen.push(attempt.id);
      await sleep(20);
      return result(attempt.id, "w");
    };
    const stops = [start(one, { handle }), start(other, { handle })];
    const ends = await until(coordinator, ids);

    expect(seen.toSorted()).toEqual(ids.toSorted());
    expect([...ends.values()].every(({ status }) => status === "done")).toBe(true);
    for (const stop of stops) await stop();
  });

  test("a result is known at once, without waiting for the next poll", async () => {
    const queue = `q${++queues}`;
    const [coordinator, worker] = [await open(queue), await open(queue)];
    const stop = start(worker, { handle: (given) => Promise.resolve(result((given as Job).attempt.id, "w")) });
    await sleep(1_000); // listening, and idle
    const times: number[] = [];
    for (const id of ["run-b.1", "run-b.2", "run-b.3", "run-b.4", "run-b.5"]) {
      const started = performance.now();
      await coordinator.submit(id, emptyJob(id));
      await until(coordinator, [id]);
      times.push(performance.now() - started);
    }

    // each begins when the poll before has just been: by polls alone each takes its whole pause of 2 s
    expect(times.toSorted((a, b) => a - b)[2]).toBeLessThan(1_500);
    await stop();
  });

  test(
    "a job that a worker refuses is given up at once and says why; one that breaks is handed out again",
    async () => {
      const queue = `q${++queues}`;
      const [coordinator, worker] = [await open(queue), await open(queue)];
      let broken = 0;
      const stop = start(worker, {
        worker: "machine-1",
        handle: async (given) => {
          const { attempt } = given as Job;
          if (attempt.id === "run-c.1") {
            throw new RalphError("job-refused", { details: { id: attempt.id, reason: "another repository" } });
          }
          if (broken++ === 0) throw new Error("the disk is full");
          return await Promise.resolve(result(attempt.id, "machine-1"));
        },
      });
      await coordinator.submit("run-c.1", emptyJob("run-c.1"));
      await coordinator.submit("run-c.2", emptyJob("run-c.2"));
      const ends = await until(coordinator, ["run-c.1", "run-c.2"]);

      expect(ends.get("run-c.1")).toEqual({
        status: "failed",
        message: "machine-1: this worker refuses the job run-c.1: another repository",
      });
      expect(ends.get("run-c.2")?.status).toBe("done");
      expect(broken).toBe(2);
      const jobs = await coordinator.jobs();
      expect(jobs.map(({ state, retries }) => ({ state, retries }))).toEqual([
        { state: "failed", retries: 0 },
        { state: "done", retries: 1 },
      ]);
      await stop();
    },
  );

  test(
    "a job that is given back goes to another worker at once, as often as it takes, and the first one rests",
    async () => {
      const queue = `q${++queues}`;
      const [coordinator, one, other] = [await open(queue), await open(queue), await open(queue)];
      const given: number[] = [];
      const stopOne = start(one, {
        worker: "limited",
        handle: (taken) => {
          const { attempt: { id } } = taken as Job;
          given.push(performance.now());
          const until = clock.now() + (given.length < 7 ? 1_500 : 9_000); // more often than a job is tried
          throw new RalphError("job-given-back", { details: { id, reason: "a limit until noon", until } });
        },
      });
      await coordinator.submit("run-g.1", emptyJob("run-g.1"));
      while (given.length < 7) await clock.sleep(50);
      const stopOther = start(other, {
        worker: "free",
        handle: (taken) => Promise.resolve(result((taken as Job).attempt.id, "free")),
      });
      const ends = await until(coordinator, ["run-g.1"]);

      expect(ends.get("run-g.1")).toMatchObject({ status: "done", result: { worker: "free" } });
      expect(given).toHaveLength(7);
      await stopOther();
      for (let number = 2; given.length < 8; await clock.sleep(50)) {
        const id = `run-g.${number}`;
        await coordinator.submit(id, emptyJob(id));
        if ((await coordinator.ended([id])).size > 0) number += 1; // the other one was about to ask when it was stopped
      }
      expect((given[7] ?? 0) - (given[6] ?? 0)).toBeGreaterThan(8_500);
      await stopOne();
    },
  );

  test("a job that another program has put there is shown, and breaks nothing", async () => {
    const engine = await open(`q${++queues}`);
    await engine.submit("run-x.1", { anything: true } as never);
    await engine.submit("run-x.2", null as never);

    expect(await engine.jobs()).toMatchObject([
      { attemptId: "(unknown)", itemId: "(unknown)", repository: "(unknown)", state: "waiting", worker: null },
      { attemptId: "(unknown)", state: "waiting" },
    ]);
  });

  test("what a worker reports of its turn is heard, and nonsense is not", async () => {
    const queue = `q${++queues}`;
    const [coordinator, worker, stranger] = [await open(queue), await open(queue), await open(`q${++queues}`)];
    const heard: unknown[] = [];
    await coordinator.hear((id, event) => heard.push([id, turnEvent(event)?.type ?? null]));
    const reporter = turnReporter({ engine: worker, clock, atWork: new Map([[1, "run-e.1"]]) });
    reporter.emit({ type: "turn-start", agent: "a", transcript: "t" }, 1);
    reporter.emit({ type: "turn-start", agent: "a", transcript: "t" }, 0); // no job of this queue
    for (const text of ["one", "x".repeat(20_000)]) reporter.emit({ type: "agent-text", text }, 1);
    reporter.emit({ type: "note", level: "warn", message: "the worker's own" }, 1);
    await expect.poll(() => heard.length).toBe(2);
    await stranger.report("run-e.1", [{ type: "turn-start" }]);
    await worker.report("run-e.1", [{ type: "commit", commit: "x", subject: "y" }]);
    await expect.poll(() => heard.length).toBe(3);

    expect(heard).toEqual([["run-e.1", "turn-start"], ["run-e.1", "agent-text"], ["run-e.1", null]]);
  });

  test("a job that is taken back ends the worker's turn", async () => {
    const queue = `q${++queues}`;
    const [coordinator, worker] = [await open(queue), await open(queue)];
    let began = false;
    let ended = false;
    const stop = start(worker, {
      handle: async (_, { signal }) => {
        began = true;
        await new Promise((done) => signal.addEventListener("abort", done, { once: true }));
        ended = true;
        throw new Error("stopped");
      },
    });
    await coordinator.submit("run-d.1", emptyJob("run-d.1"));
    await expect.poll(() => began).toBe(true);
    await coordinator.cancel(["run-d.1"]);
    await expect.poll(() => ended).toBe(true);
    await stop();
  });

  test("a job that was taken back is handed out when it is submitted again, and one that was given up when it is retried", async () => {
    const queue = `q${++queues}`;
    const [coordinator, worker] = [await open(queue), await open(queue)];
    const ids = ["run-h.1", "run-h.2", "run-h.3"];
    for (const id of ids) await coordinator.submit(id, emptyJob(id));
    await coordinator.cancel(["run-h.1"]);
    expect(await coordinator.alter("discard", ["run-h.2", "run-h.3", "run-h.9"])).toEqual(["run-h.2", "run-h.3"]);
    expect(await coordinator.ended(ids)).toEqual(
      new Map<string, unknown>([
        ["run-h.1", { status: "cancelled" }],
        ["run-h.2", { status: "failed", message: "it was discarded" }],
        ["run-h.3", { status: "failed", message: "it was discarded" }],
      ]),
    );
    expect(await coordinator.alter("park", ids)).toEqual(["run-h.2", "run-h.3"]);
    expect(await coordinator.alter("retry", ids)).toEqual([]); // nobody waits for them
    expect(await coordinator.alter("forget", ["run-h.1", "run-h.3"])).toEqual(["run-h.3"]);
    expect((await coordinator.jobs()).map(({ attemptId, state, parked }) => [attemptId, state, parked])).toEqual([
      ["run-h.1", "cancelled", false],
      ["run-h.2", "failed", true],
    ]);

    await coordinator.submit("run-h.1", emptyJob("run-h.1"));
    await coordinator.submit("run-h.4", emptyJob("run-h.4"));
    await coordinator.alter("discard", ["run-h.4"]);
    expect(await coordinator.alter("retry", ["run-h.4"])).toEqual(["run-h.4"]);
    const stop = start(worker, { handle: (given) => Promise.resolve(result((given as Job).attempt.id, "w")) });
    const ends = await until(coordinator, ["run-h.1", "run-h.4"]);
    expect([...ends.values()].map(({ status }) => status)).toEqual(["done", "done"]);
    await stop();
  });

  test("a worker that takes one job waits for it, and has written how it ended before it ends itself", async () => {
    const queue = `q${++queues}`;
    const [coordinator, worker] = [await open(queue), await open(queue)];
    const seen: string[] = [];
    const handle: WorkOptions["handle"] = (given) => {
      seen.push((given as Job).attempt.id);
      throw new RalphError("job-refused", { details: { id: "it", reason: "another repository" } });
    };
    const served = worker.work({ worker: "w", lanes: 1, once: true, signal: AbortSignal.timeout(50_000), handle });
    await sleep(1_000);
    for (const id of ["run-i.1", "run-i.2"]) await coordinator.submit(id, emptyJob(id));
    await served;

    expect(seen).toHaveLength(1);
    const states = (await coordinator.jobs()).map(({ attemptId, state }) => `${attemptId} ${state}`);
    expect(states.toSorted()).toEqual(
      ["run-i.1", "run-i.2"].map((id) => `${id} ${id === seen[0] ? "failed" : "waiting"}`),
    );
  });

  test("nonsense in the database is a job that failed, with its reason", async () => {
    const queue = `q${++queues}`;
    const [coordinator, worker] = [await open(queue), await open(queue)];
    const stop = start(worker, { handle: () => Promise.resolve({ v: 1, worker: "" } as unknown as JobResult) });
    await coordinator.submit("run-e.1", emptyJob("run-e.1"));
    const end = (await until(coordinator, ["run-e.1"])).get("run-e.1");

    expect(end).toMatchObject({
      status: "failed",
      message: expect.stringMatching(/the result cannot be read: attempt:/),
    });
    await stop();
  });

  test("a database that is gone for a while loses nothing", async () => {
    const queue = `q${++queues}`;
    const [coordinator, worker] = [await open(queue), await open(queue)];
    const ids = ["run-f.1", "run-f.2"];
    for (const id of ids) await coordinator.submit(id, emptyJob(id));
    let turns = 0;
    const stop = start(worker, {
      handle: async (given) => {
        turns += 1;
        await sleep(600);
        return result((given as Job).attempt.id, "w");
      },
    });
    await expect.poll(() => turns).toBeGreaterThan(0);
    postgres.down("immediate");
    await sleep(1_500);
    postgres.up();
    const ends = async (): Promise<readonly string[]> => {
      const found = await coordinator.ended(ids).catch(() => new Map());
      return [...found.values()].map(({ status }) => String(status));
    };
    await expect.poll(ends, { interval: 500 }).toEqual(["done", "done"]);
    await stop();
  }, 80_000);

  test("one coordinator leads, and another clone's only when it has let go", async () => {
    const queue = `q${++queues}`;
    const [one, other] = [await open(queue), await open(queue)];

    expect(await one.lead("exec", "clone 1")).toBe(true);
    expect(await other.lead("exec", "clone 2")).toBe(false);
    expect(await other.lead("spec", "clone 2")).toBe(true);
    expect(await one.lead("exec", "clone 1")).toBe(true);
    await one.resign("exec", "clone 1");
    expect(await other.lead("exec", "clone 2")).toBe(true);
  });

  test("a database that goes away is the queue's error, and one that is away is waited for at the start", async () => {
    using own = await Postgres.start();
    const patience = { signal: AbortSignal.timeout(50_000), report: (line: string) => void said.push(line) };
    const said: string[] = [];
    const engine = await openEngine({ url: own.url, queue: "away", clock });
    own.down("immediate");
    for (
      const ask of [
        () => engine.led(),
        () => engine.lead("exec", "one"),
        () => engine.jobs(),
        () => engine.cancel(["a"]),
      ]
    ) {
      await expect(ask()).rejects.toMatchObject({ code: "queue-unreachable", exitCode: 4 });
    }
    await engine.close().catch(() => {});

    const opening = openEngine({ url: own.url, queue: "away", clock, patience });
    while (said.length === 0) await sleep(100);
    own.up();
    const again = await opening;
    expect(await again.lead("exec", "two")).toBe(true);
    expect(said).toHaveLength(1);
    expect(said[0]).toContain("waiting up to 60 s");
    await again.close();
  });

  test("no database is an error that says what to do", async () => {
    const url = "postgres://ralph:secret@127.0.0.1:1/none?password=secret";
    await expect(openEngine({ url, queue: "q", clock })).rejects.toMatchObject({
      code: "queue-unreachable",
      exitCode: 4,
      message: "the queue cannot be used: postgres://ralph@127.0.0.1:1/none: connect ECONNREFUSED 127.0.0.1:1",
    });
    await expect(openEngine({ url: "redis://127.0.0.1", queue: "q", clock })).rejects.toMatchObject({
      code: "queue-invalid",
    });
  });
});
