import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { branchWork, numstats } from "../../lib/git/branch_work.ts";
import { readIndexFlags } from "../../lib/git/index_flags.ts";
import { looseCommit, readCommit, requireCommit } from "../../lib/git/read_commit.ts";
import { areAsCommitted, listFromIndex, readIndex } from "../../lib/git/read_index.ts";
import { readRefs } from "../../lib/git/refs.ts";
import { createGit } from "../../lib/git/run_git.ts";
import { createHost } from "../../lib/host/create_host.ts";
import { knownListing, verifiedListing } from "../../lib/git/tree_listing.ts";
import { temporaryRepository } from "./temporary_repository.ts";

type Project = Awaited<ReturnType<typeof temporaryRepository>>;

const FILES = {
  "src/a.ts": "a\n",
  "src/b/c.txt": "b\n",
  "é \t\n.txt": "r\n",
  [`${"long".repeat(60)}.txt`]: "l\n",
  "z": "z\n",
};

const KNOWN: readonly (readonly [string, (project: Project) => void])[] = [
  ["as it is after a commit", () => {}],
  ["with flags", ({ git }) => {
    git("update-index", "--assume-unchanged", "src/a.ts");
    git("update-index", "--skip-worktree", "src/b/c.txt", "z");
  }],
  ["with a file that is only intended to be added", ({ write, git }) => {
    write({ "new.txt": "n\n" });
    git("add", "--intent-to-add", "new.txt");
  }],
  ["in a sparse checkout", ({ git }) => void git("sparse-checkout", "set", "src")],
];

const UNKNOWN: readonly (readonly [string, (project: Project) => void])[] = [
  ["of another version", ({ git }) => void git("update-index", "--index-version=4")],
  ["that is split", ({ git }) => void git("update-index", "--split-index")],
  ["with folders in it", ({ git }) => void git("sparse-checkout", "set", "--cone", "--sparse-index", "src/b")],
  ["with a conflict", ({ git, write }) => {
    git("checkout", "-q", "-b", "other");
    write({ z: "other\n" });
    git("commit", "-qam", "other");
    git("checkout", "-q", "-");
    write({ z: "here\n" });
    git("commit", "-qam", "here");
    expect(() => git("merge", "-q", "other")).toThrow("Command failed");
  }],
];

describe("an index", () => {
  test.each(KNOWN)("%s is read as git reads it", async (_name, set) => {
    await using project = await temporaryRepository(FILES);
    set(project);
    const { repository, git, commands } = project;
    const head = git("rev-parse", "HEAD").trim();

    const read = await readIndex(repository, head);

    expect(read?.map(({ mode, hash, path }) => `${mode} ${hash} 0\t${path}\0`).join("")).toBe(git("ls-files", "-sz"));
    const flagged = (letters: RegExp) =>
      new Set(git("ls-files", "-vz").split("\0").filter((row) => letters.test(row)).map((row) => row.slice(2)));
    const flags = await readIndexFlags(repository);
    expect([flags.assumed, flags.skipped]).toEqual([flagged(/^[a-z]/), flagged(/^s/i)]);
    expect(commands.filter((command) => command.includes("ls-files"))).toEqual([]);
  });

  test.each(UNKNOWN)("%s is left to git", async (_name, set) => {
    await using project = await temporaryRepository({ ...FILES, "far/away.txt": "f\n" });
    set(project);
    project.git("update-index", "--assume-unchanged", "src/b/c.txt");

    expect(await readIndex(project.repository, project.git("rev-parse", "HEAD").trim())).toBeNull();
    expect((await readIndexFlags(project.repository)).assumed).toEqual(new Set(["src/b/c.txt"]));
  });

  test("that is torn anywhere, or has a name of another length, is left to git", async () => {
    await using project = await temporaryRepository(FILES);
    const [head, path] = [project.git("rev-parse", "HEAD").trim(), join(project.path, ".git/index")];
    const whole = readFileSync(path);
    const end = whole.indexOf("TREE");
    for (let length = 0; length < end; length += 7) {
      writeFileSync(path, whole.subarray(0, length));

      expect(await readIndex(project.repository, head)).toBeNull();
    }
    writeFileSync(path, Buffer.concat([whole.subarray(0, 12 + 61), Buffer.from([3]), whole.subarray(12 + 62)]));
    expect(await readIndex(project.repository, head)).toBeNull();
  });

  test("says what a commit holds only where its names prove it", async () => {
    await using project = await temporaryRepository(FILES);
    const { repository, git, write } = project;
    write({ z: "staged\n" });
    git("add", "z");
    const head = git("rev-parse", "HEAD").trim();

    await listFromIndex(repository, head);
    expect(knownListing(head)).toBeNull();
    git("reset", "-q");
    await listFromIndex(repository, head);

    expect(knownListing(head)).not.toBeNull();
    const known = await verifiedListing(() => Promise.reject(new Error("git is not asked")), head);
    const asked = await verifiedListing(createGit(createHost(), project.path), git("rev-parse", "HEAD^{tree}").trim());
    expect(known.map(({ mode, hash, path }) => ({ mode, hash, path }))).toEqual(asked);
  });
});

test.each<readonly [string, boolean, (project: Project) => void]>([
  ["as they were committed", true, () => {}],
  ["written again with the same content", true, ({ write }) => write({ z: "z\n" })],
  ["changed", false, ({ write }) => write({ z: "new\n" })],
  ["changed in the index only", false, ({ git, write }) => {
    write({ z: "new\n" });
    git("add", "z");
    write({ z: "z\n" });
  }],
  ["gone", false, ({ path }) => rmSync(join(path, "z"))],
  ["executable now", false, ({ path }) => chmodSync(join(path, "z"), 0o755)],
  ["a link now", false, ({ path }) => {
    rmSync(join(path, "z"));
    symlinkSync("src/a.ts", join(path, "z"));
  }],
  ["new", false, ({ write }) => write({ none: "n\n" })],
])("files that are %s: as committed is %s", async (_name, are, set) => {
  await using project = await temporaryRepository(FILES);
  set(project);
  project.commands.length = 0;

  expect(await areAsCommitted(project.repository, ["src/a.ts", "z", "none"])).toBe(are);
  expect(project.commands).toEqual([]);
});

test("commits and lines of a branch are as git counts them, beside a commit that is gone too", async () => {
  await using project = await temporaryRepository({ ...FILES, "bin": "a\0b" });
  const { repository, git, write, commands } = project;
  const commit = (files: Record<string, string>): string => {
    write(files);
    git("add", "-A");
    git("commit", "-qm", "more", "--allow-empty");
    return git("rev-parse", "HEAD").trim();
  };
  const first = git("rev-parse", "HEAD").trim();
  const second = commit({ z: "1\n2\n", bin: "b\0c", "t\tb\n.txt": "t\n" });
  const third = commit({ z: "1\n3\n" });
  commands.length = 0;

  const rows = await numstats(repository, [[first, second], ["1".repeat(40), second], [second, third], [
    second,
    second,
  ]]);
  const work = await branchWork(repository, { since: first });

  expect(rows.map((all) => all.map(({ path, added, removed }) => `${added} ${removed} ${path}`))).toEqual([
    ["0 0 bin", "1 0 t\tb\n.txt", "2 1 z"],
    [],
    ["1 1 z"],
    [],
  ]);
  expect(work).toMatchObject({ commits: 2, files: 3, added: 3, removed: 1 });
  expect(commands).not.toContain("rev-list");
  git("checkout", "-qb", "other", first);
  commit({ other: "o\n" });
  git("checkout", "-q", "main");
  git("merge", "-q", "--no-edit", "other");
  expect(await branchWork(repository, { since: first })).toMatchObject({ commits: 4, files: 4 });
  expect(commands).toContain("rev-list");
});

test("a commit is read out of its own file only where that is whole", async () => {
  await using project = await temporaryRepository(FILES);
  const head = project.git("rev-parse", "HEAD").trim();
  const text = project.git("cat-file", "commit", head);
  expect(await looseCommit(project.repository, head)).toBe(text);

  project.git("repack", "-adq");

  expect(await looseCommit(project.repository, head)).toBeNull();
  expect(await readCommit(project.repository, head)).toBe(text);
  const other = "1".repeat(40);
  expect(await readCommit(project.repository, other)).toBeNull();
  const folder = join(project.path, ".git/objects", other.slice(0, 2));
  mkdirSync(folder, { recursive: true });
  for (const content of ["", "torn", (await import("node:zlib")).deflateSync(`commit ${text.length}\0${text}`)]) {
    writeFileSync(join(folder, other.slice(2)), content);

    expect(await looseCommit(project.repository, other)).toBeNull();
  }
});

test("refs are read as git reads them: packed, symbolic, broken and locked ones", async () => {
  await using project = await temporaryRepository(FILES);
  const { repository, git, write, commands } = project;
  const head = git("rev-parse", "HEAD").trim();
  for (const name of ["heads/a/b", "tags/v1", "remotes/origin/main", "remotes/origin/x"]) {
    git("update-ref", `refs/${name}`, head);
  }
  git("tag", "-am", "t", "v2");
  git("pack-refs", "--all");
  git("commit", "-q", "--allow-empty", "-m", "second");
  git("update-ref", "refs/heads/a/b", "HEAD");
  git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main");
  write({
    ".git/refs/heads/c.lock": `${head}\n`,
    ".git/refs/heads/torn": "",
    ".git/refs/heads/odd": "no hash\n",
    ".git/refs/heads/a b": `${head}\n`,
    ".git/refs/heads/gone": "ref: refs/heads/none\n",
  });
  const folders = ["refs/heads/", "refs/tags/", "refs/remotes/"];
  const listed = git("for-each-ref", "--format=%(refname) %(objectname)", ...folders).trim().split("\n");
  commands.length = 0;

  const read = await readRefs(repository, folders);

  expect([...read].map((row) => row.join(" ")).toSorted()).toEqual(listed.toSorted());
  expect(commands).toEqual([]);
});

test("a file of a commit that unpacks to more than any commit is left to git, and a commit that has to be there is asked for", async () => {
  await using project = await temporaryRepository(FILES);
  const bytes = Buffer.concat([Buffer.from(`commit ${32 << 20}\0`), Buffer.alloc(32 << 20)]);
  const name = createHash("sha1").update(bytes).digest("hex");
  const folder = join(project.path, ".git/objects", name.slice(0, 2));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name.slice(2)), deflateSync(bytes));

  expect(await looseCommit(project.repository, name)).toBeNull();
  const missing = requireCommit(project.repository, "1".repeat(40));
  await expect(missing).rejects.toMatchObject({ code: "git-failed", message: expect.stringContaining("is not there") });
});
