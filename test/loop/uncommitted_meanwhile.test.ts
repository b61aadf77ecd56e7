/** A person works on beside a run, and something else than the turn's edits touches what that person has not committed. */
import { execFileSync } from "node:child_process";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { holdWork, letGo } from "../../lib/git/history.ts";
import { requireRepository } from "../../lib/git/repository.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { loopWorld, type World } from "./loop_world.ts";

const DONE = { lines: ["<ralph>DONE</ralph>"] };
const FILES = { "notes.txt": "first\n" };

interface Case {
  /** Shell words of the turn, after it has made its file. */
  readonly turn?: string;
  /** The person does this while the turn runs. */
  readonly person?: string;
  /** The turn goes on with this. */
  readonly later?: string;
  /** The check runs this once the work is there. */
  readonly check?: string;
  /** Git runs these as hooks, by their names. */
  readonly hooks?: Readonly<Record<string, string>>;
  readonly before?: string;
  readonly items?: readonly string[];
  /** A hook of Ralph's runs this after each item. */
  readonly hook?: string;
}

async function ran(one: Case): Promise<World & { readonly status: string; readonly said: string }> {
  const sh = (cwd: string, script = "", more: Readonly<Record<string, string>> = {}): void =>
    void execFileSync("sh", ["-ec", script], { cwd, stdio: "pipe", env: { ...process.env, ...more } });
  const world = await loopWorld(({ cwd, environment, prompt }) => {
    sh(cwd, `touch ${/write (\w+)/.exec(prompt)?.[1]}; ${one.turn ?? ""}`, environment);
    // a person's git has none of the turn's environment
    sh(cwd, one.person);
    sh(cwd, one.later, environment);
    return Promise.resolve(DONE);
  }, { files: FILES });
  await writeFile(join(world.root, "notes.txt"), "first\nmine\n");
  await writeFile(join(world.root, "new.txt"), "mine\n");
  sh(world.root, one.before);
  for (const [name, script] of Object.entries(one.hooks ?? {})) {
    await writeFile(join(world.root, ".git/hooks", name), `#!/bin/sh\nunset GIT_INDEX_FILE GIT_DIR\n${script}\n`);
    await chmod(join(world.root, ".git/hooks", name), 0o755);
  }
  const check = one.check === undefined ? [] : [`test ! -e a || { ${one.check}; }`];
  const items = (one.items ?? ["a"]).map((id) => ({ id, title: `write ${id}`, checks: [`test -f ${id}`, ...check] }));
  const hooks = one.hook === undefined ? [] : [{ id: "tidy", command: one.hook, parallel: false }];
  const { status } = await runLoop(world.ralph, memoryBacklog(items), { hooks });
  const said = world.events.flatMap((event) => event.type === "note" ? [event.message] : []).join("\n");
  return { ...world, status, said };
}

const read = async ({ root }: World, path: string): Promise<string> => await readFile(join(root, path), "utf8");

describe("a person's file", () => {
  test("that its person commits while a turn runs stays as it was committed", async () => {
    const world = await ran({
      person:
        "echo more >> notes.txt; echo more >> new.txt; git add new.txt; git commit -qm theirs -- notes.txt new.txt",
    });
    await using _ = world;

    expect(await read(world, "notes.txt")).toBe("first\nmine\nmore\n");
    expect(await read(world, "new.txt")).toBe("mine\nmore\n");
    expect(await world.git("status", "--porcelain")).toBe("");
    expect(world.status).toBe("passed");
    expect(world.said).not.toContain("restored");
  });

  test("that git ignores from a turn on is not written over", async () => {
    const world = await ran({ turn: "echo new.txt >> .gitignore", person: "echo more >> new.txt" });
    await using _ = world;

    expect(await read(world, "new.txt")).toBe("mine\nmore\n");
  });

  test("that a check reverts is as its person left it while the turn ran", async () => {
    const world = await ran({ person: "echo more >> notes.txt", check: "git checkout -q HEAD -- notes.txt" });
    await using _ = world;

    expect(await read(world, "notes.txt")).toBe("first\nmine\nmore\n");
    expect(world.said).toContain("changed or removed uncommitted work, which was restored: notes.txt");
  });

  test("that a check commits is uncommitted again, and the work stays committed", async () => {
    const world = await ran({ check: "git add -A && git commit -qm fmt" });
    await using _ = world;

    expect(await world.git("status", "--porcelain")).toBe("M notes.txt\n?? new.txt");
    expect(await world.git("log", "--format=%s", "--", "notes.txt", "new.txt")).not.toContain("fmt");
    expect(await world.git("ls-files", "a")).toBe("a");
    expect(world.said).toMatch(/the check `.+` committed "fmt": taken off the branch and kept as refs\/ralph\/lost\//);
    expect(world.said).not.toMatch(/restored|uncommitted before it/);
  });

  test("that a hook of git removes at each commit is back after each", async () => {
    const world = await ran({ hooks: { "pre-commit": "rm -f new.txt" }, items: ["a", "b"] });
    await using _ = world;

    expect(await read(world, "new.txt")).toBe("mine\n");
    expect(world.status).toBe("passed");
    expect(world.said.match(/a hook of git changed or removed/g)).toHaveLength(2);
  });

  test("of which a part is staged gets back the other part, and one that is to be added its text", async () => {
    const before = "git add notes.txt; echo apart >> notes.txt; git add -N new.txt";
    for (const how of [{ turn: "git checkout -q ." }, { check: "git checkout -q ." }]) {
      const world = await ran({ before, ...how });
      await using _ = world;

      expect(await read(world, "notes.txt")).toBe("first\nmine\napart\n");
      expect(await read(world, "new.txt")).toBe("mine\n");
      expect(await world.git("diff", "--cached", "--stat", "--", "notes.txt")).toContain("1 insertion");
      expect(world.status).toBe("passed");
    }
  });

  test("that its person commits and git packs while a turn runs stays in that commit, and a line says so", async () => {
    const world = await ran({ person: "git add new.txt; git commit -qm theirs -- notes.txt new.txt; git gc -q" });
    await using _ = world;

    expect(await world.git("log", "-1", "--format=%s", "--", "notes.txt")).toBe("theirs");
    expect(await world.git("status", "--porcelain")).toBe("");
    expect(world.said).toMatch(/by a person or a process that hides whose it is: [0-9a-f]{10} theirs$/m);
    expect(world.said).toMatch(/no longer uncommitted: notes.txt, new.txt$/m);
    expect(world.status).toBe("passed");
  });

  test("is in none of the turn's commits, whatever the turn adds to it", async () => {
    const commit = "git -c core.looseCompression=4 commit -qm swept -- notes.txt";
    for (const turn of [`echo x >> notes.txt; ${commit}; echo y >> notes.txt`, commit]) {
      const world = await ran({ turn });
      await using _ = world;

      expect(await world.git("show", "HEAD:notes.txt")).toBe("first");
      expect(await read(world, "notes.txt")).toContain("first\nmine\n");
      expect(world.said).toContain(
        "the turn committed what was uncommitted before it; it is uncommitted again: notes.txt",
      );
    }
  });
});

test("a commit of a check that then fails, or of a hook, is taken off the branch, named and kept", async () => {
  const commit = "echo made >> README.md; git commit -qm made README.md";
  for (const how of [{ check: `${commit}; false` }, { hook: commit }]) {
    const world = await ran(how);
    await using _ = world;

    expect(await world.git("log", "--format=%s")).not.toContain("made");
    const [, kept = ""] = /committed "made": taken off the branch and kept as (\S+);/.exec(world.said) ?? [];
    expect(await world.git("log", "-1", "--format=%s", kept)).toBe("made");
    expect(await world.git("status", "--porcelain", "notes.txt", "new.txt")).toBe("M notes.txt\n?? new.txt");
  }
});

test("a branch or a note that a turn or a check moves off the only ref to its commits is kept and named", async () => {
  const before = "git branch side; git switch -q side; git stash -qu; git commit -qm side --allow-empty; " +
    "git notes add -m note HEAD; git switch -q main; git stash pop -q";
  const spoil = "git branch -qf side main; git update-ref -d refs/notes/commits";
  for (const how of [{ turn: spoil }, { check: spoil }]) {
    const world = await ran({ before, ...how });
    await using _ = world;

    const kept = await world.git("for-each-ref", "--format=%(refname) %(contents:subject)", "refs/ralph/lost");
    expect(kept).toMatch(/\.side side$/m);
    expect(kept).toMatch(/\.refs-notes-commits Notes added/m);
    expect(world.said).toMatch(
      /side was moved to [0-9a-f]{10}, where what it held is in no ref: kept as refs\/ralph\/lost/,
    );
    expect(world.said).toContain("refs/notes/commits was removed: kept as refs/ralph/lost/");
  }
});

test("a branch that is moved on, or whose commits another one holds, is nothing to be named", async () => {
  const world = await ran({
    before: "git branch side; git branch other",
    person: "git branch -qf side HEAD~0; git branch -qf other side",
  });
  await using _ = world;

  expect(world.said).not.toContain("was moved");
  expect(await world.git("for-each-ref", "refs/ralph/lost")).toBe("");
});

test("a commit without the turn's mark, made while a turn or a check runs, stays and is named", async () => {
  const bare = "env -u GIT_CONFIG_PARAMETERS sh -c 'git add -A; git commit -qm sweep'";
  for (const how of [{ turn: bare }, { check: bare }, { person: `${bare}; git gc -q` }]) {
    const world = await ran(how);
    await using _ = world;

    expect(await world.git("log", "-1", "--format=%s", "--", "notes.txt")).toBe("sweep");
    expect(world.said).toMatch(/stays: committed while .+ ran, by a person or .+: [0-9a-f]{10} sweep$/m);
    expect(world.said).toMatch(/no longer uncommitted: notes.txt, new.txt$/m);
  }
});

test("a person whose git compresses as the mark does is told from a turn all the same", async () => {
  const world = await ran({
    before: "git config core.compression 4",
    turn: "git add a; git commit -qm turn",
    person: "git commit -qm theirs -- notes.txt",
  });
  await using _ = world;

  expect(await world.git("log", "-1", "--format=%s", "--", "notes.txt")).toBe("theirs");
  expect(world.said).toMatch(/hides whose it is: [0-9a-f]{10} theirs$/m);
  expect(world.said).not.toContain("committed what was uncommitted");
});

test("a person's commit that a turn or a check takes off the branch is kept and named, what it replaced is not", async () => {
  const person = "echo more >> notes.txt; git commit -qm one notes.txt; git commit -q --amend -m theirs";
  const later = "git reset -q --hard HEAD~1";
  for (const how of [{ person, later }, { check: `env -u GIT_CONFIG_PARAMETERS sh -c '${person}'; ${later}` }]) {
    const world = await ran(how);
    await using _ = world;

    const kept = await world.git("for-each-ref", "--format=%(refname) %(contents:subject)", "refs/ralph/lost");
    expect(kept).toMatch(/^refs\/ralph\/lost\/\S+ theirs$/);
    expect(world.said).toContain(`taken off the branch while`);
    expect(world.said).toContain(kept.split(" ")[0]);
  }
});

test("a branch that a turn removes and prunes at once is kept; one that is merged is nothing to be named", async () => {
  const world = await ran({
    before: "git branch merged; git switch -qc side; git stash -qu; git commit -qm side --allow-empty; " +
      "git switch -q main; git stash pop -q",
    turn: "git branch -qD side merged; git reflog expire --expire=now --all; git gc -q --prune=now",
  });
  await using _ = world;

  const kept = await world.git("for-each-ref", "--format=%(refname) %(contents:subject)", "refs/ralph");
  expect(kept).toMatch(/^refs\/ralph\/lost\/\S+\.side side$/m);
  expect(kept).not.toContain("refs/ralph/held");
  expect(world.said).not.toContain("merged");
});

describe("a turn that removes the refs of Ralph", () => {
  const before = "git branch side $(git commit-tree -m side HEAD^{tree})";
  const remove = "git for-each-ref --format='delete %(refname)' refs/ralph | git update-ref --stdin";
  const prune = "git reflog expire --expire=now --all; git gc -q --prune=now";

  test("takes the protection from no later turn: a branch is kept all the same", async () => {
    const turn = `if test -e b; then git branch -qD side; ${prune}; else ${remove}; fi`;
    const world = await ran({ before, turn, items: ["a", "b"] });
    await using _ = world;

    const kept = await world.git("for-each-ref", "--format=%(refname) %(contents:subject)", "refs/ralph");
    expect(kept).toMatch(/^refs\/ralph\/lost\/\S+\.side side$/m);
    expect(kept).toMatch(/^refs\/ralph\/kept\//m);
    expect(kept).not.toContain("refs/ralph/held");
  });

  test("and prunes: what is not committed is kept anew, and a later turn may take it away", async () => {
    const turn = `if test -e b; then rm notes.txt new.txt; else ${remove}; ${prune}; fi`;
    const world = await ran({ turn, items: ["a", "b"] });
    await using _ = world;

    expect(await read(world, "notes.txt")).toBe("first\nmine\n");
    expect(await read(world, "new.txt")).toBe("mine\n");
    expect(world.said).toMatch(/what refs\/ralph\/kept\/\S+ kept was removed and pruned: it is kept anew/);
    expect(world.status).toBe("passed");
  });
});

test("a branch that git cannot hold is named once, and the others are held", async () => {
  const world = await ran({
    before: "git branch broken $(git commit-tree -m x HEAD^{tree}); " +
      "git branch side $(git commit-tree -m side HEAD^{tree}); " +
      "h=$(git rev-parse broken); rm -f .git/objects/$(echo $h | cut -c1-2)/$(echo $h | cut -c3-)",
    turn: "test -e b || { git branch -qD side; git update-ref -d refs/heads/broken; git reflog expire --all; " +
      "git prune --expire=now; }",
    items: ["a", "b"],
  });
  await using _ = world;

  expect(world.said.match(/git does not hold these while turns run: broken$/gm)).toHaveLength(1);
  expect(await world.git("for-each-ref", "--format=%(contents:subject)", "refs/ralph/lost")).toBe("side");
});

test("a run lets go of its own worktree's tips alone, and of what a killed run there has held", async () => {
  const world = await ran({});
  await using _ = world;
  const repository = requireRepository(world.ralph);
  const work = new Map([["main", await world.git("rev-parse", "HEAD")]]);

  expect(await holdWork(repository, work, "/other")).toEqual([]);
  expect(await holdWork(repository, work, world.root)).toEqual([]);
  await letGo(repository, world.root);
  expect((await world.git("for-each-ref", "refs/ralph/held")).split("\n")).toHaveLength(1);
  await letGo(repository, "/other");
  expect(await world.git("for-each-ref", "refs/ralph/held")).toBe("");
});

test("a person who commits a part of a file while a turn runs keeps the rest uncommitted, and the run passes", async () => {
  const world = await ran({
    before: "printf 'A\\nfirst\\nB\\n' > notes.txt",
    person: "printf 'A\\nfirst\\n' > n; git update-index --cacheinfo 100644,$(git hash-object -w n),notes.txt; rm n; " +
      "git commit -qm part",
  });
  await using _ = world;

  expect(await world.git("diff", "--unified=0", "--", "notes.txt")).toMatch(/^@@ .+ @@.*\n\+B$/m);
  expect(world.said).not.toContain("not committed");
  expect(world.status).toBe("passed");
});

test("a person who saves a file that had changes, while a turn runs, keeps that version and the one before", async () => {
  const world = await ran({ person: "echo more >> notes.txt; echo other > new.txt", items: ["a", "b"] });
  await using _ = world;

  expect(world.status).toBe("failed"); // it could be the turn's work, which is in no commit then
  expect(await read(world, "notes.txt")).toBe("first\nmine\nmore\nmore\n");
  expect(await read(world, "new.txt")).toBe("other\n");
  expect(await world.git("log", "--format=%s", "--", "notes.txt", "new.txt")).toBe("start");
  const [, shown = ""] = /not committed: notes\.txt \(`([^`]+)` prints it as the run found it\)/.exec(world.said) ?? [];
  expect(execFileSync("sh", ["-c", shown], { cwd: world.root, encoding: "utf8" })).toBe("first\nmine\n");
});
