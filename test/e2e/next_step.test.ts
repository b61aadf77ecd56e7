import { describe, expect, test } from "vitest";
import { type Cli, ralphCli } from "./cli.ts";

const WORKS = `cat > prompt; nonce=$(grep -o '<promise [A-Za-z0-9-]*' prompt | head -1 | cut -d' ' -f2); rm prompt
echo x > a.txt; echo "<promise $nonce>COMPLETE</promise>"`;

const PRD = JSON.stringify({
  branchName: "ralph/a",
  userStories: [
    {
      id: "US-001",
      title: "a",
      acceptanceCriteria: ["Verify: `test -f a.txt`"],
      priority: 1,
      passes: false,
      notes: "",
    },
  ],
});

const PHASE = {
  ".planning/ROADMAP.md":
    "# Roadmap\n\n- [ ] **Phase 1: A** - x\n\n## Phase Details\n\n### Phase 1: A\n**Plans**: 1 plan\n\n- [ ] 01-01: x\n",
  ".planning/phases/01-a/01-01-PLAN.md":
    '---\nphase: 01-a\nplan: 01\n---\n<tasks><task type="auto"><name>T</name><verify><automated>test -f never</automated></verify></task></tasks>\n',
};
const TASK = '{"t":"task","id":"t-1a2b","name":"big","s":"p","spec":"a.md"}\n';

/** The commands of the line that says what comes next. */
async function printedNext(project: Cli): Promise<readonly string[]> {
  const { stdout } = await project.args("status").expectExit(0);
  const lines = stdout.split("\n").filter((line) => line.startsWith("next: "));
  return lines.flatMap((line) => [...line.matchAll(/`ralph ([^`]+)`/g)].map(([, words = ""]) => words));
}

describe("what comes next", () => {
  test("after a run that passed `ralph status` prints what the run printed last", async () => {
    const files = { "scripts/ralph/prd.json": PRD };
    const run = await ralphCli().files(files).agent("worker", WORKS).args("run", "--agent-cmd", "worker").expectExit(0);
    const [last] = run.stderr.split("\n").filter((line) => line.startsWith("next: "));
    const status = await ralphCli(run.root).args("status").expectExit(0);
    const next = await ralphCli(run.root).args("next").expectExit(0);

    expect(last).toMatch(/^next: `ralph finish`/);
    expect(status.stdout).toContain(last);
    expect(next.stderr).toContain("nothing is left to do: every story passes");
    await ralphCli(run.root).args("finish", "--dry-run").expectExit(0);
  });

  test("after a run that ended unverified `ralph status` and `ralph next` say the same, until it is accepted", async () => {
    const worker = "cat > /dev/null; echo x > a.txt; echo so far";
    const config = JSON.stringify({ provider: { command: "worker" } });
    const run = await ralphCli().files({ "scripts/ralph/prd.json": PRD, "ralph.config.json": config })
      .agent("worker", worker).args("run").expectExit(1);
    const again = await ralphCli(run.root).args("run").expectExit(1);
    const status = await ralphCli(run.root).args("status").expectExit(0);
    const next = await ralphCli(run.root).args("next").expectExit(0);

    const words = "look at the work; `ralph run --allow-unverified` accepts it\n";
    expect(run.stderr).toContain(`hint: ${words}`);
    expect(again.stderr).toContain(`hint: ${words}`);
    expect(status.stdout).toContain(`next: ${words}`);
    expect(next.stderr).toContain(`hint: ${words}`);

    const accepted = await ralphCli(run.root).args("run", "--allow-unverified").expectExit(0);
    const after = await ralphCli(run.root).args("status").expectExit(0);
    expect(accepted.stderr).toContain("next: `ralph finish`");
    expect(after.stdout).toContain("next: `ralph finish`");
  });

  test("where two workflows are in use every printed command says which one it is for, and runs", async () => {
    const files = {
      ...PHASE,
      "ralph/plan.jsonl": `{"t":"spec","spec":"a.md"}\n${TASK}`,
      "ralph.config.json": '{ "verify": { "default": ["test -f never"] } }',
    };
    const project = await ralphCli().files(files).agent("worker", "cat > /dev/null").args("status").expectExit(0);
    const commands = await printedNext(ralphCli(project.root));

    expect(commands).toEqual(["build", "run --workflow gsd"]);
    for (const command of [...commands, "run --workflow spec"]) {
      const line = [...command.split(" "), "--agent-cmd", "worker", "--max-iterations", "1"];
      const { stderr } = await ralphCli(project.root).args(...line).expectExit(1);
      expect(stderr).toContain("limit reached");
    }
  });

  test.each(["run", "next", "verify"])(
    "where two workflows are in use `ralph %s` says which, and how",
    async (name) => {
      const { stderr } = await ralphCli().files({ ...PHASE, "ralph/plan.jsonl": TASK }).args(name).expectExit(2);

      expect(stderr).toContain("nothing says which one is meant: spec, gsd\n");
      expect(stderr).toContain(`\`ralph ${name} --workflow spec\`, \`ralph ${name} --workflow gsd\``);
    },
  );

  test("a configuration that names the workflow needs no flag in what is printed", async () => {
    const files = { ...PHASE, "ralph/plan.jsonl": TASK, "ralph.config.json": '{ "workflow": "gsd" }' };

    expect(await printedNext(ralphCli().files(files))).toEqual(["run"]);
  });

  test("of two workflows a person at a terminal chooses one for `ralph run`", async () => {
    const files = { ...PHASE, "ralph/plan.jsonl": TASK };
    const cli = ralphCli().files(files).agent("worker", "cat > /dev/null").args("run", "--agent-cmd", "worker");
    const { stdout, stderr } = await cli.terminal(["Which one?", "\r"]).expectExit(3);

    expect(`${stdout}${stderr}`).toContain("no spec is set: `ralph plan SPEC.md` plans one");
  });

  test("a task whose DECOMPOSE was given up on does not hide the next one from next, query and status", async () => {
    const killed = TASK.replace('"s":"p"', '"s":"p","kill":"timeout","kill_log":"x.log"');
    const files = {
      "a.md": "a\n",
      "ralph/plan.jsonl": `{"t":"spec","spec":"a.md"}\n${killed}${
        TASK.replace("1a2b", "2a2b").replace("big", "small")
      }`,
    };
    const cli = ralphCli().files(files).agent("worker", "cat > /dev/null");
    const { root, stderr } = await cli.args("build", "--agent-cmd", "worker", "--max-iterations", "4").expectExit(1);
    const query = await ralphCli(root).args("query", "stage").expectExit(0);
    const next = await ralphCli(root).args("next").expectExit(0);
    const status = await ralphCli(root).args("status").expectExit(0);

    expect(stderr).toContain("BUILD t-2a2b");
    expect(query.stdout).toBe("BUILD\n");
    expect(next.stdout).toBe("BUILD t-2a2b  small\n");
    expect(status.stdout).toContain("stage: BUILD\n");
    expect(status.stdout).toMatch(/▲ t-1a2b .* parked: /);
    expect(status.stdout).toContain("next: `ralph build`\n");
  });

  test("tasks in a circle block `ralph next` as they block the loop", async () => {
    const circle = TASK.replace('"s":"p"', '"s":"p","deps":["t-1a2b"]');
    const files = { "ralph/plan.jsonl": `{"t":"spec","spec":"a.md"}\n${circle}` };
    const { stdout } = await ralphCli().files(files).args("next").expectExit(3);

    expect(stdout).toContain("in a circle");
  });

  test("a recipe whose items have all passed: `ralph status --recipe` prints no command of another workflow", async () => {
    const recipe = `import { defineRecipe, memoryBacklog, runLoop } from "ralph";
export default defineRecipe({ name: "none", backlog: () => memoryBacklog([]), run: async () => ({ status: "passed" }) });
`;
    const project = await ralphCli().files({ "none.mjs": recipe }).args("status", "--recipe", "none.mjs").expectExit(0);

    expect(project.stdout).not.toContain("ralph verify");
    expect(project.stdout).toMatch(/next: everything is done/);
  });

  test("a sprint that cannot be read is to be validated first", async () => {
    const project = await ralphCli().files({ ".claude/sprints/a/PROGRESS.yaml": "status: x\n" }).args("status")
      .expectExit(0);

    expect(project.stdout).toContain("next: `ralph validate`");
  });
});
