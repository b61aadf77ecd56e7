import { describe, expect, test } from "vitest";
import { ralphCli } from "./cli.ts";
import { prd, PRD_FILE, story } from "./feature_project.ts";

const GOAL = "add a health endpoint\n\nIt answers 200 with `ok`.\n";
const AGENT = ["--agent-cmd", "touch started"];

describe("a goal", () => {
  test("of standard input by `-`, and of a file by `--goal-file`, is planned as it was written", async () => {
    const cli = ralphCli().files({ "goal.md": GOAL });
    const piped = await cli.stdin(GOAL).args("exec", "-", "--dry-run", ...AGENT).expectExit(0);
    const named = await ralphCli(piped.root).args("exec", "--goal-file", "goal.md", "--dry-run", ...AGENT).expectExit(
      0,
    );

    const unnamed = await ralphCli(piped.root).args("exec", "x y", "--dry-run").expectExit(0);
    expect(unnamed.stdout).toMatch(/agent +none: .*`--agent/);
    for (const { stdout } of [piped, named]) {
      expect(stdout).toMatch(/goal +add a health endpoint It answers 200 with `ok`\.\n/);
    }
  });

  test("that is piped without `-`, empty, missing or given twice is refused with the way to give it", async () => {
    const { root, stderr } = await ralphCli().files({ "goal.md": GOAL }).stdin(GOAL).args("exec", ...AGENT)
      .expectExit(2);
    const empty = await ralphCli(root).stdin(" \n").args("exec", "-", ...AGENT).expectExit(2);
    const missing = await ralphCli(root).args("exec", "--goal-file", "none.md", ...AGENT).expectExit(2);
    const twice = await ralphCli(root).args("exec", "x y", "--goal-file", "goal.md", ...AGENT).expectExit(2);
    const file = await ralphCli(root).args("exec", "goal.md", ...AGENT).expectExit(2);

    expect(stderr).toContain("`ralph exec -` reads it from standard input, `--goal-file FILE` from a file");
    expect(empty.stderr).toContain("the goal is empty");
    expect(missing.stderr).toContain("the file none.md does not exist");
    expect(twice.stderr).toContain("exclude each other");
    expect(file.stderr).toContain("`ralph exec --goal-file goal.md` takes the goal from it");
  });
});

const STORY = {
  id: "US-001",
  title: "Add a.txt",
  acceptanceCriteria: ["Verify: `test -f a.txt`"],
  priority: 1,
  passes: false,
  notes: "",
};

describe("`ralph run --dry-run` shows what would come first and starts nothing", () => {
  test.each([
    ["exec", { "scripts/ralph/prd.json": JSON.stringify({ branchName: "ralph/a", userStories: [STORY] }) }, "US-001"],
    ["spec", {
      "ralph/plan.jsonl": '{"t":"spec","spec":"a.md"}\n{"t":"task","id":"t-1a2b","name":"big","s":"p","spec":"a.md"}\n',
    }, "BUILD t-1a2b"],
    ["gsd", {
      ".planning/ROADMAP.md":
        "# Roadmap\n\n- [ ] **Phase 1: A** - x\n\n## Phase Details\n\n### Phase 1: A\n**Plans**: 1 plan\n\n- [ ] 01-01: x\n",
      ".planning/phases/01-a/01-01-PLAN.md":
        '---\nphase: 01-a\nplan: 01\n---\n<tasks><task type="auto"><name>T</name><verify>x</verify></task></tasks>\n',
    }, "01-01"],
  ])("%s", async (workflow, files: Readonly<Record<string, string>>, item) => {
    const config = { "ralph.config.json": '{ "verify": { "default": ["touch checked"] } }' };
    const shown = await ralphCli().files({ ...files, ...config }).args("run", "--dry-run", ...AGENT).expectExit(0);
    const unnamed = await ralphCli(shown.root).args("run", "--dry-run").expectExit(0);

    expect(shown.stdout).toMatch(new RegExp(`^workflow +${workflow} `));
    expect(shown.stdout).toMatch(workflow === "exec" ? /branch +ralph\/a; main is checked out/ : /branch +main/);
    expect(shown.stdout).toMatch(/checks +touch checked\n/);
    expect(shown.stdout).toContain(item);
    expect(unnamed.stdout).toMatch(/agent +none: .*`--agent/);
    expect(unnamed.stdout).toContain(item);
    expect(shown.git("status", "--porcelain")).toBe("");
    expect(shown.git("branch", "--list")).toBe("* main");
    expect([shown.read("started"), shown.read("checked")]).toEqual([null, null]);
  });

  test("feature", async () => {
    const files = { [PRD_FILE]: prd([story("US-001")]) };
    const shown = await ralphCli().files(files).args("run", "auth", "--dry-run", ...AGENT).expectExit(0);

    expect(shown.stdout).toMatch(/branch +ralph\/auth; main is checked out/);
    expect(shown.stdout).toContain("US-001  Do US-001");
    expect([shown.read("started"), shown.git("status", "--porcelain")]).toEqual([null, ""]);
  });

  test.each([["compiled", true], ["not compiled yet", false]])("sprint, %s", async (_, isCompiled) => {
    const { root } = await ralphCli().agent("worker", "touch started")
      .args("init", "--workflow", "sprint", "--agent-cmd", "worker", "--verify", "touch checked").expectExit(0);
    if (isCompiled) await ralphCli(root).args("sprint", "compile").expectExit(0);
    const shown = await ralphCli(root).args("run", "--dry-run").expectExit(0);
    const next = await ralphCli(root).args("next").expectExit(0);

    expect(shown.stdout).toMatch(/^workflow +sprint /);
    expect(shown.stdout).toContain("iteration 1");
    expect(next.stdout).toContain("iteration 1");
    expect([shown.read("started"), shown.read("checked")]).toEqual([null, null]);
    expect(shown.read(".claude/sprints/first/PROGRESS.yaml") !== null).toBe(isCompiled);
  });
});
