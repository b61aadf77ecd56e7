import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { ralphCli } from "./cli.ts";

const SPRINT = ".claude/sprints/one";
const CONFIG = JSON.stringify({ verify: { default: ["test -f all"] } });
const DONE =
  '{"t": "task", "id": "t-1a2b", "spec": "a.md", "name": "a", "accept": "Verify: `test -f a`", "s": "d", "done_at": "abc"}\n';
const PENDING =
  '{"t": "task", "id": "t-3c4d", "spec": "a.md", "name": "b", "accept": "Verify: `test -f b`", "s": "p"}\n';
const PLAN = `{"t": "spec", "spec": "a.md"}\n${DONE}${PENDING}`;

describe("ralph verify", () => {
  test("in a sprint runs the checks of its completion", async () => {
    const { stderr } = await ralphCli().files({
      [`${SPRINT}/PROGRESS.yaml`]: "mode: ralph\ngoal: g\n",
      ".claude/sprints/two/SPRINT.yaml": "workflow: ralph\ngoal: h\n",
      "ralph.config.json": CONFIG,
    }).args("verify").expectExit(1);

    expect(stderr).toContain("1 of 1 checks failed\n  test -f all\n");
  });

  test("in a spec runs the checks of the tasks that are done, then those of every item", async () => {
    const { stderr } = await ralphCli().files({ "ralph/plan.jsonl": PLAN, "ralph.config.json": CONFIG, "a": "" })
      .args("verify").expectExit(1);

    expect(stderr).toContain("1 of 2 checks failed\n  test -f all\n");
    expect(stderr).not.toContain("test -f b");
  });
});

describe("after `ralph init --workflow feature`, before the first feature,", () => {
  const fresh = (...args: string[]): ReturnType<typeof ralphCli> =>
    ralphCli().files({
      "ralph.config.json": JSON.stringify({
        workflow: "feature",
        provider: { command: "worker" },
        verify: { default: ["test -f ralph.config.json"] },
      }),
    }).args(...args);

  test("`ralph status` and `ralph` name workflow, agent and what comes next", async () => {
    for (const args of [["status"], []]) {
      const { stdout } = await fresh(...args).expectExit(0);
      expect(stdout).toMatch(
        /^feature \(the configuration\).*\nagent: worker\nno feature yet\nnext: `ralph prd FEATURE`\n/,
      );
    }
  });

  test("`ralph verify` runs what every feature must pass", async () => {
    expect((await fresh("verify").expectExit(0)).stderr).toContain("1 of 1 checks passed\n");
  });
});

test("what standard output has no room for is an error, not a silent end", async () => {
  const full = ralphCli().files({ "ralph.config.json": "{}" }).args("schema", "config").prepare();
  const command = [...full.command.map((word) => `'${word}'`), "> /dev/full"].join(" ");
  const { status, stderr } = spawnSync("sh", ["-c", command], {
    cwd: full.cwd,
    env: full.environment,
    encoding: "utf8",
  });

  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: expect.stringMatching(/^error: could not write standard output: ENOSPC.*\nhint: the disk is full/),
  });
});

describe("ralph validate", () => {
  test.each([
    ["scripts/ralph/prd.json", {}],
    [".ralph/2026-01-02-auth/prd.json", { schemaVersion: 2, project: "p" }],
  ])("in %s names a branch that git does not take, at which the run would end", async (path, more) => {
    const story = {
      id: "US-001",
      title: "t",
      acceptanceCriteria: ["Verify: `test -f a`"],
      priority: 1,
      passes: false,
      notes: "",
    };
    const prd = JSON.stringify({ ...more, branchName: "two words..", userStories: [story] });
    const config = { provider: { command: "w" }, verify: { default: ["test -f a"] } };
    const { stdout } = await ralphCli().files({ [path]: prd, "ralph.config.json": JSON.stringify(config) })
      .args("validate").expectExit(2);

    expect(stdout).toContain('branchName: git refuses the branch name "two words.."');
  });

  test("in a sprint names every broken file with its line", async () => {
    const { stdout } = await ralphCli().files({
      "ralph.config.json": "{}",
      [`${SPRINT}/SPRINT.yaml`]: "workflow: ralph\ngoal: [\n",
      [`${SPRINT}/PROGRESS.yaml`]: "mode: ralph\n  x: [",
      ".claude/sprints/two/SPRINT.yaml": "workflow: nope\ngoal: g\n",
    }).args("validate").expectExit(2);

    expect(stdout).toMatch(/✓ ralph\.config\.json\n/);
    expect(stdout).toMatch(/✗ \.claude\/sprints\/one\/SPRINT\.yaml\n {4}line \d+: /);
    expect(stdout).toMatch(/✗ \.claude\/sprints\/one\/PROGRESS\.yaml\n {4}line \d+: /);
    expect(stdout).toMatch(/✗ \.claude\/sprints\/two\/SPRINT\.yaml\n.*WORKFLOW_NOT_FOUND/s);
    expect(stdout).toContain("○ .claude/sprints/two/PROGRESS.yaml (not there)\n    warning: not compiled yet: ");
  });

  test("in a spec names the line of a record that cannot be read and of a check that checks nothing", async () => {
    const { stdout } = await ralphCli().files({
      "ralph/plan.jsonl": `${PLAN.replace("test -f b", "true")}nonsense\n`,
      "ralph.config.json": "{}",
    }).args("validate").expectExit(2);

    expect(stdout).toMatch(/✗ ralph\/plan\.jsonl\n {4}line 4: /);
    expect(stdout).toContain("line 3: t-3c4d: `true` checks nothing");
  });
});

const LIST = `import { defineRecipe, runLoop, todoBacklog } from "ralph";
export default defineRecipe({ name: "list", backlog: todoBacklog, run: (ralph) => runLoop(ralph, todoBacklog(ralph)) });
`;

describe("a recipe's own backlog", () => {
  const files = {
    "todo.mjs": `import { defineRecipe, memoryBacklog, runLoop } from "ralph";
const backlog = () => memoryBacklog([{ id: "a", title: "write a.txt", checks: ["test -f a.txt"] }, { id: "b", title: "b" }]);
export default defineRecipe({ name: "todo", backlog, run: (ralph) => runLoop(ralph, backlog(ralph)) });
`,
    "bare.mjs":
      'import { defineRecipe } from "ralph";\nexport default defineRecipe({ name: "bare", run: async () => ({ status: "passed" }) });\n',
    "TODO.md": "- [x] write a.txt. Verify: `test -f a.txt`\n- [ ] b. Verify: `false`\n",
    "list.mjs": LIST,
    "ralph.config.json": CONFIG,
  };

  test("is shown by status and next; verify runs the default checks and those of what has passed", async () => {
    const status = await ralphCli().files(files).args("status", "--recipe", "todo.mjs").expectExit(0);
    const next = await ralphCli(status.root).args("next", "--recipe", "todo.mjs", "--json").expectExit(0);
    const verified = await ralphCli(status.root).args("verify", "--recipe", "todo.mjs").expectExit(1);
    const passed = await ralphCli(status.root).args("verify", "--recipe", "list.mjs").expectExit(1);

    expect(status.stdout).toContain("items: 0/2 pass, 2 open\n");
    expect(status.stdout).toContain("b no check\n");
    expect(status.stdout).toContain("next: `ralph run-recipe todo.mjs`\n");
    expect(JSON.parse(next.stdout)).toMatchObject({ status: "item", id: "a", checks: ["test -f a.txt"] });
    expect(verified.stderr).toContain("1 of 1 checks failed\n  test -f all\n");
    expect(passed.stderr).toContain("2 of 2 checks failed\n  test -f all\n  test -f a.txt\n");
  });

  test("is asked for by name where the recipe has none", async () => {
    const { stderr } = await ralphCli().files(files).args("status", "--recipe", "bare.mjs").expectExit(2);

    expect(stderr).toContain("the recipe bare names no backlog");
  });
});
