import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { copied, ralphCli } from "./cli.ts";
import { finish, finished, PRD, standIn, withRemote } from "./finish_world.ts";

/** A `git` on PATH that ends the one who called it: at this command, before git did it or after. */
function killingGit(root: string, command: string, when: "before" | "after"): void {
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const bin = `${root}-bin`;
  mkdirSync(bin, { recursive: true });
  const script = `#!/bin/sh
for one in "$@"; do case "$one" in -*|*=*) ;; ${command}) hit=1; break;; *) break;; esac; done
[ -z "$hit" ] || [ -e ${bin}/killed ] && exec ${real} "$@"
touch ${bin}/killed
${when === "after" ? `${real} "$@"` : ":"}
kill -9 $PPID
`;
  writeFileSync(join(bin, "git"), script, { mode: 0o755 });
}

describe("ralph finish", () => {
  test("without a remote merges here after a yes, and the next goal begins clean", async () => {
    const { root, git } = await finished();

    const asked = await finish(root, "--approve", "all").expectExit(3);
    expect(asked.stderr).toContain("ralph finish --approve finish");
    expect(git("log", "-1", "--format=%s", "main")).toBe("start");

    const { stderr } = await finish(root, "--approve", "finish").expectExit(0);

    expect(stderr).toContain("ralph/hello from main: 2 commits, 1 file, +1 -0");
    expect(stderr).toContain("ralph/hello is merged into main");
    expect(git("branch", "--show-current")).toBe("main");
    expect(git("log", "-1", "--format=%s")).toBe("greet whoever runs it");
    expect(git("status", "--porcelain")).toBe("");
    expect(readFileSync(join(root, "hello.txt"), "utf8")).toBe("hello\n");
    expect(existsSync(join(root, "scripts/ralph/prd.json"))).toBe(false);
    expect(existsSync(join(root, "scripts/ralph/archive"))).toBe(false);
    expect(JSON.parse(git("show", "refs/ralph/archive/ralph/hello/1:scripts/ralph/prd.json")).userStories[0].passes)
      .toBe(true);
    expect(git("diff", "--name-only", "--diff-filter=d", "main~1", "main")).toBe("hello.txt");
    expect((await finish(root, "--approve", "finish").expectExit(2)).stderr).toContain("nothing to finish");
  });

  test("on the base the branch of the run that has the work is named, until it is merged as one commit", async () => {
    const { root, git } = await finished();
    git("switch", "-q", "main");

    const { stderr } = await finish(root, "--approve", "all").expectExit(2);
    git("switch", "-q", "ralph/hello");
    await finish(root, "--squash", "--approve", "finish").expectExit(0);
    const merged = await finish(root, "--approve", "all").expectExit(2);

    expect(stderr).toContain("main is what branches are finished into; the work is on ralph/hello\n");
    expect(stderr).toContain("hint: `git switch ralph/hello`, then `ralph finish`\n");
    expect(git("branch", "--list", "ralph/hello")).toBe("ralph/hello");
    expect(merged.stderr).toContain("nothing to finish");
    expect(merged.stderr).not.toContain("ralph/hello");
  });

  test("on a branch that it has finished, a plan that is missing is had by ralph restore", async () => {
    const { root, git } = await finished();
    await finish(root, "--approve", "finish").expectExit(0);
    git("switch", "-q", "ralph/hello");

    const { stdout, stderr } = await ralphCli(root).args("next").start().ended();

    expect(stdout + stderr).toContain("`ralph restore --branch ralph/hello` lays it in");
    await ralphCli(root).args("restore", "--branch", "ralph/hello").expectExit(0);
    await ralphCli(root).args("next").expectExit(0);
  });

  test("names a story that no agent claimed once, however often it ran", async () => {
    const { root } = await ralphCli().files({ "scripts/ralph/prd.json": PRD })
      .agent("worker", "cat > /dev/null; echo hello > hello.txt; echo so far")
      .args("run", "--agent-cmd", "worker", "--quiet").expectExit(1);
    await ralphCli(root).args("run", "--agent-cmd", "worker", "--quiet").expectExit(1);

    const { stdout } = await finish(root, "--dry-run").expectExit(0);

    expect(stdout.match(/^- not claimed: US-001: .*/gm)).toHaveLength(1);
  });

  test("ralph restore --branch lays in the state of a branch that was merged, and writes over nothing", async () => {
    const { root, git } = await finished();
    await finish(root, "--approve", "finish").expectExit(0);
    git("branch", "-d", "ralph/hello");
    const restore = (...args: string[]): ReturnType<typeof ralphCli> => ralphCli(root).args("restore", ...args);

    expect((await restore("--branch", "ralph/hell").expectExit(2)).stderr).toContain("nothing is kept of a branch");
    const dry = await restore("--branch", "ralph/hello", "--dry-run").expectExit(0);
    expect(dry.stdout).toContain("scripts/ralph/prd.json  from refs/ralph/archive/ralph/hello/1");
    expect(existsSync(join(root, "scripts/ralph/prd.json"))).toBe(false);
    await restore("--branch", "ralph/hello").expectExit(0);

    expect(readFileSync(join(root, "scripts/ralph/prd.json"), "utf8")).toContain('"passes": true');
    expect((await ralphCli(root).args("status").expectExit(0)).stderr).not.toContain("edited");
    writeFileSync(join(root, "scripts/ralph/prd.json"), "mine\n");
    const again = await restore("--branch", "ralph/hello").expectExit(1);
    expect(again.stderr).toContain("scripts/ralph/prd.json is there: left as it is");
    expect(readFileSync(join(root, "scripts/ralph/prd.json"), "utf8")).toBe("mine\n");
  });

  test('with `finish: { "state": "keep" }` the state stays in what is merged', async () => {
    const { root, git } = await finished();
    writeFileSync(join(root, "ralph.config.json"), JSON.stringify({ finish: { state: "keep" } }));
    git("add", "ralph.config.json");
    git("commit", "-qm", "keep");

    const { stdout, stderr } = await finish(root, "--dry-run").expectExit(0);
    await finish(root, "--approve", "finish").expectExit(0);

    expect(stdout + stderr).toMatch(/- Plans and notes, not counted: \d files?: .*`scripts\/ralph\/prd\.json`/);
    expect(git("show", "main:scripts/ralph/prd.json")).toContain('"passes": true');
    expect(git("for-each-ref", "refs/ralph/archive")).toBe("");
  });

  test("leaves all as it was where the push is refused, a merge conflicts, or the tree is dirty", async () => {
    const project = await finished();
    const { root, git } = project;
    const bare = withRemote(project);
    writeFileSync(join(bare, "hooks/pre-receive"), "#!/bin/sh\necho no pushes today >&2; exit 1\n", { mode: 0o755 });
    const refused = await finish(root, "--approve", "finish").expectExit(1);
    expect(refused.stderr).toContain("no pushes today");
    expect(git("branch", "--show-current")).toBe("ralph/hello");

    const asOption = await finish(root, "--dry-run", `--base=--upload-pack=touch ${root}/run;git-upload-pack`)
      .expectExit(2);
    expect(asOption.stderr).toContain("there is no branch --upload-pack");
    expect(existsSync(join(root, "run"))).toBe(false);

    git("switch", "-q", "main");
    writeFileSync(join(root, "hello.txt"), "other\n");
    git("add", "hello.txt");
    git("commit", "-qm", "other");
    git("switch", "-q", "ralph/hello");
    git("remote", "remove", "origin");
    const before = git("rev-parse", "main");
    const conflict = await finish(root, "--approve", "finish").expectExit(1);
    expect(conflict.stderr).toContain("both have changed hello.txt");
    expect([git("branch", "--show-current"), git("rev-parse", "main")]).toEqual(["ralph/hello", before]);

    writeFileSync(join(root, "hello.txt"), "edited\n");
    expect((await finish(root, "--approve", "finish").expectExit(2)).stderr).toContain("not committed");
  });

  test("a conflict is named with the way out of it, which leads to a merge", async () => {
    const { root, git } = await finished();
    git("switch", "-q", "main");
    writeFileSync(join(root, "hello.txt"), "other\n");
    git("add", "hello.txt");
    git("commit", "-qm", "other");
    git("switch", "-q", "ralph/hello");
    const head = git("rev-parse", "HEAD");

    const refused = await finish(root, "--approve", "finish").expectExit(1);

    const way = "`git merge main` on ralph/hello, settle it there and commit, then `ralph run` and `ralph finish`";
    expect(refused.stderr).toContain(`to settle it first: ${way}`);
    expect(refused.stderr).toContain(`hint: ${way}`);
    expect([git("rev-parse", "HEAD"), existsSync(join(root, "scripts/ralph/prd.json"))]).toEqual([head, true]);
    git("merge", "-q", "-X", "ours", "main");
    await ralphCli(root).args("run", "--agent-cmd", "worker", "--quiet").expectExit(0);
    const { stderr } = await finish(root, "--approve", "finish").expectExit(0);
    expect(stderr).toContain("ralph/hello is merged into main");
    expect(stderr).not.toContain("It has not passed");
    expect(git("show", "main:hello.txt")).toBe("hello");
  });

  test(
    "a request that conflicts says so before and after, and continues once it is settled",
    async () => {
      const project = await finished();
      const { root, git } = project;
      const bare = withRemote(project, "https://github.com/ada/hello.git");
      git("switch", "-q", "main");
      writeFileSync(join(root, "hello.txt"), "other\n");
      git("add", "hello.txt");
      git("commit", "-qm", "other");
      git("push", "-q", "origin", "main");
      git("reset", "-q", "--hard", "HEAD~1");
      git("switch", "-q", "ralph/hello");
      const noted = standIn(root, "gh", "echo https://github.com/ada/hello/pull/1");
      const way = "`git merge origin/main` on ralph/hello, settle it there and commit, then";

      const dry = await finish(root, "--dry-run").expectExit(0);
      const made = await finish(root, "--approve", "finish").expectExit(0);

      expect(dry.stdout).toContain(`conflict  with main: hello.txt\n  to settle it first: ${way} \`ralph run\``);
      expect(made.stderr).toContain(`next: ${way} \`ralph finish\` pushes it`);
      expect(readFileSync(noted, "utf8")).toContain("no check has seen both together; both have changed hello.txt");
      git("merge", "-q", "-X", "ours", "origin/main");
      await finish(root, "--approve", "finish").expectExit(0);
      expect(git("rev-parse", "HEAD")).toBe(git("ls-remote", bare, "refs/heads/ralph/hello").split("\t")[0]);
      expect(git("merge-base", "--is-ancestor", "origin/main", "HEAD")).toBe("");
    },
  );

  test("killed while the state is taken off, the same command takes the rest and merges the same", {
    timeout: 180_000,
  }, async () => {
    const whole = await finished();
    const start = copied(whole.root);
    const files = ["prd.json", "plan_state.json"];
    const kept = "refs/ralph/archive/ralph/hello";
    await finish(whole.root, "--approve", "finish").expectExit(0);

    for (let count = 0; count <= files.length; count++) {
      const { root, git } = copied(start.root);
      git("update-ref", `${kept}/1`, git("commit-tree", "-p", "HEAD", "-m", "kept", "HEAD^{tree}"));
      for (const name of files.slice(0, count)) rmSync(join(root, "scripts/ralph", name));

      await finish(root, "--approve", "finish").expectExit(0);

      expect(git("rev-parse", "main^{tree}"), `${count} taken`).toBe(whole.git("rev-parse", "main^{tree}"));
      expect(git("log", "--topo-order", "--format=%s", "main")).toBe(
        whole.git("log", "--topo-order", "--format=%s", "main"),
      );
      expect(git("for-each-ref", "--format=%(refname)", kept)).toBe(`${kept}/1`);
      expect(git("show", `${kept}/1:scripts/ralph/prd.json`)).toContain('"passes": true');
      expect(git("status", "--porcelain")).toBe("");
    }
  });

  test("a run on the branch goes on with the state that finish took off, and a second finish adds to the request", async () => {
    const project = await finished();
    const { root, git } = project;
    withRemote(project);
    const person = join(root, "scripts/ralph/deploy.sh");
    writeFileSync(person, "echo mine\n");
    await finish(root, "--approve", "finish").expectExit(0);
    expect(git("ls-files", "scripts/ralph")).toBe("");
    expect(existsSync(person)).toBe(true);

    git("commit", "-q", "--allow-empty", "-m", "fix: of a reviewer");
    const ran = await ralphCli(root).args("run", "--agent-cmd", "worker").expectExit(0);
    expect(ran.stderr).toContain("the state of ralph/hello is back: scripts/ralph/prd.json");
    await finish(root, "--approve", "finish").expectExit(0);

    expect(git("diff", "--name-only", "--diff-filter=d", "main", "origin/ralph/hello")).toBe("hello.txt");
    expect(git("for-each-ref", "--format=%(refname)", "refs/ralph/archive").split("\n")).toHaveLength(2);
    expect(existsSync(person)).toBe(true);
  });

  test("killed before or after any step of a merge, the same command does what is left, and nothing twice", {
    timeout: 180_000,
  }, async () => {
    const { root } = await finished();
    const whole = copied(root);
    await finish(whole.root, "--approve", "finish").expectExit(0);
    const expected = whole.git("rev-parse", "main^{tree}");
    const subjects = whole.git("log", "--topo-order", "--format=%s", "main");

    for (const step of ["commit", "commit-tree", "update-ref", "switch"]) {
      for (const when of step === "commit" ? ["before", "after"] as const : ["after"] as const) {
        const { root: copy, git } = copied(root);
        killingGit(copy, step, when);
        const { stderr } = await finish(copy, "--approve", "finish").start().ended();
        expect(existsSync(join(`${copy}-bin`, "killed")), `${when} ${step}: ${stderr}`).toBe(true);

        const again = finish(copy, "--approve", "finish");
        const isOver = git("branch", "--show-current") === "main"; // killed when all was done
        const ended = await again.expectExit(isOver ? 2 : 0);

        expect(ended.stderr).not.toContain("has not passed as it is now");
        expect(git("rev-parse", "main^{tree}"), `${when} ${step}`).toBe(expected);
        expect(git("log", "--topo-order", "--format=%s", "main"), `${when} ${step}`).toBe(subjects);
        expect(git("branch", "--show-current")).toBe("main");
        expect(git("status", "--porcelain")).toBe("");
      }
    }
  });

  test("killed around the push and the request, it pushes and asks once", { timeout: 180_000 }, async () => {
    const project = await finished();
    const bare = withRemote(project, "https://github.com/ada/hello.git");
    const ask = (root: string): string => {
      const log = join(`${root}-bin`, "asked");
      standIn(
        root,
        "gh",
        `[ "$1" = --version ] && exit 0
[ ! -e ${log} ] || { echo "a pull request already exists: https://github.com/ada/hello/pull/1" >&2; exit 1; }
echo x >> ${log}; echo https://github.com/ada/hello/pull/1; [ -e ${log}.kill ] && kill -9 $PPID; exit 0`,
      );
      return log;
    };
    for (const step of ["commit", "push", "gh"]) {
      for (const when of ["after"] as const) {
        const { root, git } = copied(project.root);
        const remote = `${root}-origin.git`;
        git("config", "--unset", `url.${bare}.insteadOf`);
        git("config", `url.${remote}.insteadOf`, "https://github.com/ada/hello.git");
        const log = ask(root);
        if (step !== "gh") killingGit(root, step, when);
        else writeFileSync(`${log}.kill`, "");
        await finish(root, "--approve", "finish").start().ended();
        if (step !== "gh") expect(existsSync(join(`${root}-bin`, "killed")), `${when} ${step}`).toBe(true);

        const { stderr } = await finish(root, "--approve", "finish").expectExit(0);

        expect(stderr, `${when} ${step}`).toMatch(
          /pull request(, open already)?: https:\/\/github.com\/ada\/hello\/pull\/1/,
        );
        expect(stderr).not.toContain("has not passed as it is now");
        expect(readFileSync(log, "utf8")).toBe("x\n");
        expect(git("ls-remote", remote, "refs/heads/ralph/hello").split("\t")[0]).toBe(git("rev-parse", "HEAD"));
        expect(git("log", "--format=%s", "--grep=^chore: remove the state")).toBe(
          "chore: remove the state of ralph/hello",
        );
        expect(git("status", "--porcelain")).toBe("");
      }
    }
  });

  test("a base that has moved is checked together with the branch before they are merged", async () => {
    const project = await finished();
    const { root, git } = project;
    git("switch", "-q", "main");
    mkdirSync(join(root, "test"));
    writeFileSync(join(root, "test/hello.test.sh"), "test ! -e hello.txt || grep -q Hello hello.txt\n");
    writeFileSync(join(root, "ralph.config.json"), JSON.stringify({ verify: { default: ["sh test/hello.test.sh"] } }));
    git("add", "-A");
    git("commit", "-qm", "the greeting is to be in upper case");
    git("switch", "-q", "ralph/hello");
    const before = [git("rev-parse", "main"), git("rev-parse", "HEAD")];

    const refused = await finish(root, "--approve", "finish").expectExit(1);

    expect(refused.stderr).toContain("behind    main has 1 commit that the branch has not");
    expect(refused.stderr).toContain("do not pass together: sh test/hello.test.sh");
    expect([git("rev-parse", "main"), git("rev-parse", "HEAD")]).toEqual(before);
    expect(existsSync(join(root, "scripts/ralph/prd.json"))).toBe(true);

    git("switch", "-q", "main");
    writeFileSync(join(root, "test/hello.test.sh"), "test ! -e hello.txt || grep -q hello hello.txt\n");
    git("commit", "-qam", "or not");
    git("switch", "-q", "ralph/hello");
    const { stderr } = await finish(root, "--approve", "finish", "--squash").expectExit(0);
    expect(stderr).toContain("check passed: sh test/hello.test.sh");
    expect(stderr).toContain("`git branch -D ralph/hello`");
    expect(git("log", "--format=%s", "-2")).toBe("greet whoever runs it\nor not");
    expect(git("log", "-1", "--format=%p").split(" ")).toHaveLength(1);
  });

  test("a merge here goes onto the remote's base where the one here is only behind it", async () => {
    const project = await finished();
    const { root, git } = project;
    const bare = withRemote(project);
    const other = `${root}-other`;
    execFileSync("git", ["clone", "-q", bare, other]);
    writeFileSync(join(other, "other.txt"), "other\n");
    for (
      const args of [
        ["add", "-A"],
        ["-c", "user.name=B", "-c", "user.email=b@example.org", "commit", "-qm", "theirs"],
        ["push", "-q"],
      ]
    ) {
      execFileSync("git", args, { cwd: other });
    }

    const { stderr } = await finish(root, "--approve", "finish", "--merge").expectExit(0);

    expect(stderr).toContain("main has 1 commit that the branch has not");
    expect(git("log", "--format=%s", "--first-parent", "-2")).toBe("greet whoever runs it\ntheirs");
    git("push", "-q", "origin", "main"); // no one else's commit is in the way
  });

  test("--squash is what glab is asked for, and what is said of gh; the base may be checked out nowhere else", async () => {
    const project = await finished();
    const { root, git } = project;
    const bare = withRemote(project, "https://gitlab.example.org/ada/hello.git");
    const noted = standIn(root, "glab", "echo https://gitlab.example.org/ada/hello/-/merge_requests/1");
    expect((await finish(root, "--dry-run", "--squash").expectExit(0)).stdout).toContain(
      "glab mr create, as one commit",
    );
    await finish(root, "--approve", "finish", "--squash").expectExit(0);
    expect(readFileSync(noted, "utf8")).toMatch(/\n--squash-before-merge\n$/);

    git("remote", "set-url", "origin", "https://github.com/ada/hello.git");
    git("config", `url.${bare}.insteadOf`, "https://github.com/ada/hello.git");
    standIn(root, "gh", "echo https://github.com/ada/hello/pull/1");
    const { stderr } = await finish(root, "--approve", "finish", "--squash").expectExit(0);
    expect(stderr).toContain("`gh pr merge --squash`");

    git("worktree", "add", "-q", `${root}-tree`, "main");
    const elsewhere = await finish(root, "--approve", "finish", "--merge").expectExit(1);
    expect(elsewhere.stderr).toContain("main is checked out in");
    expect(git("branch", "--show-current")).toBe("ralph/hello");
  });

  test("where the base is checked out elsewhere, the merge is refused before the state is taken off", async () => {
    const { root, git } = await finished();
    const head = git("rev-parse", "HEAD");
    git("worktree", "add", "-q", `${root}-tree`, "main");

    const { stderr } = await finish(root, "--approve", "finish").expectExit(1);
    expect(stderr).toContain("main is checked out in");
    expect(stderr).not.toContain("Merge ralph/hello");
    expect([git("rev-parse", "HEAD"), existsSync(join(root, "scripts/ralph/prd.json"))]).toEqual([head, true]);
  });
});
