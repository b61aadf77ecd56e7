import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../../lib/backlog/memory.ts";
import { createHost } from "../../../lib/host/create_host.ts";
import type { Host } from "../../../lib/host/types.ts";
import { runLoop } from "../../../lib/loop/run_loop.ts";
import { loopWorld, type Turns } from "../../loop/loop_world.ts";

const DONE = { lines: ["<ralph>DONE</ralph>"] };
const TESTS =
  'it("adds", () => {\n  expect(add(1, 2)).toBe(3);\n});\nit("takes away", () => {\n  expect(sub(2, 1)).toBe(1);\n});\n';
const LESS = TESTS.slice(0, TESTS.indexOf('it("takes'));
const FILES = { "test/sum.test.js": TESTS, "package.json": '{"scripts":{"test":"node --test"}}\n' };
const GONE = "test/sum.test.js: 1 of 2 test cases gone (`takes away`), 1 of 2 assertions gone";

function one(checks: readonly string[] = ["true"]): ReturnType<typeof memoryBacklog> {
  return memoryBacklog([{ id: "a", title: "task a", checks }]);
}

/** A turn that writes, or takes away, files. */
function turns(...writes: Readonly<Record<string, string | null>>[]): Turns {
  return async ({ cwd }, number) => {
    for (const [path, text] of Object.entries(writes[number - 1] ?? {})) {
      await (text === null ? rm(join(cwd, path)) : writeFile(join(cwd, path), text));
    }
    return DONE;
  };
}

describe("runLoop() with tests.integrity", () => {
  test("reports weakened tests: an event, the outcome, and the body of the commit", async () => {
    await using world = await loopWorld(turns({ "test/sum.test.js": LESS, "a.txt": "x" }), { files: FILES });

    const outcome = await runLoop(world.ralph, one());

    expect(outcome).toMatchObject({ status: "passed", weakened: [{ id: "a", findings: [GONE] }] });
    expect(world.events.filter(({ type }) => type === "tests-weakened")).toEqual([
      { type: "tests-weakened", item: { id: "a", kind: "task", title: "task a" }, findings: [GONE], blocked: false },
    ]);
    expect(await world.git("log", "-1", "--format=%B")).toBe(`feat: task a\n\nTests were weakened:\n- ${GONE}`);
  });

  test("block: the attempt fails without its checks, and so does the next one until the tests are back", async () => {
    await using world = await loopWorld(
      async (request, number) => {
        await turns(
          { "test/sum.test.js": LESS },
          { "other.txt": "x" },
          { "test/sum.test.js": `${TESTS}it("is new", () => {});\n` },
        )(request, number);
        if (number === 1) await world.git("commit", "-qam", "by the agent");
        return DONE;
      },
      { files: FILES, config: { tests: { integrity: "block" } } },
    );

    const outcome = await runLoop(world.ralph, one());

    expect(outcome).toMatchObject({ status: "passed", turns: 3, weakened: [] });
    expect(world.prompts[1]).toContain(`tests were weakened, restore them as they were:\n${GONE}`);
    expect(world.prompts[2]).toContain(GONE);
    expect(world.events.filter(({ type }) => type === "check-start")).toHaveLength(2);
  });

  test("block: what an earlier run left uncommitted counts as well", async () => {
    const tests = { integrity: "block" } as const;
    await using world = await loopWorld(turns({ "test/sum.test.js": LESS }, { "a.txt": "x" }), {
      files: FILES,
      config: { tests },
    });

    await runLoop(world.ralph, one(), { maxIterations: 1 });
    const second = await runLoop(await world.again(), one(), { maxIterations: 1 });

    expect(second).toMatchObject({ status: "exhausted", passed: [], weakened: [{ id: "a", findings: [GONE] }] });
  });

  test("off, or not a test by tests.globs: nothing is said", async () => {
    for (const tests of [{ integrity: "off" }, { globs: ["spec/**"] }] as const) {
      await using world = await loopWorld(turns({ "test/sum.test.js": LESS }), { files: FILES, config: { tests } });

      expect(await runLoop(world.ralph, one())).toMatchObject({ status: "passed", weakened: [] });
    }
  });

  test("what the user had done to a test before is not the agent's doing", async () => {
    await using world = await loopWorld(turns({ "test/sum.test.js": `${LESS}// looked at\n` }), { files: FILES });
    await world.write("test/sum.test.js", LESS);

    expect(await runLoop(world.ralph, one())).toMatchObject({ status: "passed", weakened: [] });
  });

  test("a test that the user had not committed yet is watched as well", async () => {
    await using world = await loopWorld(turns({ "test/mine.test.js": LESS }), { files: FILES });
    await world.write("test/mine.test.js", TESTS);

    const outcome = await runLoop(world.ralph, one());

    expect(outcome.weakened).toMatchObject([{ id: "a", findings: [expect.stringContaining("test/mine.test.js")] }]);
  });

  test("a test that was moved is still there, in whichever attempt it was moved", async () => {
    await using world = await loopWorld(
      turns({ "test/sum.test.js": null }, { "test/total.test.js": TESTS, "a.txt": "x" }),
      { files: FILES, config: { tests: { integrity: "block" } } },
    );

    expect(await runLoop(world.ralph, one(["test -f a.txt"]))).toMatchObject({
      status: "passed",
      turns: 2,
      weakened: [],
    });
  });

  test("the script behind a check is watched like a test", async () => {
    await using world = await loopWorld(turns({ "package.json": '{"scripts":{"test":"true"}}\n' }), { files: FILES });

    const { weakened } = await runLoop(world.ralph, one(["npm test --silent"]));

    expect(weakened[0]?.findings).toEqual([
      "package.json: `test`, which the checks run, was `node --test` and is `true`",
    ]);
  });

  test("an item that is given up on with weakened tests is named all the same", async () => {
    await using world = await loopWorld(turns({ "test/sum.test.js": LESS }), { files: FILES });

    const outcome = await runLoop(world.ralph, one(["false"]));

    expect(outcome).toMatchObject({ status: "blocked", weakened: [{ id: "a", findings: [GONE] }] });
  });

  test("costs no process where no test was changed, and one where some were", async () => {
    const counts: number[] = [];
    for (const path of ["a.txt", "test/new.test.js"]) {
      const host = countingHost();
      await using world = await loopWorld(turns({ [path]: "x\n" }), { files: FILES, host });
      host.git.length = 0;

      await runLoop(world.ralph, one());
      counts.push(host.git.length);
    }

    expect(counts[1]! - counts[0]!).toBe(1);
  });

  test("before the first commit everything is new", async () => {
    await using world = await loopWorld(turns({ "test/sum.test.js": LESS }), { files: FILES });
    await world.git("update-ref", "-d", "HEAD");
    await world.git("rm", "-q", "--cached", "-r", ".");
    await rm(join(world.root, "test/sum.test.js"));

    expect(await runLoop(world.ralph, one())).toMatchObject({ status: "passed", weakened: [] });
  });
});

/** A host that keeps the arguments of every git process. */
function countingHost(): Host & { readonly git: (readonly string[])[] } {
  const host = createHost();
  const git: (readonly string[])[] = [];
  const { processes } = host;
  return {
    ...host,
    git,
    processes: {
      ...processes,
      runToken: processes.runToken,
      sweep: (runToken) => processes.sweep(runToken),
      run: (request) => {
        if (request.file === "git") git.push(request.arguments);
        return processes.run(request);
      },
      [Symbol.asyncDispose]: () => processes[Symbol.asyncDispose](),
    },
  };
}
