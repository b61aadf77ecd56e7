/** Agents, backlogs and limits of a recipe's own, in JavaScript: nothing checks their types. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { TurnRequest } from "../../lib/context/context.ts";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { loopWorld } from "./loop_world.ts";

const ITEM = { id: "a", title: "write a.txt", checks: ["test -f a.txt"] };
const HARM = "git checkout -q user.txt; rm mine.txt";

describe("an agent of a recipe's own", () => {
  test.each<[string, () => unknown, string]>([
    ["throws", () => {
      throw new Error("no way");
    }, "the agent threw: no way"],
    ["rejects with nothing", () => Promise.reject(null), "the agent threw: null"],
    [
      "answers with nothing",
      () => Promise.resolve(undefined),
      "the agent answered with no turn: it has no `end.reason`",
    ],
    ["answers with no end", () => Promise.resolve({}), "the agent answered with no turn: it has no `end.reason`"],
  ])("%s: its turn has failed, and a person's files are back", async (_, answer, message) => {
    await using world = await loopWorld(async () => {}, { files: { "user.txt": "theirs\n" } });
    execFileSync("sh", ["-c", "echo mine >> user.txt; echo mine > mine.txt"], { cwd: world.root });
    const runTurn = ({ cwd }: TurnRequest): never => {
      execFileSync("sh", ["-c", HARM], { cwd });
      return answer() as never;
    };
    const agent = { ...world.ralph.agent, runTurn };

    const run = await runLoop({ ...world.ralph, agent }, memoryBacklog([ITEM], { maxRetries: 1 }));

    expect(run).toMatchObject({ status: "blocked", parked: [{ id: "a", reason: expect.stringContaining(message) }] });
    expect(readFileSync(join(world.root, "user.txt"), "utf8")).toBe("theirs\nmine\n");
    expect(readFileSync(join(world.root, "mine.txt"), "utf8")).toBe("mine\n");
  });
});

test("two items with one id are refused: only one of them would be worked on", async () => {
  await using world = await loopWorld(async () => {});
  const backlog = memoryBacklog([ITEM, { ...ITEM, checks: ["test -f never.txt"] }]);

  await expect(runLoop(world.ralph, backlog)).rejects.toMatchObject({
    code: "backlog-invalid",
    message: expect.stringContaining("two items have the id a"),
  });
});

test.each([
  [{ maxIterations: "x" }, /^maxIterations must be a number from 0 or `null` \(got: x\)/],
  [{ maxIterations: NaN }, /^maxIterations must be/],
  [{ limits: { minutes: "90" } }, /^limits\.minutes must be a number from 0 or `null` \(got: 90\)/],
  [{ limits: { minuets: 1 } }, /^limits\.minuets must be/],
])("a limit that is none is refused, since it would end nothing: %j", async (options, message) => {
  await using world = await loopWorld(async () => {});

  await expect(runLoop(world.ralph, memoryBacklog([ITEM]), options as object)).rejects.toThrow(message);
});
