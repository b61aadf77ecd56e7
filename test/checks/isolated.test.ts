import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { temporaryDirectory } from "../../lib/host/files.ts";
import { createRalph } from "../../lib/recipe/create_ralph.ts";
import { runLoop } from "../../lib/loop/run_loop.ts";
import { verify } from "../../lib/checks/verify.ts";
import { loopWorld, type Turns } from "../loop/loop_world.ts";

const DONE = { lines: ["<ralph>DONE</ralph>"] };
const ISOLATED = { config: { verify: { isolated: true } }, files: { ".gitignore": "built/\n.env\n" } };
const NO_TURN: Turns = () => Promise.resolve();

describe("verify() with verify.isolated", () => {
  test("commands see tracked and untracked files as they stand, and nothing that git ignores", async () => {
    await using world = await loopWorld(NO_TURN, ISOLATED);
    await world.write("README.md", "# changed\n");
    await world.write("new.txt", "new\n");
    await world.write(".env", "SECRET=1\n");
    await world.write("built/out.js", "x\n");

    const checked = await verify(world.ralph, [
      "grep -q changed README.md",
      "test -f new.txt",
      "test -f .env",
      "test -d built",
      {
        name: "looks",
        run: async ({ cwd }) => ({
          ok: cwd === world.root && existsSync(join(cwd, ".env")),
          exitCode: null,
          tail: cwd,
        }),
      },
    ]);

    expect(checked.results.map(({ ok }) => ok)).toEqual([true, true, false, false, true]);
  });

  test("one tree for all commands, gone afterwards; HEAD, index and files stay as they are", async () => {
    await using world = await loopWorld(NO_TURN, ISOLATED);
    await world.write("staged.txt", "x\n");
    await world.git("add", "staged.txt");
    const before = await world.git("status", "--porcelain", "--branch") + await world.git("rev-parse", "HEAD");

    const checked = await verify(world.ralph, [
      "pwd; echo x > made.txt; git rev-parse --show-toplevel",
      "pwd; test -f made.txt",
    ]);

    const [first, second] = checked.results.map(({ tail }) => tail.split("\n")[0] ?? "");
    expect(checked.status).toBe("passed");
    expect(first).toContain("ralph-check-");
    expect(second).toBe(first);
    expect(existsSync(first ?? "")).toBe(false);
    expect((await world.git("worktree", "list")).split("\n")).toHaveLength(1);
    expect(await world.git("status", "--porcelain", "--branch") + await world.git("rev-parse", "HEAD")).toBe(before);
  });

  test("a folder of the project is that folder there", async () => {
    await using world = await loopWorld(NO_TURN, { ...ISOLATED, files: { "app/a.txt": "a\n" } });

    expect((await verify(world.ralph, ["test -f a.txt"], { cwd: join(world.root, "app") })).status).toBe("passed");
  });

  test("without a repository it cannot be done; without a command nothing is made", async () => {
    await using folder = await temporaryDirectory("ralph-plain");
    await using ralph = await createRalph({ root: folder.path, config: { verify: { isolated: true } } });
    const look = async (): Promise<{ ok: boolean; exitCode: null; tail: string }> => ({
      ok: true,
      exitCode: null,
      tail: "",
    });

    await expect(verify(ralph, ["true"])).rejects.toMatchObject({ code: "not-a-repository" });
    expect((await verify(ralph, [{ name: "look", run: look }])).status).toBe("passed");
  });
});

describe("runLoop() with verify.isolated", () => {
  test("what passes only thanks to an ignored file does not pass", async () => {
    await using world = await loopWorld(async ({ cwd }, number) => {
      await writeFile(join(cwd, number === 1 ? ".env" : "settings.txt"), "on\n");
      return DONE;
    }, ISOLATED);

    const task = { id: "a", title: "a", checks: ["test -f .env || test -f settings.txt"] };
    const outcome = await runLoop(world.ralph, memoryBacklog([task]));

    expect(outcome).toMatchObject({ status: "passed", turns: 2 });
    expect(await world.git("show", "--format=%s", "--name-only", "HEAD")).toBe("feat: a\n\nsettings.txt");
  });

  test("an interrupt takes the tree away; one that a killed run left goes with the next run", async () => {
    await using world = await loopWorld(() => Promise.resolve(DONE), ISOLATED);
    const aborter = new AbortController();
    const task = { id: "a", title: "a", checks: ["pwd; sleep 30"] };
    const running = runLoop(world.ralph, memoryBacklog([task]), { signal: aborter.signal });
    while (!world.events.some(({ type }) => type === "check-start")) await new Promise((go) => setTimeout(go, 5));
    const path = (await world.git("worktree", "list")).split("\n").find((line) => line.includes("ralph-check-"))!.split(
      " ",
    )[0]!;
    aborter.abort();
    await running;
    const stillThere = existsSync(path);
    const name = path.slice(path.lastIndexOf("/") + 1).slice(0, "ralph-check-".length + 13);
    const left = join(tmpdir(), `${name}left-over`);
    await world.git("worktree", "add", "-q", "--detach", left);

    const later = await world.again();
    const config = { ...later.config, verify: { ...later.config.verify, isolated: false } };

    await runLoop({ ...later, config }, memoryBacklog([{ id: "b", title: "b", checks: ["true"] }]));

    expect([stillThere, existsSync(left)]).toEqual([false, false]);
    expect((await world.git("worktree", "list")).split("\n")).toHaveLength(1);
  });
});
