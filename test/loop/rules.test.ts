import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { loopWorld, type Turns, type World } from "./loop_world.ts";

const DONE = { lines: ["<ralph>DONE</ralph>"] };

/** Writes a file and says that it is done. */
function writes(path: string, text = "x\n"): Turns {
  return async ({ cwd }) => {
    await writeFile(join(cwd, path), text);
    return DONE;
  };
}

const TASK = { id: "a", title: "a", checks: ["true"] };

/** Ralph is killed when the item's work was verified and is not committed yet. */
async function killedInSettling({ ralph, write }: World, paths: readonly string[]): Promise<void> {
  const key = { backlog: "memory", scope: "" };
  const item = { id: "a", kind: "task", title: "a", data: TASK };
  await ralph.journal.begun(key, item, { id: "r.1", number: 1, userPaths: [] });
  for (const path of paths) await write(path, "by the turn\n");
  const { contents } = await ralph.repository!.snapshot();
  const work = Object.fromEntries(paths.map((path) => [path, contents.get(path) ?? null]));
  const attempt = { id: "r.1", number: 1, claim: null, turn: null, verification: null, status: "verified" } as const;
  await ralph.journal.settling(key, item, attempt, { work });
}

describe("runLoop(), by its rules", () => {
  test("where claims are optional, an item is verified by checks of its own; where they were green before, or are shared, it is not", async () => {
    const silent: Turns = async ({ cwd }) => void await writeFile(join(cwd, "a.txt"), "x\n");
    const statusWith = async (command: string, own: boolean): Promise<string> => {
      await using world = await loopWorld(silent, { config: { provider: { claims: "optional" } } });
      const checks = [{ name: command, command, own }];
      return (await runLoop(world.ralph, memoryBacklog([{ id: "a", title: "write a", checks }]))).status;
    };

    expect(await statusWith("test -f a.txt", true)).toBe("passed");
    expect(await statusWith("true", true)).toBe("blocked");
    expect(await statusWith("test -f a.txt", false)).toBe("blocked");
  });

  test.each(
    [
      [{ verify: { final: "tree" } }, ['verify.final is "tree"']],
      [{ verify: { final: "off" } }, ['verify.final is "off"']],
      [{ commits: { work: false } }, ["commits.work is false"]],
      [{}, []],
    ] as const,
  )("passed without a look at the commit is said: %j", async (config, expected) => {
    await using world = await loopWorld(writes("a.txt"), { config });
    const checks = ["test -f a.txt"];

    const run = await runLoop(world.ralph, memoryBacklog([{ id: "a", title: "a", checks }]));

    expect(run.status).toBe("passed");
    const named = run.notices.filter(({ kind }) => kind === "not-checked-as-commit");
    expect(named.map(({ subject }) => subject)).toEqual(expected);
  });

  test.each([{}, { contents: {} }, { contents: {}, allow: [1] }, { contents: 1, allow: [] }])(
    "a damaged record of a planner's turn is none: %j",
    async (fields) => {
      await using world = await loopWorld(writes("a.txt"));
      const key = JSON.stringify(["planner", ""]);
      const record = { type: "kept", v: 1, key, itemId: "r", head: null, work: {}, ...fields };
      await world.write(".git/ralph/planner.json", JSON.stringify(record));

      expect((await runLoop(world.ralph, memoryBacklog([TASK]))).status).toBe("passed");
    },
  );

  test("an agent that lies is not believed: every item is parked after its attempts and the run is blocked", async () => {
    await using world = await loopWorld(async () => DONE);
    const tasks = ["a", "b"].map((id) => ({ id, title: id, checks: ["test -f missing.txt"] }));

    const run = await runLoop(world.ralph, memoryBacklog(tasks), { limits: { idle: 100 } });

    expect(run).toMatchObject({ status: "blocked", passed: [], turns: 6 });
    expect(run.parked.map(({ id }) => id)).toEqual(["a", "b"]);
    expect(await world.git("log", "--format=%s")).toBe("start");
  });

  test("says how many items an earlier run gave up on when they are all that is left", async () => {
    await using world = await loopWorld(async () => DONE);
    const backlog = () => memoryBacklog([{ id: "a", title: "a", checks: ["false"] }], { maxRetries: 1 });
    await runLoop(world.ralph, backlog());

    const run = await runLoop(await world.again(), backlog());

    expect(run).toMatchObject({ status: "blocked", parkedBefore: 1, iterations: 0 });
  });

  test("stops as exhausted at a number of turns, of items, of turns without a change, and by a condition of one's own", async () => {
    await using world = await loopWorld(async () => DONE);
    const backlog = () =>
      memoryBacklog(["a", "b"].map((id) => ({ id, title: id, checks: ["false"] })), { maxRetries: 99 });
    const limits = { sameFailure: 99 };

    expect(await runLoop(world.ralph, backlog(), { limits, maxIterations: 2 })).toMatchObject({
      limit: "2 iterations",
      turns: 2,
    });
    expect(await runLoop(world.ralph, backlog(), { limits })).toMatchObject({
      limit: "5 turns without a change",
      turns: 5,
    });
    expect(
      await runLoop(world.ralph, backlog(), { limits, stopWhen: ({ turns }) => turns === 1 ? "enough" : undefined }),
    )
      .toMatchObject({ status: "exhausted", limit: "enough", turns: 1 });
    const items = memoryBacklog([{ id: "a", title: "a", checks: ["true"] }, { id: "b", title: "b", checks: ["true"] }]);
    expect(await runLoop(world.ralph, items, { maxItems: 1 })).toMatchObject({ limit: "1 item", passed: ["a"] });
  });

  test("the same failure three times blocks the item although it has attempts left", async () => {
    await using world = await loopWorld(async ({ cwd }, number) => {
      await writeFile(join(cwd, "f.txt"), String(number));
      return DONE;
    });

    const run = await runLoop(
      world.ralph,
      memoryBacklog([{ id: "a", title: "a", checks: ["echo took $RANDOM ms; false"] }], { maxRetries: 9 }),
    );

    expect(run).toMatchObject({ status: "blocked", turns: 3 });
    expect(run.parked[0]?.reason).toContain("failed the same way 3 times");
  });

  test("an item without a check is blocked before the first turn, or unverified where that is allowed", async () => {
    await using world = await loopWorld(async () => DONE);
    await using allowed = await loopWorld(async () => DONE, { config: { verify: { allowUnverified: true } } });
    const backlog = () => memoryBacklog([{ id: "a", title: "a" }]);

    const blocked = await runLoop(world.ralph, backlog());
    const unverified = await runLoop(allowed.ralph, backlog());

    expect(blocked).toMatchObject({ status: "blocked", turns: 0 });
    expect(world.prompts).toEqual([]);
    expect(unverified).toMatchObject({ status: "unverified", allowed: true, unverified: ["a"] });
  });

  test("the user's own edit and untracked file are never committed", async () => {
    await using world = await loopWorld(async ({ cwd }) => {
      await writeFile(join(cwd, "README.md"), "# agent\n");
      await writeFile(join(cwd, "new.txt"), "n\n");
      return DONE;
    });
    await world.write("README.md", "# mine\n");
    await world.write("notes.txt", "mine\n");

    await runLoop(world.ralph, memoryBacklog([{ id: "a", title: "a", checks: ["test -f new.txt"] }]));

    expect(await world.git("show", "--name-only", "--format=")).toBe("new.txt");
    expect(await world.git("status", "--porcelain")).toBe("M README.md\n?? notes.txt");
    expect(world.events).toContainEqual(
      expect.objectContaining({ type: "note", level: "warn", message: expect.stringContaining("README.md") }),
    );
  });

  test("a turn that changes ralph.config.json or a protected path does not pass", async () => {
    await using world = await loopWorld(writes("tests/a.test.ts"), {
      files: { "tests/a.test.ts": "real\n" },
      config: { protect: ["tests/**"] },
    });

    const run = await runLoop(
      world.ralph,
      memoryBacklog([{ id: "a", title: "a", checks: ["true"] }], { maxRetries: 1 }),
    );

    expect(run.parked[0]?.reason).toBe("changed protected files: tests/a.test.ts");
  });

  test("a turn that writes outside the allowed paths ends the run as failed, with the diff", async () => {
    await using world = await loopWorld(async ({ cwd }) => {
      await writeFile(join(cwd, "map.md"), "m");
      await writeFile(join(cwd, "README.md"), "# other\n");
      return DONE;
    });
    const backlog = memoryBacklog([{ id: "a", title: "a", checks: ["true"] }]);

    const run = await runLoop(world.ralph, {
      ...backlog,
      work: async (item, context) => ({ ...await backlog.work(item, context), allow: ["map.md"] }),
    });

    expect(run).toMatchObject({
      status: "failed",
      reason: "trespassed",
      reasons: ["wrote outside the allowed paths: README.md"],
    });
    expect(world.events.find(({ type }) => type === "trespass")).toMatchObject({
      paths: ["README.md"],
      diff: expect.stringContaining("+# other"),
    });
    expect(await readFile(join(world.root, "README.md"), "utf8")).toBe("# other\n");
  });

  test("an agent that cannot be used ends the run as failed for that reason", async () => {
    await using world = await loopWorld(async () => ({ end: { reason: "agent-unusable", message: "not logged in" } }));

    const run = await runLoop(world.ralph, memoryBacklog([{ id: "a", title: "a", checks: ["true"] }]));

    expect(run).toMatchObject({ status: "failed", reason: "agent-unusable", reasons: ["not logged in"] });
  });

  test("a run that was killed between settling and commit is made up for: settled once, committed once", async () => {
    await using world = await loopWorld(async () => {
      throw new Error("no turn must be taken");
    });
    await killedInSettling(world, ["a.txt"]);

    const run = await runLoop(await world.again(), memoryBacklog([TASK]));

    expect(run).toMatchObject({ status: "passed", turns: 0 });
    expect(await world.git("log", "--format=%s")).toBe("feat: a\nstart");
  });

  test("what a person has changed since a run was killed stays out of the commit that is made up for", async () => {
    await using world = await loopWorld(async () => DONE);
    await killedInSettling(world, ["a.txt", "b.txt"]);
    await world.write("b.txt", "by a person\n");

    await runLoop(await world.again(), memoryBacklog([TASK]));

    expect(await world.git("show", "--name-only", "--format=")).toBe("a.txt");
    expect(await world.git("status", "--porcelain", "b.txt")).toBe("?? b.txt");
  });

  test("work of which nothing is as it was judged is not settled after a kill: the item is taken up again", async () => {
    await using world = await loopWorld(async () => {
      await world.write("a.txt", "again\n");
      return DONE;
    });
    await killedInSettling(world, ["a.txt"]);
    await world.write("a.txt", ""); // as `git checkout .` leaves a file that git was about to add

    const run = await runLoop(await world.again(), memoryBacklog([TASK]));

    expect(run).toMatchObject({ status: "passed", turns: 1 });
    expect(await world.git("show", "HEAD:a.txt")).toBe("again");
  });
});
