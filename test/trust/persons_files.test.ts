import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { markingEnvironment } from "../../lib/git/turn_mark.ts";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { type LoopOptions, runLoop } from "../../lib/loop/run/run_loop.ts";
import { loopWorld, type World } from "../loop/loop_world.ts";
import { needs } from "../needs.ts";
import { inTurn } from "./in_turn.ts";
import { cheatWorld, WORKFLOWS } from "./workflows.ts";

const ITEMS = [
  { id: "a", title: "write a.txt", checks: ["test -f a.txt"] },
  { id: "b", title: "write b.txt", checks: ["test -f b.txt"] },
];

interface Ran extends AsyncDisposable {
  readonly world: World;
  readonly status: string;
  readonly passed: readonly string[];
  readonly notes: string;
}

/** A loop over two items: honest work at the first one, `script` at the second. */
async function ran(
  script: string,
  { setup, checks = [], verify = {}, ...options }: Pick<LoopOptions, "hooks" | "workers"> & {
    readonly setup: string;
    /** The setups of each item come before its own. */
    readonly checks?: readonly string[];
    readonly verify?: { readonly default?: readonly string[] };
    readonly script?: string;
  },
): Promise<Ran> {
  const world = await loopWorld(async ({ cwd, environment }) => {
    const item = environment["RALPH_ITEM"] ?? "";
    const env = { ...process.env, ...environment, HOME_TREE: world.root }; // by it a turn's commits are told from a person's
    const work = `work() { echo ${item} > ${item}.txt; }; ${item === "a" ? "work" : script}`;
    execFileSync("sh", ["-c", work], { cwd, env, stdio: "pipe" });
    return { lines: ["<ralph>DONE</ralph>"] };
  }, { files: { "other.txt": "other\n" }, config: { verify: { ...verify } } });
  execFileSync("sh", ["-c", setup], { cwd: world.root, stdio: "pipe" });
  const items = ITEMS.map((item) => ({ ...item, checks: [...checks, ...item.checks] }));
  const { status, passed } = await runLoop(world.ralph, memoryBacklog(items), options);
  const notes = world.events.map((event) => event.type === "note" ? event.message : "").join("\n");
  return { world, status, passed, notes, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

describe("what git ignored before the turn", () => {
  const IGNORED =
    "printf '.env\\nkeys/\\n*.gen\\n' > .gitignore; git add .gitignore; git commit -qm ignore; echo secret > .env; mkdir keys; echo k > keys/k";
  const SCRIPTS: readonly (readonly [name: string, script: string])[] = [
    ["committed by the turn", "git add -f .env keys; work; git add $i.txt; git commit -qm b"],
    ["staged by the turn", "git add -f .env keys; work"],
    [
      "edited and committed by the turn",
      "echo more >> .env; echo more >> keys/k; git add -f .env keys; work; git commit -qam b",
    ],
    ["not ignored any more", ": > .gitignore; work"],
  ];

  test("and was there is a person's: whatever a turn does to it, it stays out of the commit", async () => {
    const { found, items, passed } = await inTurn(SCRIPTS.map(([, script]) => script), async ({ world, notes }) => ({
      committed: await world.git("log", "--format=", "--name-only", "--diff-filter=A"),
      notes,
      text: readFileSync(join(world.root, ".env"), "utf8"),
      indexed: await world.git("ls-files", ".env", "keys"),
    }), { setup: IGNORED });

    expect(passed).toEqual(items);
    for (const [at, [name]] of SCRIPTS.entries()) {
      expect(found[at]?.committed, name).not.toMatch(/env|keys/);
      expect(found[at]?.notes, name).toContain("ignored and there before the turn, so not committed: .env, keys/k");
      expect(found[at]?.text, name).toContain("secret\n");
      expect(found[at]?.indexed, name).toBe("");
    }
  });

  test("and the turn made is its work, where it adds that by force", async () => {
    const script = "echo g > b.gen; mkdir -p keys; echo n > keys/new; git add -f b.gen keys/new; work";
    await using run = await ran(script, { setup: IGNORED });

    expect(run).toMatchObject({ status: "passed", passed: ["a", "b"] });
    expect(await run.world.git("show", "--name-only", "--format=", "HEAD")).toBe("b.gen\nb.txt\nkeys/new");
  });

  test("stays on the disk where the item is given up on", async () => {
    const never = "git add -f .env; git commit -qm env; git add -f keys; echo half > half.txt";
    await using world = await loopWorld(async ({ cwd, environment }) => {
      execFileSync("sh", ["-c", never], { cwd, env: { ...process.env, ...environment }, stdio: "pipe" });
      return { lines: ["<ralph>DONE</ralph>"] };
    });
    execFileSync("sh", ["-c", IGNORED], { cwd: world.root });

    const run = await runLoop(world.ralph, memoryBacklog(ITEMS.slice(0, 1), { maxRetries: 1 }));

    expect(run.status).toBe("blocked");
    expect(readFileSync(join(world.root, ".env"), "utf8")).toBe("secret\n");
    expect(readFileSync(join(world.root, "keys/k"), "utf8")).toBe("k\n");
    expect(existsSync(join(world.root, "half.txt"))).toBe(false);
    expect(await world.git("log", "--format=%s")).toBe("ignore\nstart");
  });

  test("is named where a turn removes it", async () => {
    await using run = await ran("rm .env; work", { setup: IGNORED });

    expect(run.passed).toEqual(["a", "b"]);
    expect(run.notes).toContain("removed while the turn ran, and not kept, since git ignores them: .env");
  });

  test("is in no commit of a worker's either", async () => {
    const script = 'git add -f .env; echo "$f" > "$f.txt"; git add .; git commit -qm work';
    await using world = await loopWorld(async ({ cwd, environment }) => {
      const env = { ...process.env, ...environment, f: environment["RALPH_ITEM"] };
      execFileSync("sh", ["-c", script], { cwd, env, stdio: "pipe" });
      return { lines: ["<ralph>DONE</ralph>"] };
    }, { config: { workspace: { copy: [".env"] } } });
    execFileSync("sh", ["-c", IGNORED], { cwd: world.root });

    const run = await runLoop(world.ralph, memoryBacklog(ITEMS), { workers: 2 });

    expect(run.passed.toSorted()).toEqual(["a", "b"]);
    expect(await world.git("log", "--format=", "--name-only")).not.toContain("env");
    expect(readFileSync(join(world.root, ".env"), "utf8")).toBe("secret\n");
  });
});

describe("a change that a flag of the index hides is a person's", () => {
  const PAST_INDEX = "export GIT_INDEX_FILE=$PWD/.git/other; git read-tree HEAD; git add other.txt; " +
    "git update-ref HEAD $(git commit-tree -p HEAD -m b $(git write-tree))";
  const NAMED =
    /the turn removed it, and it is back: other\.txt|uncommitted again: other\.txt|was restored: other\.txt/;
  const SKIP: readonly (readonly [name: string, script: string])[] = [
    ["the turn deletes the index", "rm .git/index; work"],
    [
      "the turn clears it and commits all",
      "git update-index --no-skip-worktree other.txt; work; git add $i.txt; git commit -qam b",
    ],
    ["the turn clears it and leaves it so", "git update-index --no-skip-worktree other.txt; work"],
    [
      "the turn clears it, commits all and sets it again",
      "git update-index --no-skip-worktree other.txt; work; git commit -qam b; git update-index --skip-worktree other.txt",
    ],
    [
      "the turn clears it and checks the file out",
      "git update-index --no-skip-worktree other.txt; git checkout -q other.txt; work",
    ],
    ["the turn deletes the file", "rm other.txt; work"],
    ["the turn commits it past the index", `work; ${PAST_INDEX}`],
  ];
  const ASSUME: readonly (readonly [name: string, script: string])[] = [
    [
      "the turn clears it and commits all",
      "git update-index --no-assume-unchanged other.txt; work; git commit -qam b",
    ],
    [
      "the turn clears it, commits more of the file and sets it again",
      "git update-index --no-assume-unchanged other.txt; work; git add $i.txt; git commit -qam b; git update-index --assume-unchanged other.txt",
    ],
    ["the turn checks the file out behind it", "git checkout -q other.txt; work"],
  ];

  test.each([
    ["--skip-worktree", "S", SKIP],
    ["--assume-unchanged", "h", ASSUME],
  ])("and stays one whatever a turn does to it: %s", async (option, letter, scripts) => {
    const setup = `echo SECRET >> other.txt; git update-index ${option} other.txt`;
    const { found, items, passed } = await inTurn(scripts.map(([, script]) => script), async ({ world, notes }) => ({
      committed: await world.git("show", "HEAD:other.txt"),
      commits: await world.git("log", "--format=%s", "--", "other.txt"),
      text: readFileSync(join(world.root, "other.txt"), "utf8"),
      flag: await world.git("ls-files", "-v", "other.txt"),
      status: await world.git("status", "--porcelain"),
      notes,
    }), { setup, files: { "other.txt": "other\n" } });

    expect(passed).toEqual(items);
    for (const [at, [name]] of scripts.entries()) {
      expect(found[at], name).toEqual({
        committed: "other",
        commits: "start",
        text: "other\nSECRET\n",
        flag: `${letter} other.txt`,
        status: "",
        notes: expect.stringMatching(NAMED),
      });
    }
  });
});

const STAGED = "echo STAGED >> other.txt; git add other.txt; echo WORK >> other.txt; echo in > in.txt; " +
  "git add in.txt; rm in.txt; git rm -q --cached README.md; git update-index --chmod=+x mode.txt";

/** All that is staged, and how it differs from HEAD and the files. */
const SHOW = "git ls-files -s; git show :other.txt; cat other.txt; git status --porcelain | grep -v '??'";

test("a person's file that turns of a parked item have changed is named at the end, with how it was", async () => {
  await using world = await loopWorld(({ cwd }, number) => {
    execFileSync("sh", ["-c", `echo agent${number} > other.txt`], { cwd });
    return Promise.resolve({ lines: ["<ralph>DONE</ralph>"] });
  }, { files: { "other.txt": "other\n" } });
  execFileSync("sh", ["-c", "echo mine > other.txt"], { cwd: world.root });

  const { status, notices } = await runLoop(world.ralph, memoryBacklog(ITEMS.slice(0, 1), { maxRetries: 1 }));

  expect(status).toBe("blocked");
  const named = notices.filter(({ kind, subject }) => kind === "leftover" && subject === "other.txt");
  expect(named).toHaveLength(1);
  const shown = /`(git show \S+)`/.exec(named[0]!.message)![1]!;
  expect(execFileSync("sh", ["-c", shown], { cwd: world.root, encoding: "utf8" })).toBe("mine\n");
});

describe("what is not committed", () => {
  test("a private folder comes back as one", needs("a POSIX system"), async () => {
    const setup = "mkdir -m 700 private; mkdir -m 750 private/in; echo k > private/in/k";
    await using run = await ran("git clean -qfd; work", { setup });

    const modes = ["private", "private/in"].map((name) => statSync(join(run.world.root, name)).mode & 0o777);
    expect(modes).toEqual([0o700, 0o750]);
    expect(readFileSync(join(run.world.root, "private/in/k"), "utf8")).toBe("k\n");
  });

  test("stays private where a turn changes the mode of the file alone", needs("a POSIX system"), async () => {
    const setup = "echo k > key; chmod 600 key; echo other >> other.txt; chmod 640 other.txt";
    await using run = await ran("chmod 644 key other.txt; work", { setup });

    const modes = ["key", "other.txt"].map((name) => statSync(join(run.world.root, name)).mode & 0o777);
    expect(modes).toEqual([0o600, 0o640]);
    expect(run.status).toBe("passed");
  });

  test(
    "under a name that is not UTF-8 is back where a turn removes or reverts it, and a newer version stays",
    needs("Linux"),
    async () => {
      const names = "new=\"$(printf 'n\\377.txt')\"; old=\"$(printf 'o\\377.txt')\"; more=\"$(printf 'm\\377.txt')\"";
      const setup = `${names}; echo o > "$old"; echo m > "$more"; git add "$old" "$more"; git commit -qm old; ` +
        'for name in "$old" "$more" "$new"; do echo mine > "$name"; done';
      await using run = await ran(`${names}; work; rm "$new"; git checkout -q "$old"; echo newer > "$more"`, { setup });

      expect(run).toMatchObject({ status: "passed", passed: ["a", "b"] });
      expect(run.notes).toMatch(
        /changed or removed uncommitted work, which was restored: [no]\uFFFD.txt, [no]\uFFFD.txt$/m,
      );
      const shown = execFileSync("sh", ["-c", "cat n?.txt o?.txt m?.txt"], { cwd: run.world.root, encoding: "utf8" });
      expect(shown).toBe("mine\nmine\nnewer\n");
      expect(await run.world.git("status", "--porcelain")).toBe('M "m\\377.txt"\n M "o\\377.txt"\n?? "n\\377.txt"');
    },
  );

  test("inside of a submodule or a nested repository is named, once, as not kept", async () => {
    const setup = "git init -q ../lib; git -C ../lib -c user.name=a -c user.email=a@b commit -q --allow-empty -m l; " +
      "git -c protocol.file.allow=always submodule -q add $PWD/../lib sub; git commit -qam sub; echo n > sub/new; " +
      "git init -q nest; echo n > nest/n";
    await using run = await ran("work", { setup });

    const inside = "not kept: changes inside of submodules and nested repositories";
    expect(run.notes.split("\n").filter((line) => line.startsWith(inside))).toEqual([`${inside}: sub, nest`]);
    expect(run.status).toBe("passed");
  });
});

describe("what is staged and differs from the file is a person's", () => {
  const SCRIPTS: readonly (readonly [name: string, script: string])[] = [
    ["commits in the ordinary way", "work; git add $i.txt; git commit -qm b"],
    ["stages all", "work; git add -A"],
    ["commits all", "work; git add -A; git commit -qm b"],
    [
      "commits it, and takes that back in another commit",
      "git commit -qm one; git checkout -q HEAD~1 other.txt; work; git add -A; git commit -qm b",
    ],
    ["resets it", "git reset -q --hard; work"],
    ["unstages it and packs", "git reset -q; work; git reflog expire --expire=now --all; git gc -q --prune=now"],
    ["deletes the index", "rm .git/index; work"],
    ["leaves it alone", "work"],
    ["stages something else", "echo agent >> other.txt; git add -A; echo more >> other.txt; work"],
  ];

  test("and stays staged, and in no commit, whatever a turn does to it", async () => {
    const setup = `echo m > mode.txt; git add mode.txt; git commit -qm mode; ${STAGED}; { ${SHOW}; } > .git/before`;
    const clean = (text: string): string => text.split("\n").filter((line) => !/[ab]\d*\.txt$/.test(line)).join("\n");
    const { found, items, passed } = await inTurn(SCRIPTS.map(([, script]) => script), async ({ world }) => {
      const ref = await world.git("for-each-ref", "--format=%(refname)", "refs/ralph/kept/*.staged");
      return {
        before: readFileSync(join(world.root, ".git/before"), "utf8"),
        shown: execFileSync("sh", ["-c", SHOW], { cwd: world.root, encoding: "utf8" }),
        indexed: await world.git("show", ":other.txt"),
        kept: await world.git("show", `${ref}:other.txt`),
        committed: await world.git("log", "-p", "--format=", "main"),
      };
    }, { setup, files: { "other.txt": "other\n" } });

    expect(passed).toEqual(items);
    for (const [at, [name, script]] of SCRIPTS.entries()) {
      const one = found[at];
      if (!script.includes("agent")) expect(clean(one?.shown ?? ""), name).toBe(clean(one?.before ?? "none"));
      expect([one?.indexed, one?.kept], name).toEqual(["other\nSTAGED", "other\nSTAGED"]);
      expect(one?.committed, name).not.toMatch(/STAGED|in\.txt|mode 100755|deleted file/);
    }
  });

  test("and may be staged anew by that person while the turn runs", async () => {
    const theirs = "echo NEWER > other.txt; env -u GIT_CONFIG_PARAMETERS git add other.txt; echo WORK > other.txt";
    await using run = await ran(`work; ${theirs}`, { setup: STAGED.replace(/;[^;]*$/, "") });

    expect(await run.world.git("show", ":other.txt")).toBe("NEWER");
  });

  test.each(WORKFLOWS)("in no commit of $name", async (workflow) => {
    const script = "echo done > done.txt; git add done.txt; git commit -qm done";
    await using world = await cheatWorld(
      workflow,
      async ({ root }) => {
        if (!existsSync(join(root, "done.txt"))) {
          const env = { ...process.env, ...await markingEnvironment(world.ralph.repository!) };
          execFileSync("sh", ["-c", script], { cwd: root, env });
        }
      },
      {},
      { "other.txt": "other\n" },
    );
    execFileSync("sh", ["-c", STAGED.split("; echo in")[0]!], { cwd: world.root });

    await workflow.run(world.ralph, {});

    expect(await world.git("log", "--format=%s", "--", "done.txt")).not.toBe("");
    expect(await world.git("log", "-p", "--format=", "-S", "STAGED")).toBe("");
    expect(await world.git("status", "--porcelain", "other.txt")).toBe("MM other.txt");
  });
});

describe("a person's uncommitted work is as it was, and the one that took it is blamed, where", () => {
  const WIPE = "git checkout -q other.txt; git clean -qfd -e '[ab].txt'";
  const TOOK = "changed or removed uncommitted work, which was restored: ";
  const setup = "echo PRECIOUS >> other.txt; mkdir new; echo PRECIOUS > new/mine; " +
    "git branch side $(git commit-tree HEAD^{tree} -p HEAD -m side)";
  const check = `${WIPE}; test -d .`;

  test.each<[string, string, Parameters<typeof ran>[1]]>([
    ["an item's check reverts and removes it", `the check \`${check}\``, { setup, checks: [check] }],
    ["a shared one does, before the first turn", `the check \`${check}\``, { setup, verify: { default: [check] } }],
    ["a hook before an item does", "the hook tidy", {
      setup,
      hooks: [{ id: "tidy", command: WIPE, when: "before", parallel: false }],
    }],
    ["a hook after the last item does", "the hook tidy", {
      setup,
      hooks: [{ id: "tidy", command: `${WIPE}; git branch -qD side`, parallel: false }],
    }],
    ["a worker's turn does", "a worker, or a person,", {
      setup,
      workers: 2,
      // Ralph's own git may hold the index
      script: `(cd "$HOME_TREE"; for i in 1 2 3 4 5 6 7 8 9; do git checkout -q other.txt && break; sleep 0.1; done; ` +
        "git clean -qfd -e '[ab].txt'); work",
    }],
  ])("%s", async (_name, by, { script = "work", ...options }) => {
    await using run = await ran(script, options);

    expect(run).toMatchObject({ status: "passed", passed: expect.arrayContaining(["a", "b"]) });
    const named = run.notes.split("\n").filter((line) => line.includes(`${by} ${TOOK}`)).join(); // a look may come between
    expect(["other.txt", "new/mine"].filter((path) => named.includes(path))).toEqual(["other.txt", "new/mine"]);
    expect(run.notes).not.toContain(`the turn ${TOOK}`);
    expect(readFileSync(join(run.world.root, "other.txt"), "utf8")).toBe("other\nPRECIOUS\n");
    expect(readFileSync(join(run.world.root, "new/mine"), "utf8")).toBe("PRECIOUS\n");
    expect(await run.world.git("status", "--porcelain")).toBe("M other.txt\n?? new/");
    expect(await run.world.git("log", "--format=", "--name-only")).not.toContain("mine");
    const refs = await run.world.git("for-each-ref", "--format=%(refname)");
    expect(refs).toMatch(/refs\/heads\/side|refs\/ralph\/lost\/.*\.side/);
    expect(refs.includes("refs/heads/side")).toBe(!run.notes.includes("while the hook tidy ran, side was removed"));
  });

  test.each([1, 2])("nothing touches it: nothing is said but where it is kept (%i at once)", async (workers) => {
    await using run = await ran("work", { setup, workers, checks: ["test -d ."], verify: { default: ["test -d ."] } });

    expect(run.status).toBe("passed");
    expect(run.notes.split("\n").filter((line) => /uncommitted|removed/.test(line))).toEqual(
      workers > 1 ? [] : [expect.stringContaining("your uncommitted changes stay as they are, uncommitted")],
    );
  });

  test("a person commits, or edits further, while a check runs: that stays", async () => {
    const edit =
      "git commit -qm mine other.txt; echo more >> other.txt; git commit -qm more other.txt; echo newer > new/mine";
    await using run = await ran("work", { setup, checks: [`test -f done || { touch done; ${edit}; }`] });

    expect(run.status).toBe("passed");
    expect(run.notes).not.toContain("restored");
    expect(readFileSync(join(run.world.root, "other.txt"), "utf8")).toBe("other\nPRECIOUS\nmore\n");
    expect(readFileSync(join(run.world.root, "new/mine"), "utf8")).toBe("newer\n");
  });
});
