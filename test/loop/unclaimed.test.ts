import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import type { AgentTurn } from "../../lib/backlog/types.ts";
import type { Config } from "../../lib/config/load.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { exitCodeOf } from "../../lib/recipe/outcome.ts";
import { cheatWorld, WORKFLOWS } from "../trust/workflows.ts";
import { needs, SANDBOX } from "../needs.ts";
import { loopWorld, ofTheRun, type Turns, type World } from "./loop_world.ts";

const STREAM: Partial<AgentTurn> = { activity: { toolCalls: 3, asked: false, planned: false } };

/** The work is there and its check is green; the agent's last words are these. */
function worldOf(lines: readonly string[], more: Partial<AgentTurn> = {}, config: object = {}): Promise<World> {
  const turns = async ({ cwd }: { readonly cwd: string }): Promise<Partial<AgentTurn>> => {
    await writeFile(join(cwd, "a.txt"), "stub\n");
    return { lines, ...more };
  };
  return loopWorld(turns, { config });
}

const backlog = () =>
  memoryBacklog([{
    id: "a",
    title: "write a",
    checks: [{ name: "there", command: "test -f a.txt", own: true }],
  }], { maxRetries: 2 });

describe("a turn that ends without its claim, with a check of the item's own that is green", () => {
  test.each([
    "I could not finish: the API key is missing, tests are stubs.",
    "It is not done yet; next I would write the parser.",
    "Should I use REST or GraphQL?",
  ])("of a known agent is not done, and the next prompt quotes it: %s", async (words) => {
    await using world = await worldOf(["Working.", words], STREAM);

    const run = await runLoop(world.ralph, backlog());

    expect(run).toMatchObject({ status: "blocked", passed: [], turns: 2 });
    expect(run.parked[0]?.reason).toContain(`it ended with: "${words}"`);
    expect(world.prompts[1]).toContain(words);
  });

  test("of a command is unverified: committed, asked for the line, and its last line is quoted", async () => {
    await using world = await worldOf(["Should I go on?"]);

    const run = await runLoop(world.ralph, backlog());

    expect(run).toMatchObject({ status: "unverified", allowed: false, passed: ["a"], unverified: ["a"] });
    expect(exitCodeOf(run)).toBe(1);
    expect(ofTheRun(run)).toEqual([{
      kind: "not-claimed",
      subject: "a",
      message:
        "the agent did not say that it was done: let it print the closing line that its prompt asks for, or set " +
        '`provider.claims` to `"optional"`, so that green checks are enough; it ended with: "Should I go on?"',
    }]);
    expect(world.events.find(({ type }) => type === "iteration-end")).toMatchObject({
      result: "unverified",
      settlement: "passed",
      message: expect.stringContaining("closing line"),
    });
    expect(await world.git("show", "HEAD:a.txt")).toBe("stub");
  });

  test("of a command stays unverified however often the run is repeated, until a person accepts it", async () => {
    await using world = await worldOf(["Bye."]);
    const list = backlog();
    await runLoop(world.ralph, list);
    const repeated = async (config: Partial<Config>) => {
      const ralph = await world.again();
      return await runLoop({ ...ralph, config: { ...ralph.config, ...config } }, list);
    };
    const { verify, provider } = world.ralph.config;

    const same = await repeated({});
    expect(same).toMatchObject({ status: "unverified", allowed: false, turns: 0, unverified: ["a"] });
    expect(ofTheRun(same)).toMatchObject([{ kind: "not-claimed", subject: "a" }]);
    expect(await repeated({ verify: { ...verify, allowUnverified: true } })).toMatchObject({ allowed: true });
    expect(await repeated({ provider: { ...provider, claims: "optional" } })).toMatchObject({ status: "passed" });
  });

  test("of a command stays unverified when Ralph was killed while it settled the work", async () => {
    await using world = await worldOf(["Bye."]);
    const list = backlog();
    const killed = { ...list, settle: () => Promise.reject(new Error("killed")) };
    await expect(runLoop(world.ralph, killed)).rejects.toThrow("killed");

    const run = await runLoop(await world.again(), list);

    expect(run).toMatchObject({ status: "unverified", turns: 0, unverified: ["a"] });
    expect(await world.git("show", "HEAD:a.txt")).toBe("stub");
  });

  test("of a command is named no longer once the item came again and was claimed", async () => {
    const breaks: Turns = async ({ cwd, environment }, number) => {
      await writeFile(join(cwd, `${environment["RALPH_ITEM"]}.txt`), `${number}\n`);
      if (number === 2) await rm(join(cwd, "a.txt"));
      return { lines: [number === 1 ? "Bye." : "<ralph>DONE</ralph>"] };
    };
    await using world = await loopWorld(breaks);
    const tasks = ["a", "b"].map((id) => ({
      id,
      title: `write ${id}`,
      checks: [{ name: id, command: `test -f ${id}.txt`, own: true }],
    }));

    const run = await runLoop(world.ralph, memoryBacklog(tasks));

    expect(run).toMatchObject({ status: "passed", turns: 3, unverified: [] });
    expect(run.notices.filter(({ kind }) => kind === "not-claimed")).toEqual([]);
  });

  test("of a command is not done where claims are required", async () => {
    await using required = await worldOf(["Bye."], {}, { provider: { claims: "required" } });

    expect(await runLoop(required.ralph, backlog())).toMatchObject({ status: "blocked", passed: [] });
  });

  test("is verified without a word where claims are optional, also of a known agent", async () => {
    await using world = await worldOf(["Bye."], STREAM, { provider: { claims: "optional" } });

    const run = await runLoop(world.ralph, backlog());

    expect([run.status, ofTheRun(run)]).toEqual(["passed", []]);
  });

  test("is verified of an agent that never claims, as its adapter says", async () => {
    await using world = await worldOf(["Bye."], { needsClaim: false });

    const run = await runLoop(world.ralph, backlog());

    expect([run.status, ofTheRun(run)]).toEqual(["passed", []]);
  });

  test("is not verified of an agent that never claims with trust: strict", needs(...SANDBOX), async () => {
    await using strict = await worldOf(["Bye."], { needsClaim: false }, { trust: "strict" });

    expect((await runLoop(strict.ralph, backlog())).status).toBe("blocked");
  });

  test("with its claim nothing is named, and a last line of any length is quoted short", async () => {
    await using claimed = await worldOf(["<ralph>DONE</ralph>"], STREAM);
    await using long = await worldOf(["x".repeat(5000)], STREAM);

    const run = await runLoop(claimed.ralph, backlog());

    expect([run.status, ofTheRun(run)]).toEqual(["passed", []]);
    expect((await runLoop(long.ralph, backlog())).parked[0]?.reason.length).toBeLessThan(400);
  });
});

describe.each(WORKFLOWS)("a turn of a command that makes the check green and claims nothing, in $name", (workflow) => {
  test("verifies nothing, and its last line is quoted", async () => {
    const silent = { ...workflow, claim: () => Promise.resolve(["I could not finish: the key is missing."]) };
    await using world = await cheatWorld(silent, ({ write }, number) => write("done.txt", `${number}\n`), {
      config: { maxRetries: 2, verify: { default: [] } },
    });

    const run = await workflow.run(world.ralph, { limits: { iterations: 4 } });

    const ends = world.events.filter((event) => event.type === "iteration-end");
    expect(run.passed.filter((id) => !run.unverified.includes(id))).toEqual([]);
    expect(["unverified", "blocked", "exhausted"]).toContain(run.status);
    expect(ends[0]?.result).toBe(workflow.name === "exec" || workflow.name === "sprint" ? "unverified" : "not-done");
    // an iteration of a sprint has no claim of its own: only the goal has
    const quoted = workflow.name === "sprint" ? [] : ends;
    expect(quoted.filter(({ message }) => message?.includes("the key is missing") !== true)).toEqual([]);
  });
});
