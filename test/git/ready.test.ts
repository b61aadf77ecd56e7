import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createGit } from "../../lib/git/run_git.ts";
import { describe, expect, test } from "vitest";
import { inTheWay } from "../../lib/git/land.ts";
import { openRepository } from "../../lib/git/open_repository.ts";
import { createHost } from "../../lib/host/create_host.ts";
import { temporaryDirectory } from "../../lib/host/files.ts";
import { recordingHost, temporaryRepository } from "./temporary_repository.ts";

describe("openRepository()", () => {
  test("is null outside a repository and in a bare one", async () => {
    await using folder = await temporaryDirectory("ralph-git-");
    execFileSync("git", ["init", "--quiet", "--bare", join(folder.path, "bare")]);

    expect(await openRepository(createHost(), folder.path)).toBeNull();
    expect(await openRepository(createHost(), join(folder.path, "bare"))).toBeNull();
  });

  test("says when there is no git", async () => {
    await using folder = await temporaryDirectory("ralph-git-");

    const opened = openRepository(recordingHost([], { PATH: folder.path }), folder.path);

    await expect(opened).rejects.toMatchObject({ code: "git-missing", exitCode: 2 });
  });

  test("passes on git's own words when it refuses the folder", async () => {
    await using project = await temporaryRepository({ "a": "1" });
    writeFileSync(join(project.path, ".git/config"), "[core\n");

    const opened = openRepository(createHost(), project.path).then((repository) => repository?.status());

    await expect(opened).rejects.toMatchObject({
      code: "git-failed",
      message: expect.stringMatching(/bad config/),
    });
  });

  test("takes no process and knows a worktree's own folders", async () => {
    await using project = await temporaryRepository({ "a": "1" });
    const tree = join(project.path, "tree");
    project.git("worktree", "add", "--quiet", tree, "-b", "second");
    const commands: string[] = [];

    const repository = (await openRepository(recordingHost(commands), tree))!;

    expect(commands).toEqual([]);
    expect(repository).toMatchObject({
      topLevel: tree,
      gitDirectory: join(project.path, ".git/worktrees/tree"),
      ralphDirectory: join(project.path, ".git/worktrees/tree/ralph"),
    });
    writeFileSync(join(tree, "a"), "2");
    const result = await repository.commit({ paths: ["a"], subject: "in the tree" });
    expect(result).toEqual({ status: "committed", commit: project.git("rev-parse", "second").trim() });
    expect(commands).toEqual(["status", "commit"]);
  });
});

describe("ensureReady()", () => {
  test("is content with a repository that can be committed to", async () => {
    await using project = await temporaryRepository({ "a": "1" });

    expect(await project.repository.ensureReady()).toBeNull();
  });

  test("wants an identity, from the configuration or the environment", async () => {
    await using project = await temporaryRepository({ "a": "1" });
    project.git("config", "--unset", "user.name");
    project.git("config", "--unset", "user.email");
    project.git("config", "user.useConfigOnly", "true");
    const bare = {
      HOME: "/nowhere",
      XDG_CONFIG_HOME: "/nowhere",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_AUTHOR_NAME: undefined,
      GIT_AUTHOR_EMAIL: undefined,
      GIT_COMMITTER_NAME: undefined,
      GIT_COMMITTER_EMAIL: undefined,
      EMAIL: undefined,
    };
    const given = {
      ...bare,
      GIT_AUTHOR_NAME: "a",
      GIT_AUTHOR_EMAIL: "a@x",
      GIT_COMMITTER_NAME: "c",
      GIT_COMMITTER_EMAIL: "c@x",
    };

    const without = (await openRepository(recordingHost([], bare), project.path))!;
    const withIdentity = (await openRepository(recordingHost([], given), project.path))!;

    await expect(without.ensureReady()).rejects.toMatchObject({
      code: "git-identity-missing",
      message: expect.stringMatching(/no email was given|auto-detection is disabled/),
    });
    await withIdentity.ensureReady();
  });

  test.each([
    ["merge", ["merge", "--quiet", "other"]],
    ["rebase", ["rebase", "--quiet", "other"]],
    ["cherry-pick", ["cherry-pick", "other"]],
  ])("refuses while a %s is in progress", async (operation, arguments_) => {
    await using project = await temporaryRepository({ "a": "1" });
    project.git("switch", "--quiet", "--create", "other");
    project.write({ "a": "2" });
    project.git("commit", "--quiet", "--all", "-m", "two");
    project.git("switch", "--quiet", "main");
    project.write({ "a": "3" });
    project.git("commit", "--quiet", "--all", "-m", "three");
    expect(() => project.git(...arguments_)).toThrow(/Command failed: git/);

    await expect(project.repository.ensureReady()).rejects.toMatchObject({
      code: "git-operation-in-progress",
      message: `a ${operation} is in progress in ${project.path}`,
    });
  });

  test("refuses during a bisect", async () => {
    await using project = await temporaryRepository({ "a": "1" });
    project.git("bisect", "start");

    await expect(project.repository.ensureReady()).rejects.toMatchObject({ details: { operation: "bisect" } });
  });
});

describe("lock files of git", () => {
  test("another program's lock is not taken for a file that is in the way of a landing", async () => {
    await using project = await temporaryRepository({ "a": "1" });
    const tip = project.git("rev-parse", "HEAD").trim();
    project.write({ "a": "2" });
    await project.repository.commit({ paths: ["a"], subject: "x" });
    const commit = project.git("rev-parse", "HEAD").trim();
    project.git("reset", "--quiet", "--hard", tip);
    const lock = join(project.path, ".git/index.lock");
    writeFileSync(lock, "");

    const look = inTheWay(project.repository, { tip, commit });

    await expect(look).rejects.toMatchObject({ code: "git-failed", message: expect.stringContaining("index.lock") });
    rmSync(lock);
    expect(await inTheWay(project.repository, { tip, commit })).toBe(null);
  });

  test.each([["index.lock"], ["HEAD.lock"], ["refs/heads/main.lock"]])(
    "somebody else's %s is waited for, then named, never touched",
    async (name) => {
      await using project = await temporaryRepository({ "a": "1" });
      const lock = join(project.path, ".git", name);
      writeFileSync(lock, "");
      project.write({ "a": "2" });

      await expect(project.repository.commit({ paths: ["a"], subject: "x" })).rejects.toMatchObject({
        code: "git-locked",
        details: { path: lock },
      });

      expect(project.slept()).toBe(5000);
      expect(existsSync(lock)).toBe(true);
    },
  );

  test.each([
    ["add", "b.txt"],
    ["reset", "--quiet", "a.txt"],
    ["checkout", "--quiet", "HEAD", "--", "a.txt"],
    ["rm", "--quiet", "--cached", "a.txt"],
    ["read-tree", "-m", "-u", "HEAD"],
    ["commit", "--quiet", "--allow-empty", "--message", "one"],
    ["update-ref", "refs/heads/other", "HEAD"],
  ])("that another tool holds while Ralph runs `git %s` are waited for", async (...command) => {
    await using project = await temporaryRepository({ "a.txt": "a\n" });
    project.write({ "a.txt": "A\n", "b.txt": "b\n" });
    const lock = join(project.path, ".git", command[0] === "update-ref" ? "refs/heads/other.lock" : "index.lock");
    writeFileSync(lock, "");
    const host = createHost();
    let pauses = 0;
    const clock = {
      ...host.clock,
      sleep: () => Promise.resolve(++pauses === 3 ? rmSync(lock) : undefined),
    };

    expect(await createGit({ ...host, clock }, project.path)(command)).toMatchObject({ exitCode: 0 });
    expect(pauses).toBe(3);
    writeFileSync(lock, "");
    expect((await createGit({ ...host, clock }, project.path)(command)).exitCode).not.toBe(0);
    expect(pauses).toBe(16);
  });

  test("a lock that goes away in time is no trouble", async () => {
    await using project = await temporaryRepository({ "a": "1" });
    const lock = join(project.path, ".git/index.lock");
    writeFileSync(lock, "");
    project.write({ "a": "2" });

    setTimeout(() => rmSync(lock), 20);

    expect(await project.repository.commit({ paths: ["a"], subject: "x" })).toMatchObject({ status: "committed" });
  });

  test.each([["index.lock"], ["HEAD.lock"], ["refs/heads/main.lock"]])(
    "a left-over %s of a killed Ralph is removed",
    async (name) => {
      await using project = await temporaryRepository({ "a": "1" });
      leaveIntent(project.repository.ralphDirectory, Date.now());
      const lock = join(project.path, ".git", name);
      writeFileSync(lock, "");

      await project.repository.ensureReady();

      expect(existsSync(lock)).toBe(false);
      expect(existsSync(join(project.repository.ralphDirectory, "git-intent.1.json"))).toBe(false);
    },
  );

  test("the lock of a ref's deletion that a killed Ralph left is removed; another program's is in no one's way", async () => {
    await using project = await temporaryRepository({ "a": "1" });
    project.git("update-ref", "refs/ralph/fold/1", "HEAD");
    const lock = join(project.path, ".git/packed-refs.lock");
    writeFileSync(lock, "");

    await project.repository.ensureReady();
    expect(existsSync(lock)).toBe(true);

    leaveIntent(project.repository.ralphDirectory, Date.now());
    await project.repository.ensureReady();

    expect(existsSync(lock)).toBe(false);
    expect((await project.repository.git(["update-ref", "-d", "refs/ralph/fold/1"])).exitCode).toBe(0);
    expect(readdirSync(project.repository.ralphDirectory).filter((name) => name.startsWith("git-intent"))).toEqual([]);
  });

  test("a lock from before the killed Ralph's commit is somebody else's", async () => {
    await using project = await temporaryRepository({ "a": "1" });
    leaveIntent(project.repository.ralphDirectory, Date.now());
    const lock = join(project.path, ".git/index.lock");
    writeFileSync(lock, "");
    utimesSync(lock, new Date(Date.now() - 60_000), new Date(Date.now() - 60_000));

    await expect(project.repository.ensureReady()).rejects.toMatchObject({ code: "git-locked" });
  });

  test("a git that outlived its Ralph is waited for", async () => {
    await using project = await temporaryRepository({ "a": "1" });
    const mark = `mark${Date.now()}`;
    leaveIntent(project.repository.ralphDirectory, Date.now(), mark);
    const lock = join(project.path, ".git/index.lock");
    writeFileSync(lock, "");
    const host = createHost();
    const git = host.processes.run({
      file: "sh",
      arguments: ["-c", `sleep 0.8; rm '${lock}'`],
      cwd: "/",
      guarded: false,
      environment: { RALPH_GIT: mark },
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    const repository = (await openRepository(host, project.path))!;

    await repository.ensureReady();

    expect(existsSync(lock)).toBe(false);
    expect((await git).stderr).toBe(""); // it found its lock
  });
});

function leaveIntent(ralphDirectory: string, since: number, mark = "nobody"): void {
  const path = join(ralphDirectory, "git-intent.1.json");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify({ pid: 1, started: "another boot:1", since, mark }));
}
