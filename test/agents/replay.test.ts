import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { recordingAgent, replayAgent } from "../../lib/agents/replay/cassette.ts";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { createHost } from "../../lib/host/create_host.ts";
import { temporaryDirectory } from "../../lib/host/files.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { loopWorld, type Turns, type World } from "../loop/loop_world.ts";

const ITEMS = [
  { id: "a", title: "write a.txt and take README.md away", checks: ["test -f a.txt", "test ! -f README.md"] },
  { id: "b", title: "write b.bin", checks: ["test -f b.bin"] },
];
const BINARY = Buffer.from([0, 1, 2, 255, 10, 13, 0]);
const host = createHost();

async function work(world: () => World): Promise<Turns> {
  return async ({ cwd, prompt }) => {
    if (prompt.includes("b.bin")) {
      await writeFile(join(cwd, "b.bin"), BINARY);
    } else {
      await writeFile(join(cwd, "a.txt"), "a\n");
      await world().git("rm", "-q", "README.md");
      await world().git("add", "a.txt");
      await world().git("commit", "-q", "-m", "feat: a\n\nWith a body");
    }
    return { text: "Done.\n<ralph>DONE</ralph>", lines: ["Done.", "<ralph>DONE</ralph>"] };
  };
}

async function recordedRun(file: string): Promise<{ readonly world: World; readonly status: string }> {
  const holder: { world?: World } = {};
  const world = await loopWorld(await work(() => holder.world!));
  holder.world = world;
  const agent = recordingAgent(world.ralph.agent, file, host);
  const { status } = await runLoop({ ...world.ralph, agent }, memoryBacklog(ITEMS));
  return { world, status };
}

describe("a cassette", () => {
  test("plays a run again: words, changes, commits, verified the same", async () => {
    await using folder = await temporaryDirectory("ralph-cassette-test-");
    const file = join(folder.path, "run.jsonl");
    const first = await recordedRun(file);
    await using _first = first.world;
    await using world = await loopWorld(() => Promise.reject(new Error("no agent is wanted")));

    const run = await runLoop({ ...world.ralph, agent: replayAgent(file, host) }, memoryBacklog(ITEMS));

    expect(first.status).toBe("passed");
    expect(run).toMatchObject({ status: "passed", passed: ["a", "b"] });
    expect(await readFile(join(world.root, "b.bin"))).toEqual(BINARY);
    expect(await world.git("log", "--format=%B")).toBe(await first.world.git("log", "--format=%B"));
    expect(await world.git("status", "--porcelain")).toBe(await first.world.git("status", "--porcelain"));
    expect((await readFile(file, "utf8")).trim().split("\n")).toHaveLength(2);
  });

  test("whose prompt no longer matches ends the run and shows the difference", async () => {
    await using folder = await temporaryDirectory("ralph-cassette-test-");
    const file = join(folder.path, "run.jsonl");
    const { world: first } = await recordedRun(file);
    await using _first = first;
    await using world = await loopWorld(() => Promise.resolve());
    const [a, b] = ITEMS;

    const run = await runLoop(
      { ...world.ralph, agent: replayAgent(file, host) },
      memoryBacklog([{ ...a!, title: "write a.txt otherwise" }, b!]),
    );

    expect(run).toMatchObject({ status: "failed", reason: "agent-unusable" });
    const [reason] = "reasons" in run ? run.reasons : [];
    expect(reason).toContain("was recorded with another prompt: line 1:\n- ");
    expect(reason).toContain("write a.txt and take README.md away");
    expect(reason).toContain("write a.txt otherwise");
    expect(await world.git("status", "--porcelain")).not.toContain("a.txt");
  });

  test("that is used up says so", async () => {
    await using folder = await temporaryDirectory("ralph-cassette-test-");
    const file = join(folder.path, "run.jsonl");
    await writeFile(file, "");
    await using world = await loopWorld(() => Promise.resolve());

    const run = await runLoop({ ...world.ralph, agent: replayAgent(file, host) }, memoryBacklog(ITEMS));

    expect(run).toMatchObject({ status: "failed", reasons: [expect.stringContaining("holds no turn 1")] });
  });

  test.each([
    ["no such file", null, "it does not exist"],
    ["not JSON", "hello\n", "line 1 is not JSON"],
    ["another format", '{"v":9}\n', "line 1: v: "],
  ])("that cannot be read is refused before the run: %s", async (_, content, problem) => {
    await using folder = await temporaryDirectory("ralph-cassette-test-");
    const file = join(folder.path, "run.jsonl");
    if (content !== null) await writeFile(file, content);

    await expect(replayAgent(file, host).ensureUsable()).rejects.toMatchObject({
      code: "cassette-invalid",
      message: expect.stringContaining(problem),
    });
  });
});
