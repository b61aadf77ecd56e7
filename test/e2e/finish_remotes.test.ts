import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Project, ralphCli } from "./cli.ts";
import { finish, finished, PRD, withRemote, WORKER } from "./finish_world.ts";

/** One more bare repository, as a remote of that name. */
function another({ root, git }: Project, name: string): string {
  const bare = `${root}-${name}.git`;
  execFileSync("git", ["init", "-q", "--bare", "--initial-branch=main", bare]);
  git("remote", "add", name, bare);
  return bare;
}

const branchesOf = (bare: string): string =>
  execFileSync("git", ["for-each-ref", "--format=%(refname)"], { cwd: bare, encoding: "utf8" }).trim();

describe("ralph finish, where there are remotes", () => {
  test("pushes no tag of the person's, whatever git is set to", async () => {
    const project = await finished();
    const bare = withRemote(project);
    project.git("config", "push.followTags", "true");
    project.git("tag", "-a", "mine", "-m", "mine", "HEAD");

    await finish(project.root, "--approve", "finish").expectExit(0);

    expect(branchesOf(bare)).toBe("refs/heads/main\nrefs/heads/ralph/hello");
  });

  test("the address is named, without a login, and that the last run began with another", async () => {
    const project = await finished();
    const { root, git } = project;
    withRemote(project);
    const said = async (): Promise<string> => (await finish(root, "--dry-run").expectExit(0)).stdout;
    const OTHER = "origin had another address, or none, when the last run began";

    expect(await said()).toContain("remote    origin ([ROOT]-origin.git): the branch is pushed");
    expect(await said()).toContain(`to know   ${OTHER}`);
    await ralphCli(root).args("run", "--agent-cmd", WORKER, "--quiet").expectExit(0);
    expect(await said()).not.toContain(OTHER);
    git("config", "remote.origin.pushurl", "https://ada:secret@git.example.invalid/evil.git");
    const { stderr } = await finish(root, "--non-interactive").expectExit(3);
    expect(stderr).toContain(`${OTHER}. Push ralph/hello to origin (https://git.example.invalid/evil.git)?`);
    expect(stderr).not.toContain("secret");
  });

  test("several and none called origin: asks which is meant, unless the base tracks one", async () => {
    const project = await finished();
    const { root, git } = project;
    const [one, two] = [another(project, "one"), another(project, "two")];
    for (const name of ["one", "two"]) git("push", "-q", name, "main");
    const before = git("rev-parse", "main");

    const { stderr } = await finish(root, "--approve", "finish").expectExit(2);

    expect(stderr).toContain("nothing says which of the remotes is meant: one, two");
    expect(stderr).toContain("`ralph finish --merge` merges here");
    expect(git("rev-parse", "main")).toBe(before);
    git("branch", "-q", "--set-upstream-to=two/main", "main");
    await finish(root, "--approve", "finish").expectExit(0);
    expect(branchesOf(one)).toBe("refs/heads/main");
    expect(branchesOf(two)).toContain("refs/heads/ralph/hello");
  });

  test("several, and a merge here was asked for: it is made", async () => {
    const project = await finished();
    another(project, "one");
    another(project, "two");
    await finish(project.root, "--merge", "--approve", "finish").expectExit(0);
  });

  test("of a fork: the last line names where the base is", async () => {
    const project = await finished();
    const { root, git } = project;
    another(project, "upstream");
    git("push", "-q", "-u", "upstream", "main");
    another(project, "fork");
    git("config", "remote.pushDefault", "fork");

    const { stderr } = await finish(root, "--approve", "finish").expectExit(0);

    expect(stderr).toContain("pushed ralph/hello to fork");
    expect(stderr).toContain("next: open a request from ralph/hello to main where upstream is");
  });

  test("a remote without the base is named", async () => {
    const project = await finished();
    another(project, "fork");

    const { stdout } = await finish(project.root, "--dry-run").expectExit(0);

    expect(stdout).toContain("base      fork has no branch main");
    expect(stdout).not.toContain("was not reached");
  });

  test("commits of the base that only this clone has are named", async () => {
    const project = await finished();
    const { root, git } = project;
    withRemote(project);
    git("switch", "-q", "main");
    git("commit", "-q", "--allow-empty", "-m", "mine");
    const other = git("commit-tree", "-p", "origin/main", "-m", "theirs", "origin/main^{tree}");
    git("push", "-q", "origin", `${other}:refs/heads/main`);
    git("switch", "-q", "ralph/hello");
    git("rebase", "-q", "main");

    const { stdout } = await finish(root, "--dry-run").expectExit(0);

    expect(stdout).toContain(
      "base      main has 1 commit that origin/main has not: what the branch holds of it goes along",
    );
  });

  test("a pre-push hook that commits does not change what is pushed", async () => {
    const project = await finished();
    const { root, git } = project;
    const bare = withRemote(project);
    const hook = "#!/bin/sh\necho late > late.txt; git add late.txt; git commit -qm late --no-verify\n";
    writeFileSync(join(root, ".git/hooks/pre-push"), hook, { mode: 0o755 });

    const { stderr } = await finish(root, "--approve", "finish").expectExit(0);

    const pushed = execFileSync("git", ["rev-parse", "ralph/hello"], { cwd: bare, encoding: "utf8" }).trim();
    expect(pushed).toBe(git("rev-parse", "HEAD~1"));
    expect(stderr).toContain("made meanwhile and not pushed: 1 commit of ralph/hello");
    expect(git("log", "-1", "--format=%s")).toBe("late");
  });

  test("a merge here says what publishes it", async () => {
    const project = await finished();
    withRemote(project);
    const { stderr } = await finish(project.root, "--merge", "--approve", "finish").expectExit(0);
    expect(stderr).toContain("`git push origin main` publishes it");
  });

  test("state that git ignores is kept and taken away as well, and comes back", async () => {
    const ran = await ralphCli().files({ ".gitignore": "scripts/ralph\n" }).dirty({ "scripts/ralph/prd.json": PRD })
      .agent("worker", WORKER).args("run", "--agent-cmd", "worker", "--quiet").expectExit(0);
    const { root, git } = ran;
    const bare = withRemote(ran);
    const prd = join(root, "scripts/ralph/prd.json");

    await finish(root, "--approve", "finish").expectExit(0);

    expect([existsSync(prd), git("status", "--porcelain")]).toEqual([false, ""]);
    expect(git("show", "refs/ralph/archive/ralph/hello/1:scripts/ralph/prd.json")).toContain('"passes": true');
    expect(execFileSync("git", ["rev-parse", "ralph/hello"], { cwd: bare, encoding: "utf8" }).trim())
      .toBe(git("rev-parse", "HEAD"));
    await ralphCli(root).args("run", "--agent-cmd", "worker", "--quiet").expectExit(0);
    expect(readFileSync(prd, "utf8")).toContain('"passes": true');
    expect((await finish(root, "--approve", "finish").expectExit(0)).stderr).not.toContain("has not passed");
  });
});
