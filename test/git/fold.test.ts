import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { bodyWith, captureWork, planFold, undoFold } from "../../lib/git/fold.ts";
import { markingEnvironment } from "../../lib/git/turn_mark.ts";
import { gitIn, type TestGit } from "../repository.ts";
import { type TemporaryRepository, temporaryRepository } from "./temporary_repository.ts";

/** Git as a turn runs it. */
async function turnGit(repo: TemporaryRepository): Promise<TestGit> {
  return gitIn(repo.path, { ...process.env, ...await markingEnvironment(repo.repository, process.env) });
}

/** A repository in which a turn has committed `a.txt` and `b.txt`, and left `c.txt`. */
async function afterTurn(): Promise<TemporaryRepository & { readonly start: string; readonly agent: TestGit }> {
  const repo = await temporaryRepository({ "old.txt": "old\n" });
  const start = repo.git("rev-parse", "HEAD").trim();
  const agent = await turnGit(repo);
  commit(repo, agent, "a.txt", "add a");
  commit(repo, agent, "b.txt", "add b\n\nWhy.\n\nCo-authored-by: Bot <bot@example.com>");
  repo.write({ "c.txt": "c\n" });
  return Object.assign(repo, { start, agent });
}

function commit(repo: TemporaryRepository, git: TestGit, path: string, message: string): string {
  repo.write({ [path]: `${path}\n` });
  git("add", path);
  git("commit", "--quiet", "--message", message);
  return git("rev-parse", "HEAD").trim();
}

function head(repo: TemporaryRepository): string {
  return repo.git("rev-parse", "HEAD").trim();
}

async function planned(repo: TemporaryRepository & { readonly start: string }): ReturnType<typeof planFold> {
  return await planFold(repo.repository, { start: repo.start, head: head(repo), branch: "main" });
}

describe("a commit that others become a part of", () => {
  test("has their content, what was left, their subjects and trailers; what a person staged stays staged", async () => {
    await using repo = await afterTurn();
    repo.write({ "mine.txt": "mine\n", "old.txt": "edited\n" });
    repo.git("add", "mine.txt");
    const fold = (await planned(repo))!;

    const result = await repo.repository.commit({ paths: ["c.txt"], subject: "feat: all", body: "US-1", fold });

    expect(result.status).toBe("committed");
    expect(repo.git("log", "--format=%s")).toBe("feat: all\nfirst\n");
    expect(repo.git("show", "--name-only", "--format=%b")).toBe(
      "US-1\n\n- add a\n- add b\n\nCo-authored-by: Bot <bot@example.com>\n\n\na.txt\nb.txt\nc.txt\n",
    );
    expect(repo.git("status", "--porcelain")).toBe("A  mine.txt\n M old.txt\n");
    expect(repo.git("for-each-ref", "refs/ralph")).toBe("");
  });

  test("is made beside them where another tool has committed on top meanwhile, and keeps what that committed", async () => {
    await using repo = await afterTurn();
    const fold = (await planned(repo))!;
    commit(repo, gitIn(repo.path, process.env), "theirs.txt", "theirs");

    const result = await repo.repository.commit({ paths: ["c.txt"], subject: "feat: all", fold });

    expect(result.status).toBe("committed");
    expect(repo.git("log", "--format=%s")).toBe("feat: all\ntheirs\nadd b\nadd a\nfirst\n");
    expect(repo.git("ls-files")).toBe("a.txt\nb.txt\nc.txt\nold.txt\ntheirs.txt\n");
    expect(repo.git("status", "--porcelain")).toBe("");
    expect(repo.git("for-each-ref", "refs/ralph")).toBe("");
  });

  test("is shown to the repository's hooks as a whole; refused, everything is as it was", async () => {
    await using repo = await afterTurn();
    const hook = join(repo.path, ".git/hooks/pre-commit");
    writeFileSync(hook, "#!/bin/sh\ngit diff --cached --name-only -- '*.txt'; exit 1\n");
    chmodSync(hook, 0o755);
    const before = head(repo);
    const fold = (await planned(repo))!;

    const result = await repo.repository.commit({ paths: ["c.txt"], subject: "feat: all", hooks: true, fold });

    expect(result).toEqual({ status: "refused", by: "a hook of the repository", output: "a.txt\nb.txt\nc.txt\n" });
    expect(head(repo)).toBe(before);
    expect(repo.git("status", "--porcelain")).toBe("?? c.txt\n");
  });

  test("keeps what a hook has added to it", async () => {
    await using repo = await afterTurn();
    const hook = join(repo.path, ".git/hooks/pre-commit");
    writeFileSync(hook, "#!/bin/sh\necho formatted > a.txt && git add a.txt\n");
    chmodSync(hook, 0o755);
    const fold = (await planned(repo))!;

    await repo.repository.commit({ paths: ["c.txt"], subject: "feat: all", hooks: true, fold });

    expect(repo.git("show", "HEAD:a.txt")).toBe("formatted\n");
    expect(repo.git("status", "--porcelain")).toBe("");
  });

  test("is not made where the turn's commits cancel each other out: they stay", async () => {
    await using repo = await temporaryRepository({ "old.txt": "old\n" });
    const start = head(repo);
    const agent = await turnGit(repo);
    commit(repo, agent, "a.txt", "add a");
    agent("revert", "--no-edit", "HEAD");
    const before = head(repo);
    const fold = (await planned(Object.assign(repo, { start })))!;

    const result = await repo.repository.commit({ paths: [], subject: "feat: nothing", fold });

    expect(result.status).toBe("nothing");
    expect(head(repo)).toBe(before);
  });

  test("that a kill prevented, or that one followed, leaves a branch and an index that are put in order", async () => {
    await using repo = await afterTurn();
    const fold = (await planned(repo))!;
    repo.git("update-ref", "HEAD", fold.onto);
    await undoFold(repo.repository, fold);
    expect(head(repo)).toBe(fold.head);
    expect(repo.git("status", "--porcelain")).toBe("?? c.txt\n");

    const index = ["add", "c.txt"] as const;
    repo.git(...index);
    const tree = repo.git("write-tree").trim();
    repo.git("reset", "--quiet");
    repo.git("update-ref", "HEAD", repo.git("commit-tree", tree, "-p", fold.onto, "-m", "feat: all").trim());
    await undoFold(repo.repository, fold);
    expect(repo.git("status", "--porcelain")).toBe("");
  });

  test("a branch that a person has switched to after a kill stays where it is, and so does its index", async () => {
    await using repo = await afterTurn();
    const fold = (await planned(repo))!;
    const work = repo.git("symbolic-ref", "HEAD").trim();
    repo.git("update-ref", "HEAD", fold.onto);
    repo.git("switch", "--quiet", "--create", "theirs");

    await undoFold(repo.repository, fold);

    expect(head(repo)).toBe(fold.onto);
    expect(repo.git("rev-parse", work).trim()).toBe(fold.head);
    expect(repo.git("diff", "--cached", "--name-only")).toBe("a.txt\nb.txt\n");

    const made = repo.git("commit-tree", `${fold.onto}^{tree}`, "-p", fold.onto, "-m", "feat: all").trim();
    repo.git("update-ref", work, made);
    await undoFold(repo.repository, fold);
    expect(repo.git("rev-parse", "theirs", work)).toBe(`${fold.onto}\n${made}\n`);
    expect(repo.git("diff", "--cached", "--name-only")).toBe("a.txt\nb.txt\n");
    expect(repo.git("for-each-ref", "refs/ralph/fold")).toBe("");
  });
});

describe("planFold()", () => {
  test("names the turn's commits, down to where it began", async () => {
    await using repo = await afterTurn();

    expect(await planned(repo)).toEqual({
      head: head(repo),
      onto: repo.start,
      ref: repo.git("symbolic-ref", "HEAD").trim(),
      own: { subjects: ["add a", "add b"], trailers: ["Co-authored-by: Bot <bot@example.com>"] },
    });
  });

  test("ends at a commit that a person made meanwhile", async () => {
    await using repo = await afterTurn();
    const theirs = commit(repo, repo.git, "person.txt", "by a person");
    expect(await planned(repo)).toBeNull();

    commit(repo, repo.agent, "d.txt", "add d");
    expect(await planned(repo)).toMatchObject({ onto: theirs, own: { subjects: ["add d"] } });
  });

  test.each([
    ["on a remote", ["update-ref", "refs/remotes/origin/main", "HEAD"]],
    ["tagged", ["tag", "v1"]],
    ["on another branch", ["branch", "other"]],
  ])("leaves alone what is %s", async (_, hold) => {
    await using repo = await afterTurn();
    repo.git(...hold);
    expect(await planned(repo)).toBeNull();

    commit(repo, repo.agent, "d.txt", "add d");
    expect((await planned(repo))?.own.subjects).toEqual(["add d"]);
  });

  test("takes what the turn amended, rebased, picked and merged; another's merged branch stays", async () => {
    await using repo = await afterTurn();
    repo.agent("commit", "--quiet", "--amend", "--message", "add b, better");
    repo.agent("switch", "--quiet", "--create", "topic");
    commit(repo, repo.agent, "d.txt", "add d");
    repo.agent("switch", "--quiet", "-");
    repo.agent("merge", "--quiet", "--no-ff", "topic", "--message", "merge topic");
    repo.agent("branch", "--delete", "topic");
    repo.agent("rebase", "--quiet", "--force-rebase", repo.start);
    expect((await planned(repo))?.own.subjects).toEqual(["add a", "add b, better", "add d"]);

    repo.git("switch", "--quiet", "--create", "theirs", repo.start);
    commit(repo, repo.git, "theirs.txt", "theirs");
    repo.git("switch", "--quiet", "main");
    repo.agent("merge", "--quiet", "theirs", "--message", "merge theirs");
    expect(await planned(repo)).toBeNull();
  });

  test("tells a turn from a person whose git compresses as the mark does", async () => {
    await using repo = Object.assign(await temporaryRepository({ "old.txt": "old\n" }), { start: "HEAD~2" });
    repo.git("config", "core.compression", "3");
    commit(repo, repo.git, "theirs.txt", "theirs");
    commit(repo, await turnGit(repo), "a.txt", "add a");
    expect((await planned(repo))?.own.subjects).toEqual(["add a"]);
  });

  test("takes nothing where a submodule was moved", async () => {
    await using repo = await afterTurn();
    repo.agent("update-index", "--add", "--cacheinfo", `160000,${repo.start},sub`);
    repo.agent("commit", "--quiet", "--message", "move a submodule");
    expect(await planned(repo)).toBeNull();
  });

  test("names authors with another address", async () => {
    await using repo = await afterTurn();
    repo.write({ "d.txt": "d\n" });
    repo.agent("add", "d.txt");
    repo.agent(
      "commit",
      "--quiet",
      "--author",
      "Eve <eve@example.com>",
      "--message",
      "add \u202e\u200b\u001b[31md\n\nChange-Id: I1",
    );
    const own = (await planned(repo))?.own;
    expect(own?.subjects.at(-1)).toBe("add d");
    expect(own?.trailers).toEqual([
      "Co-authored-by: Bot <bot@example.com>",
      "Co-authored-by: Eve <eve@example.com>",
    ]);
  });
});

describe("captureWork()", () => {
  test("makes one commit of what is committed and what is not, state apart; nothing moves", async () => {
    await using repo = await afterTurn();
    repo.write({ "prd.json": "{}\n", "old.txt": "changed\n" });
    const before = [head(repo), repo.git("status", "--porcelain")];

    const work = (await captureWork(repo.repository, {
      base: repo.start,
      ref: "refs/ralph/work/1",
      subject: "feat: all",
      without: ["prd.json"],
    }))!;

    expect(work.paths).toEqual(["a.txt", "b.txt", "c.txt", "old.txt"]);
    expect(repo.git("log", "--format=%s%n%b", "refs/ralph/work/1")).toBe(
      "feat: all\n- add a\n- add b\n\nCo-authored-by: Bot <bot@example.com>\n\nfirst\n\n",
    );
    expect(repo.git("diff", "--name-only", repo.start, work.commit)).toBe("a.txt\nb.txt\nc.txt\nold.txt\n");
    expect([head(repo), repo.git("status", "--porcelain")]).toEqual(before);
  });

  test("takes only the paths that are named, beside what is committed", async () => {
    await using repo = await afterTurn();
    repo.write({ "mine.txt": "mine\n" });
    repo.git("add", "mine.txt");
    const capture = { base: repo.start, ref: "refs/ralph/work/1", subject: "work", without: [] };

    expect((await captureWork(repo.repository, { ...capture, only: ["c.txt"] }))?.paths).toEqual([
      "a.txt",
      "b.txt",
      "c.txt",
    ]);
    expect(await captureWork(repo.repository, { ...capture, base: head(repo), only: [] })).toBeNull();
  });
});

describe("bodyWith()", () => {
  test("names at most 50 subjects", () => {
    const subjects = Array.from({ length: 52 }, (_, index) => `commit ${index}`);

    expect(bodyWith("x", { subjects, trailers: [] }).split("\n").slice(-2)).toEqual(["- commit 49", "- … 2 more"]);
    expect(bodyWith(undefined, { subjects: [], trailers: [] })).toBe("");
  });
});
