import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import type { Backlog, Check, CommandCheck, Item, Work } from "../../lib/backlog/types.ts";
import { workItem } from "../../lib/loop/attempt/work_item.ts";
import { loopWorld, type Turns, type World } from "./loop_world.ts";

const ITEM: Item = { id: "a", kind: "task", title: "a", data: null };
const DONE = { lines: ["<ralph>DONE</ralph>"] };

/** A backlog whose only interesting part is the work. */
function working(work: Partial<Work> & { readonly checks: readonly Check[] }): Backlog<unknown> {
  const backlog = memoryBacklog([]) as Backlog<unknown>;
  return { ...backlog, work: async () => ({ prompt: "do it", ...work }) };
}

function check(command: string, more: Partial<CommandCheck> = {}): Check {
  return { name: command, command, ...more };
}

const WRITES: Turns = async ({ cwd }) => {
  await writeFile(join(cwd, "a.txt"), "x");
  return DONE;
};

describe("workItem()", () => {
  test("gives the turn with changed files, base and head, and leaves the words in the transcript", async () => {
    await using world = await loopWorld(WRITES);

    const { attempt } = await workItem(world.ralph, working({ checks: [check("test -f a.txt")] }), ITEM);

    expect(attempt).toMatchObject({ status: "verified", number: 1, claim: { status: "done" } });
    expect(attempt.turn).toMatchObject({ changedFiles: ["a.txt"], base: expect.stringMatching(/^[0-9a-f]{40}$/) });
    expect(attempt.turn).not.toHaveProperty("lines");
    expect(JSON.parse(JSON.stringify(attempt))).toEqual(attempt);
  });

  test("own checks that are green before the first attempt prove nothing: the attempt is marked", async () => {
    await using world = await loopWorld(WRITES);

    const green = await workItem(world.ralph, working({ checks: [check("true", { own: true })] }), ITEM);
    const red = await workItem(world.ralph, working({ checks: [check("test -f b.txt", { own: true })] }), ITEM);
    const shared = await workItem(world.ralph, working({ checks: [check("true")] }), ITEM);

    expect(green.attempt).toMatchObject({ status: "verified", greenBefore: true });
    expect(red.attempt).not.toHaveProperty("greenBefore");
    expect(shared.attempt).not.toHaveProperty("greenBefore");
  });

  test("checks run first are handed to the prompt, and not run again when the turn changed nothing", async () => {
    await using world = await loopWorld(async () => DONE);
    const seen: string[] = [];
    const counting = check("echo run >> .git/count; true");
    const prompt: Work["prompt"] = (first) => {
      seen.push(first?.status ?? "none");
      return "review";
    };

    const { attempt } = await workItem(world.ralph, working({ checks: [counting], checkFirst: true, prompt }), ITEM);

    expect(seen).toEqual(["passed"]);
    expect(attempt.status).toBe("verified");
    expect(world.events.filter(({ type }) => type === "check-start")).toHaveLength(1);
  });

  test("without a prompt only the checks run", async () => {
    await using world = await loopWorld(async () => {
      throw new Error("no turn must be taken");
    });

    const { attempt } = await workItem(world.ralph, working({ checks: [check("exit 2")], prompt: null }), ITEM);

    expect(attempt).toMatchObject({ status: "failed", reason: "checks-failed", turn: null, message: "exit 2: exit 2" });
  });

  test.each(
    [
      ["crashed", "failed"],
      ["cut-off", "failed"],
      ["agent-failed", "failed"],
      ["agent-unusable", "agent-unusable"],
    ] as const,
  )("a turn that ended as %s is %s whatever it said, and no check runs", async (reason, status) => {
    await using world = await loopWorld(async () => ({ ...DONE, end: { reason, message: "why" } }));

    const { attempt } = await workItem(world.ralph, working({ checks: [check("true")] }), ITEM);

    expect(attempt).toMatchObject({ status, message: "why", verification: null });
  });

  test.each(["timed-out", "idle"] as const)(
    "a turn that had said that it was done before it %s is judged by its checks; one that had not is failed",
    async (reason) => {
      const end = { reason, message: "had not ended" };
      const said = async (lines: readonly string[]): Promise<World> =>
        await loopWorld(async ({ cwd }) => {
          await writeFile(join(cwd, "a.txt"), "x");
          return { ...DONE, lines, end };
        });
      await using claimed = await said(DONE.lines);
      await using silent = await said([]);
      const checks = [check("test -f a.txt")];
      const own = checks.map((one) => ({ ...one, own: true }));

      expect((await workItem(claimed.ralph, working({ checks }), ITEM)).attempt.status).toBe("verified");
      expect((await workItem(claimed.ralph, working({ checks: [check("false")] }), ITEM)).attempt)
        .toMatchObject({ status: "failed", reason: "checks-failed" });
      expect((await workItem(silent.ralph, working({ checks: own }), ITEM)).attempt)
        .toMatchObject({ status: "failed", reason, message: "had not ended", verification: null });
    },
  );

  test("without its signal a turn is not done", async () => {
    await using world = await loopWorld(async () => ({ lines: ["I will print <ralph>DONE</ralph> later"] }));

    const { attempt } = await workItem(world.ralph, working({ checks: [check("true")] }), ITEM);

    expect(attempt).toMatchObject({ status: "not-done", verification: null });
  });

  test("a turn that leaves the branch fails, and the branch is switched back", async () => {
    await using world = await loopWorld(async ({ cwd }) => {
      await world.git("switch", "-q", "-c", "elsewhere");
      await writeFile(join(cwd, "a.txt"), "x");
      await world.git("add", "a.txt");
      await world.git("commit", "-qm", "by the agent");
      return DONE;
    });

    const { attempt } = await workItem(world.ralph, working({ checks: [check("true")] }), ITEM);

    expect(attempt).toMatchObject({
      status: "failed",
      reason: "history-rewritten",
      message: expect.stringContaining("the branch elsewhere"),
    });
    expect(await world.git("branch", "--show-current")).toBe("main");
    expect(await world.git("log", "--format=%s", "elsewhere")).toBe("by the agent\nstart");
  });

  test("files that the agent committed itself count as changed", async () => {
    await using world = await loopWorld(async ({ cwd }) => {
      await writeFile(join(cwd, "a.txt"), "x");
      await world.git("add", "a.txt");
      await world.git("commit", "-qm", "by the agent");
      return DONE;
    });

    const { attempt } = await workItem(world.ralph, working({ checks: [check("true")] }), ITEM);

    expect(attempt.turn?.changedFiles).toEqual(["a.txt"]);
    expect(attempt.turn?.head).not.toBe(attempt.turn?.base);
  });
});
