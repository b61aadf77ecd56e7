/** Faults in one worker's tree, and behind a run that has passed. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { memoryBacklog, type MemoryTask } from "../../lib/backlog/memory.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { needs } from "../needs.ts";
import { loopWorld, type Turns, type World } from "./loop_world.ts";

const DONE = { lines: ["<ralph>DONE</ralph>"] };
const WORKERS = 3;
const IGNORING = { ".gitignore": "ignored/\n" };

function tasks(...names: readonly string[]): readonly MemoryTask[] {
  return names.map((name) => ({ id: name, title: `write ${name}`, checks: [`test -f ${name}`] }));
}

/** Writes the file that its prompt names; `spoil` is called in the first turn at `b`. */
function spoilingOnce(spoil: (cwd: string) => Promise<unknown> | void): Turns {
  let isSpoilt = false;
  return async ({ cwd, prompt }) => {
    const name = /write (\w+)/.exec(prompt)?.[1] ?? "none";
    await writeFile(join(cwd, name), `${name}\n`);
    if (name !== "b" || isSpoilt) return DONE;
    isSpoilt = true;
    await spoil(cwd);
    return DONE;
  };
}

/**
 * The spoilt turn fills the disk when the others have begun, and these end when its tree is gone: until then the disk
 * has no room for them either.
 */
function besideSpoilt(spoil: (cwd: string) => Promise<unknown> | void): Turns {
  let spoilt: string | null = null;
  let beside = 0;
  const turns = spoilingOnce(async (cwd) => {
    await expect.poll(() => beside).toBe(WORKERS - 1);
    spoilt = cwd;
    await spoil(cwd);
  });
  return async (request, number) => {
    if (spoilt === null && !request.prompt.includes("write b")) beside += 1;
    const turn = await turns(request, number);
    if (request.cwd !== spoilt) await expect.poll(() => spoilt !== null && !existsSync(spoilt)).toBe(true);
    return turn;
  };
}

async function mountedAt(folder: string, size: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder]);
  onTestFinished(() => void execFileSync("umount", ["-l", folder]));
}

async function smallDisk(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "ralph-lanes-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mountedAt(folder, "6m");
  return folder;
}

/** No more than a small disk holds, in files that git ignores. */
async function fillDisk(cwd: string): Promise<void> {
  await mkdir(join(cwd, "ignored"), { recursive: true });
  const fill = "dd if=/dev/zero of=ignored/a bs=4k count=2000; dd if=/dev/zero of=ignored/b bs=1 count=4096; true";
  execFileSync("sh", ["-c", fill], { cwd, stdio: "ignore" });
}

function warnings({ events }: World): readonly string[] {
  return events.flatMap((event) => event.type === "note" && event.level === "warn" ? [event.message] : []);
}

describe("a turn that removes trees", () => {
  test("of other workers: their items are tried again in new trees, and no attempt is counted", async () => {
    const trees = new Map<string, string>();
    let isRemoved = false;
    await using world = await loopWorld(async ({ cwd, prompt }) => {
      const name = /write (\w+)/.exec(prompt)?.[1] ?? "none";
      trees.set(name, cwd);
      if (!isRemoved) {
        await expect.poll(() => trees.size).toBe(WORKERS);
        if (name === "b") {
          for (const tree of trees.values()) if (tree !== cwd) await rm(tree, { recursive: true });
          isRemoved = true;
        } else await expect.poll(() => isRemoved).toBe(true);
      }
      if (existsSync(cwd)) await writeFile(join(cwd, name), `${name}\n`);
      return DONE;
    });

    const backlog = memoryBacklog(tasks("a", "b", "c"), { maxRetries: 1 });
    const run = await runLoop(world.ralph, backlog, { workers: WORKERS });

    expect(run).toMatchObject({ status: "passed", parked: [] });
    expect(world.prompts).toHaveLength(WORKERS + 2);
    expect(warnings(world).filter((text) => text.includes("is tried again in a new tree"))).toHaveLength(2);
    expect((await world.git("ls-files")).split("\n")).toEqual(["README.md", "a", "b", "c"]);
  });

  test("its own one, each time: the second one counts", async () => {
    await using world = await loopWorld(async ({ cwd }) => {
      await rm(cwd, { recursive: true });
      return DONE;
    });

    const run = await runLoop(world.ralph, memoryBacklog(tasks("a"), { maxRetries: 1 }), { workers: 2 });

    expect(run).toMatchObject({ status: "blocked", passed: [] });
    expect(run.parked[0]?.reason).toContain("the turn removed the working tree that it was given");
    expect(world.prompts).toHaveLength(2);
  });
});

describe("one worker's fault", () => {
  test(
    "a full disk stops that worker with an error that names it; the others do its item",
    needs("root", "a mounted tmpfs"),
    async () => {
      const config = { parallel: { directory: await smallDisk() } };
      await using world = await loopWorld(besideSpoilt(fillDisk), { config, files: IGNORING });

      const run = await runLoop(world.ralph, memoryBacklog(tasks("a", "b", "c", "d", "e")), { workers: WORKERS });

      expect(run).toMatchObject({ status: "passed" });
      expect(await world.git("ls-files", "a", "b", "c", "d", "e")).toBe("a\nb\nc\nd\ne");
      expect(warnings(world).join("\n")).toMatch(
        /worker \d has stopped: could not write .+no space is left.+make room/,
      );
      expect(run.notices.map(({ subject }) => subject).join()).toContain("has stopped: could not write");
    },
  );

  test(
    "a tree that cannot be cleaned stops that worker, and the next item is verified in another one",
    needs("root", "a mounted tmpfs"),
    async () => {
      await using world = await loopWorld(spoilingOnce((cwd) => mountedAt(join(cwd, "busy"), "1m")));

      const run = await runLoop(world.ralph, memoryBacklog(tasks("a", "b", "c", "d", "e")), { workers: 2 });

      expect(run).toMatchObject({ status: "passed" });
      expect(await world.git("ls-files", "a", "b", "c", "d", "e")).toBe("a\nb\nc\nd\ne");
      expect(warnings(world).join("\n")).toMatch(
        /worker \d has stopped: `git clean` failed: .*busy.+ to another worker/,
      );
    },
  );

  test("the last worker's fault is the run's", needs("root", "a mounted tmpfs"), async () => {
    const directory = await smallDisk();
    // busy as long as the other worker has a file of it open for writing
    const remounted = (): number | null => spawnSync("mount", ["-o", "remount,ro", directory]).status;
    const readOnly = async (): Promise<void> => await expect.poll(remounted).toBe(0);
    await using world = await loopWorld(spoilingOnce(readOnly), { config: { parallel: { directory } } });

    const run = runLoop(world.ralph, memoryBacklog(tasks("a", "b", "c")), { workers: 2 });

    await expect(run).rejects.toMatchObject({ name: "RalphError", exitCode: 1 });
  });
});

describe("cleaning up behind a run", () => {
  test("comes after its verdict", async () => {
    const seen: boolean[] = [];
    await using world = await loopWorld(spoilingOnce(() => {}));
    const trees = join(dirname(world.root), `.${basename(world.root)}.ralph`);
    world.ralph.events.attach({ emit: ({ type }) => void (type === "run-end" && seen.push(existsSync(trees))) });

    const run = await runLoop(world.ralph, memoryBacklog(tasks("a", "b")), { workers: 2 });
    await world.close();

    expect(run.status).toBe("passed");
    expect(seen).toEqual([true]);
    expect(existsSync(trees)).toBe(false);
  });

  test("that fails is a warning, and the run has passed", needs("root", "a mounted tmpfs"), async () => {
    await using world = await loopWorld(spoilingOnce((cwd) => mountedAt(join(cwd, "ignored/m"), "1m")), {
      files: IGNORING,
    });

    const run = await runLoop(world.ralph, memoryBacklog(tasks("a", "b")), { workers: 2 });
    await world.close();

    expect(run.status).toBe("passed");
    expect(warnings(world).join("\n")).toMatch(/not cleaned up: could not write .+busy/);
  });
});
