import { execFileSync } from "node:child_process";
import { appendFile, chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { loopWorld, ofTheRun, type Turns, type World } from "./loop_world.ts";
import { needs } from "../needs.ts";

const DONE = { lines: ["<ralph>DONE</ralph>"] };

/** Each turn adds a line to one file. */
const adding: Turns = async ({ cwd, prompt }) => {
  const name = /add (\w+)/.exec(prompt)?.[1] ?? "";
  await appendFile(join(cwd, "code.js"), `${name}();   \n`);
  return DONE;
};

const ITEMS = ["one", "two"].map((id) => ({ id, title: `add ${id}`, checks: [`grep -q ${id} code.js`] }));

/** As lint-staged does: what is staged is formatted and staged again. */
const FORMATS = `#!/bin/sh
for file in $(git diff --cached --name-only); do
  case $file in *.js) sed -i 's/ *$//' $file; grep -q fmt $file || echo '// fmt' >> $file; git add $file;; esac
done
`;

async function withHook(world: World, script: string): Promise<void> {
  await writeFile(join(world.root, ".git/hooks/pre-commit"), script);
  await chmod(join(world.root, ".git/hooks/pre-commit"), 0o755);
}

test("a person's branch and stash that a turn removes are kept and named", async () => {
  await using world = await loopWorld(async ({ cwd }) => {
    const prune = "git stash clear; git reflog expire --expire=now --all; git gc -q --prune=now";
    execFileSync("sh", ["-ec", `git branch -D my/side; ${prune}`], { cwd });
    await appendFile(join(cwd, "code.js"), "one\n");
    return DONE;
  });
  await appendFile(join(world.root, "README.md"), "mine\n");
  await world.git("stash");
  await appendFile(join(world.root, "README.md"), "more\n");
  await world.git("stash");
  await world.git("branch", "my/side", "stash@{0}");
  const stashes = await world.git("stash", "list", "--format=%H %s");
  const [stash] = (await world.git("rev-parse", "stash@{0}")).split("\n");

  await runLoop(world.ralph, memoryBacklog(ITEMS.slice(0, 1)));

  const kept = await world.git("for-each-ref", "--format=%(objectname) %(refname)", "refs/ralph/lost");
  const names = kept.replaceAll(/lost\/[^.]+\.\d+\./g, "").trim().split("\n");
  const hashes = stashes.split("\n").map((line) => line.split(" ")[0] ?? "").filter((hash) => hash !== "");
  expect(names.toSorted()).toEqual(
    [`${stash} refs/ralph/my-side`, ...hashes.map((hash) => `${hash} refs/ralph/stash-${hash.slice(0, 10)}`)]
      .toSorted(),
  );
  expect(await world.git("stash", "list", "--format=%H %s")).toBe(stashes);
  expect(await world.git("for-each-ref", "refs/ralph/stash-*")).toBe("");
  const said = world.events.flatMap((event) => event.type === "note" ? [event.message] : []).join("\n");
  expect(said).toContain("while the turn ran, my/side was removed: kept as refs/ralph/lost/");
});

describe("an item's work", () => {
  test("is in its commit, whatever a hook made of the one before it", async () => {
    await using world = await loopWorld(adding);
    await withHook(world, FORMATS);

    const run = await runLoop(world.ralph, memoryBacklog(ITEMS));

    expect(run).toMatchObject({ status: "passed", passed: ["one", "two"] });
    expect(ofTheRun(run)).toHaveLength(2);
    expect(await world.git("show", "HEAD:code.js")).toBe("one();\n// fmt\ntwo();");
    expect(await world.git("status", "--porcelain")).toBe("");
  });

  test.each(["clean", "tree", "off"] as const)(
    "that is in no commit has not passed, and what it is in is named (verify.final: %s)",
    async (final) => {
      await using world = await loopWorld(async ({ cwd, prompt }) => {
        await adding({ cwd, prompt } as Parameters<Turns>[0], 0);
        await appendFile(join(cwd, "notes.md"), "the agent's\n");
        return DONE;
      }, { files: { "notes.md": "first\n" }, config: { verify: { final } } });
      await world.write("notes.md", "first\nmine\n");

      const run = await runLoop(world.ralph, memoryBacklog(ITEMS));

      expect(run).toMatchObject({ status: "failed", reason: "final-check", passed: ["one", "two"] });
      expect(run.status === "failed" && run.reasons).toEqual([
        "changed by a turn or a person, and not committed: notes.md; commit them, then run the same command again",
      ]);
      expect(await readFile(join(world.root, "notes.md"), "utf8")).toContain("mine\n");
    },
  );

  test.each(["in", "--no-cone /in/ /README.md"])(
    "outside of a sparse checkout is checked as well (%s)",
    async (cone) => {
      await using world = await loopWorld(({ cwd }) => {
        execFileSync("sh", ["-c", "mkdir -p out; echo n > out/new; echo n > in/new"], { cwd });
        return Promise.resolve(DONE);
      }, { files: { "in/i": "i\n", "out/o": "o\n" } });
      await world.git("sparse-checkout", "set", ...cone.split(" "));
      const checks = ["test -f out/new && test -f in/new && test ! -e out/o", "git diff --quiet HEAD"];

      const run = await runLoop(world.ralph, memoryBacklog([{ id: "a", title: "a", checks }]));

      expect(run).toMatchObject({ status: "passed", checkedAs: "commit" });
      expect(run.notices.filter(({ kind }) => kind === "not-reproducible")).toEqual([]);
    },
  );

  test.each([1, 2])(
    "is in its commit, whatever its files are called (%i workers)",
    needs("a POSIX system"),
    async (workers) => {
      const names = ["back\\slash", "end\\", "\\start", "a\\b\\c.txt", ":(top)x", "st*r", "[a]", '"quoted"', "-dash"];
      await using world = await loopWorld(async ({ cwd, prompt }) => {
        const item = /add (\w+)/.exec(prompt)?.[1] ?? "";
        await mkdir(join(cwd, item), { recursive: true });
        for (const name of names) await writeFile(join(cwd, item, name), `${item}\n`);
        return DONE;
      });
      const items = ["one", "two"].map((id) => ({ id, title: `add ${id}`, checks: [`test -f ${id}/-dash`] }));

      const run = await runLoop(world.ralph, memoryBacklog(items), { workers });

      expect(run).toMatchObject({ status: "passed", passed: expect.arrayContaining(["one", "two"]) });
      expect(await world.git("status", "--porcelain")).toBe("");
      const committed = (await world.git("ls-tree", "-r", "-z", "--name-only", "HEAD")).split("\0");
      expect(committed).toEqual(expect.arrayContaining(names.flatMap((name) => [`one/${name}`, `two/${name}`])));
      const notes = world.events.flatMap((event) => event.type === "note" ? [event.message] : []);
      expect(notes.join("\n")).not.toContain("your uncommitted changes");
    },
  );

  test.each([
    ["left", ""],
    [
      "committed by the agent",
      "git -C app add -A; git -C app -c user.name=a -c user.email=a@b commit -qm app; git add -A; git commit -qm all",
    ],
  ])("in a repository inside of this one, %s, is told to agent and person by its cause", async (_name, then) => {
    await using world = await loopWorld(async ({ cwd, environment }, number) => {
      const work = "mkdir -p app; git init -q app; echo x > app/x.txt";
      const script = number === 1 ? `${work}; ${then}` : "rm -rf app/.git; git rm -q --cached app || true";
      execFileSync("sh", ["-c", script], { cwd, env: { ...process.env, ...environment }, stdio: "pipe" });
      return DONE;
    });
    const backlog = memoryBacklog([{ id: "a", title: "add a", checks: ["test -f app/x.txt"] }]);

    const run = await runLoop(world.ralph, backlog);

    const told = "app/ is a git repository of its own, so no commit holds its files: remove app/.git";
    expect(world.events.flatMap((event) => event.type === "note" ? [event.message] : []).join("\n")).toContain(told);
    expect(world.prompts[1]).toContain(told);
    expect(world.prompts[1]).not.toContain("the tree has, and HEAD has not");
    expect(run).toMatchObject({ status: "passed", turns: 2 });
    expect(await world.git("show", "HEAD:app/x.txt")).toBe("x");
  });

  test("that came with a change to what judges the run is one commit, and the restoring none beside it", async () => {
    await using world = await loopWorld(async ({ cwd, environment, prompt }, number) => {
      await adding({ cwd, prompt } as Parameters<Turns>[0], 0);
      const script = number === 1 ? "echo '{ }' > ralph.config.json; git add -A; git commit -qm cfg" : "true";
      execFileSync("sh", ["-c", script], { cwd, env: { ...process.env, ...environment } });
      return DONE;
    }, { files: { "ralph.config.json": "{}\n" } });

    expect(await runLoop(world.ralph, memoryBacklog(ITEMS.slice(0, 1)))).toMatchObject({ status: "passed" });

    expect(await world.git("log", "--format=%s")).toBe("feat: add one\nstart");
    expect(await world.git("show", "HEAD:ralph.config.json")).toBe("{}");
  });

  test("beside an edit of a person's in another file has passed", async () => {
    await using world = await loopWorld(adding, { files: { "notes.md": "first\n" } });
    await world.write("notes.md", "first\nmine\n");

    expect(await runLoop(world.ralph, memoryBacklog(ITEMS))).toMatchObject({ status: "passed" });
    expect(await world.git("status", "--porcelain")).toBe("M notes.md");
  });
});
