import { chmodSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createGit } from "../../lib/git/run_git.ts";
import { createHost } from "../../lib/host/create_host.ts";
import type { ProcessEnd } from "../../lib/host/types.ts";
import { temporaryRepository } from "./temporary_repository.ts";
import { isAlive } from "../fault/processes.ts";

describe("commit()", () => {
  test("commits only the named paths and tells the commit", async () => {
    await using project = await temporaryRepository({ "a.txt": "a\n", "b.txt": "b\n" });
    project.write({ "a.txt": "A\n", "b.txt": "B\n", "new.txt": "n\n", "untracked.txt": "u\n" });
    project.git("add", "b.txt");

    const result = await project.repository.commit({
      paths: ["a.txt", "new.txt"],
      subject: "ralph: US-001 passed",
      body: "# not a comment\n\nmore",
    });

    expect(result).toEqual({ status: "committed", commit: project.git("rev-parse", "HEAD").trim() });
    expect(project.git("show", "--name-only", "--format=%B", "HEAD")).toBe(
      "ralph: US-001 passed\n\n# not a comment\n\nmore\n\n\na.txt\nnew.txt\n",
    );
    expect(project.git("status", "--porcelain")).toBe("M  b.txt\n?? untracked.txt\n");
  });

  test("is about objects as they are: what the repository replaces neither stops it nor comes into the commit", async () => {
    await using project = await temporaryRepository({ "a.txt": "a\n", "b.txt": "b\n" });
    const [itself, head] = [project.git("rev-parse", "HEAD:b.txt").trim(), project.git("rev-parse", "HEAD").trim()];
    project.write({ "a.txt": "hidden\n" });
    project.git("commit", "-qam", "another");
    const other = project.git("rev-parse", "HEAD").trim();
    project.git("reset", "-q", "--hard", head);
    project.git("replace", head, other); // HEAD's a.txt looks like `hidden`
    project.write({ [`.git/refs/replace/${itself}`]: `${itself}\n`, "new.txt": "n\n" });

    expect((await project.repository.status()).changed.map(({ path }) => path)).toEqual(["new.txt"]);
    await project.repository.commit({ paths: ["new.txt"], subject: "one" });
    expect(project.git("--no-replace-objects", "show", "HEAD:a.txt")).toBe("a\n");
  });

  test("takes one process for changed files and one more for new ones when the status is known", async () => {
    await using project = await temporaryRepository({ "a.txt": "a\n" });
    project.write({ "a.txt": "A\n" });
    const known = await project.repository.status();
    project.commands.length = 0;

    await project.repository.commit({ paths: ["a.txt"], subject: "one", known });
    expect(project.commands).toEqual(["commit"]);

    project.write({ "new.txt": "n\n" });
    project.commands.length = 0;
    await project.repository.commit({ paths: ["new.txt"], subject: "two" });
    expect(project.commands).toEqual(["status", "add", "commit"]);
  });

  test("git packs loose objects after a commit where there are many, and is not asked where there are few", async () => {
    await using project = await temporaryRepository({ "a.txt": "a\n" });
    project.git("config", "gc.auto", "1");
    project.git("config", "maintenance.autoDetach", "false");
    project.git("config", "gc.autoDetach", "false");
    const packs = (): number => readdirSync(join(project.path, ".git/objects/pack")).length;
    const name = (number: number): string => `.git/objects/17/${String(number).padStart(38, "0")}`;

    project.write({ "a.txt": "few\n", [name(1)]: "", [name(2)]: "", [name(3)]: "" });
    await project.repository.commit({ paths: ["a.txt"], subject: "one" });
    expect(packs()).toBe(0);

    for (let number = 4; number <= 8; number++) project.write({ [name(number)]: "" });
    project.write({ "a.txt": "many\n" });
    await project.repository.commit({ paths: ["a.txt"], subject: "two" });
    expect(packs()).toBeGreaterThan(0);
  });

  test("hundreds of paths are committed, and nothing else, and what is staged stays staged", async () => {
    const numbers = Array.from({ length: 400 }, (_, index) => index);
    const files = Object.fromEntries(numbers.map((number) => [`many/${number}.txt`, `${number}\n`]));
    await using project = await temporaryRepository({
      ...files,
      "staged.txt": "1\n",
      "gone.txt": "1\n",
      "place": "1\n",
    });
    project.write({
      ...Object.fromEntries(numbers.map((number) => [`many/${number}.txt`, `new ${number}\n`])),
      ...Object.fromEntries(numbers.map((number) => [`fresh/${number} ü*.txt`, "f\n"])),
      "staged.txt": "2\n",
      "other.txt": "o\n",
    });
    rmSync(join(project.path, "gone.txt"));
    rmSync(join(project.path, "place"));
    project.write({ "place/inside.txt": "i\n" });
    project.git("add", "staged.txt");

    const result = await project.repository.commit({ paths: ["many", "fresh", "gone.txt", "place"], subject: "many" });

    expect(result).toEqual({ status: "committed", commit: project.git("rev-parse", "HEAD").trim() });
    expect(project.git("status", "--porcelain")).toBe("M  staged.txt\n?? other.txt\n");
    expect(project.git("show", "--format=", "--name-only", "-z", "HEAD").split("\0")).toHaveLength(803 + 1);
    expect(project.git("count-objects", "-v")).toContain("packs: 1\n"); // not a file each
    project.git("fsck", "--no-dangling");
    expect(await project.repository.commit({ paths: ["many"], subject: "again" })).toEqual({
      status: "nothing",
      ignored: [],
    });
  });

  test("hundreds of paths that are committed, and that a killed git did not note in its index, are noted", async () => {
    await using project = await temporaryRepository({ "a.txt": "1\n" });
    const fresh = Array.from({ length: 400 }, (_, index) => [`fresh/${index}.txt`, "f\n"]);
    project.write(Object.fromEntries(fresh));
    const index = readFileSync(join(project.path, ".git/index"));
    await project.repository.commit({ paths: ["fresh"], subject: "many" });
    writeFileSync(join(project.path, ".git/index"), index);

    expect(await project.repository.commit({ paths: ["fresh"], subject: "many" })).toEqual({
      status: "nothing",
      ignored: [],
    });
    expect(project.git("status", "--porcelain")).toBe("");
  });

  test("hundreds of paths that a hook refuses stay as they were", async () => {
    await using project = await temporaryRepository({ "staged.txt": "1\n" });
    const fresh = Array.from({ length: 400 }, (_, index) => [`fresh/${index}.txt`, "f\n"]);
    project.write({ ...Object.fromEntries(fresh), "staged.txt": "2\n" });
    project.git("add", "staged.txt");
    writeFileSync(
      join(project.path, ".git/hooks/pre-commit"),
      "#!/bin/sh\ngit diff --cached --name-only -- 'fresh/*.txt' | wc -l; exit 1\n",
      {
        mode: 0o755,
      },
    );

    const result = await project.repository.commit({ paths: ["fresh"], subject: "many", hooks: true });

    expect(result).toMatchObject({
      status: "refused",
      by: "a hook of the repository",
      output: expect.stringMatching(/^\s*400$/m),
    });
    expect(project.git("status", "--porcelain")).toBe("M  staged.txt\n?? fresh/\n");
  });

  test("makes the first commit of a repository", async () => {
    await using project = await temporaryRepository();
    project.write({ "a.txt": "a\n", "b.txt": "b\n" });

    expect(await project.repository.commit({ paths: ["a.txt"], subject: "first" })).toMatchObject({
      status: "committed",
    });

    expect(project.git("ls-tree", "--name-only", "HEAD")).toBe("a.txt\n");
    expect(project.git("status", "--porcelain")).toBe("?? b.txt\n");
  });

  test.each([
    ["with space.txt"],
    ["line\nbreak.txt"],
    ["-leading-dash"],
    [":(top)magic"],
    ["star*.txt"],
    ["ünï/ço-δ.txt"],
    ['quo"te\\.txt'],
    ["tab\there"],
  ])(
    "commits a path named %j and no other",
    async (path) => {
      await using project = await temporaryRepository({ "star-other.txt": "x" });
      project.write({ [path]: "1\n", "star-other.txt": "y" });

      const added = await project.repository.commit({ paths: [path], subject: "add" });
      project.write({ [path]: "2\n" });
      const changed = await project.repository.commit({ paths: [path], subject: "change" });
      rmSync(join(project.path, path));
      const deleted = await project.repository.commit({ paths: [path], subject: "delete" });

      expect([added.status, changed.status, deleted.status]).toEqual(["committed", "committed", "committed"]);
      for (const commit of ["HEAD~2", "HEAD~1", "HEAD"]) {
        expect(project.git("show", "--name-only", "-z", "--format=", commit)).toBe(`${path}\0`);
      }
    },
  );

  test("commits deletions, moves, modes and links of a folder that is named", async () => {
    await using project = await temporaryRepository({
      "in/old.txt": "same\n",
      "in/run.sh": "#!/bin/sh\n",
      "in/gone": "x",
      "out": "o",
    });
    rmSync(join(project.path, "in/old.txt"));
    rmSync(join(project.path, "in/gone"));
    project.write({ "in/deep/new.txt": "same\n", "out": "changed", "input": "not in the folder" });
    chmodSync(join(project.path, "in/run.sh"), 0o755);
    symlinkSync("run.sh", join(project.path, "in/link"));

    await project.repository.commit({ paths: ["in/"], subject: "all of in" });

    expect(project.git("ls-tree", "-r", "HEAD", "--format=%(objectmode) %(path)")).toBe(
      "100644 in/deep/new.txt\n120000 in/link\n100755 in/run.sh\n100644 out\n",
    );
    expect(project.git("status", "--porcelain")).toBe(" M out\n?? input\n");
  });

  test("commits a folder that became a file, and a file that became a folder", async () => {
    await using project = await temporaryRepository({ "was-folder/x": "1", "was-file": "1" });
    rmSync(join(project.path, "was-folder"), { recursive: true });
    rmSync(join(project.path, "was-file"));
    project.write({ "was-folder": "2", "was-file/y": "2" });

    const result = await project.repository.commit({ paths: ["was-folder", "was-file"], subject: "swap" });

    expect(result.status).toBe("committed");
    expect(project.git("ls-tree", "-r", "--name-only", "HEAD")).toBe("was-file/y\nwas-folder\n");
    expect(project.git("status", "--porcelain")).toBe("");
  });

  test("is nothing when nothing differs, and names what is ignored", async () => {
    await using project = await temporaryRepository({ "a.txt": "a\n", ".gitignore": "*.log\nbuild/\n" });
    project.write({ "x.log": "x", "build/y": "y" });
    const head = project.git("rev-parse", "HEAD");

    expect(await project.repository.commit({ paths: ["a.txt", "missing"], subject: "no" })).toEqual({
      status: "nothing",
      ignored: [],
    });
    expect(await project.repository.commit({ paths: ["x.log", "build/y", "a.txt"], subject: "no" }))
      .toEqual({ status: "nothing", ignored: ["x.log", "build/y"] });
    expect(await project.repository.commit({ paths: [], subject: "no" })).toEqual({ status: "nothing", ignored: [] });
    expect(project.git("rev-parse", "HEAD")).toBe(head);
  });

  test("is nothing when what was known is no longer true", async () => {
    await using project = await temporaryRepository({ "a.txt": "a\n" });
    project.write({ "a.txt": "A\n" });
    const known = await project.repository.status();
    project.write({ "a.txt": "a\n" });

    expect(await project.repository.commit({ paths: ["a.txt"], subject: "no", known })).toEqual({
      status: "nothing",
      ignored: [],
    });
  });

  test("only a hook that is there has refused: any other failure is named as what it is", async () => {
    await using project = await temporaryRepository({ "a.txt": "a\n" });
    project.write({ "a.txt": "A\n" });
    project.git("config", "commit.gpgSign", "true");
    project.git("config", "gpg.program", "false");

    const failing = project.repository.commit({ paths: ["a.txt"], subject: "work", hooks: true });

    await expect(failing).rejects.toMatchObject({ code: "git-failed", message: expect.stringContaining("gpg") });
  });

  test("runs the user's hooks only where asked, with patterns; refused, index and files are as they were", async () => {
    await using project = await temporaryRepository({ "a.txt": "a\n", "staged.txt": "s\n" });
    const hook = "#!/bin/sh\ngit diff --cached --quiet -- '*.txt' && exit\necho 'lint: bad ä' >&2\nexit 1\n";
    writeFileSync(join(project.path, ".git/hooks/pre-commit"), hook, { mode: 0o755 });
    project.write({ "a.txt": "A\n", "new.txt": "n\n", "staged.txt": "S\n" });
    project.git("add", "staged.txt");
    const before = project.git("status", "--porcelain=v2");

    const refused = await project.repository.commit({ paths: ["a.txt", "new.txt"], subject: "work", hooks: true });

    expect(refused).toEqual({ status: "refused", by: "a hook of the repository", output: "lint: bad ä\n" });
    expect(project.git("status", "--porcelain=v2")).toBe(before);
    expect(await project.repository.commit({ paths: ["a.txt", "new.txt"], subject: "state" })).toMatchObject({
      status: "committed",
    });
    expect(project.git("status", "--porcelain")).toBe("M  staged.txt\n");
  });

  test.each([
    ["formats and stages again", "sed -i s/A/B/ a.txt; git add a.txt new.txt", ["a.txt", "new.txt"], ""],
    ["stages a file that it made", "echo built > dist.js; git add dist.js", ["a.txt"], "?? new.txt\n"],
    ["takes a file away", "git rm -qf --cached new.txt; rm new.txt", ["a.txt", "new.txt"], ""],
    ["formats what many files hold", "sed -i s/m/M/ many/*; git add many", ["many"], " M a.txt\n?? new.txt\n"],
  ])("after a hook that %s the index of what was committed is HEAD's", async (_name, does, paths, left) => {
    await using project = await temporaryRepository({ "a.txt": "a\n", "staged.txt": "s\n" });
    writeFileSync(join(project.path, ".git/hooks/pre-commit"), `#!/bin/sh\n${does}\n`, { mode: 0o755 });
    const many = paths.includes("many") ? Array.from({ length: 310 }, (_, index) => [`many/${index}`, "m\n"]) : [];
    project.write({ ...Object.fromEntries(many), "a.txt": "A\n", "new.txt": "n\n", "staged.txt": "S\n" });
    project.git("add", "staged.txt");

    const result = await project.repository.commit({ paths, subject: "work", hooks: true });

    expect(result.status).toBe("committed");
    expect(project.git("diff", "--cached", "--name-only")).toBe("staged.txt\n");
    expect(project.git("status", "--porcelain").replace("M  staged.txt\n", "")).toBe(left);
  });

  test.each([
    ["git add -u", ["a.txt"], null],
    ["git add -A", ["a.txt", "new.txt"], null],
    ["git add .", ["many"], null],
    ["git add -A", ["a.txt"], "fold"],
  ])(
    "a person's uncommitted changes that a hook stages by `%s` are in no commit (%j, %s)",
    async (does, paths, kind) => {
      await using project = await temporaryRepository({ "a.txt": "a\n", "p.md": "p\n", "staged.txt": "s\n" });
      const made = "echo made > made.txt; sed -i 's/A$/B/' a.txt";
      writeFileSync(join(project.path, ".git/hooks/pre-commit"), `#!/bin/sh\n${made}\n${does}\n`, { mode: 0o755 });
      const many = paths.includes("many") ? Array.from({ length: 310 }, (_, index) => [`many/${index}`, "m\n"]) : [];
      const onto = project.git("rev-parse", "HEAD").trim();
      project.write({ "p.md": "turn\n" });
      project.git("commit", "-aqm", "turn", "--no-verify");
      const head = project.git("rev-parse", "HEAD").trim();
      project.write({ ...Object.fromEntries(many), "a.txt": "A\n", "new.txt": "n\n", "p.md": "P\n", "pn.md": "N\n" });
      project.write({ "staged.txt": "S\n" });
      project.git("add", "staged.txt");
      const fold = kind === null ? {} : { fold: { head, onto, own: { subjects: [], trailers: [] } } };

      const result = await project.repository.commit({ paths, subject: "work", hooks: true, ...fold });

      const without = does === "git add -u" ? ["p.md"] : ["p.md", "pn.md"];
      expect(result).toMatchObject({ status: "committed", without: expect.arrayContaining(without) });
      expect(project.git("rev-parse", "HEAD^").trim()).toBe(kind === null ? head : onto);
      expect(project.git("show", "HEAD:p.md")).toBe("turn\n");
      expect(project.git("show", "-s", "--format=%s")).toBe("work\n");
      const changes = project.git("diff", "--name-only", head, "HEAD").trim().split("\n");
      const own = does === "git add -u" ? [] : ["made.txt"];
      const wanted = many.length > 0 ? [...own, ...many.map(([path]) => path)] : [...paths, ...own];
      expect(changes.toSorted()).toEqual(wanted.toSorted());
      const status = project.git("status", "--porcelain");
      expect(status).toContain(" M p.md\n");
      expect(status).toContain("M  staged.txt\n");
      expect(status).toContain("?? pn.md\n");
      if (paths.includes("a.txt")) expect(project.git("show", "HEAD:a.txt")).toBe("B\n");
    },
  );

  test("a hook that hangs is ended with what it started, and files and index are as they were", async () => {
    await using project = await temporaryRepository({ "a.txt": "a\n" });
    const hook = "#!/bin/sh\nsetsid sleep 300 & echo $! > .git/hung\necho $$ >> .git/hung\nsleep 300\n";
    writeFileSync(join(project.path, ".git/hooks/pre-commit"), hook, { mode: 0o755 });
    project.write({ "a.txt": "A\n", "new.txt": "n\n" });
    const before = project.git("status", "--porcelain=v2");

    const late = project.repository.commit({ paths: ["a.txt", "new.txt"], subject: "w", hooks: true, timeoutMs: 1000 });

    await expect(late).rejects.toMatchObject({
      code: "git-failed",
      message: "`git commit` failed: the repository's hooks had not ended after 1 s and were ended (pre-commit)",
    });
    const pids = readFileSync(join(project.path, ".git/hung"), "utf8").trim().split("\n");
    expect(pids).toHaveLength(2);
    for (const pid of pids) await expect.poll(() => isAlive(Number(pid))).toBe(false);
    expect(project.git("status", "--porcelain=v2")).toBe(before);
    expect(readdirSync(join(project.path, ".git")).filter((name) => name.endsWith(".lock"))).toEqual([]);
    rmSync(join(project.path, ".git/hooks/pre-commit"));
    expect(await project.repository.commit({ paths: ["a.txt", "new.txt"], subject: "w", hooks: true }))
      .toMatchObject({ status: "committed" });
  });

  test.each(["reset -q --soft HEAD~1", "reset -q HEAD~1", "reset -q --hard HEAD~1", "reset -q --hard HEAD~2"])(
    "a hook that takes the commit off again has refused it, and a commit of state runs none: git %s",
    async (command) => {
      await using project = await temporaryRepository({ "a.txt": "a\n" });
      project.git("commit", "-q", "--allow-empty", "-m", "second");
      project.write({ "a.txt": "A\n", ".git/hooks/post-commit": `#!/bin/sh\ngit ${command}\n` });
      chmodSync(join(project.path, ".git/hooks/post-commit"), 0o755);

      expect(await project.repository.commit({ paths: ["a.txt"], subject: "work", hooks: true })).toEqual({
        status: "refused",
        by: "a hook of the repository",
        output: "its post-commit hook took the commit off main again",
      });
      project.write({ "a.txt": "state\n" });
      const state = await project.repository.commit({ paths: ["a.txt"], subject: "state" });
      expect(state).toEqual({ status: "committed", commit: project.git("rev-parse", "main").trim() });
    },
  );

  test("a hook that leaves a process behind holding its output does not hold the commit", async () => {
    await using project = await temporaryRepository({ "a.txt": "a\n" });
    writeFileSync(join(project.path, ".git/hooks/post-commit"), "#!/bin/sh\nsleep 60 &\necho $! > .git/slept\n", {
      mode: 0o755,
    });
    project.write({ "a.txt": "A\n" });
    const start = performance.now();

    await project.repository.commit({ paths: ["a.txt"], subject: "work", hooks: true });

    expect(performance.now() - start).toBeLessThan(40_000);
    process.kill(Number(readFileSync(join(project.path, ".git/slept"), "utf8")));
  });

  test("leaves submodules and repositories inside the tree alone", async () => {
    await using inner = await temporaryRepository({ "i.txt": "i\n" });
    await using project = await temporaryRepository({ "a.txt": "a\n" });
    project.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.path, "sub");
    project.git("commit", "--quiet", "-m", "sub");
    project.git(
      "-C",
      "sub",
      "-c",
      "user.name=x",
      "-c",
      "user.email=x@x",
      "commit",
      "--quiet",
      "--allow-empty",
      "-m",
      "ahead",
    );
    project.git("init", "--quiet", "nested");
    project.write({ "nested/n.txt": "n", "a.txt": "A\n" });
    const pointer = project.git("ls-tree", "HEAD", "sub");

    const { changed } = await project.repository.status();
    await project.repository.commit({ paths: ["."], subject: "everything" });

    expect(changed.find(({ path }) => path === "sub")).toMatchObject({ submodule: "SC.." });
    expect(project.git("ls-tree", "HEAD", "sub")).toBe(pointer);
    expect(project.git("show", "--name-only", "--format=", "HEAD")).toBe("a.txt\n");
  });

  test("works from a detached HEAD and in a second worktree, with no intent left behind", async () => {
    await using project = await temporaryRepository({ "a.txt": "a\n" });
    project.git("switch", "--quiet", "--detach");
    project.write({ "a.txt": "A\n" });

    const result = await project.repository.commit({ paths: ["a.txt"], subject: "detached" });

    expect(result).toEqual({ status: "committed", commit: project.git("rev-parse", "HEAD").trim() });
    expect((await project.repository.status()).branch).toBeNull();
    expect(readdirSync(project.repository.ralphDirectory)).toEqual([]);
  });

  test("a subject is one line without control characters, whatever a title holds", async () => {
    await using project = await temporaryRepository({ "a.txt": "a\n" });
    project.write({ "a.txt": "A\n" });

    await project.repository.commit({
      paths: ["a.txt"],
      subject: " feat: a\n\nb\u001b[31m\0 `$(x)` ",
      body: "two\nlines",
    });

    expect(project.git("log", "-n", "1", "--format=%B")).toBe("feat: a b `$(x)`\n\ntwo\nlines\n\n");
  });

  test("a failure of git itself is thrown with git's own words", async () => {
    await using project = await temporaryRepository({ "a.txt": "a\n" });
    project.git("config", "commit.gpgSign", "true");
    project.git("config", "gpg.program", "false");
    project.write({ "a.txt": "A\n", "new.txt": "n" });

    const committed = project.repository.commit({ paths: ["a.txt", "new.txt"], subject: "x" });

    await expect(committed).rejects.toMatchObject({
      code: "git-failed",
      message: expect.stringMatching(/`git commit` failed: .*gpg/),
    });
    expect(project.git("status", "--porcelain")).toBe(" M a.txt\n?? new.txt\n");
  });
});

test("a git that the system has no room to start is not called missing", async () => {
  const host = createHost();
  const text = "git: the system has no room for another process (EAGAIN)";
  const end: ProcessEnd = {
    reason: "not-started",
    exitCode: null,
    signal: null,
    durationMs: 0,
    stdout: "",
    stderr: text,
    tail: text,
  };
  const git = createGit({ ...host, processes: { ...host.processes, run: () => Promise.resolve(end) } }, ".");

  await expect(git(["status"])).rejects.toMatchObject({
    code: "git-failed",
    message: `\`git status\` failed: ${text}`,
  });
});
