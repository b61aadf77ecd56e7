import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { loopWorld, type Turns } from "./loop_world.ts";
import { needs } from "../needs.ts";

const DONE = { lines: ["<ralph>DONE</ralph>"] };
const NOTHING: Turns = () => Promise.resolve(DONE);
const BASELINE = { config: { verify: { baseline: true, default: ["test -f ok.txt", "true"] } } };
const TASKS = [{ id: "a", title: "task a", checks: ["test -f ok.txt", "true"] }];

describe("runLoop() with verify.baseline", () => {
  test("says before the first turn what fails already, marks it, and lets nothing pass for it", async () => {
    await using world = await loopWorld(NOTHING, BASELINE);

    const outcome = await runLoop(world.ralph, memoryBacklog(TASKS));

    expect(outcome).toMatchObject({ status: "blocked", passed: [], failedBefore: ["test -f ok.txt"] });
    const types = world.events.map(({ type }) => type);
    expect(types.indexOf("step-end")).toBeLessThan(types.indexOf("turn-start"));
    expect(world.events.filter(({ type }) => type === "step-end")).toEqual([
      { type: "step-end", step: "baseline", status: "failed", message: "1 of 2 checks failed before the first turn" },
    ]);
    expect(world.events).toContainEqual({
      type: "note",
      level: "warn",
      message: "already failing before the first turn: test -f ok.txt",
    });
    expect(world.prompts[1]).toContain("test -f ok.txt: exit 1, failed before the run as well");
    expect(world.events.filter((event) => event.type === "check-end" && event.failedBefore === true)).toHaveLength(3);
  });

  test("what failed before and passes now has passed", async () => {
    await using world = await loopWorld(async ({ cwd }) => {
      await writeFile(join(cwd, "ok.txt"), "");
      return DONE;
    }, BASELINE);

    const outcome = await runLoop(world.ralph, memoryBacklog(TASKS));

    expect(outcome).toMatchObject({ status: "passed", turns: 1, failedBefore: ["test -f ok.txt"] });
  });

  test("runs once a run, commands only, and those given to the loop as well", async () => {
    await using world = await loopWorld(NOTHING, { config: { verify: { baseline: true, default: ["true"] } } });
    let calls = 0;
    const look = async (): Promise<{ ok: boolean; exitCode: null; tail: string }> => {
      calls += 1;
      return { ok: true, exitCode: null, tail: "" };
    };
    const tasks = ["a", "b"].map((id) => ({ id, title: id, checks: ["test -d ."] }));
    const checks = ["test -d .git", { name: "look", run: look }];

    await runLoop(world.ralph, memoryBacklog(tasks, { maxRetries: 1 }), { checks });

    const baseline = world.events.filter((event) => event.type === "check-start" && event.scope === "baseline");
    expect(baseline.map((event) => "name" in event && event.name)).toEqual(["true", "test -d .git"]);
    expect(calls).toBe(3); // each task, and the final check
  });

  test("says when the checks themselves change the tree", async () => {
    await using world = await loopWorld(NOTHING, {
      config: { verify: { baseline: true, default: ["echo x > report.txt"] } },
    });

    await runLoop(world.ralph, memoryBacklog([{ id: "a", title: "a", checks: ["true"] }]));

    expect(world.events).toContainEqual({
      type: "note",
      level: "warn",
      message: "the checks themselves changed the tree: report.txt",
    });
  });

  test("an interrupt during it ends the run before a turn", async () => {
    await using world = await loopWorld(NOTHING, { config: { verify: { baseline: true, default: ["sleep 30"] } } });
    const aborter = new AbortController();
    const running = runLoop(world.ralph, memoryBacklog(TASKS), { signal: aborter.signal });
    while (!world.events.some(({ type }) => type === "check-start")) await new Promise((go) => setTimeout(go, 5));

    aborter.abort();

    expect(await running).toMatchObject({ status: "aborted", turns: 0 });
    expect(world.prompts).toEqual([]);
  });

  test.each(
    [
      ["a program that is not there", "no-such-tool --all", "no-such-tool"],
      ["a program that a script calls", "make check", "no-such-linter"],
      ["a module of Python that is not there", "python3 -m no_such_module", "no_such_module"],
    ] as const,
  )("%s blocks the run before the first turn", needs("make", "python3"), async (_name, command, tool) => {
    await using world = await loopWorld(NOTHING, { config: { verify: { baseline: true, default: [command] } } });
    await writeFile(join(world.ralph.root, "Makefile"), "check:\n\tno-such-linter .\n");

    const outcome = await runLoop(world.ralph, memoryBacklog([{ id: "a", title: "a", checks: ["true"] }]));

    expect(outcome).toMatchObject({
      status: "blocked",
      turns: 0,
      reasons: [`${command} cannot run: ${tool} was not found; install it, or name another check`],
    });
  });

  test("a script of the project that is not there yet does not: the work may make it", async () => {
    await using world = await loopWorld(async ({ cwd }) => {
      await writeFile(join(cwd, "check.sh"), "exit 0\n", { mode: 0o755 });
      return DONE;
    }, { config: { verify: { baseline: true, default: ["./check.sh"] } } });

    const outcome = await runLoop(world.ralph, memoryBacklog([{ id: "a", title: "a", checks: ["test -f check.sh"] }]));

    expect(outcome).toMatchObject({ status: "passed", turns: 1 });
  });

  test("an item's own command that is not there only warns", async () => {
    await using world = await loopWorld(NOTHING, { config: { verify: { baseline: true, default: ["true"] } } });
    const own = { name: "no-such-tool", command: "no-such-tool", own: true };
    const tasks = [{ id: "a", title: "a", checks: [own] }];

    await runLoop(world.ralph, memoryBacklog(tasks, { maxRetries: 1 }));

    expect(world.prompts.length).toBeGreaterThan(0);
    expect(world.events).toContainEqual({
      type: "note",
      level: "warn",
      message: "a: no-such-tool cannot run yet: no-such-tool was not found; the work may bring it",
    });
  });

  test("is not run where it is switched off", async () => {
    await using world = await loopWorld(NOTHING, { config: { verify: { default: ["true"], baseline: false } } });

    await runLoop(world.ralph, memoryBacklog([{ id: "a", title: "a", checks: ["true"] }]));

    expect(world.events.filter((event) => event.type === "step-start" && event.step === "baseline")).toEqual([]);
  });
});
