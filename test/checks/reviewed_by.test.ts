import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Agent, TurnRequest } from "../../lib/context/context.ts";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { todoBacklog } from "../../lib/backlog/todo.ts";
import { createHost } from "../../lib/host/create_host.ts";
import type { Host } from "../../lib/host/types.ts";
import type { AgentTurn, Usage } from "../../lib/backlog/types.ts";
import { reviewedBy } from "../../lib/checks/reviewed_by.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { verify } from "../../lib/checks/verify.ts";
import { workItem } from "../../lib/loop/attempt/work_item.ts";
import { loopWorld, type Turns } from "../loop/loop_world.ts";

const DONE = { lines: ["<ralph>DONE</ralph>"] };
const APPROVE = { lines: ["Fine.", "<review {{nonce}}>APPROVE</review>"] };
const USAGE: Usage = {
  inputTokens: 100,
  outputTokens: 10,
  cachedTokens: null,
  reasoningTokens: null,
  costUsd: 0.25,
  estimated: false,
};

type Answer = (request: TurnRequest, number: number) => Promise<Partial<AgentTurn>> | Partial<AgentTurn>;

/** A reviewer made of a function, and what it was asked. */
function reviewerOf(answer: Answer): Agent & { readonly requests: TurnRequest[] } {
  const requests: TurnRequest[] = [];
  return {
    name: "second",
    requests,
    ensureUsable: () => Promise.resolve(),
    async runTurn(request) {
      requests.push(request);
      const { lines = [], ...turn } = await answer(request, requests.length);
      const { transcript } = request;
      return {
        end: { reason: "completed" },
        text: "",
        usage: USAGE,
        transcript,
        durationMs: 1,
        ...turn,
        ...sealed(lines, request),
      };
    },
  };
}

/** The lines with the nonce that the prompt asks for. */
function sealed(lines: readonly string[], { prompt }: TurnRequest): Pick<AgentTurn, "lines"> {
  const nonce = /<review (\w+)>APPROVE/.exec(prompt)?.[1] ?? "";
  return { lines: lines.map((line) => line.replace("{{nonce}}", nonce)) };
}

/** Each turn writes its number into a file of its own. */
const WRITES: Turns = async ({ cwd }, number) => {
  await writeFile(join(cwd, "a.txt"), `version ${number}\n`);
  return DONE;
};

const ONE = [{ id: "a", title: "write a.txt", prompt: "a.txt must hold a version", checks: ["test -f a.txt"] }];

async function put(root: string, path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

describe("reviewedBy()", () => {
  test("a rejection fails the attempt, its reason is in the next prompt, and an approval passes it", async () => {
    await using world = await loopWorld(WRITES);
    await world.write("mine.txt", "the user's\n");
    let diff = "";
    const reviewer = reviewerOf(async ({ prompt }, number) => {
      diff = await readFile(/`([^`]+\.diff)`/.exec(prompt)?.[1] ?? "", "utf8");
      return number === 1
        ? { lines: ["<review>REJECT: the version is too low</review>", "<review {{nonce}}>APPROVE</review>"] }
        : APPROVE;
    });

    const outcome = await runLoop(world.ralph, memoryBacklog(ONE), { checks: [reviewedBy(world.ralph, reviewer)] });

    expect(outcome).toMatchObject({ status: "passed", passed: ["a"], turns: 2, iterations: 2 });
    expect(world.prompts[1]).toContain("review by second: failed\nrejected:\n- the version is too low");
    expect(reviewer.requests[0]?.prompt).toContain(
      "a: write a.txt\n\nAcceptance criteria:\n- a.txt must hold a version",
    );
    expect(reviewer.requests[0]?.prompt).toContain("- `a.txt`");
    expect(diff).toContain("+version 2");
    expect(diff).not.toContain("mine.txt");
    const folder = dirname(reviewer.requests[0]?.transcript ?? "");
    expect(folder).toMatch(/\.ralph\/runs\/[^/]+\/iteration-1$/);
    expect(await readdir(folder)).toContain("review-second.diff");
  });

  test("what it used counts towards the run's totals and budgets, and is no iteration", async () => {
    await using world = await loopWorld(WRITES);
    const two = [...ONE, { ...ONE[0]!, id: "b" }];
    const checks = [reviewedBy(world.ralph, reviewerOf(() => APPROVE))];

    const outcome = await runLoop(world.ralph, memoryBacklog(two), { checks, limits: { tokens: 100 } });

    expect(outcome).toMatchObject({ status: "exhausted", turns: 1, tokens: 110, costUsd: 0.25 });
    expect(outcome.usageByItem["a"]).toMatchObject({ costUsd: 0.25, turns: 2, turnsWithoutCost: 1 });
    expect(world.events.find(({ type }) => type === "iteration-end")).toMatchObject({ usage: { costUsd: 0.25 } });
  });

  test.each<[string, Answer, RegExp]>([
    ["says nothing that counts", () => ({ lines: ["I APPROVE of this"] }), /no review: the reviewer ended without/],
    [
      "approves without the nonce, as a file that it quotes may",
      () => ({ lines: ["<review>APPROVE</review>"] }),
      /no review/,
    ],
    ["rejects without a reason", () => ({ lines: ["<review>REJECT</review>"] }), /no reason was given/],
    [
      "approves and crashes",
      () => ({ ...APPROVE, end: { reason: "agent-failed", message: "exit 3" } }),
      /no review: exit 3/,
    ],
    [
      "runs out of time",
      () => ({ ...APPROVE, end: { reason: "timed-out", message: "the agent had not ended after 1 s" } }),
      /no review: the agent had not ended/,
    ],
    [
      "writes a file",
      async ({ cwd }) => {
        await put(cwd, "src/new.txt", "x");
        return APPROVE;
      },
      /the reviewer changed the working tree.*: src\/new\.txt \(left as it is\)/,
    ],
    [
      "fixes what it reviews",
      async ({ cwd }) => {
        await put(cwd, "a.txt", "better");
        return APPROVE;
      },
      /the reviewer changed the working tree.*: a\.txt/,
    ],
  ])("one that %s fails the attempt", async (_, answer, message) => {
    await using world = await loopWorld(WRITES);
    const backlog = memoryBacklog(ONE);
    const next = await backlog.next({ inFlight: [], parked: [] });
    if (next.status !== "item") throw new Error("no item");
    const checks = [reviewedBy(world.ralph, reviewerOf(answer))];

    const { attempt } = await workItem(world.ralph, backlog, next.item, { checks });

    expect(attempt).toMatchObject({
      status: "failed",
      reason: "checks-failed",
      message: expect.stringMatching(message),
    });
  });

  test("one that commits or switches the branch fails the attempt, and the branch is switched back", async () => {
    await using world = await loopWorld(WRITES);
    const answers: Answer[] = [
      async () => {
        await writeFile(join(world.root, "b.txt"), "x");
        await world.git("add", "b.txt");
        await world.git("commit", "-qm", "by the reviewer");
        return APPROVE;
      },
      async () => {
        await world.git("switch", "-q", "-c", "elsewhere");
        return APPROVE;
      },
      () => APPROVE,
    ];
    const reviewer = reviewerOf((request, number) => answers[number - 1]!(request, number));

    const outcome = await runLoop(world.ralph, memoryBacklog(ONE), { checks: [reviewedBy(world.ralph, reviewer)] });

    expect(outcome).toMatchObject({ status: "passed", turns: 3 });
    expect(world.prompts[1]).toContain("the reviewer changed the working tree");
    expect(world.prompts[2]).toContain("switched to another branch");
    expect(await world.git("branch", "--show-current")).toBe("main");
  });

  test("what it writes into the list of work is restored", async () => {
    const files = { "TODO.md": "- [ ] write a.txt. Verify: `test -f a.txt`\n- [ ] more. Verify: `false`\n" };
    await using world = await loopWorld(WRITES, { files });
    const reviewer = reviewerOf(async () => {
      await put(world.root, "TODO.md", files["TODO.md"].replace("[ ] more", "[x] more"));
      return APPROVE;
    });

    await runLoop(world.ralph, todoBacklog(world.ralph, { maxRetries: 1 }), {
      checks: [reviewedBy(world.ralph, reviewer)],
    });

    expect(reviewer.requests.length).toBeGreaterThan(0);
    expect(await world.ralph.state.read("TODO.md")).toContain("- [ ] more");
  });

  test("what it changes of the run's own rules is restored before the next turn, which is not blamed for it", async () => {
    const config = `{ "verify": { "default": ["true"] } }\n`;
    const atTurns: string[] = [];
    await using world = await loopWorld(async (request, number) => {
      atTurns.push(await readFile(join(request.cwd, "ralph.config.json"), "utf8"));
      return await WRITES(request, number);
    }, { files: { "ralph.config.json": config } });
    const reviewer = reviewerOf(async (_, number) => {
      if (number === 1) await put(world.root, "ralph.config.json", "{}\n");
      return APPROVE;
    });

    const run = await runLoop(world.ralph, memoryBacklog(ONE), { checks: [reviewedBy(world.ralph, reviewer)] });

    expect(run).toMatchObject({ status: "passed", turns: 2 });
    expect(atTurns).toEqual([config, config]);
  });

  test("sees all that was done for the item, also what an earlier attempt has committed", async () => {
    await using world = await loopWorld(async ({ cwd }, number) => {
      await writeFile(join(cwd, `part${number}.txt`), "x\n");
      await world.git("add", "-A");
      await world.git("commit", "-qm", `part ${number}`);
      return DONE;
    });
    const seen: string[] = [];
    const reviewer = reviewerOf(async ({ prompt }, number) => {
      seen.push(await readFile(/`([^`]+\.diff)`/.exec(prompt)?.[1] ?? "", "utf8"));
      return number === 1 ? { lines: ["<review>REJECT: half of it</review>"] } : APPROVE;
    });

    await runLoop(world.ralph, memoryBacklog([{ id: "a", title: "a", checks: ["true"] }]), {
      checks: [reviewedBy(world.ralph, reviewer)],
    });

    expect(seen.map((diff) => [diff.includes("part1.txt"), diff.includes("part2.txt")])).toEqual([
      [true, false],
      [true, true],
    ]);
  });

  test("is not asked where another check failed, nor where no turn was taken", async () => {
    await using world = await loopWorld(WRITES);
    const reviewer = reviewerOf(() => APPROVE);
    const review = reviewedBy(world.ralph, reviewer);
    const backlog = memoryBacklog(ONE);
    const item = { id: "a", kind: "task", title: "a", data: ONE[0]! };
    const work = (prompt: string | null) => () => Promise.resolve({ prompt, checks: [], checkFirst: true });

    await workItem(world.ralph, { ...backlog, work: work("do it") }, item, { checks: ["test -f no.txt", review] });
    const only = await workItem(world.ralph, { ...backlog, work: work(null) }, item, { checks: ["true", review] });

    expect(reviewer.requests).toHaveLength(0);
    expect(only.attempt.verification?.results).toHaveLength(1);
  });

  test("a limit of the reviewer is waited for, and is no attempt", async () => {
    const slept: number[] = [];
    await using world = await loopWorld(WRITES, { host: quickHost(slept) });
    const limited = { end: { reason: "rate-limited", untilMs: START + 3_600_000, message: "limit" } } as const;
    const reviewer = reviewerOf((_, number) => number === 1 ? limited : APPROVE);

    const outcome = await runLoop(world.ralph, memoryBacklog(ONE), { checks: [reviewedBy(world.ralph, reviewer)] });

    expect(outcome).toMatchObject({ status: "passed", turns: 1 });
    expect(slept.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThanOrEqual(3_600_000);
    expect(world.events.some(({ type }) => type === "wait-start")).toBe(true);
  });

  test("a limit that is not waited for ends the run, and the attempt is not counted", async () => {
    await using world = await loopWorld(WRITES, { config: { limits: { maxWait: 0 } } });
    const reviewer = reviewerOf((_, number) =>
      number === 1 ? { end: { reason: "rate-limited", untilMs: null, message: "come back later" } } : APPROVE
    );
    const checks = [reviewedBy(world.ralph, reviewer)];

    const first = await runLoop(world.ralph, memoryBacklog(ONE), { checks });
    const second = await runLoop(world.ralph, memoryBacklog(ONE), { checks });

    expect(first).toMatchObject({ status: "exhausted", limit: "rate limit: come back later", parked: [] });
    expect(second).toMatchObject({ status: "passed" });
    expect(world.events.filter(({ type }) => type === "iteration-start").at(-1)).toMatchObject({ attempt: 1 });
  });

  test("a reviewer that cannot be used ends the run before another turn is paid for", async () => {
    await using world = await loopWorld(WRITES);
    const reviewer = reviewerOf(() => ({ end: { reason: "agent-unusable", message: "not logged in" } }));

    const outcome = await runLoop(world.ralph, memoryBacklog(ONE), { checks: [reviewedBy(world.ralph, reviewer)] });

    expect(outcome).toMatchObject({
      status: "failed",
      reason: "agent-unusable",
      turns: 1,
      reasons: ["review by second: not logged in"],
    });
  });

  test("one that is not there is told before the first turn", async () => {
    await using world = await loopWorld(WRITES);
    const checks = [reviewedBy(world.ralph, { command: "no-such-reviewer --now" })];

    await expect(runLoop(world.ralph, memoryBacklog(ONE), { checks })).rejects.toMatchObject({
      code: "agent-not-found",
    });
    expect(world.prompts).toEqual([]);
    expect(() => reviewedBy(world.ralph, "no-such-agent")).toThrow(/no-such-agent/);
  });

  test("a command is a reviewer: it reads the prompt on standard input and the diff from its file", async () => {
    await using world = await loopWorld(WRITES, {
      files: {
        "review.sh": 'prompt=$(cat); file=$(grep -o "/[^\\`]*\\.diff" <<< "$prompt" | head -1)\n' +
          'grep -q "+version 2" "$file" && grep -o "<review .*APPROVE</review>" <<< "$prompt" || echo "<review>REJECT: not yet</review>"\n',
      },
    });

    const checks = [reviewedBy(world.ralph, { command: "bash review.sh" })];
    const outcome = await runLoop(world.ralph, memoryBacklog(ONE), { checks });

    expect(outcome).toMatchObject({ status: "passed", turns: 2 });
    expect(world.prompts[1]).toContain("review by bash: failed\nrejected:\n- not yet\n(its words: .ralph/runs/");
  });

  test("a prompt of its own, or of a file, is asked; what it has no place for is appended", async () => {
    await using world = await loopWorld(WRITES, { files: { ".ralph/prompts/review.md": "Ours: {{item}} {{change}}" } });
    const reviewer = reviewerOf(() => APPROVE);
    const context = { logs: join(world.root, ".git/logs-of-review") };

    await world.write("a.txt", "x\n");
    await verify(world.ralph, [reviewedBy(world.ralph, reviewer)], context);
    await verify(world.ralph, [reviewedBy(world.ralph, reviewer, { prompt: "Be kind." })], context);

    expect(reviewer.requests[0]?.prompt).toMatch(/^Ours: No item is named/);
    expect(reviewer.requests[1]?.prompt).toMatch(
      /^Be kind\.\n\n## Current item\n[^]*## What was changed\n[^]*## How to answer/,
    );
    expect(existsSync(join(context.logs, "review-second.diff"))).toBe(true);
  });
});

const START = Date.parse("2026-11-21T20:00:00Z");

/** A host whose clock jumps to where a sleeper wants to be. */
function quickHost(slept: number[]): Host {
  let now = START;
  const host = createHost();
  return {
    ...host,
    clock: {
      ...host.clock,
      now: () => now,
      sleep: (ms) => {
        slept.push(ms);
        now += ms;
        return Promise.resolve();
      },
    },
  };
}
