import { existsSync, readdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { pathExists } from "../../lib/host/files.ts";
import type { Backlog } from "../../lib/backlog/types.ts";
import type { Hook, HookRecord, HookStore } from "../../lib/hooks/hook.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { loopWorld, type Turns, type World } from "../loop/loop_world.ts";

const DONE = { lines: ["<ralph>DONE</ralph>"] };

/** Each turn writes a file of its own. */
const writer: Turns = async ({ cwd }, number) => {
  await writeFile(join(cwd, `work${number}.txt`), `work ${number}\n`);
  return DONE;
};

function tasks(count: number): Backlog & { readonly records: HookRecord[]; readonly store: HookStore } {
  const records: HookRecord[] = [];
  const list = Array.from(
    { length: count },
    (_, index) => ({ id: `t${index + 1}`, title: `task ${index + 1}`, checks: ["true"] }),
  );
  const { ...backlog } = memoryBacklog(list);
  const record = async (one: HookRecord): Promise<void> => void records.push(one);
  return { ...backlog as Backlog, records, store: { record, left: async () => [] } };
}

async function log(world: World): Promise<readonly string[]> {
  return (await world.git("log", "--format=%s")).split("\n").toReversed();
}

describe("runLoop() with hooks", () => {
  test("runs a parallel hook beside the next turn, in a tree of its own, and commits what it changed", async () => {
    let seen = "";
    let release = (): void => {};
    const second = new Promise<void>((resolve) => release = resolve);
    await using world = await loopWorld(async (request, number) => {
      if (number === 2) {
        seen = (await world.git("status", "--porcelain")) + String(existsSync(join(request.cwd, "notes1.txt")));
        release();
      }
      return await writer(request, number);
    });
    const hook: Hook = {
      id: "notes",
      async run({ cwd, iteration }) {
        if (iteration === 1) await second; // ends only when the second turn is at work: it runs beside it
        await writeFile(join(cwd, `notes${iteration}.txt`), `${existsSync(join(cwd, `work${iteration}.txt`))}\n`);
      },
    };
    const backlog = tasks(2);

    const outcome = await runLoop(world.ralph, backlog, { hooks: [{ ...hook, store: backlog.store }] });

    expect(outcome.status).toBe("passed");
    expect(seen).toBe("false");
    expect(await log(world)).toEqual([
      "start",
      "feat: task 1",
      "feat: task 2",
      "hook: notes (iteration 1)",
      "hook: notes (iteration 2)",
    ]);
    expect(await readFile(join(world.root, "notes2.txt"), "utf8")).toBe("true\n");
    expect(await world.git("status", "--porcelain")).toBe("");
    expect(await world.git("worktree", "list")).not.toContain("ralph-hook-");
    expect(backlog.records.filter(({ status }) => status === "completed").map(({ iteration }) => iteration).toSorted())
      .toEqual([1, 2]);
  });

  test("a blocking hook runs before the next turn, in the tree, and is committed on its own", async () => {
    const order: string[] = [];
    await using world = await loopWorld(async (request, number) => {
      order.push(`turn ${number}`);
      return await writer(request, number);
    });
    await world.write("mine.txt", "the user's\n");
    const hook: Hook = {
      id: "docs",
      parallel: false,
      async run({ cwd, iteration }) {
        order.push(`hook ${iteration}`);
        await writeFile(join(cwd, "docs.txt"), `${iteration}\n`);
      },
    };

    await runLoop(world.ralph, tasks(2), { hooks: [hook] });

    expect(order).toEqual(["turn 1", "hook 1", "turn 2", "hook 2"]);
    expect(await log(world)).toEqual([
      "start",
      "feat: task 1",
      "hook: docs (iteration 1)",
      "feat: task 2",
      "hook: docs (iteration 2)",
    ]);
    expect(await world.git("status", "--porcelain")).toBe("?? mine.txt");
    expect(JSON.stringify(world.events)).not.toContain("stays: committed"); // Ralph committed it
  });

  test("the tree of a hook holds untracked files; index and HEAD stay as they are", async () => {
    await using world = await loopWorld(writer);
    await world.write("staged.txt", "staged\n");
    await world.git("add", "staged.txt");
    await world.write("untracked.txt", "mine\n");
    let found = "";
    const hook: Hook = {
      id: "look",
      async run({ cwd }) {
        found = `${await readFile(join(cwd, "staged.txt"), "utf8")}${await readFile(
          join(cwd, "untracked.txt"),
          "utf8",
        )}`;
      },
    };

    await runLoop(world.ralph, tasks(1), { hooks: [hook] });

    expect(found).toBe("staged\nmine\n");
    expect(await world.git("status", "--porcelain")).toBe("A  staged.txt\n?? untracked.txt");
    expect(await log(world)).toEqual(["start", "feat: task 1"]);
  });

  test("what does not apply, or touches what is dirty or protected, is kept as a patch and reported", async () => {
    await using world = await loopWorld(async ({ cwd }, number) => {
      await writeFile(join(cwd, "README.md"), `# turn ${number}\n`);
      return DONE;
    }, { files: { "ralph.config.json": "{}", "notes.txt": "a\n" } });
    await world.write("notes.txt", "mine\n");
    const write = (id: string, path: string): Hook => ({
      id,
      run: async ({ cwd, iteration }) => iteration > 1 ? undefined : await writeFile(join(cwd, path), "# hook\n"),
    });
    const late: Hook = { ...write("late", "README.md"), when: "before" };

    const { notices } = await runLoop(world.ralph, tasks(1), {
      hooks: [write("dirty", "notes.txt"), write("config", "ralph.config.json"), late],
    });
    expect(notices.filter(({ kind }) => kind === "leftover").map(({ subject }) => basename(subject)).toSorted())
      .toEqual([
        "hook-iter1-config.patch",
        "hook-iter1-dirty.patch",
        "hook-iter1-late.patch",
      ]);

    const warnings = world.events.flatMap((event) =>
      event.type === "note" && event.level === "warn" ? [event.message] : []
    );
    expect(warnings).toEqual(expect.arrayContaining([
      expect.stringMatching(
        /^hook: dirty \(iteration 1\): kept as .*hook-iter1-dirty\.patch: changed in the working tree as well: notes\.txt$/,
      ),
      expect.stringMatching(/^hook: config .*: it changes protected files: ralph\.config\.json$/),
      expect.stringMatching(/^hook: late .*: it does not apply: /),
    ]));
    expect(await readFile(join(world.root, "notes.txt"), "utf8")).toBe("mine\n");
    expect(await readFile(join(world.root, "README.md"), "utf8")).toBe("# turn 1\n");
    const folder = join(world.root, ".ralph/runs", world.ralph.run.id);
    expect(readdirSync(folder).filter((name) => name.endsWith(".patch")).toSorted()).toEqual([
      "hook-iter1-config.patch",
      "hook-iter1-dirty.patch",
      "hook-iter1-late.patch",
    ]);
  });

  test("parallel hooks of successive iterations that add to one file all land in order; two that make it do not", async () => {
    let started = 0;
    const files = { "DOC.md": "# doc\n\n- one\n" };
    await using world = await loopWorld(writer, { files, config: { limits: { hooks: 6 } } });
    const adding = (id: string, path: string): Hook => ({
      id,
      async run({ cwd, iteration }) {
        started += 1;
        while (started < 6) await new Promise((resolve) => setTimeout(resolve, 5)); // none is brought in before all began
        const before = existsSync(join(cwd, path)) ? await readFile(join(cwd, path), "utf8") : "";
        await writeFile(join(cwd, path), `${before}${id} ${iteration}\n`);
      },
    });

    const outcome = await runLoop(world.ralph, tasks(3), {
      hooks: [adding("learning", "NEW.md"), adding("doc", "DOC.md")],
    });

    expect(outcome.notices.filter(({ kind }) => kind === "leftover").map(({ subject }) => basename(subject))).toEqual([
      "hook-iter2-learning.patch",
      "hook-iter3-learning.patch",
    ]);
    expect(await readFile(join(world.root, "NEW.md"), "utf8")).toBe("learning 1\n");
    expect(await readFile(join(world.root, "DOC.md"), "utf8")).toBe("# doc\n\n- one\ndoc 1\ndoc 2\ndoc 3\n");
    expect(await world.git("status", "--porcelain")).toBe("");
  });

  test("what a hook of a killed run changed, and was not brought in, is said and kept", async () => {
    await using world = await loopWorld(writer, { files: { "notes.txt": "a\n" } });
    const left = ".ralph/runs/older/hook-iter3-docs.pending.patch";
    const patch = "--- a/notes.txt\n+++ b/notes.txt\n@@ -1 +1 @@\n-a\n+b\n";
    await world.write(left, patch);
    await world.write(".ralph/runs/.gitignore", "*\n");

    await runLoop(world.ralph, tasks(1), { hooks: [{ id: "docs", command: "true" }] });

    const kept = ".ralph/runs/older/hook-iter3-docs.patch";
    expect(world.events).toContainEqual({
      type: "note",
      level: "warn",
      message: `a killed run did not bring in what a hook changed: \`git apply ${kept}\` does`,
    });
    await world.git("apply", kept);
    expect(await readFile(join(world.root, "notes.txt"), "utf8")).toBe("b\n");
  });

  test("a shell command knows its transcript; its pid, exit code, times and log are recorded, and its failure ends nothing", async () => {
    await using world = await loopWorld(writer);
    const backlog = tasks(2);
    const hook: Hook = {
      id: "fails",
      command: 'echo "seen $(basename "$ITERATION_TRANSCRIPT") $RALPH_ITERATION $$"; exit 7',
    };

    const outcome = await runLoop(world.ralph, backlog, { hooks: [{ ...hook, store: backlog.store }] });

    expect(outcome).toMatchObject({ status: "passed", passed: ["t1", "t2"] });
    const ended = backlog.records.filter(({ status }) => status === "failed");
    expect(ended).toHaveLength(2);
    for (const { exitCode, message, pid, log: file, iteration, startedAt, endedAt } of ended) {
      expect([exitCode, message]).toEqual([7, "exit 7"]);
      expect(pid).not.toBe(process.pid);
      expect(await readFile(file, "utf8")).toBe(`seen iteration-${iteration}.log ${iteration} ${pid}\n`);
      expect(endedAt).toBeGreaterThanOrEqual(startedAt);
    }
    expect(world.events).toContainEqual(
      expect.objectContaining({ type: "hook-end", hook: "fails", status: "failed", exitCode: 7 }),
    );
  });

  test("a hook whose last command has read enough of a pipe has not failed", async () => {
    await using world = await loopWorld(writer);
    const backlog = tasks(1);

    await runLoop(world.ralph, backlog, { hooks: [{ id: "head", command: "yes | head -1", store: backlog.store }] });

    expect(backlog.records.map(({ status }) => status)).toContain("completed");
    expect(backlog.records.map(({ status }) => status)).not.toContain("failed");
  });

  test("isolated: false works in the shared tree; a disabled hook never runs", async () => {
    await using world = await loopWorld(writer);
    const folders: string[] = [];
    const shared: Hook = { id: "shared", isolated: false, run: async ({ cwd }) => void folders.push(cwd) };
    const off: Hook = { id: "off", enabled: false, run: async ({ cwd }) => void folders.push(cwd) };

    await runLoop(world.ralph, tasks(1), { hooks: [shared, off] });

    expect(folders).toEqual([world.root]);
  });

  test("no more than limits.hooks run at once, and the run waits for all", async () => {
    await using world = await loopWorld(writer);
    let now = 0;
    let most = 0;
    let ended = 0;
    const hooks: Hook[] = Array.from({ length: 5 }, (_, index) => ({
      id: `h${index}`,
      isolated: false,
      async run() {
        most = Math.max(most, ++now);
        await new Promise((resolve) => setTimeout(resolve, 15));
        now--;
        ended++;
      },
    }));

    await runLoop(world.ralph, tasks(2), { hooks, limits: { hooks: 2 } });

    expect([most, ended]).toEqual([2, 10]);
  });

  test("a hook that hangs ends with the run: it is interrupted, and its tree is taken away", async () => {
    const aborter = new AbortController();
    await using world = await loopWorld(async (request, number) => {
      if (number === 2) aborter.abort();
      return await writer(request, number);
    });
    const backlog = tasks(3);

    const outcome = await runLoop(world.ralph, backlog, {
      hooks: [{ id: "hangs", command: "sleep 60 & wait", store: backlog.store }, {
        id: "deaf",
        run: () => new Promise(() => {}),
      }],
      signal: aborter.signal,
    });

    expect(outcome.status).toBe("aborted");
    expect(
      backlog.records.filter(({ endedAt }) => endedAt !== null).map(({ hookId, status }) => `${hookId} ${status}`)
        .toSorted(),
    )
      .toEqual(["deaf interrupted", "hangs interrupted"]);
    expect(await world.git("worktree", "list")).not.toContain("ralph-hook-");
  });

  test("a worktree that a killed run left is taken away by the next", async () => {
    await using world = await loopWorld(writer);
    let path = "";
    const note: Hook = { id: "note", run: async ({ cwd }) => void (path = cwd) };
    await runLoop(world.ralph, tasks(1), { hooks: [note] });
    const prefix = path.slice(path.lastIndexOf("/") + 1).slice(0, "ralph-hook-".length + 13);
    const left = join(tmpdir(), `${prefix}left-over`);
    await world.git("worktree", "add", "-q", "--detach", left);

    await runLoop(await world.again(), tasks(1), { hooks: [note] });

    expect(await pathExists(left)).toBe(false);
    expect((await world.git("worktree", "list")).split("\n")).toHaveLength(1);
  });

  test("hooks of the configuration run in every workflow; an unusable one is refused before the first turn", async () => {
    await using world = await loopWorld(writer, {
      config: {
        hooks: [{
          id: "touch",
          command: "touch from-hook.txt",
          enabled: true,
          parallel: true,
          when: "after",
          isolated: true,
        }],
      },
    });

    await runLoop(world.ralph, tasks(1));
    await expect(runLoop(world.ralph, tasks(1), { hooks: [{ id: "a/b", command: "true" }] })).rejects.toMatchObject({
      code: "hook-invalid",
    });

    expect(await log(world)).toContain("hook: touch (iteration 1)");
    expect(world.prompts).toHaveLength(1);
  });
});
