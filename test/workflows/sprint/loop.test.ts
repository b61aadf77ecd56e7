import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runLoop } from "../../../lib/loop/run/run_loop.ts";
import type { Hook, HookStore } from "../../../lib/hooks/hook.ts";
import { createHookRecorder } from "../../../lib/workflows/sprint/compile.ts";
import { openSprint } from "../../../lib/workflows/sprint/open_sprint.ts";
import { sprintPaths } from "../../../lib/workflows/sprint/paths.ts";
import { DIRECTORY, modesOf, PROGRESS, type SprintWorld, sprintWorld } from "./sprint_world.ts";

const COMPLETE = { lines: ["RALPH_COMPLETE: reached"], text: "RALPH_COMPLETE: reached\n" };

async function edit(world: { readonly root: string }, change: (text: string) => string): Promise<void> {
  const path = join(world.root, PROGRESS);
  await writeFile(path, change(await readFile(path, "utf8")));
}

function recorderOf(ralph: Parameters<typeof createHookRecorder>[0]): HookStore {
  return createHookRecorder(ralph, sprintPaths(ralph.root, DIRECTORY));
}

/** PROGRESS.yaml has this before long. */
async function recorded(world: { readonly root: string }, pattern: RegExp): Promise<void> {
  await expect.poll(() => readFile(join(world.root, PROGRESS), "utf8")).toMatch(pattern);
}

const withSteps = (...steps: readonly string[]) => (text: string): string =>
  text.replace("dynamic-steps: []", `dynamic-steps:\n${steps.map((step) => `  - ${step}\n`).join("")}`);

describe("sprintBacklog() in the loop", () => {
  test("plans, executes, reflects after idle-threshold iterations without a step, and ends when the checks agree", async () => {
    let world: SprintWorld;
    await using here = world = await sprintWorld(
      async ({ cwd }, number) => {
        await writeFile(join(cwd, `w${number}.txt`), "x");
        if (number === 1) await world.add("one");
        if (number === 2) await world.done("step-1");
        return number === 5 ? COMPLETE : {};
      },
      "",
      { config: { verify: { default: ["test -f w5.txt"] } } },
    );

    const run = await runLoop(here.ralph, here.backlog());

    expect(run).toMatchObject({ status: "passed", summary: "reached", turns: 5, passed: ["step-1"], unverified: [] });
    expect(modesOf(here)).toEqual(["planning", "executing", "planning", "planning", "reflecting"]);
    expect(await here.progress()).toMatchObject({
      status: "completed",
      currentIteration: 5,
      exit: { iteration: 5, summary: "reached", verified: true },
      steps: [{ id: "step-1", status: "completed" }],
    });
    expect(here.prompts[1]).toContain("step-1: one");
    expect(here.prompts[4]).toContain("# Reflect");
    expect((await here.git("log", "--format=%s")).split("\n").toReversed()).toEqual([
      "start",
      "feat: sprint - iteration 1",
      "feat: step-1 - one",
      "feat: sprint - iteration 3",
      "feat: sprint - iteration 4",
      "feat: sprint - iteration 5",
      "ralph: record the run (passed)",
    ]);
  });

  test("without checks completion is unverified", async () => {
    await using world = await sprintWorld(async () => COMPLETE);

    expect(await runLoop(world.ralph, world.backlog())).toMatchObject({
      status: "unverified",
      allowed: true,
      summary: "reached",
    });
    expect((await world.progress()).exit.verified).toBe(false);
  });

  test("a claim that the checks refute does not end the loop, and the next prompt says why", async () => {
    await using world = await sprintWorld(
      async ({ cwd }, number) => {
        if (number === 2) await writeFile(join(cwd, "proof.txt"), "x");
        return COMPLETE;
      },
      "",
      { config: { verify: { default: ["test -f proof.txt || { echo no proof; exit 4; }"] } } },
    );

    const run = await runLoop(world.ralph, world.backlog());

    expect(run).toMatchObject({ status: "passed", turns: 2 });
    expect(world.prompts[1]).toMatch(/did not count:\n\n```\n.*exit 4\nno proof\n```/);
    expect(modesOf(world)).toEqual(["planning", "planning"]);
  });

  test("a claim that fails the final check three times ends the run as failed", async () => {
    await using world = await sprintWorld(async () => COMPLETE, "", { config: { verify: { default: ["false"] } } });

    expect(await runLoop(world.ralph, world.backlog())).toMatchObject({
      status: "failed",
      reason: "final-check",
      turns: 3,
    });
  });

  test("before min-iterations a claim does not count", async () => {
    await using world = await sprintWorld(async () => COMPLETE, "ralph: { min-iterations: 3 }\n");

    const run = await runLoop(world.ralph, world.backlog());

    expect(run).toMatchObject({ status: "unverified", turns: 3 });
    expect(world.prompts[1]).toContain("it came in iteration 1; at least 3 are asked for");
  });

  test("the workflow's own prompts go before the built-in ones, with what the agent needs below", async () => {
    await using world = await sprintWorld(async () => COMPLETE, "goal-prompt: Think hard.\n");

    await runLoop(world.ralph, world.backlog());

    expect(world.prompts[0]?.startsWith("Think hard.")).toBe(true);
    expect(world.prompts[0]).toContain("reach the goal");
    expect(world.prompts[0]).toContain("ralph step add");
    expect(world.prompts[0]).not.toMatch(/^[\s`*_]*RALPH_COMPLETE/m);
  });

  test("manual edits are claims: colliding ids are renumbered, one step at most is completed, the rest is put back", async () => {
    await using world = await sprintWorld(async (_request, number) => {
      if (number === 1) {
        await edit(
          world,
          withSteps(
            "{ id: step-1, prompt: a, status: pending }",
            "{ id: step-1, prompt: b, status: pending }",
            "{ id: step-1, prompt: c, status: pending }",
          ),
        );
      } else if (number === 2) {
        await edit(world, (text) =>
          text.replaceAll("status: pending", "status: completed").replace(
            "goal: reach the goal",
            "goal: something easier",
          ));
      } else return COMPLETE;
    });

    await runLoop(world.ralph, world.backlog(), { maxIterations: 2 });

    const { goal, steps } = await world.progress();
    expect(steps.map(({ id, prompt, status }) => `${id} ${prompt} ${status}`)).toEqual([
      "step-1 a completed",
      "step-2 b pending",
      "step-3 c pending",
    ]);
    expect(goal).toBe("reach the goal");
    expect(world.events).toContainEqual({ type: "state-restored", paths: [PROGRESS] });
  });

  test("a hook's record in the middle of a turn does not make a manual edit Ralph's own", async () => {
    let edited = (): void => {};
    const second = new Promise<void>((resolve) => edited = resolve);
    await using world = await sprintWorld(async (_request, number) => {
      if (number === 1) return void await world.add("a", "b", "c");
      await recorded(world, /pid: \d/);
      await edit(world, (text) => text.replaceAll("status: pending", "status: completed"));
      edited();
      await recorded(world, /exit-code: 0/);
    });

    await runLoop(world.ralph, world.backlog(), {
      maxIterations: 2,
      hooks: [{ id: "late", isolated: false, run: () => second, store: recorderOf(world.ralph) }],
    });

    const { hookTasks, steps } = await world.progress();
    expect(steps.map(({ status }) => status)).toEqual(["completed", "pending", "pending"]);
    expect(hookTasks.map(({ hookId, status }) => `${hookId} ${status}`)).toEqual(["late completed", "late completed"]);
  });

  test("a step that is never completed is given up after its attempts, and the loop continues to plan", async () => {
    await using world = await sprintWorld(
      async ({ cwd }, number) => {
        if (number === 1) await world.add("impossible");
        await writeFile(join(cwd, "x.txt"), String(number));
        return number === 5 ? COMPLETE : {};
      },
      "",
      { config: { limits: { sameFailure: 9 } } },
    );

    const run = await runLoop(world.ralph, world.backlog());

    expect(run.parked.map(({ id }) => id)).toEqual(["step-1"]);
    expect(modesOf(world).slice(0, 5)).toEqual(["planning", "executing", "executing", "executing", "planning"]);
    expect(world.prompts[4]).toContain("step-1 (given up): impossible");
  });

  test("a goal that is reached does not end the sprint before the pending steps are done; one that was given up blocks it", async () => {
    await using world = await sprintWorld(
      async ({ cwd }, number) => {
        if (number === 1) await world.add("one", "two");
        await writeFile(join(cwd, "x.txt"), String(number));
        return number === 2 ? {} : COMPLETE;
      },
      "",
      { config: { maxRetries: 1 } },
    );

    const run = await runLoop(world.ralph, world.backlog());

    expect(modesOf(world)).toEqual(["planning", "executing", "executing"]);
    expect((await world.progress()).steps.map(({ status }) => status)).toEqual(["pending", "completed"]);
    expect(run).toMatchObject({
      status: "blocked",
      reasons: [expect.stringMatching(/^step-1 \(one\): .*step done step-1/)],
    });
  });

  test("another goal starts a completed sprint again; one that is paused waits for a person", async () => {
    await using world = await sprintWorld(async () => COMPLETE);
    await runLoop(world.ralph, world.backlog());
    await world.write(`${DIRECTORY}/SPRINT.yaml`, "workflow: ralph\ngoal: another goal\n");

    const { backlog } = await openSprint(world.ralph, { directory: DIRECTORY });
    expect(await runLoop(world.ralph, backlog)).toMatchObject({ turns: 1, summary: "reached" });
    expect(world.prompts[1]).toContain("another goal");
    expect(world.events).toContainEqual(
      expect.objectContaining({ message: expect.stringMatching(/has changed .*: goal$/) }),
    );

    await world.ralph.state.update(PROGRESS, (text) => text?.replace("status: completed", "status: paused") ?? null);
    expect(await runLoop(world.ralph, world.backlog())).toMatchObject({
      status: "blocked",
      turns: 0,
      reasons: [expect.stringContaining("the sprint is paused")],
    });
    await openSprint(world.ralph, { directory: DIRECTORY, retryBlocked: true });
    expect((await world.progress()).status).toBe("in-progress");
  });

  test("planning is told what went wrong in the planning before it", async () => {
    await using world = await sprintWorld(async (_request, number) => number === 1 ? {} : COMPLETE);

    await runLoop(world.ralph, world.backlog());

    expect(world.prompts[1]).toContain("no step was added, and the goal was not said to be reached");
  });

  test("needs-human ends as blocked with its reason, stays so, and continues with retryBlocked", async () => {
    const ask = '{"status":"needs-human","summary":"","humanNeeded":{"reason":"no key"}}';
    await using world = await sprintWorld(async (_request, number) =>
      number === 1 ? { text: ask, lines: [ask] } : COMPLETE
    );

    expect(await runLoop(world.ralph, world.backlog())).toMatchObject({
      status: "blocked",
      reasons: ["a person is needed: no key"],
    });
    expect(await world.progress()).toMatchObject({ status: "needs-human", humanNeeded: "no key" });
    expect(await runLoop(world.ralph, world.backlog())).toMatchObject({ status: "blocked", turns: 0 });
  });

  test("an agent that breaks the file loses nothing of it", async () => {
    await using world = await sprintWorld(async (_request, number) => {
      if (number === 1) await writeFile(join(world.root, PROGRESS), "{{{ no yaml");
      return number === 1 ? {} : COMPLETE;
    });

    expect(await runLoop(world.ralph, world.backlog())).toMatchObject({ status: "unverified", turns: 2 });
  });

  test("counters continue in the next run: transcripts and hook tasks of the first stay as they are", async () => {
    await using world = await sprintWorld(async ({ transcript }) => {
      await writeFile(transcript, `turn of ${transcript.slice(-7)}`, { flag: "a" });
      await world.add("more");
    });
    const hooksIn = (ralph: SprintWorld["ralph"]): readonly Hook[] => [
      { id: "h", isolated: false, run: async () => {}, store: recorderOf(ralph) },
    ];
    await runLoop(world.ralph, world.backlog(), { maxIterations: 2, hooks: hooksIn(world.ralph) });
    await edit(world, (text) => text.replace("status: completed\n    pid", "status: in-progress\n    pid"));
    const again = await world.again();

    await runLoop(again, world.backlog(again), { maxIterations: 2, hooks: hooksIn(again) });

    const { currentIteration, hookTasks } = await world.progress();
    expect(currentIteration).toBe(4);
    expect(hookTasks.map(({ iteration, status }) => `${iteration} ${status}`)).toEqual([
      "1 interrupted",
      "2 completed",
      "3 completed",
      "4 completed",
    ]);
    for (const number of [1, 2, 3, 4]) {
      expect(await readFile(join(world.root, `sprint/transcripts/iteration-${number}.jsonl`), "utf8")).toBe(
        `turn of ${number}.jsonl`,
      );
    }
  });
});
