import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { copied, madeOnce, type Project, ralphCli } from "./cli.ts";
import { finish, finished, killingGit, PRD, withRemote, WORKER } from "./finish_world.ts";

const STATE = ["scripts/ralph/prd.json", "scripts/ralph/progress.txt"];

/** The story has passed on a branch; the base has the plan and the notes, committed by a person. */
const planned: () => Promise<Project> = madeOnce(() =>
  ralphCli().files({ "scripts/ralph/prd.json": PRD, "scripts/ralph/progress.txt": "# Notes\n", "late.txt": "late\n" })
    .agent("worker", WORKER).args("run", "--agent-cmd", "worker", "--quiet").expectExit(0)
);

const run = (root: string): ReturnType<typeof ralphCli> => ralphCli(root).args("run", "--agent-cmd", "worker");

describe("ralph finish, where the base has files of the state", () => {
  test("the request leaves them as they are; a run on the branch goes on with its own", async () => {
    const project = await planned();
    const { root, git } = project;
    withRemote(project);
    const dry = await finish(root, "--dry-run").expectExit(0);
    expect(dry.stdout).toContain("Changed: 1 file, +1 -0");

    await finish(root, "--approve", "finish").expectExit(0);

    expect(git("diff", "--name-status", "main...origin/ralph/hello")).toBe("A\thello.txt");
    expect(git("status", "--porcelain")).toBe("");
    const kept = git("show", `refs/ralph/archive/ralph/hello/1:${STATE[0]}`);
    expect(kept).toContain('"passes": true');

    const once = await finish(root, "--dry-run").expectExit(0);
    expect(once.stdout).not.toContain("\nopen ");
    git("switch", "-q", "main");
    const { stderr } = await run(root).expectExit(0);
    expect(stderr).toContain(`the state of ralph/hello is back: ${STATE.join(", ")}`);
    expect(stderr).not.toContain("US-001: started");
    expect(readFileSync(join(root, STATE[0]!), "utf8").trim()).toBe(kept);
    await finish(root, "--approve", "finish").expectExit(0);
    expect(git("diff", "--name-status", "main...origin/ralph/hello")).toBe("A\thello.txt");
  });

  test.each([["--merge"], ["--merge", "--squash"], ["--merge", "--clean-history"]])("so does %s %s", async (...how) => {
    const { root, git } = await planned();
    const before = STATE.map((path) => git("show", `main:${path}`));
    await finish(root, "--approve", "finish", ...how).expectExit(0);
    expect(STATE.map((path) => git("show", `main:${path}`))).toEqual(before);
    expect([git("status", "--porcelain"), git("diff", "--name-only", "main~1", "main")]).toEqual(["", "hello.txt"]);
  });

  test("a base that has changed them meanwhile is in no conflict, and keeps its own", async () => {
    const { root, git } = await planned();
    git("switch", "-q", "main");
    writeFileSync(join(root, STATE[0]!), PRD.replace("Write hello.txt", "Write it"));
    git("commit", "-qam", "another plan");
    git("switch", "-q", "ralph/hello");

    await finish(root, "--approve", "finish").expectExit(0);

    expect(git("show", `main:${STATE[0]}`)).toContain("Write it");
  });

  test.each([planned, finished])("what a run laid in after the merge does not come along to it (%#)", async (made) => {
    const { root, git } = await made();
    await finish(root, "--approve", "finish", "--merge").expectExit(0);
    git("switch", "-q", "ralph/hello");
    await run(root).expectExit(0);
    const laidIn = readFileSync(join(root, STATE[0]!), "utf8");

    const { stderr } = await finish(root, "--approve", "finish", "--merge").expectExit(0);

    expect(stderr).toContain("main has all that ralph/hello holds");
    expect([git("branch", "--show-current"), git("status", "--porcelain")]).toEqual(["main", ""]);
    git("switch", "-q", "ralph/hello");
    await run(root).expectExit(0);
    expect(readFileSync(join(root, STATE[0]!), "utf8")).toBe(laidIn);
  });

  test("a person's new plan on the branch is no state that is laid over", async () => {
    const { root, git } = await planned();
    await finish(root, "--approve", "finish", "--merge").expectExit(0);
    git("switch", "-q", "ralph/hello");
    writeFileSync(join(root, STATE[0]!), PRD.replaceAll("hello.txt", "late.txt"));
    git("commit", "-qam", "another plan");

    const { stderr } = await run(root).start().ended();

    expect(stderr).not.toContain("is back");
    expect(readFileSync(join(root, STATE[0]!), "utf8")).toContain("Write late.txt");
  });

  test("a plan that an earlier finish deleted is put back, and the run has its own again", async () => {
    const { root, git } = await planned();
    withRemote({ root, git });
    git(
      "update-ref",
      "refs/ralph/archive/ralph/hello/1",
      git("commit-tree", "-p", "HEAD", "-m", "kept", "HEAD^{tree}"),
    );
    git("rm", "-q", ...STATE);
    git("commit", "-qm", "chore: remove the state of ralph/hello");

    await finish(root, "--approve", "finish").expectExit(0);

    expect(git("diff", "--name-status", "main...origin/ralph/hello")).toBe("A\thello.txt");
    expect((await run(root).expectExit(0)).stderr).toContain(`is back: ${STATE.join(", ")}`);
    expect(readFileSync(join(root, STATE[0]!), "utf8")).toContain('"passes": true');
  });

  test("killed at any step, the same command ends at the same tree, and keeps the state once", {
    timeout: 300_000,
  }, async () => {
    const made = await planned();
    const whole = copied(made.root);
    await finish(whole.root, "--approve", "finish").expectExit(0);
    const steps = [["update-ref refs/ralph/archive", "after"], ["restore --source", "after"], [
      "commit",
      "before",
    ]] as const;
    for (const [pattern, when] of steps) {
      const { root, git } = copied(made.root);
      await finish(root, "--approve", "finish").env(killingGit(root, pattern, when)).start().ended();
      expect(existsSync(`${root}-bin/killed`), `${when} ${pattern}`).toBe(true);

      await finish(root, "--approve", "finish").expectExit(0);

      expect(git("rev-parse", "main^{tree}"), `${when} ${pattern}`).toBe(whole.git("rev-parse", "main^{tree}"));
      expect(git("for-each-ref", "--format=%(refname)", "refs/ralph/archive")).toBe("refs/ralph/archive/ralph/hello/1");
      expect(git("show", `refs/ralph/archive/ralph/hello/1:${STATE[0]}`)).toContain('"passes": true');
      expect(git("status", "--porcelain")).toBe("");
    }
  });
});

describe("ralph finish, where state lies elsewhere", () => {
  test("below a link into the repository: names it, leaves it, and goes on", async () => {
    const { root, git } = await ralphCli()
      .before("mkdir -p scripts kept && ln -s ../kept scripts/ralph && git add scripts && git commit -qm link")
      .args("help").expectExit(0);
    writeFileSync(join(root, STATE[0]!), PRD);
    await ralphCli(root).agent("worker", WORKER).args("run", "--agent-cmd", "worker", "--quiet").expectExit(0);
    const kept = readFileSync(join(root, STATE[0]!), "utf8");

    const { stderr } = await finish(root, "--approve", "finish").expectExit(0);

    expect(stderr).toContain(`linked    ${STATE.join(", ")}: below a symbolic link, left as it is`);
    expect(git("diff", "--name-only", "main~1", "main")).toBe("hello.txt");
    expect(readFileSync(join(root, STATE[0]!), "utf8")).toBe(kept);
  });

  test("below a link out of the repository, which the base has: the same", async () => {
    const { root, git } = await ralphCli().files({
      "ralph.config.json": '{"verify":{"default":["test -f hello.txt"]}}',
    })
      .before("mkdir -p scripts ../kept && ln -s ../../kept scripts/ralph && git add scripts && git commit -qm link")
      .before("git switch -qc ralph/hello && touch hello.txt && git add hello.txt && git commit -qm hello")
      .args("help").expectExit(0);
    writeFileSync(join(root, STATE[0]!), PRD);

    const { stderr } = await finish(root, "--approve", "finish").expectExit(0);

    expect(stderr).toContain(`linked    ${STATE[0]}: below a symbolic link, left as it is`);
    expect(git("diff", "--name-only", "main~1", "main")).toBe("hello.txt");
    expect(readFileSync(join(root, STATE[0]!), "utf8")).toBe(PRD);
  });

  test("a link that is not committed hides no state: it refuses, and nothing leaves", async () => {
    const { root, git } = await finished();
    execFileSync("sh", ["-c", "mv scripts/ralph elsewhere && ln -s ../elsewhere scripts/ralph"], { cwd: root });

    const { stderr } = await finish(root, "--approve", "finish").expectExit(2);

    expect(stderr).toContain("below a symbolic link here, and files in the branch's newest commit");
    expect(git("rev-list", "--count", "main")).toBe("1");
  });

  const FOLDER_LINK = { at: "scripts/ralph", to: "../../elsewhere", is: "below a symbolic link" };
  test.each([
    { ...FOLDER_LINK, isTracked: false, plan: "", named: STATE },
    { ...FOLDER_LINK, isTracked: true, plan: "", named: STATE },
    { ...FOLDER_LINK, isTracked: false, plan: "mine\n", named: STATE },
    { at: STATE[0]!, to: "../../plan/prd.json", is: "a symbolic link", isTracked: false, plan: "", named: [STATE[0]!] },
    { at: "scripts/ralph", to: "", is: "below a file", isTracked: false, plan: "", named: STATE },
  ])(
    "neither ralph restore nor a run replaces a person's $at -> $to (tracked: $isTracked, plan: $plan)",
    async (way) => {
      const { root, git } = await finished();
      await finish(root, "--approve", "finish", "--merge").expectExit(0);
      const place = (): void => {
        rmSync(join(root, "scripts/ralph"), { recursive: true, force: true });
        mkdirSync(dirname(join(root, way.at)), { recursive: true });
        mkdirSync(join(root, "../elsewhere"), { recursive: true });
        if (way.plan !== "") writeFileSync(join(root, "../elsewhere/prd.json"), way.plan);
        if (way.to === "") writeFileSync(join(root, way.at), "mine\n");
        else symlinkSync(way.to, join(root, way.at));
        if (!way.isTracked) return;
        git("add", way.at);
        git("commit", "-qm", "link");
      };
      const kind =
        (): boolean[] => [lstatSync(join(root, way.at)).isSymbolicLink(), lstatSync(join(root, way.at)).isFile()];
      place();
      const before = kind();
      for (const dry of [["--dry-run"], []]) {
        const { stderr } = await ralphCli(root).args("restore", "--branch", "ralph/hello", ...dry).expectExit(1);
        for (const path of way.named) expect(stderr).toContain(`${path} is ${way.is}: left as it is`);
      }
      expect(kind()).toEqual(before);
      if (way.plan !== "") expect(readFileSync(join(root, STATE[0]!), "utf8")).toBe(way.plan);
      expect(existsSync(join(root, STATE[1]!))).toBe(way.named.length === 1);

      git("switch", "-q", "ralph/hello");
      place();
      const { stderr } = await run(root).start().ended();

      expect(stderr).not.toContain("is back");
      expect(kind()).toEqual(before);
    },
  );

  const ARCHIVE = "scripts/ralph/archive";
  /** Ralph 0.1.0 has finished the branch, and another goal on the base. */
  const archived = madeOnce(async () => {
    const project = await ralphCli()
      .files({ [`${ARCHIVE}/old/prd.json`]: "{}\n", [`${ARCHIVE}/old/mine.md`]: "mine\n" })
      .dirty({ "scripts/ralph/prd.json": PRD }).agent("worker", WORKER)
      .args("run", "--agent-cmd", "worker", "--quiet").expectExit(0);
    mkdirSync(join(project.root, ARCHIVE, "hello"));
    project.git("mv", ...STATE, `${ARCHIVE}/hello`);
    project.git("commit", "-qm", "ralph: archive ralph/hello");
    return project;
  });

  test.each([["--merge"], ["--merge", "--clean-history"], ["--draft"]])(
    "in an archive of 0.1.0: takes the branch's off, and leaves the base's (%s %s)",
    async (...how) => {
      const project = await archived();
      const { root, git } = project;
      if (how[0] === "--draft") withRemote(project);

      const { stderr } = await finish(root, "--approve", "finish", ...how).expectExit(0);

      const [from, to] = how[0] === "--draft" ? ["main", "origin/ralph/hello"] : ["main~1", "main"];
      expect(git("diff", "--name-only", from!, to!)).toBe("hello.txt");
      expect(stderr).not.toContain("has moved since");
      expect(git("show", `refs/ralph/archive/ralph/hello/1:${ARCHIVE}/hello/prd.json`)).toContain('"passes": true');
      expect(git("status", "--porcelain")).toBe("");
      const story = git(
        "log",
        "--no-merges",
        "--format=%h",
        "--abbrev=10",
        "--grep=^mine",
        "--grep=rite hello.txt",
        to!,
      );
      const { stdout } = await ralphCli(root).args("report", "--for", "review").expectExit(0);
      expect(stdout).toContain(`verified (${story})`);
      git("switch", "-q", "--detach", from!);
      await ralphCli(root).args("restore", "--branch", "ralph/hello").expectExit(0);
      expect(readFileSync(join(root, ARCHIVE, "hello/prd.json"), "utf8")).toContain('"passes": true');
    },
  );

  test("an archive of the base that a person removed on the branch stays away, also at a second finish", async () => {
    const { root, git } = await archived();
    await finish(root, "--approve", "finish", "--merge").expectExit(0);
    git("switch", "-q", "ralph/hello");
    git("rm", "-rq", ARCHIVE);
    git("commit", "-qm", "less");

    await finish(root, "--approve", "finish", "--merge").expectExit(0);

    expect(git("ls-tree", "-r", "--name-only", "main", ARCHIVE)).toBe("");
  });
});

test("a codebase map with notes is no work in the last lines of a run, in ralph finish and in a review", async () => {
  const { root, stderr } = await ralphCli().dirty({ "scripts/ralph/prd.json": PRD })
    .before(
      "git switch -qc ralph/hello; echo notes > scripts/ralph/codebase_map.md; git add scripts/ralph/c*; git commit -qm map",
    )
    .agent("worker", WORKER).args("run", "--agent-cmd", "worker").expectExit(0);
  expect(stderr).toMatch(/ralph\/hello from main: \d commits, 1 file, \+1 -0/);

  const { stdout } = await finish(root, "--dry-run").expectExit(0);

  expect(stdout).toMatch(/ralph\/hello from main: \d commits, 1 file, \+1 -0/);
  expect(stdout).toContain("Changed: 1 file, +1 -0");
});

describe("a fresh clone", () => {
  test.each(["a plan of the branch", "a plan that the base has"])("on the base goes on with %s", async (which) => {
    const project = which === "a plan of the branch" ? await finished() : await planned();
    const bare = withRemote(project);
    await finish(project.root, "--approve", "finish", "--with-history").expectExit(0);
    const root = `${project.root}-clone/project`;
    mkdirSync(`${project.root}-clone`);
    execFileSync("git", ["clone", "-q", bare, root]);
    const git = (...args: string[]): string => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
    git("config", "user.name", "B");
    git("config", "user.email", "b@example.org");
    const isOnBase = which !== "a plan of the branch";

    await ralphCli(root).args("restore", "--branch", "ralph/hello", "--with-history").expectExit(isOnBase ? 1 : 0);
    const { stderr } = await ralphCli(root).agent("worker", "echo called > ../called").args(
      "run",
      "--agent-cmd",
      "worker",
    )
      .expectExit(0);

    expect(stderr).toContain("working on the branch ralph/hello");
    expect(existsSync(join(root, "../called"))).toBe(false);
    expect(git("merge-base", "--is-ancestor", "origin/ralph/hello", "HEAD")).toBe("");
    expect(git("rev-parse", "--abbrev-ref", "ralph/hello@{upstream}")).toBe("origin/ralph/hello");
    await finish(root, "--approve", "finish", "--with-history").expectExit(0);
    expect(git("diff", "--name-only", "origin/main...origin/ralph/hello")).toBe("hello.txt");
  });
});
