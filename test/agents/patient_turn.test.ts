import { localTime } from "../../lib/host/local_date.ts";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Agent, TurnRequest } from "../../lib/context/context.ts";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { createHost } from "../../lib/host/create_host.ts";
import type { Host } from "../../lib/host/types.ts";
import type { AgentTurn, TurnEnd } from "../../lib/backlog/types.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { loopWorld, type World } from "../loop/loop_world.ts";

const START = Date.parse("2026-11-21T20:00:00Z");
const HOUR = 3_600_000;
const LIMITED = { reason: "rate-limited", untilMs: START + 2 * HOUR, message: "You've hit your limit" } as const;
const UNAVAILABLE = { reason: "unavailable", message: "the agent's provider failed: 500" } as const;

/** A host whose clock jumps to where a sleeper wants to be. */
function quickHost(onSleep: (ms: number, now: number) => void = () => {}): Host & { readonly slept: number[] } {
  const host = createHost();
  const slept: number[] = [];
  let now = START;
  return {
    ...host,
    slept,
    clock: {
      ...host.clock,
      now: () => now,
      steady: () => now,
      async sleep(ms, signal) {
        onSleep(ms, now);
        if (signal?.aborted === true) return;
        slept.push(ms);
        now += ms;
      },
    },
  };
}

function agentOf(name: string, ends: readonly (TurnEnd | null)[], told: string[] = []): Agent {
  let turn = 0;
  return {
    name,
    ensureUsable: () => Promise.resolve(),
    runTurn(request: TurnRequest): Promise<AgentTurn> {
      told.push(name);
      const end = ends[turn] ?? { reason: "completed" };
      turn += 1;
      if (end.reason === "completed") writeFileSync(join(request.cwd, "a.txt"), "a");
      const usage = {
        inputTokens: 10,
        outputTokens: 1,
        cachedTokens: null,
        reasoningTokens: null,
        costUsd: null,
        estimated: false,
      };
      const lines = end.reason === "completed" ? ["<ralph>DONE</ralph>"] : [];
      return Promise.resolve({
        end,
        text: lines.join(""),
        lines,
        usage,
        transcript: request.transcript,
        durationMs: 1,
      });
    },
  };
}

const ITEMS = [{ id: "a", title: "write a.txt", checks: ["test -f a.txt"] }];

function waits({ events }: World): readonly unknown[] {
  return events.filter(({ type }) => type === "wait-start" || type === "wait-end");
}

function limitsFile(world: World): string {
  return join(world.root, ".git/ralph/rate-limits.json");
}

describe("a rate limit", () => {
  test("is waited out, a little longer than told, and is no attempt", async () => {
    const host = quickHost();
    await using world = await loopWorld(async () => {}, { host });

    const run = await runLoop(
      { ...world.ralph, agent: agentOf("one", [LIMITED, LIMITED, null]) },
      memoryBacklog(ITEMS),
      { maxIterations: 1 },
    );

    expect(run).toMatchObject({ status: "passed", turns: 1, tokens: 33 });
    expect(host.clock.now()).toBeGreaterThanOrEqual(START + 2 * HOUR + 15_000);
    expect(host.clock.now()).toBeLessThan(START + 2 * HOUR + 120_000);
    expect(world.events.filter(({ type }) => type === "iteration-start")).toHaveLength(1);
    expect(
      world.events.filter(({ type }) => type === "turn-start").map((event) =>
        "transcript" in event && event.transcript.split("/").at(-1)
      ),
    ).toEqual([
      "iteration-1.log",
      "iteration-1-2.log",
      "iteration-1-3.log",
    ]);
    expect(waits(world)[0]).toMatchObject({
      type: "wait-start",
      agent: "one",
      reason: "rate-limit",
      until: "2026-11-21T22:00:15.000Z",
    });
    expect(existsSync(limitsFile(world))).toBe(false);
  });

  test("is counted down: every ten minutes, and every minute at the end", async () => {
    await using world = await loopWorld(async () => {}, { host: quickHost() });

    await runLoop({ ...world.ralph, agent: agentOf("one", [LIMITED, null]) }, memoryBacklog(ITEMS));

    const left = world.events.flatMap((event) =>
      event.type === "wait-delta" ? [Math.round(event.remainingMs / 60_000)] : []
    );
    expect(left).toEqual([110, 100, 90, 80, 70, 60, 50, 40, 30, 20, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
  });

  test("continues being waited for by the next start", async () => {
    const controller = new AbortController();
    let sleeps = 0;
    const host = quickHost(() => {
      sleeps += 1;
      if (sleeps === 5) controller.abort();
    });
    await using world = await loopWorld(async () => {}, { host, signal: controller.signal });
    const told: string[] = [];

    const first = await runLoop({ ...world.ralph, agent: agentOf("one", [LIMITED, null], told) }, memoryBacklog(ITEMS));
    const kept = JSON.parse(readFileSync(limitsFile(world), "utf8")) as unknown;
    const again = { ...await world.again(), signal: new AbortController().signal, agent: agentOf("one", [null], told) };
    const second = await runLoop(again, memoryBacklog(ITEMS));

    expect(first.status).toBe("aborted");
    expect(kept).toMatchObject({ v: 1, limits: { one: { untilMs: LIMITED.untilMs + 15_000 } } });
    expect(second.status).toBe("passed");
    expect(told).toEqual(["one", "one"]);
    expect(host.clock.now()).toBeGreaterThanOrEqual(LIMITED.untilMs);
  });

  test("that is further away than limits.maxWait ends the run, exit 1, and is not waited for by the next start", async () => {
    const host = quickHost();
    await using world = await loopWorld(async () => {}, { host, config: { limits: { maxWait: 3600 } } });

    const run = await runLoop({ ...world.ralph, agent: agentOf("one", [LIMITED]) }, memoryBacklog(ITEMS));
    const again = { ...await world.again(), agent: agentOf("one", [null]) };

    expect(run).toMatchObject({
      status: "exhausted",
      limit: `rate limit: one: You've hit your limit; waiting until ${
        localTime("2026-11-21T22:00:15.000Z")
      } is longer than limits.maxWait (3600 s)`,
      passed: [],
    });
    expect(host.slept).toEqual([]);
    expect((await runLoop(again, memoryBacklog(ITEMS))).status).toBe("passed");
  });

  test("told again and again is waited for, longer each time, until limits.maxWait is used up", async () => {
    const host = quickHost();
    await using world = await loopWorld(async () => {}, { host });
    const told: string[] = [];
    const unknown = { reason: "rate-limited", untilMs: null, message: "429" } as const;

    const run = await runLoop(
      { ...world.ralph, agent: agentOf("one", Array(99).fill(unknown), told) },
      memoryBacklog(ITEMS),
    );

    expect(run.status).toBe("exhausted");
    expect(host.clock.now() - START).toBeLessThanOrEqual(6 * HOUR);
    expect(told.length).toBe(11); // after 1, 2, 5, 10, 15, 30, 60, 60, 60 … minutes
  });

  test("that ends after limits.minutes ends the run at once, with the figure; the next start knows of it", async () => {
    const host = quickHost();
    await using world = await loopWorld(async () => {}, { host, config: { limits: { minutes: 30 } } });
    const told: string[] = [];

    const run = await runLoop({ ...world.ralph, agent: agentOf("one", [LIMITED], told) }, memoryBacklog(ITEMS));
    const again = { ...await world.again(), agent: agentOf("one", [null], told) };
    const longer = await runLoop(again, memoryBacklog(ITEMS), { limits: { minutes: 180 } });

    expect(run).toMatchObject({
      status: "exhausted",
      turns: 0,
      limit: `30 minutes: one: You've hit your limit; waiting until ${
        localTime("2026-11-21T22:00:15.000Z")
      } takes longer than that`,
    });
    expect(longer.status).toBe("passed");
    expect(told).toEqual(["one", "one"]);
    expect(waits(world)).toHaveLength(2);
    expect(host.clock.now() - START).toBe(2 * HOUR + 15_000);
  });

  test("that ends within limits.minutes is waited for; told again, the time that is left counts", async () => {
    const host = quickHost();
    await using world = await loopWorld(async () => {}, { host, config: { limits: { minutes: 150 } } });
    const again = { ...LIMITED, untilMs: START + 3 * HOUR };

    const run = await runLoop({ ...world.ralph, agent: agentOf("one", [LIMITED, again]) }, memoryBacklog(ITEMS));

    expect(run).toMatchObject({ status: "exhausted", limit: expect.stringMatching(/^150 minutes: one: /) });
    expect(host.clock.now() - START).toBe(2 * HOUR + 15_000);
    expect(world.events.filter(({ type }) => type === "turn-start")).toHaveLength(2);
  });

  test("is over for a run whose time went by while the machine slept: no turn is begun", async () => {
    let slept = false;
    const host = quickHost();
    const sleepy: Host = {
      ...host,
      clock: {
        ...host.clock,
        now: () => host.clock.now() + (slept ? 8 * HOUR : 0),
        steady: () => host.clock.steady() + (slept ? 8 * HOUR : 0), // a clock that counts the machine's sleep
        sleep(ms, signal) {
          slept = true;
          return host.clock.sleep(ms, signal);
        },
      },
    };
    await using world = await loopWorld(async () => {}, { host: sleepy, config: { limits: { minutes: 150 } } });

    const run = await runLoop({ ...world.ralph, agent: agentOf("one", [LIMITED, null]) }, memoryBacklog(ITEMS));

    expect(run).toMatchObject({ status: "exhausted", limit: expect.stringMatching(/^150 minutes: /) });
    expect(world.events.filter(({ type }) => type === "turn-start")).toHaveLength(1);
  });

  test("lets the fallback take over whatever limits.minutes is", async () => {
    const host = quickHost();
    await using world = await loopWorld(async () => {}, { host, config: { limits: { minutes: 30 } } });
    const told: string[] = [];
    const fallback = agentOf("two", [null], told);

    const run = await runLoop(
      { ...world.ralph, fallback, agent: agentOf("one", [LIMITED], told) },
      memoryBacklog(ITEMS),
    );

    expect([run.status, told]).toEqual(["passed", ["one", "two"]]);
  });

  test("is not waited for with maxWait 0, whatever is known of it", async () => {
    const host = quickHost();
    await using world = await loopWorld(async () => {}, { host, config: { limits: { maxWait: 0 } } });
    const told: string[] = [];

    const run = await runLoop(
      { ...world.ralph, agent: agentOf("one", [LIMITED, LIMITED], told) },
      memoryBacklog(ITEMS),
    );

    expect(run).toMatchObject({ status: "exhausted", limit: "rate limit: You've hit your limit" });
    expect(told).toEqual(["one"]);
    expect(host.slept).toEqual([]);
  });

  test("lets the fallback take over, and the agent come back when it is over", async () => {
    const host = quickHost();
    await using world = await loopWorld(async () => {}, { host });
    const told: string[] = [];
    const soon = { ...LIMITED, untilMs: START + 60_000 };
    const fallback = agentOf("two", [{ ...LIMITED, untilMs: START + HOUR }], told);

    const run = await runLoop(
      { ...world.ralph, fallback, agent: agentOf("one", [soon, null], told) },
      memoryBacklog(ITEMS),
    );

    expect(run.status).toBe("passed");
    expect(told).toEqual(["one", "two", "one"]);
    expect(host.clock.now()).toBeLessThan(START + HOUR);
  });

  test("is not the fallback's, although both are the same program", async () => {
    await using world = await loopWorld(async () => {}, { host: quickHost() });
    const [told, back]: [string[], string[]] = [[], []];

    const run = await runLoop(
      { ...world.ralph, fallback: agentOf("one", [null], back), agent: agentOf("one", [LIMITED], told) },
      memoryBacklog(ITEMS),
    );

    expect([run.status, told.length, back.length]).toEqual(["passed", 1, 1]);
    expect(waits(world)).toEqual([]);
  });

  test("with maxWait 0 is the fallback's turn; one of both ends the run", async () => {
    const host = quickHost();
    await using world = await loopWorld(async () => {}, { host, config: { limits: { maxWait: 0 } } });
    const told: string[] = [];
    const agents = (...ends: (TurnEnd | null)[]): { agent: Agent; fallback: Agent } => ({
      agent: agentOf("one", [LIMITED], told),
      fallback: agentOf("two", ends, told),
    });

    const both = await runLoop({ ...world.ralph, ...agents(LIMITED) }, memoryBacklog(ITEMS));
    const taken = await runLoop({ ...await world.again(), ...agents(null) }, memoryBacklog(ITEMS));

    expect([both.status, taken.status]).toEqual(["exhausted", "passed"]);
    expect(told).toEqual(["one", "two", "one", "two"]);
    expect(host.slept).toEqual([]);
  });

  test("of the agent and of the fallback: the first to be over is waited for", async () => {
    const host = quickHost();
    await using world = await loopWorld(async () => {}, { host });
    const told: string[] = [];
    const fallback = agentOf("two", [{ ...LIMITED, untilMs: START + HOUR }, null], told);

    const run = await runLoop(
      { ...world.ralph, fallback, agent: agentOf("one", [LIMITED], told) },
      memoryBacklog(ITEMS),
    );

    expect([run.status, told]).toEqual(["passed", ["one", "two", "two"]]);
    expect(host.clock.now() - START).toBe(HOUR + 15_000);
  });

  test("is waited for where the fallback turns out not to be usable", async () => {
    const host = quickHost();
    await using world = await loopWorld(async () => {}, { host });
    const told: string[] = [];
    const fallback = agentOf("two", [{ reason: "agent-unusable", message: "not logged in" }], told);

    const run = await runLoop(
      { ...world.ralph, fallback, agent: agentOf("one", [LIMITED, null], told) },
      memoryBacklog(ITEMS),
    );

    expect([run.status, told]).toEqual(["passed", ["one", "two", "one"]]);
    expect(world.events).toContainEqual(expect.objectContaining({
      type: "note",
      level: "warn",
      message: "the fallback cannot be used, one is waited for: not logged in",
    }));
  });

  test("that is kept in a damaged file is none", async () => {
    await using world = await loopWorld(async () => {}, { host: quickHost() });
    await world.write(".git/ralph/rate-limits.json", '{"v":1,"limits":{"one":{"untilMs":"soon"}}');

    expect((await runLoop({ ...world.ralph, agent: agentOf("one", [null]) }, memoryBacklog(ITEMS))).status).toBe(
      "passed",
    );
  });
});

describe("a provider that fails", () => {
  test("is tried again three times, later each time, without an attempt being counted", async () => {
    const host = quickHost();
    await using world = await loopWorld(async () => {}, { host });

    const run = await runLoop(
      { ...world.ralph, agent: agentOf("one", [UNAVAILABLE, UNAVAILABLE, UNAVAILABLE]) },
      memoryBacklog(ITEMS),
    );

    expect(run).toMatchObject({ status: "passed", turns: 1 });
    expect(host.clock.now() - START).toBe(315_000);
  });

  test("is not waited for beyond limits.minutes, and counts no attempt", async () => {
    const host = quickHost();
    await using world = await loopWorld(async () => {}, { host, config: { limits: { minutes: 1 } } });

    const run = await runLoop(
      { ...world.ralph, agent: agentOf("one", [UNAVAILABLE, UNAVAILABLE]) },
      memoryBacklog(ITEMS),
    );

    expect(run).toMatchObject({ status: "exhausted", limit: "1 minute: the agent's provider failed: 500" });
    expect(host.clock.now() - START).toBe(15_000);
    expect(world.events.find((event) => event.type === "iteration-end")).toMatchObject({ result: "interrupted" });
  });

  test("and continues failing is a failed attempt", async () => {
    await using world = await loopWorld(async () => {}, { host: quickHost() });
    const told: string[] = [];

    const run = await runLoop(
      { ...world.ralph, agent: agentOf("one", Array(4).fill(UNAVAILABLE), told) },
      memoryBacklog(ITEMS),
    );

    expect(told).toHaveLength(5);
    expect(run).toMatchObject({ status: "passed", turns: 2 });
    const [first] = world.events.filter((event) => event.type === "iteration-end");
    expect(first).toMatchObject({ result: "failed", settlement: "open" });
  });
});
