import { describe, expect, test } from "vitest";
import { parseStatus } from "../../lib/git/parse_status.ts";
import { temporaryRepository } from "./temporary_repository.ts";

describe("switchTo()", () => {
  test("creates, switches back, stays, and keeps local changes", async () => {
    await using project = await temporaryRepository({ "a.txt": "1" });
    project.write({ "a.txt": "mine", "new.txt": "mine too" });

    await project.repository.switchTo("feature/one");
    await project.repository.switchTo("feature/one");
    expect((await project.repository.status()).branch).toBe("feature/one");
    await project.repository.switchTo("main");

    const status = await project.repository.status();
    expect(status.branch).toBe("main");
    expect(status.changed.map(({ path }) => path)).toEqual(["a.txt", "new.txt"]);
  });

  test("brings a branch of Ralph's forward that was merged, and no other one", async () => {
    await using project = await temporaryRepository({ "a.txt": "1" });
    for (const branch of ["ralph/x", "release-1"]) project.git("branch", branch);
    project.write({ "a.txt": "2" });
    project.git("commit", "--quiet", "--all", "-m", "two");
    const head = project.git("rev-parse", "HEAD");
    project.write({ "a.txt": "mine" });

    expect(await project.repository.switchTo("ralph/x")).toBe("forwarded");
    expect(project.git("rev-parse", "HEAD")).toBe(head);
    expect(project.git("diff", "--name-only").trim()).toBe("a.txt");
    project.git("checkout", "--quiet", "--", "a.txt");
    expect(await project.repository.switchTo("release-1")).toBe("switched");
    expect(project.git("rev-parse", "HEAD")).not.toBe(head);
  });

  test.each([["ralph", "ralph/x"], ["a/b/c", "a/b"]])(
    "beside %s, of %s, names the branch that is in the way",
    async (taken, branch) => {
      await using project = await temporaryRepository({ "a.txt": "1" });
      project.git("branch", taken);

      await expect(project.repository.switchTo(branch)).rejects.toMatchObject({
        code: "branch-failed",
        hint: `git cannot have it beside the branch ${taken}: rename that one, or name another with \`--branch\``,
      });
    },
  );

  test.each(["ralph/x", "other"])("of %s, which another working tree is on, names that tree", async (branch) => {
    await using project = await temporaryRepository({ "a.txt": "1" });
    const tree = `${project.path}/.git/tree-of-another`;
    project.git("worktree", "add", "--quiet", "-b", branch, tree);

    await expect(project.repository.switchTo(branch)).rejects.toMatchObject({
      code: "branch-failed",
      hint: `run Ralph there: \`cd ${tree}\`; or name another branch with \`--branch\``,
    });
  });

  test("works before the first commit and from a detached HEAD", async () => {
    await using fresh = await temporaryRepository();
    await fresh.repository.switchTo("start");
    expect((await fresh.repository.status()).branch).toBe("start");

    await using project = await temporaryRepository({ "a": "1" });
    project.git("switch", "--quiet", "--detach");
    await project.repository.switchTo("from-here");
    expect((await project.repository.status()).branch).toBe("from-here");
  });

  test.each([["-f"], ["--orphan"], ["a..b"], ["with space"], ["@{-1}"], [""], ["x.lock"], ["a\nb"], ["refs/heads/x"]])(
    "refuses the name %j",
    async (name) => {
      await using project = await temporaryRepository({ "a": "1" });
      project.git("switch", "--quiet", "--create", "other");
      project.git("switch", "--quiet", "main");

      await expect(project.repository.switchTo(name)).rejects.toMatchObject({
        code: "branch-invalid",
        exitCode: 2,
        details: { branch: JSON.stringify(name) },
      });
      expect((await project.repository.status()).branch).toBe("main");
    },
  );

  test("tells git's reason when local changes are in the way, and keeps them", async () => {
    await using project = await temporaryRepository({ "a.txt": "1" });
    project.git("switch", "--quiet", "--create", "other");
    project.write({ "a.txt": "2" });
    project.git("commit", "--quiet", "--all", "-m", "two");
    project.git("switch", "--quiet", "main");
    project.write({ "a.txt": "mine" });

    const switched = project.repository.switchTo("other");

    await expect(switched).rejects.toMatchObject({
      code: "branch-failed",
      message: expect.stringMatching(
        /Your local changes to the following files would be overwritten by checkout.*a\.txt/s,
      ),
    });
    expect(project.git("status", "--porcelain")).toBe(" M a.txt\n");
  });
});

describe("log()", () => {
  test("gives subjects, newest first, and none before the first commit", async () => {
    await using project = await temporaryRepository();
    expect(await project.repository.log(5)).toEqual([]);

    for (const subject of ["one", "two: ä", "three"]) project.git("commit", "--quiet", "--allow-empty", "-m", subject);

    expect((await project.repository.log(2)).map(({ subject }) => subject)).toEqual(["three", "two: ä"]);
    expect((await project.repository.log(1))[0]!.commit).toBe(project.git("rev-parse", "HEAD").trim());
  });
});

describe("git()", () => {
  test("gives code and both streams, whole", async () => {
    await using project = await temporaryRepository({ "a": "x".repeat(300_000) });

    const shown = await project.repository.git(["cat-file", "--batch"], { input: "HEAD:a\n" });
    const failed = await project.repository.git(["rev-parse", "--verify", "nope"]);

    expect(shown.stdout).toHaveLength(
      project.git("rev-parse", "HEAD:a").trim().length + " blob 300000\n".length + 300_001,
    );
    expect(failed).toMatchObject({
      exitCode: 128,
      stdout: "",
      stderr: expect.stringMatching(/fatal: Needed a single revision/),
    });
  });
});

describe("parseStatus()", () => {
  test("reads every kind of record", () => {
    const output = [
      "# branch.oid 1234",
      "# branch.head feat/x y",
      "# branch.upstream origin/x",
      "# branch.ab +1 -2",
      "1 .M N... 100644 100644 100644 aa bb with space.txt",
      "2 R. N... 100644 100644 100644 aa bb R100 new name",
      "old name",
      "u UU N... 100644 100644 100644 100644 aa bb cc both",
      "1 .M SC.U 160000 160000 160000 aa bb sub",
      "? line\nbreak",
      "? .x.txt.12-0123abcd.ralph-tmp",
      "",
    ].join("\0");

    expect(parseStatus(output)).toEqual({
      head: "1234",
      branch: "feat/x y",
      changed: [
        { path: "with space.txt", code: " M", untracked: false },
        { path: "new name", code: "R ", untracked: false, staged: "100644 bb" },
        { path: "old name", code: "D ", untracked: false },
        { path: "both", code: "UU", untracked: false },
        { path: "sub", code: " M", untracked: false, submodule: "SC.U" },
        { path: "line\nbreak", code: "??", untracked: true },
      ],
    });
    expect(parseStatus("# branch.oid (initial)\0# branch.head (detached)\0")).toEqual({
      head: null,
      branch: null,
      changed: [],
    });
  });
});
