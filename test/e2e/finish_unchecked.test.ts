import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../lib/host/files.ts";
import { madeOnce, type Project as Copy, ralphCli } from "./cli.ts";

const PRD = JSON.stringify({
  branchName: "ralph/ten",
  userStories: [{
    id: "US-001",
    title: "Say TEN",
    acceptanceCriteria: ["Verify: `grep -q TEN f.txt`"],
    priority: 1,
    passes: false,
    notes: "",
  }],
});
const CONFIG = JSON.stringify({ verify: { default: ["test -s f.txt"] } });

interface Project extends Copy {
  /** Puts the file and commits it. */
  put(path: string, text: string, ...how: string[]): void;
}

const run = madeOnce(() =>
  ralphCli()
    .files({ "scripts/ralph/prd.json": PRD, "f.txt": "10\n", "ralph.config.json": CONFIG })
    .agent("worker", "cat > /dev/null; echo TEN > f.txt; echo more > g.txt; echo '<promise>COMPLETE</promise>'")
    .args("run", "--agent-cmd", "worker", "--quiet").expectExit(0)
);

/** A project whose one story has passed on `ralph/ten`. */
async function passed(): Promise<Project> {
  const { root, git } = await run();
  const put = (path: string, text: string, ...how: string[]): void => {
    writeFileSync(join(root, path), text);
    git("add", path);
    git("commit", "-qm", "by hand", ...how);
  };
  return { root, git, put };
}

/** A bare repository as `origin`, which git takes for one at GitHub; what `gh` is asked for is noted. */
function withHub({ root, git }: Project): { readonly bare: string; readonly asked: () => string | null } {
  const bare = `${root}-origin.git`;
  execFileSync("git", ["init", "-q", "--bare", "--initial-branch=main", bare]);
  git("remote", "add", "origin", "https://github.com/a/b.git");
  git("config", `url.${bare}.insteadOf`, "https://github.com/a/b.git");
  git("push", "-q", "origin", "main");
  const noted = `${root}-gh.txt`;
  const bin = join(dirname(root), "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(
    join(bin, "gh"),
    `#!/bin/sh\n[ "$1" = --version ] || echo "$@" > ${noted}\necho https://github.com/a/b/pull/1\n`,
  );
  chmodSync(join(bin, "gh"), 0o755);
  return { bare, asked: () => existsSync(noted) ? readFileSync(noted, "utf8") : null };
}

function finish(root: string, ...args: string[]): ReturnType<typeof ralphCli> {
  return ralphCli(root).args("finish", "--approve", "finish", ...args);
}

const onBase = ({ git, put }: Project, path: string, text: string): void => {
  git("switch", "-q", "main");
  put(path, text);
  git("switch", "-q", "ralph/ten");
};

/** How a branch comes to hold what no run has checked: each undoes the story's work. */
const UNDONE: Readonly<Record<string, (project: Project) => void>> = {
  "a commit by hand": ({ put }) => put("f.txt", "10\n"),
  "an amended commit": ({ put }) => put("f.txt", "10\n", "--amend"),
  "a rebase": (project) => {
    onBase(project, "other.txt", "other\n");
    project.git("rebase", "-q", "main");
    project.put("f.txt", "10\n", "--amend");
  },
  "a merge from the base": (project) => {
    onBase(project, "other.txt", "other\n");
    project.git("merge", "-q", "--no-commit", "--no-ff", "main");
    project.put("f.txt", "10\n");
  },
  "a revert, and a check that was made to pass": ({ put }) => {
    put("f.txt", "10\n");
    put("ralph.config.json", `{ "verify": { "default": ["test -f f.txt"] } }`);
  },
};

/** A run passes with these settings beside those that are there. */
async function passesWith(project: Project, settings: object): Promise<void> {
  const config = JSON.parse(readFileSync(join(project.root, "ralph.config.json"), "utf8"));
  project.put("ralph.config.json", JSON.stringify({ ...config, ...settings }));
  await ralphCli(project.root).args("run", "--agent-cmd", "worker", "--quiet", "--accept-changes").expectExit(0);
}

describe("ralph finish, where the branch is not what the run checked", () => {
  test.each(Object.keys(UNDONE))("%s is not merged by --approve finish", async (name) => {
    const project = await passed();
    UNDONE[name]!(project);
    const before = [project.git("rev-parse", "main"), project.git("rev-parse", "HEAD")];

    for (const more of [[], ["--squash"]]) {
      const { stderr } = await finish(project.root, ...more).expectExit(1);
      expect(stderr).toContain("grep -q TEN f.txt: exit 1");
      expect(stderr).toContain("nothing was merged");
    }

    expect([project.git("rev-parse", "main"), project.git("rev-parse", "HEAD")]).toEqual(before);
    expect(project.git("branch", "--show-current")).toBe("ralph/ten");
  });

  test("nothing is pushed or asked for; a draft says what fails, and where", async () => {
    const project = await passed();
    const { bare, asked } = withHub(project);
    project.put("f.txt", "10\n");
    const head = project.git("rev-parse", "HEAD").slice(0, 10);

    const { stderr } = await finish(project.root).expectExit(1);
    expect(stderr).toContain("does not pass at ");
    expect(stderr).toContain("nothing was pushed");
    expect(asked()).toBeNull();
    expect(execFileSync("git", ["branch", "--list"], { cwd: bare, encoding: "utf8" })).not.toContain("ralph/ten");

    await finish(project.root, "--draft").expectExit(0);
    expect(asked()).toContain("- ✗ Verify: `grep -q TEN f.txt`");
    expect(asked()).toContain(`✓ passed at ${project.git("rev-parse", "HEAD").slice(0, 10)}`);
    expect(asked()).not.toContain("✓ Verify");
    expect(asked()).toContain(`ralph/ten does not pass at ${head}`);
  });

  /** The verdict in the note of a commit. */
  const noted = ({ git }: Project, commit: string): Record<string, unknown> =>
    JSON.parse(git("notes", "--ref=ralph", "show", commit));

  test("a run that passes notes its verdict at its commit, and finish at the merge, whose tree it checked", async () => {
    const project = await passed();
    const { git, root } = project;
    const at = (commit: string): object => ({
      version: 1,
      status: "passed",
      commit: git("rev-parse", commit),
      tree: git("rev-parse", `${commit}^{tree}`),
      base: git("merge-base", "main", commit),
      findings: [],
    });
    const ran = git("rev-parse", "HEAD");
    const checks = ["test -s f.txt", "grep -q TEN f.txt"].map((command) => ({ command, exitCode: 0 }));
    expect(noted(project, ran)).toMatchObject({ ...at(ran), checks });
    project.put("other.txt", "other\n");
    onBase(project, "more.txt", "more\n");
    const base = git("rev-parse", "main");

    await finish(root).expectExit(0);

    expect(noted(project, "main")).toMatchObject({ ...at("main"), base, checks });
  });

  /** The final check waits until another hand has committed. @param folder of the files that they meet by */
  const waitsIn = (folder: string): string =>
    `case $(git log -1 --format=%s) in feat*) touch ${folder}/looks; until test -e ${folder}/goes || ` +
    "[ $((waits = waits + 1)) -gt 1500 ]; do sleep 0.1; done;; esac; grep -q TEN f.txt";

  test.each([["undoes the work", "f.txt", "10\n", 1], ["is good", "other.txt", "other\n", 0]] as const)(
    "a commit that comes while the final check runs and %s is not the run's: it is named, and finish checks it",
    async (_, path, text, exit) => {
      await using folder = await temporaryDirectory("ralph-meeting");
      const waits = waitsIn(folder.path);
      const story = { ...JSON.parse(PRD).userStories[0], acceptanceCriteria: [`Verify: \`${waits}\``] };
      const running = ralphCli()
        .files({ "scripts/ralph/prd.json": JSON.stringify({ branchName: "ralph/ten", userStories: [story] }) })
        .files({ "f.txt": "10\n", "ralph.config.json": CONFIG })
        .agent("worker", "cat > /dev/null; echo TEN > f.txt; echo more > g.txt; echo '<promise>COMPLETE</promise>'")
        .args("run", "--agent-cmd", "worker", "--quiet").start();
      const { root } = running;
      const git = (...args: string[]): string => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
      await expect.poll(() => existsSync(join(folder.path, "looks"))).toBe(true);
      const checked = git("rev-parse", "HEAD");
      writeFileSync(join(root, path), text);
      git("add", path);
      git("-c", "user.name=b", "-c", "user.email=b@c", "commit", "-qm", "by another hand", "--", path);
      const late = git("rev-parse", "HEAD");
      writeFileSync(join(folder.path, "goes"), "");

      const ended = await running.ended();

      expect([ended.exitCode, git("rev-parse", "HEAD")]).toEqual([0, late]);
      expect(ended.stderr).toMatch(/not checked as a commit {2}\w+: was made after the final check/);
      expect(git("notes", "--ref=ralph", "list").split(" ").at(-1)).toBe(checked);
      const { stderr } = await finish(root).expectExit(exit);
      expect(stderr).toContain(": checking it");
      expect(stderr.includes("nothing was merged")).toBe(exit === 1);
    },
  );

  test("the merge has a subject in the project's own form", async () => {
    const { root, git } = await passed();
    git("switch", "-q", "main");
    for (const one of ["a", "b", "c", "d", "e"]) git("commit", "-q", "--allow-empty", "-m", `fix(core): ${one}`);
    git("switch", "-q", "ralph/ten");

    await finish(root).expectExit(0);

    expect(git("log", "-1", "--format=%s", "main")).toBe("feat: say TEN");
  });

  test("a verdict that cannot be noted is a warning", async () => {
    const { root, git, put } = await passed();
    git("update-ref", "-d", "refs/notes/ralph");
    git("update-ref", "refs/notes/ralph/other", "HEAD");
    put("other.txt", "other\n");

    const { stderr } = await finish(root).expectExit(0);

    expect(stderr).toContain("no verdict was noted at ");
  });

  test("a good commit on top is checked; ticks and experiments name their commits", async () => {
    const project = await passed();
    const { asked } = withHub(project);
    const tried = project.git("rev-parse", "HEAD").slice(0, 10);
    project.put("other.txt", "other\n");

    const dry = await ralphCli(project.root).args("finish", "--dry-run").expectExit(0);
    expect(dry.stdout).not.toContain("✓");
    expect(dry.stdout).toContain("the branch has moved since: it is checked before it leaves");

    await finish(project.root).expectExit(0);
    expect(asked()).toContain(`(✓ passed at ${project.git("rev-parse", "HEAD").slice(0, 10)})`);
    expect(asked()).toContain("- ✓ Verify: `grep -q TEN f.txt`");
    expect(asked()).toContain(`Whether the checks can be believed at ${tried}`);
  });

  test.each(["leave", "keep"])("the tree that leaves is checked once: state that has to %s", async (state) => {
    const project = await passed();
    if (state === "keep") await passesWith(project, { finish: { state } });
    const { asked } = withHub(project);
    const checked = project.git("rev-parse", "HEAD");

    const { stderr } = await finish(project.root).expectExit(0);

    const head = project.git("rev-parse", "HEAD");
    expect(head === checked).toBe(state === "keep");
    expect(stderr.includes("checking it as it leaves")).toBe(state === "leave");
    expect(asked()).toContain(`(✓ passed at ${head.slice(0, 10)})`);
    expect(asked()).toContain(`git checkout ${head.slice(0, 10)}\n`);
    expect(noted(project, head)).toMatchObject({ commit: head, tree: project.git("rev-parse", "HEAD^{tree}") });
    expect(asked()).toContain("- ✓ Verify: `grep -q TEN f.txt`");
  });

  test.each([[], ["--squash"]])("work that needs the state which stays here is not merged %s", async (...more) => {
    const project = await passed();
    const reads = "grep -q passes.*true scripts/ralph/prd.json";
    await passesWith(project, { verify: { default: ["test -s f.txt", reads] } });
    const before = project.git("rev-parse", "main");

    const { stderr } = await finish(project.root, ...more).expectExit(1);

    expect(stderr).toContain(`${reads}: exit 1`);
    expect(project.git("rev-parse", "main")).toBe(before);
    await passesWith(project, { finish: { state: "keep" } });
    await finish(project.root, ...more).expectExit(0);
  });

  test.each(["committed", "in the tree", "in the tree, and hidden", "committed, and the tree set back"])(
    "a check that the plan got since, %s, is judged by a run first; a person's yes is no verdict",
    async (how) => {
      const project = await passed();
      await passesWith(project, { experiments: { budget: 60 } });
      const plan = join(project.root, "scripts/ralph/prd.json");
      const before = readFileSync(plan, "utf8");
      const edited = before.replace("Verify: `grep", 'Verify: `test -e later.txt`", "Verify: `grep');
      if (how.startsWith("committed")) project.put("scripts/ralph/prd.json", edited);
      if (how !== "committed") writeFileSync(plan, how.startsWith("in the tree") ? edited : before);
      if (how.endsWith("hidden")) project.git("update-index", "--skip-worktree", "scripts/ralph/prd.json");
      const main = project.git("rev-parse", "main");

      const { stderr } = await finish(project.root).expectExit(1);
      expect(stderr).toContain("an edit of scripts/ralph/prd.json since the run");
      expect(project.git("rev-parse", "main")).toBe(main);
      await ralphCli(project.root).args("finish", "--ui", "plain").stdin("y\n").expectExit(0);
      expect(project.git("notes", "--ref=ralph", "list")).not.toContain(project.git("rev-parse", "main"));
    },
  );

  test("a version of the plan that is only staged is in no ref: nothing is done", async () => {
    const project = await passed();
    const plan = join(project.root, "scripts/ralph/prd.json");
    const before = readFileSync(plan, "utf8");
    writeFileSync(plan, `${before}\n`);
    project.git("add", "scripts/ralph/prd.json");
    writeFileSync(plan, before);

    expect((await finish(project.root).expectExit(2)).stderr).toContain("not be part of it: scripts/ralph/prd.json");
  });

  test("a check that passed only in the tree has checked no commit: nothing is attested, and finish refuses", async () => {
    const project = await ralphCli()
      .files({ "scripts/ralph/prd.json": PRD, "ralph.config.json": `{ "provider": { "claims": "optional" } }` })
      .dirty({ "f.txt": "TEN\n" })
      .agent("worker", "cat > /dev/null; echo TEN > g.txt; echo '<promise>COMPLETE</promise>'")
      .args("run", "--agent-cmd", "worker", "--quiet").expectExit(0);

    expect(project.stderr).toContain("not reproducible in a clean checkout");
    expect(project.git("for-each-ref", "refs/notes")).toBe("");
    expect((await finish(project.root).expectExit(1)).stderr).toContain("grep -q TEN f.txt: exit ");
  });

  test("a commit that comes while it is checked is not merged", async () => {
    const project = await passed();
    project.put("other.txt", "other\n");
    const folder = dirname(project.root);
    const check =
      `echo 1 > ${folder}/started; until [ -e ${folder}/go ] || [ $((waits = waits + 1)) -gt 1200 ]; do sleep 0.1; done`;
    project.put("ralph.config.json", JSON.stringify({ verify: { default: [check] } }));
    const before = project.git("rev-parse", "main");

    const running = finish(project.root).start();
    await running.wrote("../started");
    project.put("late.txt", "late\n");
    writeFileSync(join(folder, "go"), "");
    const { exitCode, stderr } = await running.ended();

    expect(exitCode).toBe(1);
    expect(stderr).toContain("has moved from ");
    expect(project.git("rev-parse", "main")).toBe(before);
    await finish(project.root).expectExit(0);
  });

  test("a script of a person beside the state is no state of Ralph's", async () => {
    const config = JSON.stringify({ verify: { default: ["sh scripts/ralph/check.sh"] } });
    const project = await passed();
    project.put("scripts/ralph/check.sh", "exit 1\n");
    project.put("ralph.config.json", config);

    const { stderr } = await finish(project.root).expectExit(1);

    expect(stderr).toContain("sh scripts/ralph/check.sh: exit 1");
  });

  test("a request holds no story of an earlier goal on a branch of the same name", async () => {
    const project = await passed();
    await finish(project.root).expectExit(0);
    project.git("branch", "-D", "ralph/ten");
    project.put("scripts/ralph/prd.json", PRD.replace("US-001", "US-007").replaceAll("TEN", "SEVEN"));
    await ralphCli(project.root).agent(
      "worker",
      "cat > /dev/null; echo SEVEN > f.txt; echo '<promise>COMPLETE</promise>'",
    )
      .args("run", "--agent-cmd", "worker", "--quiet").expectExit(0);
    const { asked } = withHub(project);

    await finish(project.root).expectExit(0);

    expect(asked()).toContain("**US-007");
    expect(asked()).not.toContain("US-001");
  });

  /** A second goal on what the first left, undoing it: by its own checks it passes. */
  async function again(project: Project, id: string, branch: string): Promise<void> {
    const prd = PRD.replace("US-001", id).replace("ralph/ten", branch).replaceAll("TEN", "SEVEN");
    project.put("scripts/ralph/prd.json", prd);
    await ralphCli(project.root).agent(
      "worker",
      "cat > /dev/null; echo SEVEN > f.txt; echo '<promise>COMPLETE</promise>'",
    )
      .args("run", "--agent-cmd", "worker", "--quiet").expectExit(0);
  }

  test.each(["ralph/ten", "ralph/seven"])("a later goal on %s that undid the story is not merged", async (branch) => {
    const project = await passed();
    if (branch !== "ralph/ten") project.git("switch", "-qc", branch);
    await again(project, "US-002", branch);

    const dry = await ralphCli(project.root).args("finish", "--dry-run").expectExit(0);
    expect(dry.stdout).toContain("**US-001");
    expect(dry.stdout).not.toContain("✓ Verify: `grep -q TEN f.txt`");

    const { stderr } = await finish(project.root).expectExit(1);
    expect(stderr).toContain("grep -q TEN f.txt: exit 1");
  });

  test(
    "a story of the same number in an earlier plan keeps its place, without a tick",
    async () => {
      const project = await passed();
      await again(project, "US-001", "ralph/ten");

      const { stdout } = await ralphCli(project.root).args("finish", "--dry-run").expectExit(0);

      expect(stdout).toContain("**US-001: Say TEN");
      expect(stdout).toContain("**US-001: Say SEVEN");
      expect(stdout).not.toContain("✓ Verify: `grep -q TEN f.txt`");
    },
  );

  test("a plan with a parked story is merged by a person alone, and asked for as a draft", async () => {
    const [story] = JSON.parse(PRD).userStories;
    const prd = JSON.stringify({
      branchName: "ralph/ten",
      userStories: [story, {
        ...story,
        id: "US-002",
        acceptanceCriteria: ["Verify: `grep -q TWO f.txt`"],
        priority: 2,
      }],
    });
    const { root, git, stderr } = await ralphCli()
      .files({ "scripts/ralph/prd.json": prd, "f.txt": "10\n", "ralph.config.json": CONFIG })
      .agent("worker", "cat > /dev/null; echo TEN > f.txt; echo '<promise>COMPLETE</promise>'")
      .args("run", "--agent-cmd", "worker", "--quiet").expectExit(3);
    expect(stderr).toContain("US-002");
    const before = git("rev-parse", "main");

    const refused = await finish(root).expectExit(1);
    expect(refused.stderr).toContain("the newest run on ralph/ten ended as blocked (US-002: parked)");
    expect(git("rev-parse", "main")).toBe(before);
    expect(git("for-each-ref", "refs/ralph/archive")).toBe("");

    const { asked } = withHub({ root, git, put: () => {} });
    await finish(root, "--draft").expectExit(0);
    expect(asked()).toContain("US-002: parked");
  });

  test("an ignored file of a person is not overwritten by the base's", async () => {
    const project = await passed();
    onBase(project, "local.cfg", "theirs\n");
    writeFileSync(join(project.root, ".git", "info", "exclude"), "local.cfg\n");
    writeFileSync(join(project.root, "local.cfg"), "mine\n");

    const run = ralphCli(project.root).args("run", "--agent-cmd", "cat", "--branch", "main");
    expect((await run.expectExit(1)).stderr).toContain("local.cfg");
    expect((await finish(project.root).expectExit(1)).stderr)
      .toContain("main has local.cfg, which is here and not committed");
    expect(readFileSync(join(project.root, "local.cfg"), "utf8")).toBe("mine\n");
  });
});

test("work that failed its unseen check is unverified in the run, in `status` and for `ralph finish`", async () => {
  const unseen = '```json\\n{"command": "cat f.txt", "expect": "TWELVE"}\\n```\\n';
  const worker = `case "$(cat)" in
    *"Write one check"*) printf '${unseen}' ;;
    *"wrong implementation"*) echo ELEVEN > f.txt ;;
    *) echo TEN > f.txt; echo "<promise>COMPLETE</promise>" ;;
  esac`;
  const ran = await ralphCli()
    .files({ "scripts/ralph/prd.json": PRD, "f.txt": "10\n", "ralph.config.json": CONFIG })
    .agent("worker", worker)
    .args("run", "--agent-cmd", "worker", "--challenge", "1", "--quiet").expectExit(1);

  expect(ran.stderr).toContain("  unverified  US-001 (a check that its author had not seen fails)");
  const status = await ralphCli(ran.root).args("status").expectExit(0);
  expect(status.stdout).toContain('unverified: `cat f.txt` printed "TEN", expected "TWELVE"');
  const refused = await finish(ran.root, "--merge").expectExit(1);
  expect(refused.stderr).toContain("US-001 is unverified: a check that its author had not seen fails");
});

test("work that its agent did not claim is asked for in the run, and unverified for `ralph finish`", async () => {
  const ran = await ralphCli()
    .files({ "scripts/ralph/prd.json": PRD, "f.txt": "10\n", "ralph.config.json": CONFIG })
    .agent("worker", "cat > /dev/null; echo TEN > f.txt; echo I could not finish.")
    .args("run", "--agent-cmd", "worker", "--quiet").expectExit(1);

  expect(ran.stderr).toContain("  unverified  US-001 (its checks pass: the agent does not say that it is done)");
  expect(ran.stderr).toContain('so that green checks are enough; it ended with: "I could not finish."');
  expect(ran.stderr).toContain("hint: look at the work; `ralph run --agent-cmd worker --allow-unverified` accepts it");
  const refused = await finish(ran.root, "--merge").expectExit(1);
  expect(refused.stderr).toContain("US-001 is unverified: its agent did not say that it was done");
});

test.each(
  [
    ["SIGINT", 130, "`ralph run` continues where this one stopped"],
    ["SIGKILL", 128, "final-check: "],
  ] as const,
)("a run that %s ended in its final check has not passed, for `status` and `next`", async (signal, code, end) => {
  const verify = "if git log -1 --format=%s | grep -q '^feat: US-001'; then sleep 300; fi";
  const running = ralphCli()
    .files({
      "scripts/ralph/prd.json": PRD,
      "f.txt": "10\n",
      "ralph.config.json": JSON.stringify({ verify: { default: [verify] }, provider: { command: "worker" } }),
    })
    .agent("worker", "cat > /dev/null; echo TEN > f.txt; echo '<promise>COMPLETE</promise>'")
    .args("run").start();
  await running.shows("final-check: ");
  running.child.kill(signal);
  const { exitCode, root, stderr } = await running.ended();
  const said = async (...args: string[]): Promise<string> => {
    const { stdout, stderr } = await ralphCli(root).args(...args).expectExit(0);
    return `${stdout}${stderr}`;
  };

  expect(exitCode).toBe(code);
  expect(stderr).toContain(end);
  expect(await said("status")).toContain("next: `ralph run` continues: the last run has not passed");
  expect(await said("next")).toContain("`ralph run` continues: the last run has not passed");
});
