/** Other parallel loops have lost these, as their users reported it: each named by its issue. */
import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { todoBacklog } from "../../lib/backlog/todo.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { LONG } from "../sampled.ts";
import { loopWorld, type Turns } from "./loop_world.ts";

const DONE = { lines: ["<ralph>DONE</ralph>"] };

function tasks(...names: readonly string[]) {
  return names.map((name) => ({ id: name, title: `write ${name}`, checks: [`test -f ${name}`] }));
}

function writing(then: (cwd: string, name: string) => Promise<unknown> = async () => {}): Turns {
  return async ({ cwd, prompt }) => {
    const name = /write (\w+)/.exec(prompt)?.[1] ?? "none";
    await writeFile(join(cwd, name), `${name}\n`);
    await then(cwd, name);
    return DONE;
  };
}

function git(cwd: string, ...arguments_: readonly string[]): string {
  return execFileSync("git", arguments_, { cwd, encoding: "utf8" });
}

describe("what others have lost", () => {
  test("michaelshimeles/ralphy#41, #118: later items begin with what earlier ones have landed", async () => {
    const seen = new Map<string, readonly string[]>();
    await using world = await loopWorld(writing(async (cwd, name) => void seen.set(name, await readdir(cwd))));

    await runLoop(world.ralph, memoryBacklog(tasks("a", "b", "c", "d")), { workers: 2 });

    expect(seen.get("d")).toEqual(expect.arrayContaining(["a"]));
    expect(await world.git("branch", "--list")).toBe("* main");
  });

  test("mikeyobrien/ralph-orchestrator#143: work that cannot be merged is no success, and no tree stays or nests", async () => {
    await using world = await loopWorld(writing(async (cwd, name) => {
      await writeFile(join(cwd, "README.md"), `${name}\n`);
      await world.write("README.md", "mine\n");
    }));

    const run = await runLoop(world.ralph, memoryBacklog(tasks("a", "b")), { workers: 2 });

    expect(run).toMatchObject({ status: "blocked", passed: [] });
    await world.close();
    expect(await readdir(dirname(world.root))).not.toContain(`.${basename(world.root)}.ralph`);
  });

  test("subsy/ralph-tui#310, #283: state is the run's alone, whatever a turn writes over it in its tree", async () => {
    const list = "- [ ] write a. Verify: `test -f a`\n- [ ] write b. Verify: `test -f b`\n";
    await using world = await loopWorld(writing((cwd) => writeFile(join(cwd, "TODO.md"), "- [x] all of it\n")), {
      files: { "TODO.md": list },
    });

    const run = await runLoop(world.ralph, todoBacklog(world.ralph), { workers: 2 });

    expect(run.status).toBe("passed");
    expect(await readFile(join(world.root, "TODO.md"), "utf8")).toBe(list.replaceAll("[ ]", "[x]"));
    expect(await world.git("status", "--porcelain")).toBe("");
  });

  test("gastownhall/gastown#2028, #342, #3588, #3604: what a turn leaves uncommitted lands, and the trees are clean", async () => {
    await using world = await loopWorld(writing(async (cwd, name) => {
      git(cwd, "add", name);
      git(cwd, "commit", "-qm", name);
      await writeFile(join(cwd, `${name}.more`), "uncommitted\n");
    }));

    await runLoop(world.ralph, memoryBacklog(tasks("a", "b")), { workers: 2 });

    expect((await world.git("ls-files")).split("\n")).toEqual(["README.md", "a", "a.more", "b", "b.more"]);
    expect(await world.git("status", "--porcelain")).toBe("");
  });

  test("BloopAI/vibe-kanban#1881: files that git ignores and checks need are there", async () => {
    const found: string[] = [];
    await using world = await loopWorld(
      writing(async (cwd) => {
        found.push(await readFile(join(cwd, ".env"), "utf8"), await readFile(join(cwd, "node_modules/x/i.js"), "utf8"));
      }),
      { files: { ".gitignore": ".env\nnode_modules\n" } },
    );
    await world.write(".env", "PORT=1\n");
    await world.write("node_modules/x/i.js", "x\n");

    await runLoop(world.ralph, memoryBacklog(tasks("a")), { workers: 2 });

    expect(found).toEqual(["PORT=1\n", "x\n"]);
  });

  test("BloopAI/vibe-kanban#1493: checks can tell their ports apart", async () => {
    await using world = await loopWorld(writing());
    const backlog = memoryBacklog([{ id: "a", title: "write a", checks: ['test -n "$RALPH_LANE" || test ! -f .git'] }]);

    expect(await runLoop(world.ralph, backlog, { workers: 2 })).toMatchObject({ status: "passed" });
  });

  test.each([undefined, "../{repository}-elsewhere"])(
    "BloopAI/vibe-kanban#1830: trees lie beside the project, or where the configuration says, never in it (%s)",
    async (directory) => {
      const places = new Set<string>();
      const options = directory === undefined ? {} : { config: { parallel: { directory } } };
      await using world = await loopWorld(writing(async (cwd) => void places.add(dirname(cwd))), options);
      const name = basename(world.root);

      await runLoop(world.ralph, memoryBacklog(tasks("a", "b")), { workers: 2 });

      const place = directory === undefined ? `.${name}.ralph` : `${name}-elsewhere`;
      expect([...places]).toEqual([join(dirname(world.root), place)]);
      expect((await readdir(world.root)).toSorted()).toEqual([".git", ".ralph", "README.md", "a", "b"]);
      expect(await readdir(join(world.root, ".ralph"))).toEqual(["runs"]);
    },
  );

  test("Noelo-Lab/kuna#233: a stash that one turn leaves is in nobody else's work", async () => {
    await using world = await loopWorld(writing(async (cwd, name) => {
      if (name !== "a") return;
      await writeFile(join(cwd, "stashed"), "x\n");
      git(cwd, "add", "stashed");
      git(cwd, "stash", "--quiet");
      await writeFile(join(cwd, "a"), "a\n");
    }));

    expect(await runLoop(world.ralph, memoryBacklog(tasks("a", "b", "c")), { workers: 2 })).toMatchObject({
      status: "passed",
    });
    expect((await world.git("ls-files")).split("\n")).toEqual(["README.md", "a", "b", "c"]);
  });

  test("anthropics/claude-code#72714: a setting of git that a turn changes for all is as it was", async () => {
    await using world = await loopWorld(writing(async (cwd) => git(cwd, "config", "core.hooksPath", "/nowhere")));

    await runLoop(world.ralph, memoryBacklog(tasks("a", "b")), { workers: 2 });

    expect(git(world.root, "config", "--default", "none", "--get", "core.hooksPath").trim()).toBe("none");
  });

  test("minipuft/claude-prompts-mcp#247: hooks that git ignores run for what lands", async () => {
    await using world = await loopWorld(writing(), { files: { ".gitignore": ".husky/_\n" } });
    await mkdir(join(world.root, ".husky/_"), { recursive: true });
    await writeFile(join(world.root, ".husky/_/pre-commit"), "#!/bin/sh\necho ran >> ../ran-$$ 2>/dev/null; exit 1\n", {
      mode: 0o755,
    });
    await world.git("config", "core.hooksPath", ".husky/_");

    const run = await runLoop(world.ralph, memoryBacklog(tasks("a"), { maxRetries: 1 }), { workers: 2 });

    expect(run).toMatchObject({ status: "blocked" });
    expect(run.parked[0]?.reason).toContain("refused by a hook");
  });

  test("justinchuby/flightdeck#161: what is copied is each tree's own; nobody's folder beside the project is touched", async () => {
    await using world = await loopWorld(
      writing((cwd) => writeFile(join(cwd, "node_modules/x/i.js"), "changed in place\n")),
      { files: { ".gitignore": "node_modules\n" } },
    );
    await world.write("node_modules/x/i.js", "x\n");
    const trees = join(dirname(world.root), `.${basename(world.root)}.ralph`);
    const theirs = join(trees, `${basename(world.root)}-0`);
    await mkdir(theirs, { recursive: true });
    await writeFile(join(theirs, "mine.txt"), "mine\n");
    await symlink("nowhere", join(trees, "link"));
    try {
      expect(await runLoop(world.ralph, memoryBacklog(tasks("a", "b")), { workers: 2 })).toMatchObject({
        status: "passed",
      });
      expect(await readFile(join(world.root, "node_modules/x/i.js"), "utf8")).toBe("x\n");
      await world.close();
      expect((await readdir(trees)).toSorted()).toEqual(["link", `${basename(world.root)}-0`]);
      expect(await readFile(join(theirs, "mine.txt"), "utf8")).toBe("mine\n");
    } finally {
      await rm(trees, { recursive: true, force: true });
    }
  });
});

const SEED = Number(process.env["RALPH_SEED"] ?? Date.now() % 1_000_000);
const RUNS = LONG ? 40 : 2;

test(
  `any order of ends, and any conflicts, gives each item once and the tree of working one by one (seed ${SEED})`,
  async () => {
    const item = fc.record({ delay: fc.integer({ min: 0, max: 120 }), shared: fc.boolean(), fails: fc.boolean() });
    const runs = fc.record({
      items: fc.array(item, { minLength: 3, maxLength: 6 }),
      workers: fc.integer({ min: 2, max: 4 }),
    });
    const property = fc.asyncProperty(runs, async ({ items, workers }) => {
      const tries = new Map<number, number>();
      await using world = await loopWorld(async ({ cwd, prompt }) => {
        const at = Number(/item (\d+)/.exec(prompt)?.[1]);
        const times = (tries.get(at) ?? 0) + 1;
        tries.set(at, times);
        const { delay, shared, fails } = items[at]!;
        await new Promise((done) => setTimeout(done, delay));
        if (!fails || times > 1) await writeFile(join(cwd, `file-${at}`), `${at}\n`);
        await writeFile(join(cwd, `early-${at}`), "x\n");
        if (shared) {
          const lines = (await readFile(join(cwd, "list"), "utf8")).split("\n");
          const kept = lines.filter((line) => line !== "" && !/^[<=>|]{7}/.test(line));
          await writeFile(join(cwd, "list"), `${[...new Set([...kept, `${at}`])].join("\n")}\n`);
        }
        return DONE;
      }, { files: { list: "start\n" } });
      const backlog = memoryBacklog(items.map(({ shared }, at) => ({
        id: `${at}`,
        title: `item ${at}`,
        checks: [`test -f file-${at}`, ...(shared ? [`grep -qx ${at} list`] : [])],
      })));

      const run = await runLoop(world.ralph, backlog, { workers, limits: { stalled: 50, idle: 50 } });

      expect(run.status).toBe("passed");
      expect((await world.git("log", "--format=%s")).split("\n").toSorted()).toEqual(
        [...items.map((_, at) => `feat: item ${at}`), "start"].toSorted(),
      );
      expect((await world.git("ls-files")).split("\n").toSorted()).toEqual(
        ["README.md", "list", ...items.flatMap((_, at) => [`file-${at}`, `early-${at}`])].toSorted(),
      );
      const expected = ["start", ...items.flatMap(({ shared }, at) => shared ? [`${at}`] : [])];
      expect((await readFile(join(world.root, "list"), "utf8")).trim().split("\n").toSorted()).toEqual(
        expected.toSorted(),
      );
      expect(await world.git("status", "--porcelain")).toBe("");
      await world.close();
      expect(await world.git("worktree", "list")).not.toContain("\n");
      expect(await world.git("for-each-ref", "refs/ralph/work")).toBe("");
    });
    await fc.assert(property, { seed: SEED, numRuns: RUNS });
  },
  900_000,
);
