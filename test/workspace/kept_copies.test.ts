import { existsSync, lstatSync, readlinkSync } from "node:fs";
import { chmod, mkdir, readFile, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createHost } from "../../lib/host/create_host.ts";
import { temporaryDirectory } from "../../lib/host/files.ts";
import { type TemporaryRepository, temporaryRepository } from "../../lib/testing/temporary_repository.ts";
import { dependencyKey } from "../../lib/workspace/dependency_key.ts";
import { ignoredPaths } from "../../lib/workspace/ignored_paths.ts";
import { keepCopies, type KeptCopies } from "../../lib/workspace/kept_copies.ts";
import { createGit, type Git } from "../../lib/git/run_git.ts";
import { treeListing } from "../../lib/git/tree_listing.ts";

const COPY = ["node_modules", ".env", ".env.*", "data/large"];
const IGNORED = { ".gitignore": "**/node_modules/*\n.env*\ndata\nvendor/*.log\n" };

async function keep(repository: TemporaryRepository, folder: string, key = "one"): Promise<KeptCopies> {
  return await keepCopies(
    { host: createHost(), topLevel: repository.path, folder, workspace: { copy: COPY } },
    () => Promise.resolve(key),
  );
}

test("ignoredPaths() finds what globs name at any depth, as whole folders, and nothing that git tracks", async () => {
  await using repository = await temporaryRepository({ files: { ...IGNORED, "vendor/a.go": "a\n" } });
  await repository.write({
    "node_modules/a/b.js": "b\n",
    "node_modules/.bin/x": "x\n",
    "app/node_modules/c.js": "c\n",
    "app/.env.local": "A=1\n",
    "data/large/x": "x\n",
    "data/small/x": "x\n",
    "vendor/a.log": "x\n",
    "elsewhere.env": "x\n",
  });

  const found = await ignoredPaths(createGit(createHost(), repository.path), repository.path, [...COPY, "vendor"]);

  expect(found).toEqual({
    paths: ["app/.env.local", "app/node_modules", "data/large", "node_modules"],
    tracked: ["vendor"],
  });
});

describe("keepCopies()", () => {
  test("copies modes, times and links, never by hard links, and into any other tree", async () => {
    await using repository = await temporaryRepository({ files: IGNORED });
    await using folder = await temporaryDirectory("kept");
    await using other = await temporaryDirectory("other");
    await repository.write({ "node_modules/a/run": "x\n", "app/node_modules/b": "b\n", ".env": "A=1\n" });
    const file = join(repository.path, "node_modules/a/run");
    await chmod(file, 0o751);
    await utimes(file, 1000, 1000);
    await symlink("a/run", join(repository.path, "node_modules/link"));

    const kept = await keep(repository, folder.path);
    await writeFile(file, "in place\n");
    const copied = await kept.copyInto(other.path);

    const copy = lstatSync(join(other.path, "node_modules/a/run"));
    expect(copied).toEqual([".env", "node_modules"]); // there is no folder `app`
    expect([copy.mode & 0o777, copy.mtimeMs]).toEqual([0o751, 1_000_000]);
    expect(readlinkSync(join(other.path, "node_modules/link"))).toBe("a/run");
    expect(await readFile(join(other.path, "node_modules/a/run"), "utf8")).toBe("x\n");
  });

  test("names what changed since the last run under the same lock files, and what is kept is as the tree now", async () => {
    await using repository = await temporaryRepository({ files: IGNORED });
    await using folder = await temporaryDirectory("kept");
    await repository.write({ "node_modules/a.js": "one\n", "node_modules/b.js": "one\n", ".env": "A=1\n" });
    const first = await keep(repository, folder.path);
    await writeFile(join(first.copies.find(({ path }) => path === "node_modules")!.kept, "b.js"), "tampered\n");
    await repository.write({ "node_modules/a.js": "two\n", "node_modules/c.js": "new\n" });

    const second = await keep(repository, folder.path);
    const third = await keep(repository, folder.path, "other lock files");
    await repository.write({ ".env": "A=2\n" });
    const fourth = await keep(repository, folder.path, "still other lock files");

    expect(first.changed).toEqual([]);
    expect(second.changed).toEqual(["node_modules/a.js", "node_modules/b.js", "node_modules/c.js"]);
    expect([third.changed, fourth.changed]).toEqual([[], []]);
    const kept = second.copies.find(({ path }) => path === "node_modules")!.kept;
    expect(await readFile(join(kept, "b.js"), "utf8")).toBe("one\n");
    expect(existsSync(join(kept, "c.js"))).toBe(true);
  });

  test("restore() undoes what was done to a copy; what the tree has lost too is named", async () => {
    await using repository = await temporaryRepository({ files: IGNORED });
    await using folder = await temporaryDirectory("kept");
    await repository.write({ "node_modules/a.js": "a\n", "node_modules/b.js": "b\n", "node_modules/d/c.js": "c\n" });
    const copies = await keep(repository, folder.path);
    const { kept } = copies.copies[0]!;
    for (const name of ["a.js", "b.js"]) await writeFile(join(kept, name), "changed\n");
    await rm(join(kept, "d"), { recursive: true });
    await mkdir(join(kept, "made/deep"), { recursive: true });
    await repository.write({ "node_modules/b.js": "changed by a turn\n" });

    const lost = await copies.restore();

    expect(lost).toEqual(["node_modules/b.js"]);
    expect(await readFile(join(kept, "a.js"), "utf8")).toBe("a\n");
    expect(await readFile(join(kept, "d/c.js"), "utf8")).toBe("c\n");
    expect(existsSync(join(kept, "made"))).toBe(false);
    expect(await copies.restore()).toEqual([]);
  });

  test("a tool's cache in dependencies is whole or not there: a half one would make checks fail", async () => {
    await using repository = await temporaryRepository({ files: IGNORED });
    await using folder = await temporaryDirectory("kept");
    const cache = "node_modules/.cache";
    await repository.write({ "node_modules/a.js": "a\n", [`${cache}/esm/1.js`]: "1\n", [`${cache}/esm/index`]: "1\n" });
    await repository.write({ [`${cache}/server/program`]: "x\n" });
    const first = await keep(repository, folder.path);
    const { kept } = first.copies[0]!;
    await writeFile(join(kept, ".cache/esm/index"), "2\n");
    await repository.write({ [`${cache}/esm/index`]: "by a check in the tree\n" });

    const lost = await first.restore();
    const left = [existsSync(join(kept, ".cache/esm")), existsSync(join(kept, ".cache/server/program"))];
    const second = await keep(repository, folder.path);

    expect([lost, left]).toEqual([[], [false, true]]);
    expect(second.changed).toEqual([]);
    expect(existsSync(join(kept, ".cache/esm"))).toBe(false);
    await keep(repository, folder.path, "other lock files");
    expect(await readFile(join(kept, ".cache/esm/index"), "utf8")).toBe("by a check in the tree\n");
  });
});

async function keyOf(git: Git): Promise<string> {
  return await dependencyKey(git, await treeListing(git, "HEAD"));
}

test("dependencyKey() differs with what is installed, and with nothing else", async () => {
  const files = {
    "package.json": '{"scripts": {"test": "a"}, "dependencies": {"x": "1"}}',
    "py/requirements.txt": "x==1\n",
    "py/uv.lock": "one\n",
  };
  await using repository = await temporaryRepository({ files });
  const git = createGit(createHost(), repository.path);
  const keys = [await keyOf(git)];
  for (
    const change of [
      { "package.json": '{"scripts": {"test": "b"}, "dependencies": {"x": "1"}}' },
      { "py/requirements.txt": "x==2\n" }, // beside a lock file
      { "README.md": "x\n" },
      { "package.json": '{"dependencies": {"x": "2"}}' },
      { "py/uv.lock": "two\n" },
      { "app/package-lock.json": "{}" },
    ]
  ) {
    await repository.write(change);
    await repository.git("add", "-A");
    await repository.git("commit", "-qm", "x");
    keys.push(await keyOf(git));
  }

  expect(keys.map((key) => keys.indexOf(key))).toEqual([0, 0, 0, 0, 4, 5, 6]);
});

test("dependencyKey() takes two processes, however many packages there are", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [`packages/${index}/package.json`, `{"dependencies": {"x": "${index}"}}`]),
  );
  await using repository = await temporaryRepository({ files });
  const git = createGit(createHost(), repository.path);
  const asked: string[] = [];

  await keyOf((arguments_, options) => {
    asked.push(arguments_[0] ?? "");
    return git(arguments_, options);
  });

  expect(asked).toEqual(["ls-tree", "cat-file"]);
});
