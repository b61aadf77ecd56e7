import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryBacklog, type MemoryTask } from "../../lib/backlog/memory.ts";
import type { RalphEvent } from "../../lib/events/types.ts";
import { overlap } from "../../lib/loop/parallel/dispatch.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { loopWorld, type Turns, type World } from "./loop_world.ts";

const DONE = { lines: ["<ralph>DONE</ralph>"] };

/** Tasks that each write a file of their own. */
function tasks(...names: readonly string[]): readonly MemoryTask[] {
  return names.map((name) => ({ id: name, title: `write ${name}`, checks: [`test -f ${name}`] }));
}

/** Writes the file that its prompt names; `then` does more. */
function writing(then: (cwd: string, name: string, turn: number) => Promise<unknown> = async () => {}): Turns {
  const turns = new Map<string, number>();
  return async ({ cwd, prompt }) => {
    const name = /write (\w+)/.exec(prompt)?.[1] ?? "none";
    turns.set(name, (turns.get(name) ?? 0) + 1);
    await writeFile(join(cwd, name), `${name}\n`);
    await then(cwd, name, turns.get(name) ?? 1);
    return DONE;
  };
}

/** Waits until so many have come. */
function meeting(size: number): () => Promise<void> {
  let come = 0;
  let open = (): void => {};
  const all = new Promise<void>((resolve) => (open = resolve));
  return async () => {
    come += 1;
    if (come >= size) open();
    await all;
  };
}

function git(cwd: string, ...arguments_: readonly string[]): string {
  return execFileSync("git", arguments_, { cwd, encoding: "utf8" });
}

async function subjects(world: World): Promise<readonly string[]> {
  return (await world.git("log", "--format=%s")).split("\n").toSorted();
}

function landings({ events }: World): readonly string[] {
  return events.flatMap((event: RalphEvent) =>
    event.type === "landing-end"
      ? [`${event.item.id} ${event.result}${event.checkedAgain ? " checked again" : ""}`]
      : []
  ).toSorted();
}

/** Nothing of a run is left beside the project, in git's list, or under Ralph's refs. */
async function expectNothingLeft(world: World): Promise<void> {
  await world.close();
  expect(await world.git("worktree", "list")).not.toContain("\n");
  expect(await readdir(dirname(world.root))).not.toContain(`.${basename(world.root)}.ralph`);
  expect(await world.git("for-each-ref", "refs/ralph/work")).toBe("");
  expect(await world.git("fsck", "--no-dangling")).toBe("");
}

describe("several workers", () => {
  test("name in the run's last lines what a turn changed of the brief, and what was restored", async () => {
    await using world = await loopWorld(
      writing(async (cwd, name) => name === "a" && await writeFile(join(cwd, "ralph.config.json"), "{}\n")),
      { files: { "ralph.config.json": '{ "maxRetries": 2 }\n' } },
    );

    const run = await runLoop(world.ralph, memoryBacklog(tasks("a", "b")), { workers: 2 });

    expect(run.notices).toContainEqual(expect.objectContaining({ kind: "restored", subject: "ralph.config.json" }));
  });

  test("begin with the first tree: the others are made ready while a turn is at work", async () => {
    const isReady = "[ $RALPH_LANE = 0 ] || [ -e $(git rev-parse --git-common-dir)/at-work ]";
    await using world = await loopWorld(
      writing(async () => await writeFile(join(world.root, ".git", "at-work"), "")),
      {
        config: {
          workspace: { setup: `for i in $(seq 200); do if ${isReady}; then exit; fi; sleep 0.05; done; exit 1` },
        },
      },
    );

    const run = await runLoop(world.ralph, memoryBacklog(tasks("a", "b")), { workers: 2 });

    expect(run).toMatchObject({ status: "passed", turns: 2 });
    expect(world.events.filter(({ type }) => type === "note")).toEqual([]);
    await expectNothingLeft(world);
  });

  test("are opened no more than work needs: what is made ready at the end is let go of", async () => {
    await using world = await loopWorld(writing(), {
      config: { workspace: { setup: "[ $RALPH_LANE = 0 ] || exec sleep 60" } },
    });
    const started = performance.now();

    const run = await runLoop(world.ralph, memoryBacklog(tasks("a")), { workers: 4 });

    expect(run).toMatchObject({ status: "passed", turns: 1 });
    expect(performance.now() - started).toBeLessThan(30_000);
    await expectNothingLeft(world);
  });

  test("are at work at once, and each item lands as one commit with what the agent committed in its body", async () => {
    const together = meeting(3);
    await using world = await loopWorld(writing(async (cwd, name) => {
      git(cwd, "add", name);
      git(cwd, "commit", "-qm", `work on ${name}`);
      await together();
    }));

    const run = await runLoop(world.ralph, memoryBacklog(tasks("a", "b", "c")), { workers: 3 });

    expect(run).toMatchObject({ status: "passed", turns: 3, iterations: 3 });
    expect(await subjects(world)).toEqual(["feat: write a", "feat: write b", "feat: write c", "start"]);
    const bodies = (await world.git("log", "--format=%b")).split("\n");
    expect(bodies.filter((line) => line !== "" && !line.startsWith("Checked-with: ")).toSorted()).toEqual([
      "- work on a",
      "- work on b",
      "- work on c",
    ]);
    expect(await world.git("status", "--porcelain")).toBe("");
    expect(landings(world)).toHaveLength(3);
    expect(landings(world).filter((one) => one.endsWith("landed checked again"))).toHaveLength(2);
    await expectNothingLeft(world);
  });

  test("that write the same line conflict: nobody has failed, and the item comes again with both changes", async () => {
    const together = meeting(2);
    await using world = await loopWorld(async ({ cwd, prompt }, number) => {
      const name = /write (\w)/.exec(prompt)?.[1] ?? "";
      const text = await readFile(join(cwd, "list"), "utf8");
      const lines = text.split("\n").filter((line) => line !== "" && !/^[<=>]{7}/.test(line));
      await writeFile(join(cwd, "list"), `${[...new Set([...lines, name])].join("\n")}\n`);
      if (number <= 2) await together();
      return DONE;
    }, { files: { list: "start\n" } });
    const items = ["a", "b"].map((id) => ({ id, title: `write ${id}`, checks: [`grep -qx ${id} list`] }));

    const run = await runLoop(world.ralph, memoryBacklog(items), { workers: 2 });

    expect(run).toMatchObject({ status: "passed", turns: 3 });
    expect((await readFile(join(world.root, "list"), "utf8")).split("\n").toSorted()).toEqual(["", "a", "b", "start"]);
    expect(landings(world).map((one) => one.slice(2))).toContain("conflict");
    expect(world.prompts.at(-1)).toContain("conflicts with what others have merged since: list");
    expect(await world.git("rev-list", "--count", "HEAD")).toBe("3");
    await expectNothingLeft(world);
  });

  test("an item that passes alone and fails together with what landed since is sent back with that reason", async () => {
    const together = meeting(2);
    await using world = await loopWorld(writing(async (cwd, name, turn) => {
      if (turn === 1) await together();
      else await rm(join(cwd, name === "a" ? "b" : "a"));
    }));
    const items = ["a", "b"].map((id) => ({
      id,
      title: `write ${id}`,
      checks: [`test -f ${id}`, "! test -f a || ! test -f b"],
    }));

    const run = await runLoop(world.ralph, memoryBacklog(items), {
      workers: 2,
      limits: { stalled: 4 },
      maxIterations: 3,
    });

    expect(landings(world).filter((one) => one.includes("failed checked again"))).toHaveLength(1);
    expect(world.prompts[2]).toContain("fails together with what was merged since");
    expect(run.turns).toBe(3);
  });

  test("before the first commit items are worked on one by one until there is one", async () => {
    const together = meeting(2);
    await using world = await loopWorld(writing(async (_, name) => {
      if (name !== "a") await together();
    }));
    await world.git("update-ref", "-d", "HEAD");
    await world.git("rm", "-rq", "--cached", ".");

    const run = await runLoop(world.ralph, memoryBacklog(tasks("a", "b", "c")), { workers: 2 });

    expect(run).toMatchObject({ status: "passed", turns: 3 });
    expect(await subjects(world)).toEqual(["feat: write a", "feat: write b", "feat: write c"]);
    expect(landings(world)).toHaveLength(2);
    expect(world.events).toContainEqual(expect.objectContaining({
      message: "one item at a time until there is a commit: workers have none to begin with",
    }));
    await expectNothingLeft(world);
  });

  test("what they leave of an item is continued by a run with one worker, and its ref goes", async () => {
    const items = [{ id: "a", title: "write a", checks: ["test -f a && test -f more"] }];
    await using world = await loopWorld(writing());
    const first = await runLoop(world.ralph, memoryBacklog(items), { workers: 2, maxIterations: 1 });
    const kept = await world.git("for-each-ref", "--format=%(refname)", "refs/ralph/work");
    const found: string[] = [];

    const ralph = await world.again(async ({ cwd }) => {
      found.push(...(await readdir(cwd)).filter((name) => name === "a"));
      await writeFile(join(cwd, "more"), "more\n");
      return DONE;
    });
    const second = await runLoop(ralph, memoryBacklog(items));

    expect([first.status, second.status, found]).toEqual(["exhausted", "passed", ["a"]]);
    expect(kept).not.toBe("");
    expect((await world.git("show", "--name-only", "--format=", "HEAD")).split("\n")).toEqual(["a", "more"]);
    await expectNothingLeft(world);
  });

  test("work that no longer fits stays at its ref, is named, and goes when the item has passed", async () => {
    const items = [{ id: "a", title: "write a", checks: ["grep -q mine README.md && test -f more"] }];
    await using world = await loopWorld(async ({ cwd }) => {
      await writeFile(join(cwd, "README.md"), "mine\n");
      return DONE;
    });
    await runLoop(world.ralph, memoryBacklog(items), { workers: 2, maxIterations: 1 });
    await world.write("README.md", "another\n");
    await world.git("commit", "-qam", "another");

    const ralph = await world.again(async ({ cwd }) => {
      await writeFile(join(cwd, "README.md"), "mine\n");
      await writeFile(join(cwd, "more"), "more\n");
      return DONE;
    });
    const second = await runLoop(ralph, memoryBacklog(items));

    expect(second.status).toBe("passed");
    expect(world.events).toContainEqual(expect.objectContaining({
      message: expect.stringMatching(
        /left of a stays at refs\/ralph\/work\/.*: README.md has changed in the same place/,
      ),
    }));
    await expectNothingLeft(world);
  });

  test("a person's uncommitted change in the way parks the item, and neither is lost", async () => {
    await using world = await loopWorld(writing(async (cwd) => {
      await writeFile(join(cwd, "README.md"), "theirs\n");
      await world.write("README.md", "mine\n");
    }));

    const run = await runLoop(world.ralph, memoryBacklog(tasks("a")), { workers: 2 });

    expect(run).toMatchObject({ status: "blocked", passed: [] });
    expect(run.parked[0]?.reason).toContain("commit or stash README.md");
    expect(await readFile(join(world.root, "README.md"), "utf8")).toBe("mine\n");
    const kept = await world.git("for-each-ref", "--format=%(refname)", "refs/ralph/work");
    expect(await world.git("show", `${kept}:README.md`)).toBe("theirs");
    expect(await world.git("status", "--porcelain")).toBe("M README.md");
  });

  test("a hook that refuses the commit takes the work out of the tree again, and the next prompt has its reason", async () => {
    await using world = await loopWorld(writing());
    const hook = join(world.root, ".git/hooks/pre-commit");
    await mkdir(dirname(hook), { recursive: true });
    await writeFile(hook, "#!/bin/sh\ngit diff --cached --name-only | grep -q a && { echo no a; exit 1; }\nexit 0\n");
    await chmod(hook, 0o755);

    const run = await runLoop(world.ralph, memoryBacklog(tasks("a", "b"), { maxRetries: 2 }), { workers: 2 });

    expect(run).toMatchObject({ status: "blocked", passed: ["b"] });
    expect(landings(world)).toContain("a refused");
    expect(world.prompts.some((prompt) => prompt.includes("no a"))).toBe(true);
    expect(await world.git("status", "--porcelain")).toBe("");
    expect(await subjects(world)).toEqual(["feat: write b", "start"]);
  });

  test.each(["--soft", "--mixed", "--hard"])(
    "a hook that takes the commit off the branch again has refused it, and the tree is as it was: git reset %s",
    async (how) => {
      await using world = await loopWorld(writing());
      const hook = join(world.root, ".git/hooks/post-commit");
      await mkdir(dirname(hook), { recursive: true });
      await writeFile(
        hook,
        `#!/bin/sh\ngit show --format= --name-only | grep -q a && git reset -q ${how} HEAD~1\nexit 0\n`,
      );
      await chmod(hook, 0o755);

      const run = await runLoop(world.ralph, memoryBacklog(tasks("a", "b"), { maxRetries: 2 }), { workers: 2 });

      expect(run).toMatchObject({ status: "blocked", passed: ["b"] });
      expect(run.parked[0]?.reason).toContain("took the commit off main again");
      expect(landings(world)).not.toContain("a landed");
      expect(await world.git("status", "--porcelain")).toBe("");
      expect(await subjects(world)).toEqual(["feat: write b", "start"]);
    },
  );

  test("a turn that writes into the project's own tree is named, and what it wrote there is never committed", async () => {
    await using world = await loopWorld(writing(async (_, name) => await world.write(`${name}.stray`, "x")));

    const run = await runLoop(world.ralph, memoryBacklog(tasks("a", "b")), { workers: 2 });

    expect(run.status).toBe("passed");
    expect(await world.git("ls-files")).not.toContain("stray");
    expect(await world.git("status", "--porcelain")).toContain("a.stray");
    expect(world.events).toContainEqual(expect.objectContaining({
      type: "note",
      message: expect.stringContaining("outside of its tree; not committed: "),
    }));
  });

  test("a turn may reset, switch branches or delete its tree: the others land, and the tree is there again", async () => {
    await using world = await loopWorld(writing(async (cwd, name, turn) => {
      if (name === "a") git(cwd, "checkout", "-q", "-B", `mine${turn}`);
      if (name === "b") git(cwd, "reset", "-q", "--soft", "HEAD");
      if (name === "c" && turn === 1) await rm(cwd, { recursive: true });
    }));

    const run = await runLoop(world.ralph, memoryBacklog(tasks("a", "b", "c", "d")), { workers: 2 });

    expect(run).toMatchObject({ status: "passed", iterations: 5 });
    expect((await world.git("ls-files")).split("\n")).toEqual(["README.md", "a", "b", "c", "d"]);
    await expectNothingLeft(world);
  });

  test("an abort ends the turns, keeps what they did, and the next run continues with it", async () => {
    const aborter = new AbortController();
    const together = meeting(2);
    await using world = await loopWorld(
      writing(async () => {
        await together();
        aborter.abort();
      }),
      {},
    );
    const checks = ["test -f extra"];
    const items = ["a", "b"].map((id) => ({ id, title: `write ${id}`, checks }));

    const run = await runLoop(world.ralph, memoryBacklog(items), { workers: 2, signal: aborter.signal });

    expect(run.status).toBe("aborted");
    expect((await world.git("for-each-ref", "refs/ralph/work")).split("\n")).toHaveLength(2);
    await world.close();
    expect(await world.git("worktree", "list")).not.toContain("\n");
    const seen: string[] = [];
    const next = await world.again(async ({ cwd, prompt }) => {
      seen.push((await readdir(cwd)).filter((name) => /^[ab]$/.test(name)).join());
      await writeFile(join(cwd, "extra"), /write (\w)/.exec(prompt)?.[1] ?? "");
      return DONE;
    });
    expect(await runLoop(next, memoryBacklog(items.slice(0, 1)), { workers: 2 })).toMatchObject({ status: "passed" });
    expect(seen).toEqual(["a"]);
  });

  test("say what they do not see, and are refused where they cannot work", async () => {
    await using world = await loopWorld(writing());
    await world.write("draft.txt", "x");

    await runLoop(world.ralph, memoryBacklog(tasks("a")), { workers: 2 });

    const notes = world.events.flatMap((event) => event.type === "note" ? [event.message] : []);
    expect(notes.filter((note) => note.includes("in the project's own tree"))).toEqual([]);
    expect(world.events).toContainEqual({
      type: "note",
      level: "warn",
      message: "workers do not see what is not committed: draft.txt",
    });
    const following = { ...memoryBacklog(tasks("b")), concurrent: false };
    await expect(runLoop(world.ralph, following, { workers: 2 })).rejects.toMatchObject({
      code: "parallel-impossible",
      exitCode: 2,
    });
  });

  test("an abort while a hook hangs names nothing that is landing as another's change", async () => {
    let hung = "";
    const ended = new AbortController();
    await using world = await loopWorld(
      writing(async (_, name) => { // the second one lands after the one that hangs
        if (name === "b") await expect.poll(() => existsSync(hung), { timeout: 20_000 }).toBe(true);
      }),
      { signal: ended.signal },
    );
    hung = join(world.root, ".git/hung");
    const hook = join(world.root, ".git/hooks/pre-commit");
    await mkdir(dirname(hook), { recursive: true });
    await writeFile(hook, `#!/bin/sh\ntouch "${hung}"; exec sleep 60\n`, { mode: 0o755 });

    const running = runLoop(world.ralph, memoryBacklog(tasks("a", "b")), { workers: 2 });
    const isChecked = (): boolean =>
      world.events.some((event) => event.type === "check-end" && JSON.stringify(event).includes("test -f b"));
    await expect.poll(isChecked, { timeout: 20_000 }).toBe(true);
    setTimeout(() => ended.abort(), 500);

    expect(await running).toMatchObject({ status: "aborted" });
    const notes = world.events.flatMap((event) => event.type === "note" ? [event.message] : []);
    expect(notes.filter((note) => note.includes("changed in the project's own tree"))).toEqual([]);
  });

  test("are refused in a repository with submodules before anything changes", async () => {
    await using world = await loopWorld(writing());
    await world.write(".gitmodules", '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n');
    await world.git("update-index", "--add", "--cacheinfo", `160000,${await world.git("rev-parse", "HEAD")},sub`);
    await world.git("add", ".gitmodules");
    await world.git("commit", "-q", "-m", "sub");
    const backlog = { ...memoryBacklog(tasks("a")), brief: () => Promise.resolve({ branch: "work" }) };

    await expect(runLoop(world.ralph, backlog, { workers: 2 })).rejects.toMatchObject({
      code: "parallel-impossible",
      message: expect.stringContaining("submodules"),
    });
    expect(await world.git("branch", "--format=%(refname:short)")).toBe("main");
    expect(world.events).toEqual([]);
  });

  test("never have two items at work that say they touch the same files", async () => {
    let most = 0;
    let now = 0;
    await using world = await loopWorld(writing(async () => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setTimeout(resolve, 100));
      now -= 1;
    }));
    const backlog = memoryBacklog(tasks("a", "b", "c"));
    const touching = {
      ...backlog,
      async next(options: Parameters<typeof backlog.next>[0]) {
        const next = await backlog.next(options);
        return next.status === "item" ? { ...next, item: { ...next.item, touches: ["src/**"] } } : next;
      },
    };

    expect(await runLoop(world.ralph, touching, { workers: 3 })).toMatchObject({ status: "passed" });
    expect(most).toBe(1);
  });

  test.each([4, 2])(
    "limits count turns that have begun, each once: as many as the run may take (%i)",
    async (workers) => {
      await using world = await loopWorld(writing());

      const run = await runLoop(world.ralph, memoryBacklog(tasks("a", "b", "c", "d", "e")), {
        workers,
        maxIterations: 3,
      });

      expect(run).toMatchObject({ status: "exhausted", limit: "3 iterations", turns: 3 });
    },
  );
});

test("overlap() is what two items touch both", () => {
  const touching = (one: string, other: string): boolean => overlap({ touches: [one] }, { touches: [other] });
  expect(touching("src/a.ts", "src/a.ts")).toBe(true);
  expect(touching("src/**", "src/a.ts")).toBe(true);
  expect(touching("src/*.ts", "src/api/**")).toBe(true);
  expect(touching("src/a.ts", "src/b.ts")).toBe(false);
  expect(touching("src/**", "test/**")).toBe(false);
  expect(overlap({}, { touches: ["**"] })).toBe(false);
});
