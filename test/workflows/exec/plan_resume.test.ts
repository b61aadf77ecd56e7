import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { RalphError } from "../../../lib/errors/ralph_error.ts";
import { LONG } from "../../sampled.ts";
import { plan } from "../../../lib/workflows/exec/plan/plan.ts";
import { conversingAgent, conversingPrompter, FINAL, GOAL, stoppingAfter } from "../../fixtures/plan/conversation.ts";
import {
  answering,
  contextOn,
  draft,
  envelope,
  replying,
  story,
  type TestRepository,
  testRepository,
} from "./exec_context.ts";

/** As after a kill: nothing that follows a turn happens. An error of an agent's own would only end the turn. */
const cutOff = (): Error => new RalphError("internal", { details: { problem: "killed" } });

const FIXTURE = fileURLToPath(new URL("../../fixtures/plan/killed.ts", import.meta.url));
const BUN = fileURLToPath(new URL("../../../node_modules/.bin/bun", import.meta.url));
const WHOLE = [
  "## Goal",
  "## Agent's answer",
  "## Question",
  "## Question",
  "## Agent's answer, refused",
  "## Agent's answer",
  "## PRD summary",
  "## PRD not approved",
  "## Question",
  "## Agent's answer",
  "## PRD summary",
  "## PRD approved",
];

const saved = (repository: TestRepository) => (): boolean =>
  readFileSync(join(repository.root, "scripts/ralph/plan_state.json"), "utf8").includes("only one story");

async function finish(repository: TestRepository): Promise<string> {
  const prompter = conversingPrompter(saved(repository));
  await using ralph = await contextOn(repository, { agent: conversingAgent(), prompter });
  return (await plan(ralph, { resume: true, goal: GOAL })).status;
}

/** True when it was stopped; nothing of it runs on, as after a kill. */
async function stopped(repository: TestRepository, writes: number): Promise<boolean> {
  const prompter = conversingPrompter(saved(repository));
  await using ralph = await contextOn(repository, { agent: conversingAgent(), prompter });
  const stop = new Error("stopped");
  const state = stoppingAfter(ralph.state, writes, () => {
    throw stop;
  });
  try {
    await plan({ ...ralph, state }, { goal: GOAL });
    return false;
  } catch (error) {
    if (error !== stop) throw error;
    return true;
  }
}

/** The same with SIGKILL, for a process of its own. */
function killed(repository: TestRepository, writes: number): boolean {
  const environment = { ...process.env, ROOT: repository.root, KILL_AFTER: String(writes) };
  const end = spawnSync(BUN, [FIXTURE], { env: environment, encoding: "utf8" });
  if (end.signal !== "SIGKILL" && end.status !== 0) throw new Error(`the fixture failed: ${end.stderr}${end.stdout}`);
  return end.signal === "SIGKILL";
}

async function expectWhole(repository: TestRepository, writes: number): Promise<void> {
  const status = await finish(repository);

  const told = {
    writes,
    status,
    prd: JSON.parse(repository.read("scripts/ralph/prd.json")),
    headings: headings(repository),
  };
  expect(told).toEqual({ writes, status: "approved", prd: FINAL, headings: WHOLE });
  const { qa } = JSON.parse(repository.read("scripts/ralph/plan_state.json"));
  expect(qa.map(({ id, answer }: Record<string, string>) => [id, answer])).toEqual([
    ["q-1", "/health"],
    ["q-2", "eighty"],
    ["q-3", "only one story"],
  ]);
  expect(repository.git("log", "--format=%s")).toBe("ralph: plan approved\nstart");
  expect(repository.git("status", "--porcelain")).toBe("");
}

/** A summary that is shown again after a kill stands there again; nothing else may. */
function headings(repository: TestRepository): readonly string[] {
  const found = repository.read("scripts/ralph/plan_transcript.md").match(/^## .*/gm) ?? [];
  return found.filter((heading, index) => heading !== "## PRD summary" || found[index - 1] !== heading);
}

describe("plan() resumed", () => {
  test(
    "plan() loses and doubles nothing when it is stopped after any write of its state",
    { timeout: 180_000 },
    async () => {
      const step = LONG ? 1 : 3;
      let writes = 1;
      for (;; writes += step) {
        using repository = testRepository();
        if (!await stopped(repository, writes)) break;
        await expectWhole(repository, writes);
      }
      expect(writes).toBeGreaterThan(20);
    },
  );

  test.each([2, 9, 17, 24])("plan() continues after SIGKILL at its write %i", async (writes) => {
    using repository = testRepository();

    expect(killed(repository, writes)).toBe(true);

    await expectWhole(repository, writes);
  });

  test("plan() puts back what an agent wrote in a turn that a kill cut off", async () => {
    using repository = testRepository();
    const forged = JSON.stringify(draft(story("US-666", 1, { passes: true })));
    const killedTurn = replying(() => {
      repository.write("scripts/ralph/prd.json", forged);
      repository.write("scripts/ralph/plan_state.json", "not json");
      throw cutOff();
    });
    await using first = await contextOn(repository, { agent: killedTurn, prompter: answering({}) });
    await expect(plan(first, { goal: GOAL })).rejects.toThrow("killed");
    await first[Symbol.asyncDispose]();

    const prompter = answering({ "plan.write-prd": "yes" });
    await using second = await contextOn(repository, { agent: replying(envelope({ prdDraft: FINAL })), prompter });
    const planned = await plan(second, { goal: GOAL });

    expect(planned.status).toBe("approved");
    expect(prompter.asked.map(({ id }) => id)).toEqual(["plan.write-prd"]);
    expect(JSON.parse(repository.read("scripts/ralph/prd.json"))).toEqual(FINAL);
  });

  test("plan() says what a turn that a kill cut off changed outside its folder", async () => {
    using repository = testRepository();
    const killedTurn = replying(() => {
      repository.write("src/sneaked.ts", "1\n");
      throw cutOff();
    });
    repository.write("mine.txt", "dirty before\n");
    await using first = await contextOn(repository, { agent: killedTurn, prompter: answering({}) });
    await expect(plan(first, { goal: GOAL })).rejects.toThrow("killed");
    await first[Symbol.asyncDispose]();

    const prompter = answering({ "plan.write-prd": "yes" });
    await using second = await contextOn(repository, { agent: replying(envelope({ prdDraft: FINAL })), prompter });
    await plan(second, { goal: GOAL });

    const notes = second.seen.flatMap((event) =>
      event.type === "note" && event.level === "warn" ? [event.message] : []
    );
    expect(notes).toEqual([expect.stringMatching(/interrupted in a turn.*: src\/sneaked\.ts$/)]);
  });

  test("plan() looks after a person's uncommitted work in a turn that a kill cut off", async () => {
    using repository = testRepository({ "a.md": "first\n", "b.md": "first\n" });
    const killedTurn = replying(() => {
      repository.git("checkout", "-q", "a.md");
      repository.write("b.md", "the planner's\n");
      throw cutOff();
    });
    for (const name of ["a.md", "b.md"]) repository.write(name, "mine\n");
    await using first = await contextOn(repository, { agent: killedTurn, prompter: answering({}) });
    await expect(plan(first, { goal: GOAL })).rejects.toThrow("killed");
    const ref = `refs/ralph/kept/${first.run.id}-planner`;
    await first[Symbol.asyncDispose]();

    const prompter = answering({ "plan.write-prd": "yes" });
    await using second = await contextOn(repository, { agent: replying(envelope({ prdDraft: FINAL })), prompter });
    await plan(second, { goal: GOAL });

    const notes = second.seen.flatMap((event) => event.type === "note" ? [event.message] : []);
    expect(notes).toContain("the planner changed or removed uncommitted work, which was restored: a.md");
    expect(notes).toContainEqual(expect.stringContaining(`b.md (\`git show ${ref}:b.md\` prints it`));
    expect(repository.read("a.md")).toBe("mine\n");
  });

  test("plan() takes what a person changed between two runs as it is", async () => {
    using repository = testRepository();
    const agent = replying(envelope({ questions: ["a?"] }), envelope({ prdDraft: FINAL }));
    await using first = await contextOn(repository, { agent, prompter: answering({ "a?": "<interrupt>" }) });
    await plan(first, { goal: GOAL });
    await first[Symbol.asyncDispose]();
    repository.write("scripts/ralph/codebase_map.md", "# My own map\n");

    await using second = await contextOn(repository, {
      agent,
      prompter: answering({ "a?": "x", "plan.write-prd": "yes" }),
    });
    await plan(second, { resume: true });

    expect(repository.read("scripts/ralph/codebase_map.md")).toBe("# My own map\n");
  });

  test("plan() says what it continues with", async () => {
    using repository = testRepository();
    const agent = replying(envelope({ questions: ["a?", "b?"] }), envelope({ prdDraft: FINAL }));
    await using first = await contextOn(repository, { agent, prompter: answering({ "a?": "x", "b?": "<interrupt>" }) });
    await plan(first, { goal: GOAL });
    await first[Symbol.asyncDispose]();

    await using second = await contextOn(repository, { agent, prompter: answering({ "b?": "<interrupt>" }) });
    await plan(second, { goal: GOAL });

    const notes = second.seen.flatMap((event) => event.type === "note" ? [event.message] : []);
    expect(notes).toEqual([
      expect.stringMatching(/^continuing with the plan begun .* \(1 answer so far\): add a health endpoint$/),
      "the plan so far is kept, answers included",
    ]);
  });

  test("plan() reads a state that holds only the fields of the seed, and keeps unknown ones", async () => {
    using repository = testRepository();
    const qa = [{ id: "q-1", question: "a?", answer: "x", askedAt: "2026-01-01T00:00:00Z" }];
    const bare = {
      schemaVersion: 1,
      root: "/elsewhere",
      goal: GOAL,
      createdAt: "2026-01-01T00:00:00Z",
      updatedAt: "2026-01-01T00:00:00Z",
      qa,
      uncertainties: [],
      approvedPrdAt: null,
      mine: 7,
    };
    repository.write("scripts/ralph/plan_state.json", JSON.stringify(bare));
    const agent = replying(envelope({ prdDraft: FINAL }));
    await using ralph = await contextOn(repository, { agent, prompter: answering({ "plan.write-prd": "yes" }) });

    expect((await plan(ralph, { goal: GOAL })).status).toBe("approved");

    expect(agent.prompts[0]).toContain("Q: a?\nA: x");
    expect(JSON.parse(repository.read("scripts/ralph/plan_state.json"))).toMatchObject({
      mine: 7,
      root: repository.root,
      qa,
    });
  });
});
