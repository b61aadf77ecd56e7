import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { copied, madeOnce, type Project, ralphCli } from "./cli.ts";
import { killingGit, withRemote } from "./finish_world.ts";

const story = (id: string, file: string): object => ({
  id,
  title: `Write ${file}`,
  acceptanceCriteria: [`Verify: \`test -f ${file}\``],
  priority: 1,
  passes: false,
  notes: "",
});
const PRD = JSON.stringify({ branchName: "ralph/hello", userStories: [story("US-001", "a.txt")] });
const WORKER = "cat > /dev/null; echo a > a.txt; echo '<promise>COMPLETE</promise>'";

const finished = madeOnce(() =>
  ralphCli().dirty({ "scripts/ralph/prd.json": PRD }).agent("worker", WORKER)
    .args("run", "--agent-cmd", "worker", "--quiet").expectExit(0)
);

const finish = (root: string, ...args: string[]): ReturnType<typeof ralphCli> =>
  ralphCli(root).args("finish", "--approve", "finish", ...args);

describe("ralph finish --with-history", () => {
  test("pushes what is kept of the branch; a clone gets it, goes on and adds to it", async () => {
    const project = await finished();
    const bare = withRemote(project);
    const atRemote = (): string =>
      execFileSync("git", ["for-each-ref", "--format=%(refname)", "refs/ralph"], { cwd: bare, encoding: "utf8" });
    expect((await finish(project.root, "--merge", "--with-history").expectExit(2)).stderr).toContain(
      "pushes to a remote",
    );

    await finish(project.root, "--with-history").expectExit(0);

    expect(atRemote()).toBe("refs/ralph/archive/ralph/hello/1\n");
    const { root, git } = await ralphCli().without("repository").agent("worker", WORKER)
      .before(
        `git clone -q --branch ralph/hello ${bare} . && git config user.name B && git config user.email b@example.org`,
      )
      .args("restore", "--branch", "ralph/hello").expectExit(2);
    const restored = await ralphCli(root).args("restore", "--branch", "ralph/hello", "--with-history").expectExit(0);
    expect(restored.stdout).toContain("scripts/ralph/prd.json  from refs/ralph/archive/ralph/hello/1");
    const prd = join(root, "scripts/ralph/prd.json");
    const { userStories } = JSON.parse(readFileSync(prd, "utf8"));
    expect(userStories[0].passes).toBe(true);
    writeFileSync(
      prd,
      JSON.stringify({ branchName: "ralph/hello", userStories: [...userStories, story("US-002", "b.txt")] }),
    );
    await ralphCli(root).agent("worker", WORKER.replaceAll("a.txt", "b.txt")).args(
      "run",
      "--agent-cmd",
      "worker",
      "--quiet",
    ).expectExit(0);
    await finish(root, "--with-history").expectExit(0);

    expect(atRemote()).toBe("refs/ralph/archive/ralph/hello/1\nrefs/ralph/archive/ralph/hello/2\n");
    expect(git("diff", "--name-only", "--diff-filter=d", "origin/main", "origin/ralph/hello").split("\n")).toEqual([
      "a.txt",
      "b.txt",
    ]);
  });

  test("a remote that refuses what is kept gets nothing, and says why", async () => {
    const project = await finished();
    const bare = withRemote(project);
    const hook = '#!/bin/sh\ncase "$1" in refs/ralph/*) echo no such refs here >&2; exit 1;; esac\n';
    writeFileSync(join(bare, "hooks/update"), hook, { mode: 0o755 });

    const { stderr } = await finish(project.root, "--with-history").expectExit(1);

    expect(stderr).toContain("no such refs here");
    expect(project.git("ls-remote", "origin", "refs/heads/ralph/hello")).toBe("");
    await finish(project.root).expectExit(0);
    expect(project.git("ls-remote", "origin", "refs/heads/ralph/hello")).not.toBe("");
  });
});

/** Adds a story to the state that was laid in, and runs. */
async function oneMore({ root }: Project, name: string): Promise<void> {
  await ralphCli(root).args("restore", "--branch", "ralph/hello").expectExit(0);
  const prd = join(root, "scripts/ralph/prd.json");
  const { userStories } = JSON.parse(readFileSync(prd, "utf8"));
  const stories = [...userStories, story(`US-00${userStories.length + 1}`, name)];
  writeFileSync(prd, JSON.stringify({ branchName: "ralph/hello", userStories: stories }));
  await ralphCli(root).agent("worker", WORKER.replaceAll("a.txt", name))
    .args("run", "--agent-cmd", "worker", "--quiet").expectExit(0);
}

const CONVENTION = ["a", "b", "c", "d", "e"].map((one) => `git commit -q --allow-empty -m 'fix: ${one}'`).join(";");

/** One story has passed on a branch of its own; its agent committed a part itself. */
const unfinished = madeOnce(() =>
  ralphCli().dirty({ "scripts/ralph/prd.json": PRD }).before(CONVENTION)
    .agent("worker", WORKER.replace("a.txt;", "a.txt; git add a.txt; git commit -qm wip;"))
    .args("run", "--agent-cmd", "worker", "--quiet").expectExit(0)
);

describe("ralph finish --clean-history", () => {
  test("makes one commit an item in the project's own form, keeps the old ones, and a second finish adds to them", async () => {
    const project = await unfinished();
    const { root, git } = project;
    withRemote(project);
    const before = git("rev-parse", "HEAD");
    expect((await finish(root, "--squash", "--clean-history").expectExit(2)).stderr).toContain("exclude each other");
    const dry = await ralphCli(root).args("finish", "--clean-history", "--dry-run").expectExit(0);
    expect(dry.stdout).toContain("\n  feat: write a.txt\nverdict ");
    expect(git("rev-parse", "HEAD")).toBe(before);

    await finish(root, "--clean-history").expectExit(0);

    const first = git("rev-parse", "HEAD");
    expect(git("log", "--format=%B%an", "main..HEAD")).toBe("feat: write a.txt\n\n- wip\nAda");
    expect(git("diff", "--name-only", "main", "HEAD")).toBe("a.txt");
    expect(git("rev-parse", "refs/ralph/archive/ralph/hello/1^2")).toBe(before);
    expect(JSON.parse(git("notes", "--ref=ralph", "show", first))).toMatchObject({ status: "passed", commit: first });
    expect([git("status", "--porcelain"), git("rev-parse", "origin/ralph/hello")]).toEqual(["", first]);
    const review = await ralphCli(root).args("report", "--for", "review").expectExit(0);
    const again = await ralphCli(root).args("finish", "--dry-run", "--clean-history").expectExit(0);
    for (const { stdout } of [review, again]) {
      expect(stdout).toContain(`All of this speaks of ${first.slice(0, 10)}, and its base`);
      expect(stdout).toContain(`verified (${first.slice(0, 10)})`);
      expect(stdout).not.toContain(before.slice(0, 10));
    }
    expect(again.stdout).not.toContain("has moved since");

    await oneMore(project, "b.txt");
    await finish(root, "--clean-history").expectExit(0);

    expect(git("log", "--format=%s", `${first}..origin/ralph/hello`)).toBe("feat: write b.txt");
    expect(git("diff", "--name-only", "main", "origin/ralph/hello")).toBe("a.txt\nb.txt");
  });

  test("counts the commit by which an earlier finish took the state away as Ralph's", async () => {
    const { root, git } = await unfinished();
    await finish(root, "--merge").expectExit(0);
    git("switch", "-q", "ralph/hello");
    git("branch", "-f", "main", "main~1");

    await finish(root, "--merge", "--clean-history").expectExit(0);

    expect(git("log", "--format=%s", "main^1..main^2")).toBe("feat: write a.txt");
  });

  /** How a branch gets a commit that is not Ralph's alone. */
  const OTHERS: Readonly<Record<string, (git: Project["git"]) => void>> = {
    "is not Ralph's": (git) => {
      writeFileSync(join(git("rev-parse", "--show-toplevel"), "a.txt"), "mine\n");
      git("commit", "-qam", "ralph: record the run (mine)");
    },
    "another branch or tag has it": (git) => git("tag", "kept"),
    "is a merge": (git) => {
      git("switch", "-q", "main");
      git("commit", "-q", "--allow-empty", "-m", "fix: f");
      git("switch", "-q", "ralph/hello");
      git("merge", "-q", "--no-edit", "main");
    },
    "is signed": (git) => {
      const tree = git("rev-parse", "HEAD^{tree}");
      const who = "B <b@example.org> 1700000000 +0000";
      const text = `tree ${tree}\nparent ${
        git("rev-parse", "HEAD")
      }\nauthor ${who}\ncommitter ${who}\ngpgsig x\n\nsigned\n`;
      writeFileSync(join(git("rev-parse", "--absolute-git-dir"), "raw"), text);
      git(
        "reset",
        "-q",
        "--hard",
        git("hash-object", "-t", "commit", "-w", join(git("rev-parse", "--absolute-git-dir"), "raw")),
      );
    },
  };

  test.each(Object.keys(OTHERS))("changes nothing where a commit %s", async (why) => {
    const { root, git } = await unfinished();
    OTHERS[why]!(git);
    const before = git("rev-parse", "HEAD");

    const { stderr } = await finish(root, "--clean-history").expectExit(2);

    expect(stderr).toMatch(new RegExp(`${git("rev-parse", "--short=10", "HEAD")}.* ${why}`));
    expect([git("rev-parse", "HEAD"), git("for-each-ref", "refs/ralph/archive")]).toEqual([before, ""]);
  });

  test(
    "killed at any step, the same command ends at the same commit, and keeps the state once",
    { timeout: 300_000 },
    async () => {
      const made = await unfinished();
      const whole = copied(made.root);
      await finish(whole.root, "--clean-history").expectExit(0);
      const expected = whole.git("rev-parse", "main^2");
      const steps = [["update-ref refs/ralph/archive", "after"], ["update-index --force-remove", "after"], [
        "update-ref -m ralph: clean",
        "before",
      ], ["update-ref -m ralph: clean", "after"]] as const;

      for (const [pattern, when] of steps) {
        const { root, git } = copied(made.root);
        await finish(root, "--clean-history").env(killingGit(root, pattern, when)).start().ended();
        expect(existsSync(`${root}-bin/killed`), `${when} ${pattern}`).toBe(true);

        await finish(root, "--clean-history").expectExit(0);

        expect(git("rev-parse", "main^2"), `${when} ${pattern}`).toBe(expected);
        expect(git("for-each-ref", "--format=%(refname)", "refs/ralph/archive")).toBe(
          "refs/ralph/archive/ralph/hello/1",
        );
        expect(git("show", "refs/ralph/archive/ralph/hello/1:scripts/ralph/prd.json")).toContain('"passes": true');
        expect(git("status", "--porcelain")).toBe("");
      }
    },
  );
});

describe("ralph finish, where a command holds a token", () => {
  const TOKEN = "abcdef-123456-token";
  const secret = { SERVICE_TOKEN: TOKEN };
  const withToken = madeOnce(() => {
    const prd = PRD.replace("test -f a.txt", `test -n ${TOKEN} && test -f a.txt`);
    return ralphCli().dirty({ "scripts/ralph/prd.json": prd }).agent("worker", WORKER).env(secret)
      .args("run", "--agent-cmd", "worker", "--quiet").expectExit(0);
  });

  const ignored = madeOnce(() =>
    ralphCli().files({ ".gitignore": "scripts/ralph\n" }).dirty({ "scripts/ralph/prd.json": PRD })
      .agent("worker", WORKER).args("run", "--agent-cmd", "worker", "--quiet").expectExit(0)
  );

  test("the last lines of a run show it masked in the command that goes on", async () => {
    const { stderr } = await ralphCli().dirty({ "scripts/ralph/prd.json": PRD }).env(secret)
      .args("run", "--agent-cmd", `echo ${TOKEN} > token; false`, "--quiet").expectExit(3);

    expect(stderr).toContain("echo *** > token; false");
    expect(stderr).not.toContain(TOKEN);
  });

  test("knows the check again, and shows it masked", async () => {
    const { root } = await withToken();

    const { stdout } = await ralphCli(root).env(secret).args("finish", "--dry-run").expectExit(0);

    expect(stdout).not.toContain("has moved since");
    expect(stdout).toContain("✓ Verify: `test -n *** && test -f a.txt`");
    expect(stdout).not.toContain(TOKEN);
  });

  test("does not let it leave in the history of the state without a person's yes", { timeout: 120_000 }, async () => {
    const project = await withToken();
    const { root, git } = project;
    const bare = withRemote(project);
    const all = (): string => execFileSync("git", ["log", "-p", "--all"], { cwd: bare, encoding: "utf8" });

    for (const how of [[], ["--draft"], ["--clean-history", "--with-history"]]) {
      const { stderr } = await finish(root, ...how).env(secret).expectExit(1);
      expect(stderr).toContain("holds a secret in plain: scripts/ralph/prd.json");
      expect(stderr).toContain(
        how.length < 2 ? "`--clean-history` leaves those commits out" : "leave `--with-history` out",
      );
    }
    expect(git("ls-remote", "origin", "refs/heads/ralph/hello")).toBe("");
    await finish(root, "--clean-history").env(secret).expectExit(0);

    expect(git("ls-remote", "origin", "refs/heads/ralph/hello")).not.toBe("");
    expect(all()).not.toContain(TOKEN);
  });

  test.each(["ignored", "not committed", "no text to git"])("nor in kept state that is %s", async (which) => {
    const project = await (which === "ignored" ? ignored : finished)();
    const { root, git } = project;
    const bare = withRemote(project);
    const notes = join(root, "scripts/ralph/progress.txt");
    writeFileSync(notes, `${readFileSync(notes, "utf8")}see ${TOKEN}${which === "no text to git" ? "\0" : ""}\n`);

    const { stderr } = await finish(root, "--with-history").env(secret).expectExit(1);

    expect(stderr).toContain("holds a secret in plain: scripts/ralph/progress.txt");
    expect(git("ls-remote", bare, "refs/heads/ralph/*", "refs/ralph/*")).toBe("");
  });

  test("nor in what a clean history has kept of such state", async () => {
    const project = await ignored();
    const { root, git } = project;
    const bare = withRemote(project);
    writeFileSync(join(root, "scripts/ralph/progress.txt"), `see ${TOKEN}\n`);
    await finish(root, "--clean-history").env(secret).expectExit(0);

    const { stderr } = await finish(root, "--with-history").env(secret).expectExit(1);

    expect(stderr).toContain("holds a secret in plain: scripts/ralph/progress.txt");
    expect(git("ls-remote", bare, "refs/ralph/*")).toBe("");
  });

  test("nor in the subject of an item's commit", async () => {
    const prd = PRD.replace("Write a.txt", `Write a.txt for ${TOKEN}`);
    const { git } = await ralphCli().dirty({ "scripts/ralph/prd.json": prd }).agent("worker", WORKER).env(secret)
      .args("run", "--agent-cmd", "worker", "--quiet").expectExit(0);
    expect(git("log", "--format=%s", "main..ralph/hello")).toContain("feat: US-001 - Write a.txt for ***");
  });

  test("a merge here takes it along as little", async () => {
    const { root, git } = await withToken();
    expect((await finish(root).env(secret).expectExit(1)).stderr).toContain("holds a secret in plain");
    await finish(root, "--squash").env(secret).expectExit(0);
    expect(git("log", "-p", "main")).not.toContain(TOKEN);
  });

  test("nor does one commit of all take along state that stays", async () => {
    const { root, git } = await withToken();
    writeFileSync(join(root, "ralph.config.json"), JSON.stringify({ finish: { state: "keep" } }));
    git("add", "ralph.config.json");
    git("commit", "-qm", "keep");

    const { stderr } = await finish(root, "--squash").env(secret).expectExit(1);

    expect(stderr).toContain("holds a secret in plain: scripts/ralph/prd.json");
    expect(stderr).toContain(
      "the branch keeps scripts/ralph/prd.json: take the secret out and commit",
    );
    expect(git("log", "-p", "main")).not.toContain(TOKEN);
  });

  test.each(["my app", "größe"])("nor a project in a folder named %s", async (folder) => {
    const state = `${folder}/scripts/ralph/prd.json`;
    const prd = PRD.replace("test -f a.txt", `test -n ${TOKEN} && test -f a.txt`);
    const project = await ralphCli().files({ [`${folder}/ralph.config.json`]: "{}" }).dirty({ [state]: prd })
      .agent("worker", WORKER).env(secret).in(folder).args("run", "--agent-cmd", "worker", "--quiet").expectExit(0);

    const { stderr } = await finish(project.root).in(folder).env(secret).expectExit(1);

    expect(stderr).toContain(`holds a secret in plain: ${state}`);
  });

  test("nor the message of a commit, which the list of commits shows masked", async () => {
    const { root, git } = await finished();
    git("commit", "-q", "--allow-empty", "-m", `fix: use ${TOKEN}`);

    const { stdout } = await finish(root, "--dry-run").env(secret).expectExit(0);
    const { stderr } = await finish(root).env(secret).expectExit(1);

    expect(stdout).toContain("  fix: use ***");
    expect(stdout).not.toContain(TOKEN);
    expect(stderr).toContain(`holds a secret in plain: the message of ${git("rev-parse", "--short", "HEAD").trim()}`);
    await finish(root, "--squash").env(secret).expectExit(0);
  });
});
