import { lstatSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { openRepository } from "../../lib/git/open_repository.ts";
import { createHost } from "../../lib/host/create_host.ts";
import { temporaryDirectory } from "../../lib/host/files.ts";
import { runLoop } from "../../lib/loop/run/run_loop.ts";
import { loopWorld } from "../loop/loop_world.ts";
import { makeRepository } from "../repository.ts";
import { temporaryRepository } from "./temporary_repository.ts";

type Repository = Awaited<ReturnType<typeof temporaryRepository>>;

const FILES = { "src/a.ts": "a\n", "src/b.txt": "b\n", "README": "r\n" };

function hook(project: Repository, name: string): void {
  writeFileSync(join(project.path, ".git/hooks", name), "#!/bin/sh\ntouch .git/ran\nexit 1\n", { mode: 0o755 });
}

function linkIndex({ path }: { readonly path: string }): void {
  renameSync(join(path, ".git/index"), join(path, ".git/kept-index"));
  symlinkSync(join(path, ".git/kept-index"), join(path, ".git/index"));
}

describe("a trial of a commit", () => {
  test.each<readonly [string, (project: Repository) => void]>([
    [
      "a key that cannot sign",
      ({ git }) => {
        git("config", "commit.gpgSign", "true");
        git("config", "gpg.program", "false");
      },
    ],
    ["a filter that fails for all", ({ git, write }) => {
      git("config", "filter.bad.clean", "false");
      git("config", "filter.bad.required", "true");
      write({ ".gitattributes": "* filter=bad\n" });
    }],
    ["line endings that may not be converted", ({ git }) => {
      git("config", "core.autocrlf", "true");
      git("config", "core.safecrlf", "true");
    }],
    ["an identity that git does not take", ({ git }) => void git("config", "user.name", "<>")],
  ])("finds %s", async (_name, set) => {
    await using project = await temporaryRepository(FILES);
    set(project);
    if (_name.startsWith("a filter")) project.git("-c", "filter.bad.clean=cat", "add", ".gitattributes");

    await expect(project.repository.tryCommit()).rejects.toMatchObject({ code: "git-failed" });
  });

  test("names a kind of file that cannot be committed, where others can", async () => {
    await using project = await temporaryRepository({
      ...FILES,
      "img/x.png": "png\n",
      ".gitattributes": "*.png filter=bad\n",
    });
    project.git("config", "filter.bad.clean", "false");
    project.git("config", "filter.bad.required", "true");

    expect(await project.repository.tryCommit()).toMatchObject([{ path: "img/*.png" }]);
  });

  test.each<readonly [string, Record<string, string> | undefined, (project: Repository) => void]>([
    ["with staged, changed and untracked files and hooks that refuse", FILES, (project) => {
      project.write({ "src/a.ts": "A\n", "new.txt": "n\n" });
      project.git("add", "src/a.ts");
      for (const name of ["pre-commit", "commit-msg", "prepare-commit-msg", "post-commit"]) hook(project, name);
    }],
    ["before the first commit", undefined, ({ write }) => write(FILES)],
    ["in a sparse checkout", FILES, ({ git }) => void git("sparse-checkout", "set", "img")],
    [
      "with a detached HEAD and packed refs",
      FILES,
      ({ git }) => {
        git("checkout", "-q", "--detach");
        git("pack-refs", "--all");
      },
    ],
    ["where the index is a link of a person's", FILES, (project) => {
      project.write({ "src/a.ts": "A\n" });
      project.git("add", "src/a.ts");
      linkIndex(project);
    }],
    ["with an index in two parts", FILES, ({ git }) => void git("update-index", "--split-index")],
    ["where git ignores everything", FILES, ({ write }) => write({ ".git/info/exclude": "*\n" })],
  ])("leaves nothing behind %s", async (_name, files, set) => {
    await using project = await temporaryRepository(files);
    set(project);
    const before = [
      project.git("status", "--porcelain=v2", "--branch"),
      project.git("count-objects"),
      project.git("for-each-ref"),
    ];

    expect(await project.repository.tryCommit()).toEqual([]);

    expect([
      project.git("status", "--porcelain=v2", "--branch"),
      project.git("count-objects"),
      project.git("for-each-ref"),
    ])
      .toEqual(before);
    expect(readdirSync(join(project.path, ".git"))).not.toContain("ran");
  });

  test("is made where the path has the sign that parts two folders of objects", async () => {
    await using folder = await temporaryDirectory("ralph-git-");
    const path = join(folder.path, 'a:b "c"');
    mkdirSync(path);
    makeRepository(path, { files: FILES, commit: "first" });

    expect(await (await openRepository(createHost(), path))?.tryCommit()).toEqual([]);
  });

  test("comes before the first turn, and not where nothing is to be done", async () => {
    await using world = await loopWorld(() => Promise.resolve({ lines: ["<ralph>DONE</ralph>"] }));
    await world.git("config", "commit.gpgSign", "true");
    await world.git("config", "gpg.program", "false");

    const run = runLoop(world.ralph, memoryBacklog([{ id: "a", title: "a", checks: ["true"] }]));

    await expect(run).rejects.toMatchObject({
      code: "git-failed",
      hint: expect.stringContaining("no turn was paid for"),
    });
    expect(world.prompts).toEqual([]);
    expect(await runLoop(await world.again(), memoryBacklog([]))).toMatchObject({ turns: 0 });
  });
});

test("an index that is a link stays one, and holds what a person has staged, beside commits by way of another index", async () => {
  const many = Object.fromEntries(Array.from({ length: 310 }, (_, index) => [`many/${index}`, "m\n"]));
  await using project = await temporaryRepository(FILES);
  project.write({ "src/a.ts": "A\n", ...many });
  project.git("add", "src/a.ts");
  linkIndex(project);

  await project.repository.commit({ paths: ["many"], subject: "many" });

  expect(lstatSync(join(project.path, ".git/index")).isSymbolicLink()).toBe(true);
  expect(project.git("status", "--porcelain")).toBe("M  src/a.ts\n");
});
