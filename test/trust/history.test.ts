import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { loopWorld, type World } from "../loop/loop_world.ts";
import { sampled } from "../sampled.ts";
import { inTurn } from "./in_turn.ts";
import { needs } from "../needs.ts";

const ITEMS = [
  { id: "a", title: "write a.txt", checks: ["test -f a.txt"] },
  { id: "b", title: "write b.txt", checks: ["test -f b.txt"] },
];
const WORK = 'echo "$f" > "$f.txt"';

interface Ran extends AsyncDisposable {
  readonly world: World;
  readonly status: string;
  readonly passed: readonly string[];
  readonly notes: string;
  readonly uncommitted: readonly string[];
  /** HEAD before the turn at the second item. */
  readonly second: string;
  /** The failures of the second item's first attempt. */
  readonly failures: readonly string[];
}

/** A loop over two items: `first` is what the agent does at the first one, `script` at the second, once; then honest work. */
async function ran(
  script: string,
  options: { readonly first?: string; readonly setup?: string; readonly squash?: boolean } = {},
): Promise<Ran> {
  let second = "";
  let tries = 0;
  const world = await loopWorld(async ({ cwd, environment }) => {
    const item = environment["RALPH_ITEM"] ?? "";
    if (item === "b" && second === "") second = await world.git("rev-parse", "HEAD");
    const own = item === "a" ? options.first ?? WORK : tries++ === 0 ? script : WORK;
    const env = { ...process.env, ...environment }; // by it a turn's commits are told from a person's
    execFileSync("sh", ["-c", `f=${item}; work() { ${WORK}; }; ${own}`], { cwd, env, stdio: "pipe" });
    return { lines: ["<ralph>DONE</ralph>"] };
  }, {
    files: { "mine.txt": "theirs\n", "other.txt": "other\n" },
    config: { commits: { squash: options.squash ?? true } },
  });
  if (options.setup !== undefined) {
    execFileSync("sh", ["-c", options.setup], { cwd: world.root, stdio: "pipe" });
  }
  const outcome = await runLoop(world.ralph, memoryBacklog(ITEMS));
  const notes = world.events.map((event) => event.type === "note" ? event.message : "").filter((line) => line !== "");
  const failures = world.events.flatMap((event) =>
    event.type === "iteration-end" && event.item.id === "b" && event.result === "failed" ? [event.message ?? ""] : []
  );
  return {
    world,
    status: outcome.status,
    passed: outcome.passed,
    notes: notes.join("\n"),
    uncommitted: outcome.notices.flatMap(({ kind, subject }) => kind === "not-committed" ? [subject] : []),
    second,
    failures,
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

const REWRITTEN: readonly (readonly [name: string, script: string])[] = [
  ["reset --hard of a verified commit", "work; git reset -q --hard HEAD~1"],
  ["amend of Ralph's commit", "work; git add -A; git commit -q --amend -m mine"],
  ["rebase of Ralph's commits", "work; git add -A; git commit -qm b; git rebase -q --onto HEAD~2 HEAD~1"],
  ["soft reset and one commit of all", "work; git reset -q --soft HEAD~1; git add -A; git commit -qm all"],
  ["a branch of its own that it stays on", "git switch -qc side$i; work; git add -A; git commit -qm b"],
  ["a detached HEAD", "git checkout -q --detach; work; git add -A; git commit -qm b"],
  ["a branch without history", "git checkout -q --orphan fresh$i; work; git add -A; git commit -qm b"],
  ["a branch without history and without a commit", "git checkout -q --orphan fresh$i; git rm -rfq .; work"],
  ["a branch that is gone", "git switch -qc side$i; git branch -qD main; work; git add -A; git commit -qm b"],
  ["a reset with changes in the way", "git reset -q --hard HEAD~1; echo other > $p.txt; work"],
  ["an older commit", "git checkout -q --detach HEAD~1; work"],
];

describe("history only grows", () => {
  test("a turn that rewrites it fails its attempt, and the branch is as it was", async () => {
    const rows = sampled(REWRITTEN);
    const { found, items, passed, status } = await inTurn(rows.map(([, script]) => script), async (one) => {
      const { world: { git }, failures, head, previous } = one;
      return {
        failures,
        branch: await git("branch", "--show-current"),
        grew: await git("merge-base", head, "HEAD") === head,
        before: await git("show", `HEAD:${previous}.txt`) === previous,
        readme: await git("show", "HEAD:README.md"),
        status: await git("status", "--porcelain"),
      };
    }, { once: true });

    expect([status, passed]).toEqual(["passed", items]);
    for (const [at, [name]] of rows.entries()) {
      expect(found[at], name).toEqual({
        failures: [expect.stringMatching(/the turn(, or a person meanwhile,)? (rewrote history|ended on)/)],
        branch: "main",
        grew: true,
        before: true,
        readme: "# x",
        status: "",
      });
    }
  });

  test("what the turn committed is kept under refs/ralph/lost", async () => {
    await using run = await ran("work; git add -A; git commit -q --amend -m mine");

    const ref = /refs\/ralph\/lost\/[\w.-]*\w/.exec(run.failures[0] ?? "")?.[0] ?? "";
    expect(await run.world.git("log", "-1", "--format=%s", ref)).toBe("mine");
  });

  test("nothing is called kept where the turn committed nothing", async () => {
    const rows = [
      ["goes back", "git checkout -q --detach HEAD~1"],
      ["resets the branch", "git reset -q --hard HEAD~1"],
      ["goes onto a new branch", "git switch -qc side"],
    ] as const;
    const { found } = await inTurn(rows.map(([, script]) => `${script}; work`), async ({ world, failures }) => ({
      failure: failures[0],
      refs: await world.git("for-each-ref", "--format=%(refname)", "refs/ralph/lost"),
    }), { once: true });

    for (const [at, [name]] of rows.entries()) {
      expect(found[at]?.failure, name).toMatch(/the turn(, or a person meanwhile,)? (rewrote history|ended on)/);
      expect(found[at]?.failure, name).not.toContain("kept");
      expect(found[at]?.refs.split("\n").filter((ref) => !/^$|-tree$/.test(ref)), name).toEqual([]);
    }
  });

  test("changes that were in the way are kept as well", async () => {
    await using run = await ran("git reset -q --hard HEAD~1; echo other > a.txt; work");

    const refs = await run.world.git("for-each-ref", "--format=%(refname)", "refs/ralph/lost");
    expect(await run.world.git("show", `${refs.split("\n").find((ref) => ref.endsWith("-tree"))}:a.txt`)).toBe("other");
  });

  const HONEST: readonly (readonly [name: string, script: string])[] = [
    ["amends its own commit", "echo x > $i.txt; git add -A; git commit -qm b; work; git commit -qa --amend -m b2"],
    [
      "rebases its own commits",
      "git commit -q --allow-empty -m one; work; git add -A; git commit -qm b; git rebase -q HEAD~2",
    ],
    ["resets its own commit", "work; git add -A; git commit -qm b; git reset -q HEAD~1"],
    [
      "merges its own branch back",
      "git switch -qc side; work; git add -A; git commit -qm b; git switch -q main; git merge -q --no-ff -m merge side",
    ],
    [
      "uses a worktree",
      "git worktree add -q ../wt$$ -b wt; (cd ../wt$$; work; git add -A; git commit -qm b); git merge -q wt; git worktree remove --force ../wt$$",
    ],
    ["makes empty commits", "git commit -q --allow-empty -m nothing; work"],
    ["stashes and takes its own work again", "work; git add -A; git stash -q; git stash pop -q"],
  ];
  test("an agent that rewrites its own work alone passes", async () => {
    const rows = sampled(HONEST);
    const { found, items, passed, status } = await inTurn(rows.map(([, script]) => script), async (one) => ({
      failures: one.failures,
      committed: await one.world.git("show", `HEAD:${one.item}.txt`) === one.item,
      refs: await one.world.git("for-each-ref", "refs/ralph"),
    }), { once: true });

    expect([status, passed]).toEqual(["passed", items]);
    for (const [at, [name]] of rows.entries()) {
      expect(found[at], name).toMatchObject({ failures: [], committed: true });
    }
    expect(found.at(-1)?.refs).toBe(""); // after the run: what any of them had lost would be there
  });

  test("what a failed attempt at the same item committed may be rewritten", async () => {
    await using world = await loopWorld(async ({ cwd }, number) => {
      const commit = number === 1 ? "git commit -q -m half" : "git commit -q --amend -m whole";
      const file = number === 1 ? "half" : "a";
      execFileSync("sh", ["-c", `echo x > ${file}.txt; git add -A; ${commit}`], { cwd });
      return { lines: ["<ralph>DONE</ralph>"] };
    });

    const outcome = await runLoop(world.ralph, memoryBacklog([ITEMS[0]!]));

    expect(outcome).toMatchObject({ status: "passed", iterations: 2 });
    expect(await world.git("log", "--format=%s")).toBe("whole\nstart");
  });

  test("the first attempt of the next item cannot rewrite what an earlier one committed", async () => {
    await using run = await ran("git commit -q --amend -m mine; work", {
      first: `${WORK}; git add -A; git commit -qm a`,
    });

    expect(run.failures[0]).toContain("rewrote history");
    expect(await run.world.git("log", "--format=%s")).not.toContain("mine");
  });
});

describe("what a turn does to other refs", () => {
  const BASE = "git branch base";
  test("a branch that it moves onto its own commit is back, and named", async () => {
    const rows = [
      ["update-ref", "work; git add -A; git commit -qm b; git update-ref refs/heads/base HEAD"],
      [
        "a checkout",
        "git switch -q base; echo x > evil.txt; git add -A; git commit -qm evil; git switch -q main; work",
      ],
      ["branch --force", "work; git add -A; git commit -qm b; git branch -qf base HEAD"],
    ] as const;
    const { found, items, passed, status } = await inTurn(rows.map(([, script]) => script), async (one) => ({
      base: await one.world.git("log", "-1", "--format=%s", "base"),
      notes: one.notes,
    }), { setup: BASE, once: true });

    expect([status, passed]).toEqual(["passed", items]);
    const back = /the turn moved the branch base onto its own commit [0-9a-f]{10}: it is back at/;
    for (const [at, [name]] of rows.entries()) {
      expect(found[at], name).toEqual({ base: "start", notes: expect.stringMatching(back) });
    }
  });

  test("a branch that a person moves meanwhile, and one that the turn makes, stay", async () => {
    const person = "env -u GIT_CONFIG_PARAMETERS git commit-tree -m theirs -p base base^{tree}";
    await using run = await ran(`git update-ref refs/heads/base $(${person}); git branch made; work`, { setup: BASE });

    expect(await run.world.git("log", "-1", "--format=%s", "base")).toBe("theirs");
    expect(await run.world.git("branch", "--list", "made")).toContain("made");
    expect(run.notes).not.toContain("moved the branch");
  });

  test("an object that it replaces for a person's git is as it was, and named", async () => {
    await using run = await ran(
      "git replace $(git rev-parse HEAD:other.txt) $(echo evil | git hash-object -w --stdin); work",
    );

    expect(await run.world.git("replace", "--list")).toBe("");
    expect(await run.world.git("show", "HEAD:other.txt")).toBe("other");
    expect(run.notes).toContain("(git replace): it is as it was");
  });
});

describe("what hides changes or is left in progress", () => {
  test.each([["assume-unchanged"], ["skip-worktree"]])("--%s is cleared and reported", async (flag) => {
    await using run = await ran(`work; git update-index --${flag} other.txt; echo hidden >> other.txt`);

    expect(run.notes).toContain("the turn hid changes by index flags, which were cleared: other.txt");
    expect(await run.world.git("ls-files", "-v", "other.txt")).toBe("H other.txt");
    expect(await run.world.git("show", "HEAD:other.txt")).toBe("other\nhidden");
  });

  test("flags that a person has set stay", async () => {
    const setup = "git update-index --assume-unchanged other.txt; echo local >> other.txt";
    await using run = await ran("work; git add -A; git commit -qm b", { setup });

    expect(run.status).toBe("passed");
    expect(await run.world.git("ls-files", "-v", "other.txt")).toBe("h other.txt");
  });

  test("a sparse checkout keeps its own flags", async () => {
    const setup =
      "mkdir in out; echo i > in/i; echo o > out/o; git add -A; git commit -qm more; git sparse-checkout set in";
    await using run = await ran("work; git add -A; git commit -qm b", { setup });

    expect(run.status).toBe("passed");
    expect(await run.world.git("ls-files", "-v", "out/o")).toBe("S out/o");
    expect(existsSync(join(run.world.root, "out/o"))).toBe(false);
  });

  const CONFLICT =
    "git switch -qc side$i HEAD~1; echo s > $p.txt; git add -A; git commit -qm side; git switch -q main;";
  const LEFT = sampled([
    ["merge", `${CONFLICT} git merge -q side$i; echo both > $p.txt; work`],
    [
      "merge",
      "git switch -qc side$i; work; git add -A; git commit -qm b; git switch -q main; git merge -q --no-ff --no-commit side$i",
    ],
    ["cherry-pick", `${CONFLICT} git cherry-pick side$i; echo both > $p.txt; work`],
    ["rebase", `${CONFLICT} git switch -q side$i; git rebase -q main; git switch -q main; work`],
    ["bisect", "work; git bisect start"],
  ]);

  test("what is in progress is ended, and the run continues", async () => {
    const scripts = LEFT.map(([, script]) => `{ ${script}; } || true`);
    const { found, items, passed, status } = await inTurn(scripts, async ({ world: { git }, item, notes }) => ({
      notes,
      branch: await git("branch", "--show-current"),
      status: await git("status", "--porcelain"),
      committed: await git("show", `HEAD:${item}.txt`) === item,
    }), { once: true });

    expect([status, passed]).toEqual(["passed", items]);
    for (const [at, [operation]] of LEFT.entries()) {
      expect(found[at]?.notes).toContain(`the turn left a ${operation} in progress: it was ended`);
      expect([found[at]?.branch, found[at]?.committed], operation).toEqual(["main", true]);
      expect(found[at]?.status, operation).not.toMatch(/^(U.|.U|AA|DD)/m);
    }
  });
});

describe("a person's uncommitted work", () => {
  const DIRTY =
    "echo mine >> mine.txt; echo new > new.txt; printf '\\377\\000\\r\\n' > raw.bin; chmod 755 raw.bin; rm other.txt";
  const SWEEPS: readonly (readonly [name: string, script: string])[] = [
    ["swept into a commit", "work; git add -A; git commit -qm b"],
    [
      "swept into two commits and a merge",
      "git add -A; git commit -qm one; git switch -qc side; work; git add -A; git commit -qm b; git switch -q main; git merge -q --no-ff -m merge side",
    ],
    ["swept into a commit of its own", "git add -A; git commit -qm sweep; work"],
    ["stashed", "git stash -qu; work"],
    ["reverted", "git checkout -q -- .; git clean -fdq; work"],
    ["reset", "git reset -q --hard; rm -f new.txt raw.bin; work"],
    ["deleted", "rm -f mine.txt new.txt raw.bin; work"],
    ["deleted in a commit", "git rm -qf mine.txt; rm -f new.txt raw.bin; work; git add b.txt; git commit -qm b"],
    ["swept into an amended commit of Ralph's", "work; git add -A; git commit -q --amend -m mine"],
  ];
  test.each(sampled(SWEEPS))("%s: it is uncommitted as before, and reported", async (_name, script) => {
    await using run = await ran(script, { setup: DIRTY });
    const { world } = run;

    expect(run).toMatchObject({ status: "passed", passed: ["a", "b"] });
    expect((await world.git("status", "--porcelain")).split("\n").map((line) => line.trim()).sort()).toEqual([
      "?? new.txt",
      "?? raw.bin",
      "D other.txt",
      "M mine.txt",
    ]);
    expect(readFileSync(join(world.root, "mine.txt"), "utf8")).toBe("theirs\nmine\n");
    expect(readFileSync(join(world.root, "raw.bin"))).toEqual(Buffer.from([255, 0, 13, 10]));
    expect(await world.git("log", "--format=", "--name-only", "HEAD~2..HEAD")).not.toMatch(/mine|new|raw/);
    expect(run.notes).toMatch(/your uncommitted changes stay as they are, uncommitted \(kept as refs\/ralph\/kept\//);
    expect(run.notes).toMatch(/it is uncommitted again|which was restored/);
  });

  test("what else is in a commit that swept it stays, with author, message and hooks' changes", async () => {
    await using run = await ran("work; git add -A; git -c user.name=Agent commit -qm 'the subject' -m 'the body'", {
      setup: DIRTY,
      squash: false,
    });

    const { world } = run;
    expect(run.failures).toEqual([]);
    expect(await world.git("log", "-1", "--format=%an|%s|%b", "--", "b.txt")).toBe("Agent|the subject|the body");
  });

  test("any other content is newer work: it stays, is named, and is not committed", async () => {
    await using run = await ran("work; echo agent >> mine.txt", { setup: DIRTY });

    expect(run.status).toBe("failed"); // both items are done, and work of one of them is in no commit
    expect(readFileSync(join(run.world.root, "mine.txt"), "utf8")).toBe("theirs\nmine\nagent\n");
    expect(await run.world.git("show", "HEAD:mine.txt")).toBe("theirs");
    expect(run.notes).toContain(
      "changed while the turn ran, by it or a person, and not committed: mine.txt (`git show",
    );
    expect(run.uncommitted).toEqual(["mine.txt"]);
  });

  test("a commit of the agent's own part leaves the rest alone", async () => {
    const script =
      "work; git stash -q -- mine.txt; echo agent > agent.txt; git add agent.txt b.txt; git commit -qm b; git stash pop -q";
    await using run = await ran(script, { setup: "echo mine >> mine.txt" });

    expect(run.status).toBe("passed");
    expect(await run.world.git("show", "HEAD:agent.txt")).toBe("agent");
    expect(run.notes).not.toContain("restored");
    expect(await run.world.git("status", "--porcelain")).toBe("M mine.txt");
  });

  test("without a commit before, the first one may take the project", async () => {
    const script = "work; git add -A; git commit -qm first";
    await using run = await ran("work", {
      first: script,
      setup: "rm -rf .git; git init -q -b main; git config user.name a; git config user.email a@example.invalid",
    });

    expect(run).toMatchObject({ status: "passed", passed: ["a", "b"] });
    expect(await run.world.git("show", "HEAD:a.txt")).toBe("a");
    expect(await run.world.git("show", "HEAD:mine.txt")).toBe("theirs");
  });

  test("is committed where that person commits it while the turn runs", async () => {
    const theirs = "env -u GIT_CONFIG_PARAMETERS git commit -qm theirs -- mine.txt";
    await using run = await ran(`work; ${theirs}`, { setup: "echo mine >> mine.txt" });

    expect(run).toMatchObject({ status: "passed", passed: ["a", "b"] });
    expect(await run.world.git("log", "--format=%s", "--", "mine.txt")).toMatch(/^theirs\n/);
    expect(await run.world.git("status", "--porcelain")).toBe("");
  });

  test("what was staged is staged again", async () => {
    await using run = await ran("work; git commit -qam all", { setup: "echo s > staged.txt; git add staged.txt" });

    expect(await run.world.git("status", "--porcelain")).toBe("A  staged.txt");
  });

  test("its content can be read from the ref", async () => {
    await using run = await ran("work; echo lost > mine.txt", {
      first: "work; echo older > mine.txt",
      setup: DIRTY,
    });

    const ref = await run.world.git("for-each-ref", "--format=%(refname)", "refs/ralph/kept");
    expect(await run.world.git("show", `${ref}:mine.txt`)).toBe("theirs\nmine");
  });

  test("a file that is too large is named, taken out of commits, and never lost silently", async () => {
    const setup = "head -c 6000000 /dev/zero > large.bin";
    await using run = await ran("work; git add -A; git commit -qm b", { setup });

    expect(run.notes).toContain("if a turn changes or removes it: large.bin");
    expect(await run.world.git("status", "--porcelain")).toBe("?? large.bin");
  });

  test("a symbolic link comes back as one", async () => {
    await using run = await ran("rm link; work", { setup: "ln -s README.md link" });

    expect(await run.world.git("status", "--porcelain")).toBe("?? link");
    expect(execFileSync("readlink", [join(run.world.root, "link")], { encoding: "utf8" })).toBe("README.md\n");
  });
});

describe("names, hooks and programs of the repository", () => {
  test("a name that is not UTF-8 is named, and never ends a run", needs("Linux"), async () => {
    await using run = await ran(`work; printf x > "$(printf 'bad\\377.txt')"`);

    expect(run).toMatchObject({ status: "passed", passed: ["a", "b"], failures: [] });
    expect(run.notes).toContain("not compared and not committed, since the name is not UTF-8: bad\uFFFD.txt");
    expect(await runLoop(await run.world.again(), memoryBacklog(ITEMS))).toMatchObject({ status: "passed" });
  });

  test("one that the agent commits is no obstacle either", needs("Linux"), async () => {
    await using run = await ran(`work; printf x > "$(printf 'bad\\377.txt')"; git add -A; git commit -qm b`);

    expect(run).toMatchObject({ status: "passed", passed: ["a", "b"], failures: [] });
  });

  test(
    "one of a person's that the agent commits, or deletes in a commit, is uncommitted again",
    needs("Linux"),
    async () => {
      const names = "old=\"$(printf 'old\\377.txt')\"; new=\"$(printf 'n\\303(.txt')\"";
      const setup =
        `${names}; echo o > "$old"; git add "$old"; git commit -qm old; echo mine >> "$old"; echo mine > "$new"`;
      await using run = await ran(`${names}; work; git add -A; git commit -qm b; git rm -q "$old"; git commit -qm c`, {
        setup,
      });

      expect(run).toMatchObject({ status: "passed", passed: ["a", "b"], failures: [] });
      expect(run.notes).toContain("it is uncommitted again: n\uFFFD(.txt, old\uFFFD.txt");
      expect(await run.world.git("log", "--format=%s", "--", "old*")).toBe("old");
      expect(await run.world.git("log", "--format=%s", "--", "n*")).toBe("");
      expect(await run.world.git("show", "HEAD:b.txt")).toBe("b");
    },
  );

  test("the repository's fsmonitor is not asked", async () => {
    const setup = "printf '#!/bin/sh\\ntouch ../asked; printf token\\\\0\\n' > .git/monitor; chmod +x .git/monitor";
    await using run = await ran("work", { setup: `${setup}; git config core.fsmonitor "$PWD/.git/monitor"` });

    expect(run.status).toBe("passed");
    expect(await run.world.git("show", "HEAD:b.txt")).toBe("b");
    expect(existsSync(join(run.world.root, "../asked"))).toBe(false);
  });

  test("refs of a run go with its folder", async () => {
    await using run = await ran("work; git add -A; git commit -q --amend -m mine", { setup: "echo mine >> mine.txt" });
    const { world } = run;
    expect((await world.git("for-each-ref", "refs/ralph")).split("\n")).toHaveLength(2);

    await world.write("ralph.config.json", JSON.stringify({ logs: { keep: 1 } }));
    await runLoop(await world.again(), memoryBacklog([]));

    expect(await world.git("for-each-ref", "--format=%(refname)", "refs/ralph/lost")).toBe("");
  });

  test("a pre-commit hook that reformats is honest work", async () => {
    await using run = await ran("work; git add -A; git commit -qm b", {
      setup:
        "printf '#!/bin/sh\\necho formatted >> b.txt; git add b.txt 2>/dev/null; true\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; rm -f b.txt",
    });

    expect(run.failures).toEqual([]);
  });

  test("a file that becomes an empty folder is a file that is gone", async () => {
    await using run = await ran("work; rm mine.txt; mkdir -p mine.txt/deep");

    expect(run.status, run.notes).toBe("passed");
    expect(await run.world.git("ls-tree", "--name-only", "HEAD")).not.toContain("mine.txt");
    expect(existsSync(join(run.world.root, "mine.txt/deep"))).toBe(true);
  });
});
