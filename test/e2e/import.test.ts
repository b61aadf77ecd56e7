import { describe, expect, test } from "vitest";
import { ralphCli } from "./cli.ts";

const PRD_FILE = "scripts/ralph/prd.json";
const STORY = {
  id: "US-001",
  title: "Add a.txt",
  description: "As a reader, I want a.txt.",
  acceptanceCriteria: ["a.txt is there"],
  priority: 1,
  passes: false,
  notes: "",
};
const SNARKTANK = JSON.stringify({ project: "Demo", branchName: "main", description: "d", userStories: [STORY] });
const TASKMASTER = JSON.stringify({ master: { tasks: [{ id: 1, title: "Add a.txt", status: "pending" }] } });

describe("ralph import", () => {
  test("writes nothing without a yes, shows what it would write, and names the flag that agrees", async () => {
    const { stderr, read } = await ralphCli().files({ "prd.json": SNARKTANK }).args("import", "prd.json").expectExit(3);

    expect(stderr).toContain("US-001 Add a.txt (priority 1)");
    expect(stderr).toContain("No check, so that they cannot pass: US-001");
    expect(stderr).toContain("ralph import prd.json --approve import");
    expect([read(PRD_FILE), read("ralph.config.json")]).toEqual([null, null]);
  });

  test("with a yes and a check the PRD runs as it is", async () => {
    const { root, stderr } = await ralphCli().files({ "prd.json": SNARKTANK })
      .args("import", "prd.json", "--approve", "import", "--verify", "test -f a.txt").expectExit(0);
    const { stderr: ran, read } = await ralphCli(root).agent(
      "worker",
      "echo a > a.txt; echo '<promise>COMPLETE</promise>'",
    )
      .args("run", "--agent-cmd", "worker").expectExit(0);

    expect(stderr).toContain("Every story must pass (verify.default of ralph.config.json): test -f a.txt");
    expect(ran).toContain("✓ passed: 1 verified in 1 iteration");
    expect(JSON.parse(read(PRD_FILE) ?? "")).toMatchObject({
      userStories: [{ id: "US-001", passes: true, notes: "As a reader, I want a.txt." }],
    });
  });

  test("a file of another tool in the PRD's place is kept beside it, a PRD of Ralph's is never overwritten", async () => {
    const own = JSON.stringify({
      branchName: "main",
      userStories: [{ id: "X-1", title: "mine", acceptanceCriteria: [], priority: 1, passes: false, notes: "" }],
    });
    const inPlace = await ralphCli().files({ [PRD_FILE]: SNARKTANK })
      .args("import", PRD_FILE, "--approve", "import").expectExit(0);
    const refused = await ralphCli().files({ [PRD_FILE]: own, "prd.json": SNARKTANK })
      .args("import", "prd.json", "--approve", "import").expectExit(2);

    expect(inPlace.read("scripts/ralph/prd.snarktank-ralph.json")).toBe(SNARKTANK);
    expect(Object.keys(JSON.parse(inPlace.read(PRD_FILE) ?? ""))).toEqual(["branchName", "userStories"]);
    expect(refused.read(PRD_FILE)).toBe(own);
    expect(refused.stderr).toContain("scripts/ralph/prd.json is there already: it is never overwritten");
  });

  test("--verify is added to a configuration that is there, all else in it stays", async () => {
    const { read } = await ralphCli()
      .files({ "prd.json": SNARKTANK, "ralph.config.json": '{\n    "commits": { "prdChanges": false }\n}\n' })
      .args("import", "prd.json", "--approve", "import", "--verify", "npm test").expectExit(0);

    expect(read("ralph.config.json")).toBe(
      '{\n    "commits": {\n        "prdChanges": false\n    },\n    "verify": {\n        "default": [\n            "npm test"\n        ]\n    }\n}\n',
    );
  });

  test("at the terminal it asks for a check and for consent", async () => {
    const { read } = await ralphCli().files({ "prd.json": SNARKTANK, "test.sh": "test -f a.txt\n" })
      .args("import", "prd.json").terminal([/Which command must every story pass/, "\r"], [/Write scripts/, "y"])
      .expectExit(0);

    expect(JSON.parse(read("ralph.config.json") ?? "")).toMatchObject({ verify: { default: ["sh test.sh"] } });
    expect(read(PRD_FILE)).toContain("US-001");
  });

  test.each<[string, Record<string, string>, string[], string]>([
    ["a missing file", {}, ["no.json"], "the file no.json does not exist"],
    ["an unknown format", { "x.json": "{}" }, ["x.json"], "x.json is of no format that is known here"],
    ["a plan without work", { "x.json": '{"userStories":[],"project":"x"}' }, ["x.json"], "x.json holds no work"],
    [
      "a PRD of Ralph's",
      { "x.json": '{"branchName":"a","userStories":[]}' },
      ["x.json"],
      "is a PRD of Ralph's already",
    ],
    ["a check that checks nothing", { "prd.json": SNARKTANK }, ["prd.json", "--verify", "true"], "checks nothing"],
  ])("%s is a clear error", async (_name, files, args, message) => {
    const { stderr } = await ralphCli().files({ "a.txt": "a", ...files }).args("import", ...args).expectExit(2);

    expect(stderr).toContain(message);
  });

  test("--dry-run prints the PRD and writes nothing", async () => {
    const { stdout, read } = await ralphCli().files({ ".taskmaster/tasks/tasks.json": TASKMASTER })
      .args("import", ".taskmaster/tasks/tasks.json", "--dry-run").expectExit(0);

    expect(JSON.parse(stdout)).toMatchObject({ branchName: "ralph/taskmaster", userStories: [{ id: "1" }] });
    expect(read(PRD_FILE)).toBe(null);
  });
});

describe("a file of another tool", () => {
  const named = (path: string, tool: string): string =>
    `${path} is a plan of ${tool}: \`ralph import ${path}\` makes a PRD of it`;

  test.each<[string, string, string, string]>([
    ["in the PRD's place", PRD_FILE, SNARKTANK, "snarktank/ralph"],
    ["in its own place", "prd.json", SNARKTANK, "snarktank/ralph"],
    ["of Taskmaster", ".taskmaster/tasks/tasks.json", TASKMASTER, "Taskmaster"],
    ["of spec-kit", "specs/001-a/tasks.md", "# Tasks: A\n\n- [ ] T001 [P] Add a.txt\n", "spec-kit"],
  ])("%s is named by validate, status and run", async (_name, path, text, tool) => {
    const { root, stdout } = await ralphCli().files({ [path]: text }).args("status").expectExit(0);
    const validated = await ralphCli(root).args("validate").expectExit(path === PRD_FILE ? 2 : 0);
    const run = await ralphCli(root).args("run", "--agent-cmd", "true").expectExit(2);

    expect(stdout).toContain(named(path, tool));
    expect(validated.stdout).toContain(named(path, tool));
    expect(run.stderr).toContain(named(path, tool));
  });
});
