import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { loopWorld } from "../loop/loop_world.ts";
import { restoredIn } from "./workflows.ts";

const DONE = { lines: ["<ralph>DONE</ralph>"] };

describe("git's settings while a run lasts", () => {
  test("what a turn makes of a remote, an author or a program is gone after it, and the last lines say so", async () => {
    await using one = await loopWorld(async () => {
      await one.write("a.txt", "a\n");
      await one.git("config", "remote.origin.url", "../evil");
      await one.git("config", "user.name", "Evil");
      await one.git("config", "core.sshCommand", "evil");
      return DONE;
    });
    await one.git("remote", "add", "origin", "../good");
    const author = await one.git("config", "user.name");

    const run = await runLoop(one.ralph, memoryBacklog([{ id: "a", title: "a", checks: ["test -f a.txt"] }]));

    expect(run.status).toBe("passed");
    expect(restoredIn(run)).toEqual([".git/config"]);
    expect(await one.git("config", "remote.origin.url")).toBe("../good");
    expect(await one.git("log", "-1", "--format=%an %s", "--", "a.txt")).toMatch(new RegExp(`^${author.trim()} `));
    expect(await one.git("config", "--default", "none", "core.sshCommand")).toBe("none");
  });

  test("a format that git does not follow is gone after the turn, and the file is as it was", async () => {
    await using one = await loopWorld(async () => {
      await one.write("a.txt", "a\n");
      await one.git("config", "extensions.objectFormat", "sha256");
      return DONE;
    });
    const before = await readFile(join(one.root, ".git", "config"), "utf8");

    const run = await runLoop(one.ralph, memoryBacklog([{ id: "a", title: "a", checks: ["test -f a.txt"] }]));

    expect(run.status).toBe("passed");
    expect(restoredIn(run)).toEqual([".git/config"]);
    expect(await readFile(join(one.root, ".git", "config"), "utf8")).toBe(before);
  });

  test("what a check makes of the author, running what the turn wrote, is in no commit", async () => {
    await using one = await loopWorld(async () => {
      await one.write("a.sh", "git config user.name Evil\n");
      return DONE;
    });
    const author = await one.git("config", "user.name");

    const run = await runLoop(one.ralph, memoryBacklog([{ id: "a", title: "a", checks: ["sh a.sh"] }]));

    expect(restoredIn(run)).toEqual([".git/config"]);
    expect(await one.git("log", "-1", "--format=%an", "--", "a.sh")).toBe(author);
  });

  test("what a person changes between two turns stays", async () => {
    await using one = await loopWorld(async () => {
      await one.write(one.prompts.length === 1 ? "a.txt" : "b.txt", "a\n");
      await one.git("config", "pull.rebase", "true");
      return DONE;
    });
    const items = ["a", "b"].map((id) => ({ id, title: id, checks: [`test -f ${id}.txt`] }));
    const backlog = memoryBacklog(items);
    const next: typeof backlog.next = async (view) => {
      if (one.prompts.length === 1) await one.git("config", "remote.origin.url", "../mine");
      return await backlog.next(view);
    };

    const run = await runLoop(one.ralph, { ...backlog, next });

    expect(run.status).toBe("passed");
    expect(await one.git("config", "remote.origin.url")).toBe("../mine");
    expect(await one.git("config", "--default", "none", "pull.rebase")).toBe("none");
  });
});
