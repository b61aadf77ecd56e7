import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { runLoop } from "../../lib/loop/run_loop.ts";
import { loopWorld, type Turns } from "./loop_world.ts";

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

  test("is not run where it is switched off", async () => {
    await using world = await loopWorld(NOTHING, { config: { verify: { default: ["true"], baseline: false } } });

    await runLoop(world.ralph, memoryBacklog([{ id: "a", title: "a", checks: ["true"] }]));

    expect(world.events.filter((event) => event.type === "step-start" && event.step === "baseline")).toEqual([]);
  });
});
