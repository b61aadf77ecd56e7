import { execFileSync } from "node:child_process";
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findFolders } from "../../lib/git/find_folders.ts";
import { mayHaveRefs } from "../../lib/git/run_git.ts";
import { openRepository } from "../../lib/git/open_repository.ts";
import { createHost } from "../../lib/host/create_host.ts";
import { temporaryDirectory } from "../../lib/host/files.ts";

const NONE = { variables: {} };

function git(cwd: string, ...arguments_: string[]): string {
  const identity = ["-c", "user.name=T", "-c", "user.email=t@example.invalid"];
  return execFileSync("git", [...identity, ...arguments_], { cwd, encoding: "utf8" }).trim();
}

/** git itself says this of a folder. */
function told(cwd: string): Record<string, string> {
  const lines = git(
    cwd,
    "rev-parse",
    "--path-format=absolute",
    "--show-toplevel",
    "--absolute-git-dir",
    "--git-common-dir",
    "--git-path",
    "ralph",
  ).split("\n");
  return { topLevel: lines[0]!, gitDirectory: lines[1]!, commonDirectory: lines[2]!, ralphDirectory: lines[3]! };
}

describe("findFolders()", () => {
  test("finds what git finds, from a subfolder and in a linked worktree", async () => {
    await using folder = await temporaryDirectory("find");
    const main = join(realpathSync(folder.path), "main");
    mkdirSync(join(main, "a/b"), { recursive: true });
    git(main, "init", "-q", "-b", "trunk");
    git(main, "commit", "-q", "--allow-empty", "-m", "x");
    git(main, "worktree", "add", "-q", "../linked", "-b", "side");

    for (const place of [main, join(main, "a/b"), join(main, "../linked")]) {
      expect(await findFolders(realpathSync(place), NONE)).toEqual(told(place));
    }
  });

  test("finds a linked worktree of a repository with a line break in its path", async () => {
    await using folder = await temporaryDirectory("find");
    const main = join(realpathSync(folder.path), "one\ntwo");
    mkdirSync(main);
    git(main, "init", "-q");
    git(main, "commit", "-q", "--allow-empty", "-m", "x");
    git(main, "worktree", "add", "-q", "../linked");
    const gitDirectory = join(main, ".git/worktrees/linked");

    expect(await findFolders(join(main, "../linked"), NONE)).toEqual({
      topLevel: join(main, "../linked"),
      gitDirectory,
      commonDirectory: join(main, ".git"),
      ralphDirectory: join(gitDirectory, "ralph"),
    });
  });

  test("leaves to git what is not plain: a submodule, a moved work tree, git's own variables, no repository", async () => {
    await using folder = await temporaryDirectory("find");
    const root = realpathSync(folder.path);
    git(root, "init", "-q", "moved");
    git(join(root, "moved"), "config", "core.worktree", join(root, "elsewhere"));
    mkdirSync(join(root, "sub"));
    writeFileSync(join(root, "sub/.git"), "gitdir: ../moved/.git/modules/sub\n");

    expect(await findFolders(join(root, "moved"), NONE)).toBeNull();
    expect(await findFolders(join(root, "sub"), NONE)).toBeNull();
    expect(await findFolders(root, NONE)).toBeNull();
    expect(await findFolders(root, { variables: { GIT_DIR: join(root, "moved/.git") } })).toBeNull();
  });

  test("takes no submodule, broken or unreadable `.git` for a part of the repository around it", async () => {
    await using folder = await temporaryDirectory("find");
    const root = realpathSync(folder.path);
    git(root, "init", "-q");
    git(root, "commit", "-q", "--allow-empty", "-m", "x");
    mkdirSync(join(root, ".git/modules"), { recursive: true }); // git 2.39 makes no folders above it
    git(root, "init", "-q", "--separate-git-dir", ".git/modules/lib", "lib");
    for (const name of ["text", "dangling", "empty"]) mkdirSync(join(root, name, "src"), { recursive: true });
    writeFileSync(join(root, "text/.git"), "no git file\n");
    writeFileSync(join(root, "dangling/.git"), "gitdir: ../nowhere\n");
    mkdirSync(join(root, "empty/.git"));
    mkdirSync(join(root, "lib/src"));

    for (const place of ["lib", "lib/src", "text", "dangling/src", "empty"]) {
      expect(await findFolders(join(root, place), NONE)).toBeNull();
    }
    const host = createHost();
    await using _processes = host.processes;
    expect((await openRepository(host, join(root, "lib/src")))?.topLevel).toBe(join(root, "lib"));
  });
});

test("currentBranch() names the branch, also before the first commit, and null when HEAD is detached", async () => {
  await using folder = await temporaryDirectory("branch");
  const host = createHost();
  await using _processes = host.processes;
  const root = realpathSync(folder.path);
  git(root, "init", "-q", "-b", "feature/x");
  const repository = await openRepository(host, root);

  expect(await repository?.currentBranch()).toBe("feature/x");
  git(root, "commit", "-q", "--allow-empty", "-m", "x");
  git(root, "checkout", "-q", "--detach");
  expect(await repository?.currentBranch()).toBeNull();
});

test("head() says where HEAD is: before the first commit, on a branch, packed, and detached", async () => {
  await using folder = await temporaryDirectory("head");
  const host = createHost();
  await using _processes = host.processes;
  const root = realpathSync(folder.path);
  git(root, "init", "-q", "-b", "feature/x");
  const repository = await openRepository(host, root);

  expect(await repository?.head()).toEqual({ branch: "feature/x", head: null });
  git(root, "commit", "-q", "--allow-empty", "-m", "x");
  const head = git(root, "rev-parse", "HEAD");
  expect(await repository?.head()).toEqual({ branch: "feature/x", head });
  git(root, "pack-refs", "--all");
  expect(await repository?.head()).toEqual({ branch: "feature/x", head });
  git(root, "checkout", "-q", "--detach");
  expect(await repository?.head()).toEqual({ branch: null, head });
});

describe("whether there may be refs, without a process", () => {
  test("a loose one, a packed one and one that a worktree made are seen; where there is none git is not asked", async () => {
    await using folder = await temporaryDirectory("ralph-refs-");
    const root = realpathSync(folder.path);
    const asked = (gitDirectory = join(root, ".git")) => mayHaveRefs(gitDirectory, "refs/ralph/work/");
    git(root, "init", "-q");
    git(root, "commit", "-q", "--allow-empty", "-m", "one");
    git(root, "pack-refs", "--all");
    expect(await asked()).toBe(false);
    git(root, "update-ref", "refs/ralph/work/a", "HEAD");
    expect(await asked()).toBe(true);
    git(root, "pack-refs", "--all");
    expect(await asked()).toBe(true);
    git(root, "update-ref", "-d", "refs/ralph/work/a");
    expect(await asked()).toBe(false);
    git(root, "worktree", "add", "-q", join(root, "tree"));
    git(join(root, "tree"), "update-ref", "refs/ralph/work/b", "HEAD");
    expect(await asked(join(root, ".git/worktrees/tree"))).toBe(true);
  });
});
