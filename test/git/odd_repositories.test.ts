import { describe, expect, test } from "vitest";
import { openRepository } from "../../lib/git/open_repository.ts";
import { outputFrom, reasonOf } from "../../lib/git/run_git.ts";
import { createHost } from "../../lib/host/create_host.ts";
import { temporaryRepository } from "./temporary_repository.ts";

describe("a repository of an odd kind", () => {
  test("a file outside of a sparse checkout is committed all the same", async () => {
    await using project = await temporaryRepository({ "src/a.txt": "a\n", "work/old.txt": "o\n" });
    project.git("sparse-checkout", "set", "src");
    project.write({ "work/new.txt": "n\n", "src/a.txt": "A\n" });

    const result = await project.repository.commit({ paths: ["work/new.txt", "src/a.txt"], subject: "one" });

    expect(result.status).toBe("committed");
    expect(project.git("show", "--format=", "--name-only")).toBe("src/a.txt\nwork/new.txt\n");
    expect(project.git("status", "--porcelain")).toBe("");
  });

  test("a log in another encoding is read as what it says", async () => {
    await using project = await temporaryRepository({ "a.txt": "a\n" });
    project.git("config", "i18n.logOutputEncoding", "UTF-16");

    expect(await project.repository.log(1)).toMatchObject([{ subject: "first" }]);
    expect((await outputFrom(project.repository, ["log", "-1", "--format=%H"])).trim()).toMatch(/^[0-9a-f]{40}$/);
  });

  test("a working tree that is not there is named, and git is not called missing", async () => {
    await using project = await temporaryRepository({ "a.txt": "a\n" });
    project.git("config", "core.worktree", "/nowhere");
    const repository = await openRepository(createHost(), project.path);

    await expect(repository?.status()).rejects.toMatchObject({
      code: "git-failed",
      message: "`git status` failed: the working tree /nowhere is not there",
      hint: expect.stringContaining("core.worktree"),
    });
  });
});

describe("what git says went wrong", () => {
  test.each([
    [
      "ssh: connect to host x port 22: Connection refused\nfatal: Could not read from remote repository.\n\n" +
      "Please make sure you have the correct access rights\nand the repository exists.\n",
      "ssh: connect to host x port 22: Connection refused Could not read from remote repository.",
    ],
    [
      "error: Your local changes would be overwritten:\n\ta.txt\nPlease commit your changes or stash them\n" +
      "before you switch branches.\nAborting\n",
      "Your local changes would be overwritten: a.txt",
    ],
    ["hint: try this\nhint: or that\nfatal: bad thing\n", "bad thing"],
  ])("is kept, and its advice left out", (stderr, reason) => {
    expect(reasonOf({ stderr, tail: stderr })).toBe(reason);
  });
});
