import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ONE, planText, PROJECT, summaryOf, THREE, TWO } from "../workflows/gsd/planning.ts";
import { type Cli, ralphCli } from "./cli.ts";
import { ACCEPT, feature, PRD_FILE, story } from "./feature_project.ts";
import { finish, PRD, WORKER } from "./finish_world.ts";

interface Case {
  readonly project: () => Cli;
  readonly run: readonly string[];
  /** The file of the plan, and how a person adds to it. */
  readonly file: string;
  readonly more: (text: string) => string;
  readonly named: string;
}

const addStory = (added: object) => (text: string): string => {
  const prd = JSON.parse(text) as { readonly userStories: readonly object[] };
  return JSON.stringify({ ...prd, userStories: [...prd.userStories, { ...prd.userStories[0], ...added }] });
};
const ON_BRANCH = "git switch -q -c ralph/x";
const SPEC_TASK = (id: string, name: string): string =>
  `{"t": "task", "id": "${id}", "spec": "a.md", "name": "write ${name}", "accept": "Verify: \`test -f ${name}\`", "s": "p"}\n`;
const SPRINT = ".claude/sprints/one";

/** Each workflow with work that has passed, and what a person adds. */
const CASES: Readonly<Record<string, Case>> = {
  exec: {
    project: () => ralphCli().dirty({ "scripts/ralph/prd.json": PRD }).agent("worker", WORKER),
    run: ["run", "--agent-cmd", "worker"],
    file: "scripts/ralph/prd.json",
    more: addStory({ id: "US-002", title: "Write b", acceptanceCriteria: ["Verify: `test -f b`"], passes: false }),
    named: "US-002: Write b",
  },
  feature: {
    project: () => feature(`${ACCEPT} *) echo good > US-001.txt; done_;;`, [story("US-001")]),
    run: ["run", "auth"],
    file: PRD_FILE,
    more: addStory({ id: "US-002", title: "Do US-002", passes: false }),
    named: "US-002: Do US-002",
  },
  gsd: {
    project: () =>
      ralphCli().files(Object.fromEntries(Object.entries(PROJECT).filter(([path]) => path !== TWO))).before(ON_BRANCH)
        .agent(
          "worker",
          `p=$(cat); case "$p" in *"Plan Location"*01-01-PLAN*) echo right > one.txt; echo ok > ${summaryOf(ONE)};;
*) echo right > three.txt; echo ok > ${summaryOf(THREE)};; esac
printf '%s\\n' "$p" | grep -o '###PLAN_COMPLETE [a-z0-9]*###' | head -1`,
        ),
    run: ["run", "--loop", "--agent-cmd", "worker"],
    file: THREE.replace("02-01", "02-02"),
    more: () => planText("four.txt"),
    named: "02-02: ",
  },
  spec: {
    project: () =>
      ralphCli().files({
        "specs/a.md": "# a\n",
        "ralph/plan.jsonl": `{"t": "spec", "spec": "a.md"}\n${SPEC_TASK("t-1a2b", "a")}`,
      })
        .before(ON_BRANCH)
        .agent(
          "worker",
          'cat >/dev/null; [ $RALPH_STAGE = BUILD ] && touch a && exec ralph task done\necho "[RALPH] SPEC_COMPLETE"; exec ralph task accept',
        ),
    run: ["build", "--agent-cmd", "worker"],
    file: "ralph/plan.jsonl",
    more: (text) => `${text}${SPEC_TASK("t-3c4d", "b")}`,
    named: "BUILD t-3c4d  write b",
  },
  "spec's text": {
    project: () => CASES["spec"]!.project(),
    run: ["build", "--agent-cmd", "worker"],
    file: "specs/a.md",
    more: (text) => `${text}\nIt has to be fast, too.\n`,
    named: "an edit of specs/a.md since the run",
  },
  sprint: {
    project: () =>
      ralphCli().files({
        [`${SPRINT}/SPRINT.yaml`]: "workflow: ralph\ngoal: say hello\n",
        "ralph.config.json": '{"verify":{"default":["test -f hello.txt"]}}',
      })
        .before(ON_BRANCH).agent("worker", "cat >/dev/null; echo hello > hello.txt; echo 'RALPH_COMPLETE: ok'"),
    run: ["sprint", "run", SPRINT, "--agent-cmd", "worker"],
    file: `${SPRINT}/PROGRESS.yaml`,
    more: (text) =>
      `${
        text.replace("dynamic-steps: []\n", "")
      }dynamic-steps:\n  - id: step-9\n    prompt: say more\n    status: pending\n`,
    named: "step-9: say more",
  },
};

describe("ralph finish, where work was added after the run that passed", () => {
  test.each(Object.keys(CASES))("%s: it is named, and merged by a person alone", { timeout: 120_000 }, async (name) => {
    const { project, run, file, more, named } = CASES[name]!;
    const { root, git } = await project().args(...run).expectExit(0);
    const at = join(root, file);
    expect((await finish(root, "--dry-run", "--base", "main").expectExit(0)).stdout).not.toContain("\nopen ");
    const text = name === "gsd" ? "" : readFileSync(at, "utf8");
    writeFileSync(at, more(text));
    git("add", "--force", file);
    git("commit", "-qm", "one more");
    const before = git("rev-parse", "HEAD", "main");

    const { stdout } = await finish(root, "--dry-run").expectExit(0);
    expect(stdout).toContain(`open      ${named}`);
    const { stderr } = await finish(root, "--approve", "finish").expectExit(1);

    expect(stderr).toContain(named);
    expect(stderr).toContain("something is open on");
    expect(git("rev-parse", "HEAD", "main")).toBe(before);
  });

  test("a person's yes merges it", async () => {
    const { project, run, file, more } = CASES["exec"]!;
    const { root, git } = await project().args(...run).expectExit(0);
    writeFileSync(join(root, file), more(readFileSync(join(root, file), "utf8")));
    git("commit", "-qam", "one more");

    await finish(root).terminal([/Open: US-002: Write b\./, "y"]).expectExit(0);

    expect(git("show", "main:hello.txt")).toBe("hello");
  });
});

test("a test that came with the work and was emptied since is not merged by `ralph finish`", async () => {
  const prd = PRD.replace("test -f hello.txt", "sh test/hello.sh");
  const work = "echo hello > hello.txt; mkdir -p test; echo 'grep -q hello hello.txt' > test/hello.sh";
  const { root, git } = await ralphCli().dirty({ "scripts/ralph/prd.json": prd })
    .agent("worker", `cat > /dev/null; ${work}; echo '<promise>COMPLETE</promise>'`)
    .args("run", "--agent-cmd", "worker").expectExit(0);
  writeFileSync(join(root, "test", "hello.sh"), "true\n");
  writeFileSync(join(root, "hello.txt"), "bye\n");
  git("commit", "-qam", "later");

  const { stderr } = await finish(root, "--approve", "finish").expectExit(1);

  expect(stderr).toContain("the checks cannot be believed: test/hello.sh");
  expect(git("log", "-1", "--format=%s", "main")).not.toContain("hello");
});
