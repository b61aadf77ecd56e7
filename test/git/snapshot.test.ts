import { chmodSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { temporaryRepository } from "./temporary_repository.ts";

describe("changedSince()", () => {
  test("is empty when nothing happened, in one process each, dirty tree or not", async () => {
    await using project = await temporaryRepository({ "a.txt": "a\n", "b.txt": "b\n" });
    project.write({ "a.txt": "dirty\n", "untracked.txt": "u\n" });

    const before = await project.repository.snapshot();
    const { paths } = await project.repository.changedSince(before);

    expect(paths).toEqual([]);
    expect(project.commands).toEqual(["status", "status"]);
  });

  test("tells every kind of change, sorted", async () => {
    await using project = await temporaryRepository({
      "clean.txt": "1",
      "gone.txt": "1",
      "mode.sh": "1",
      "dirty.txt": "1",
      "reverted.txt": "1",
      "kept.txt": "1",
      "link": "1",
    });
    project.write({
      "dirty.txt": "2",
      "reverted.txt": "2",
      "kept.txt": "2",
      "untracked-changed": "1",
      "untracked-gone": "1",
      "untracked-kept": "1",
    });
    const before = await project.repository.snapshot();

    project.write({
      "clean.txt": "2",
      "dirty.txt": "3",
      "reverted.txt": "1",
      "untracked-changed": "2",
      "deep/new.txt": "1",
    });
    for (const path of ["gone.txt", "untracked-gone", "link"]) rmSync(join(project.path, path));
    symlinkSync("1", join(project.path, "link"));
    chmodSync(join(project.path, "mode.sh"), 0o755);
    const { paths, now } = await project.repository.changedSince(before);

    expect(paths).toEqual([
      "clean.txt",
      "deep/new.txt",
      "dirty.txt",
      "gone.txt",
      "link",
      "mode.sh",
      "reverted.txt",
      "untracked-changed",
      "untracked-gone",
    ]);
    expect(now.contents.get("gone.txt")).toBeNull();
    expect(now.contents.get("link")).toMatch(/^link /);
    expect(now.contents.get("mode.sh")).toMatch(/^executable /);
  });

  test("tells what commits since have touched, and only then asks git for it", async () => {
    await using project = await temporaryRepository({ "a.txt": "1", "b.txt": "1", "user.txt": "1" });
    project.write({ "user.txt": "the user's own" });
    const before = await project.repository.snapshot();
    project.write({ "a.txt": "2", "new.txt": "1" });
    project.git("add", "a.txt", "new.txt");
    project.git("commit", "--quiet", "-m", "by the agent");
    project.commands.length = 0;

    const { paths, now } = await project.repository.changedSince(before);

    expect(paths).toEqual(["a.txt", "new.txt"]);
    expect(now.head).toBe(project.git("rev-parse", "HEAD").trim());
    expect(project.commands).toEqual(["status", "diff-tree"]);
  });

  test("works before the first commit and across it", async () => {
    await using project = await temporaryRepository();
    project.write({ "a.txt": "1" });
    const before = await project.repository.snapshot();
    expect(before).toMatchObject({ head: null, branch: "main" });
    project.write({ "b.txt": "1" });
    expect((await project.repository.changedSince(before)).paths).toEqual(["b.txt"]);

    project.git("add", "b.txt");
    project.git("commit", "--quiet", "-m", "first");

    expect((await project.repository.changedSince(before)).paths).toEqual(["b.txt"]);
  });

  test("sees a change that keeps size and time of the file", async () => {
    await using project = await temporaryRepository({ "a.txt": "0" });
    const path = join(project.path, "a.txt");
    project.write({ "a.txt": "1" });
    await wait(150);
    const { mtime, atime } = statSync(path);
    const before = await project.repository.snapshot();
    await project.repository.snapshot();

    writeFileSync(path, "2");
    utimesSync(path, atime, mtime);

    expect((await project.repository.changedSince(before)).paths).toEqual(["a.txt"]);
  });

  test("an index that somebody deleted makes no file look changed, and is there again", async () => {
    await using project = await temporaryRepository({ "a.txt": "1", "b.txt": "1", "deep/c.txt": "1" });
    project.write({ "b.txt": "2" });
    const before = await project.repository.snapshot();

    rmSync(join(project.path, ".git/index"));
    project.write({ "a.txt": "2" });

    expect((await project.repository.changedSince(before)).paths).toEqual(["a.txt"]);
    expect(project.git("status", "--porcelain")).toBe(" M a.txt\n M b.txt\n");
  });

  test("leaves out ignored files and temporary files of a write in progress", async () => {
    await using project = await temporaryRepository({ ".gitignore": "*.log\n" });
    const before = await project.repository.snapshot();

    project.write({ "x.log": "1", "deep/.prd.json.4711-0a1b2c3d.ralph-tmp": "half" });

    expect((await project.repository.changedSince(before)).paths).toEqual([]);
  });

  test("a root in a subfolder sees the whole tree, with paths from the top", async () => {
    await using project = await temporaryRepository({ "packages/one/a.txt": "1" });
    const { openRepository } = await import("../../lib/git/open_repository.ts");
    const { createHost } = await import("../../lib/host/create_host.ts");
    const inner = (await openRepository(createHost(), join(project.path, "packages/one")))!;
    const before = await inner.snapshot();

    project.write({ "packages/one/a.txt": "2", "top.txt": "1" });

    expect(inner.topLevel).toBe(project.path);
    expect(inner.ralphDirectory).toBe(join(project.path, ".git/ralph"));
    expect((await inner.changedSince(before)).paths).toEqual(["packages/one/a.txt", "top.txt"]);
    expect(await inner.commit({ paths: ["packages/one/a.txt"], subject: "x" })).toMatchObject({ status: "committed" });
  });
});

describe("diff()", () => {
  test("shows tracked and new files against HEAD, a commit, and before the first", async () => {
    await using project = await temporaryRepository({ "a.txt": "one\n", "other.txt": "o\n" });
    const base = project.git("rev-parse", "HEAD").trim();
    project.write({ "a.txt": "two\n", "new file.txt": "n\n", "binary": "\0\x01", "other.txt": "x\n" });

    const diff = await project.repository.diff(["a.txt", "new file.txt", "binary"]);

    expect(diff).toContain("-one\n+two\n");
    expect(diff).toContain(
      "diff --git a/new file.txt b/new file.txt\nnew file\n--- /dev/null\n+++ b/new file.txt\n+n\n",
    );
    expect(diff).toContain("Binary file b/binary");
    expect(diff).not.toContain("other.txt");
    project.git("commit", "--quiet", "--all", "-m", "second");
    expect(await project.repository.diff(["a.txt"])).toBe("");
    expect(await project.repository.diff(["a.txt"], { base })).toContain("-one\n+two\n");
    expect(await project.repository.diff(["a.txt"], { base: null })).toContain("+two\n");
    expect(await project.repository.diff([])).toBe("");
  });

  test("is bounded and says so", async () => {
    await using project = await temporaryRepository({ "a.txt": "" });
    project.write({ "a.txt": "line\n".repeat(100_000), "new.txt": "line\n".repeat(100_000) });

    const diff = await project.repository.diff(["a.txt", "new.txt"], { maxBytes: 1000 });

    expect(Buffer.byteLength(diff)).toBeLessThan(1020);
    expect(diff).toMatch(/\n… \(cut\)\n$/);
    expect((await project.repository.diff(["new.txt"], { maxBytes: 1000 })).length).toBeGreaterThan(900);
  });
});

describe("filesHolding()", () => {
  test("looks through all files once, and then through what has changed since", async () => {
    await using project = await temporaryRepository({
      "old.txt": "the marker",
      "lost.txt": "the marker\n",
      "other.txt": "nothing",
      ".gitignore": "ignored/\n",
    });
    const { repository } = project;
    const holding = async (): Promise<readonly string[]> => {
      await repository.snapshot();
      return await repository.filesHolding("the marker");
    };
    project.write({ "untracked.txt": "has the marker", "ignored/a.txt": "the marker" });

    expect(await holding()).toEqual(["lost.txt", "old.txt", "untracked.txt"]);
    project.write({ "lost.txt": "gone", "new.txt": "the marker" });
    expect(await holding()).toEqual(["new.txt", "old.txt", "untracked.txt"]);
    project.write({ "other.txt": "the marker" });
    project.git("add", "-A");
    project.git("commit", "-qm", "all"); // by somebody else
    rmSync(join(project.path, "old.txt"));
    expect(await holding()).toEqual(["new.txt", "other.txt", "untracked.txt"]);
    expect(await holding()).toEqual(["new.txt", "other.txt", "untracked.txt"]);
    expect(project.commands.filter((command) => command !== "status")).toEqual(["grep", "diff-tree"]);
  });
});
