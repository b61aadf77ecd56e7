import { describe, expect, test } from "vitest";
import { ralphCli } from "./cli.ts";

const PRD = JSON.stringify({
  branchName: "main",
  userStories: [{
    id: "US-001",
    title: "Add a.txt",
    acceptanceCriteria: ["Verify: `test -f a.txt`"],
    priority: 1,
    passes: false,
    notes: "",
  }],
});
const AGENT = { "ralph.config.json": JSON.stringify({ provider: { command: "worker" } }) };
const READY = { ...AGENT, "scripts/ralph/prd.json": PRD };

describe("command line", () => {
  test("an unknown flag names the nearest", async () => {
    const { stderr, stdout } = await ralphCli().args("run", "--max-iteration", "3").expectExit(2);

    expect(stderr).toBe(
      "error: unknown flag `--max-iteration` for `ralph run`\nhint: did you mean `--max-iterations`?\n",
    );
    expect(stdout).toBe("");
  });

  test("an unknown command names the nearest", async () => {
    const { stderr } = await ralphCli().args("exce", "a goal").expectExit(2);

    expect(stderr).toBe("error: unknown command `exce`\nhint: did you mean `ralph exec`?\n");
  });

  test("a goal without a command is told how to start", async () => {
    const { stderr } = await ralphCli().args("add a health endpoint").expectExit(2);

    expect(stderr).toBe(
      'error: `add a health endpoint` is not a command\nhint: did you mean `ralph exec "add a health endpoint"`?\n',
    );
  });

  test.each([["plan"], ["exec"]])("`ralph %s` refuses an empty goal", async (command) => {
    const { stderr } = await ralphCli().args(command, "  ").expectExit(2);

    expect(stderr).toBe(
      `error: the goal is empty\nhint: say it in words: \`ralph ${command} "add a health endpoint"\`\n`,
    );
  });

  test("a missing goal", async () => {
    const { stderr } = await ralphCli().args("exec").expectExit(2);

    expect(stderr).toBe(
      "error: `ralph exec` needs a goal\n" +
        'hint: say it in words: `ralph exec "add a health endpoint"`; `ralph exec -` reads it from standard input, ' +
        "`--goal-file FILE` from a file\n",
    );
  });

  test("a single word that ends in .md is never a goal", async () => {
    const { stderr } = await ralphCli().args("plan", "SPEC.md").expectExit(2);

    expect(stderr).toBe(
      "error: the file SPEC.md does not exist\n" +
        'hint: a single word that ends in .md is never a goal; say it in words: `ralph plan "add a health endpoint"`\n',
    );
  });

  test("a goal without quotes is shown with them", async () => {
    const { stderr } = await ralphCli().args("exec", "add", "a", "test").expectExit(2);

    expect(stderr).toBe('error: the goal must be one argument (got 3)\nhint: quote it: `ralph exec "add a test"`\n');
  });

  test("a number after `run` is told which flag it is", async () => {
    const { stderr } = await ralphCli().args("run", "5").expectExit(2);

    expect(stderr).toBe(
      "error: `5` is no name for a feature\nhint: `ralph run --max-iterations 5`, or `ralph run --loop 5` for that many plans\n",
    );
  });

  test("a workflow that does not exist", async () => {
    const { stderr } = await ralphCli().args("status", "--workflow", "exce").expectExit(2);

    expect(stderr).toBe("error: there is no workflow named exce\nhint: did you mean `--workflow exec`?\n");
  });

  test.each([
    [
      ["--timeout", "soon"],
      "error: --timeout must be a time above zero (got: soon)\nhint: write `90s`, `30m`, `2h` or seconds\n",
    ],
    [
      ["--max-iterations", "0"],
      "error: --max-iterations must be a whole number of at least 1 (got: 0)\nhint: leave it out for the default\n",
    ],
    [
      ["--max-iterations", "-1"],
      "error: --max-iterations must be a whole number of at least 1 (got: -1)\nhint: leave it out for the default\n",
    ],
    [
      ["--ui", "gum"],
      "error: --ui must be one of auto, rich, plain, json (got: gum)\nhint: `ralph help run` shows how it is used\n",
    ],
    [
      ["--max-cost", "much"],
      "error: --max-cost must be an amount in US dollars above zero (got: much)\nhint: write `--max-cost 2.50`\n",
    ],
    [
      ["--ui", "rihc"],
      "error: --ui must be one of auto, rich, plain, json (got: rihc)\nhint: did you mean `--ui rich`?\n",
    ],
  ])("a value that cannot be: %j", async (flags, message) => {
    const { stderr } = await ralphCli().files(READY).args("run", ...flags).expectExit(2);

    expect(stderr).toBe(message);
  });

  test("a root that is a file", async () => {
    const { stderr } = await ralphCli().files({ "a.txt": "" }).args("status", "--root", "a.txt").expectExit(2);

    expect(stderr).toBe(
      "error: the root [ROOT]/a.txt is a file, not a folder\nhint: give an existing folder with `--root`\n",
    );
  });

  test("a root that does not exist", async () => {
    const { stderr } = await ralphCli().args("status", "--root", "nowhere").expectExit(2);

    expect(stderr).toBe("error: the root [ROOT]/nowhere does not exist\nhint: give an existing folder with `--root`\n");
  });
});

describe("files", () => {
  test("a missing prd.json", async () => {
    const { stderr } = await ralphCli().files(AGENT).agent("worker", "exit 0").args("run").expectExit(2);

    expect(stderr).toBe(
      'workflow exec (the default)\nagent worker (ralph.config.json)\nerror: scripts/ralph/prd.json does not exist\nhint: `ralph plan "<goal>"` writes it\n',
    );
  });

  test("a prd.json that is no JSON is left as it is", async () => {
    const text = '{ "branchName": "main", ';

    const { stderr, read } = await ralphCli().files({ ...AGENT, "scripts/ralph/prd.json": text }).agent(
      "worker",
      "exit 0",
    ).args("run").expectExit(2);

    expect(stderr).toBe(
      "workflow exec (scripts/ralph exists)\nagent worker (ralph.config.json)\n" +
        "error: scripts/ralph/prd.json: not valid JSON: line 1, column 25: expected a key in double quotes\n" +
        "hint: fix the file; Ralph has left it as it is\n",
    );
    expect(read("scripts/ralph/prd.json")).toBe(text);
  });

  test("a prd.json with wrong fields names each of them", async () => {
    const prd = JSON.stringify({
      branchName: 1,
      userStories: [{ id: "a", title: "t", acceptanceCriteria: [], priority: "1", passes: false }],
    });

    const { stderr } = await ralphCli().files({ ...AGENT, "scripts/ralph/prd.json": prd }).agent("worker", "exit 0")
      .args("run").expectExit(2);

    expect(stderr).toBe(
      "workflow exec (scripts/ralph exists)\nagent worker (ralph.config.json)\n" +
        "error: scripts/ralph/prd.json: Invalid PRD schema: branchName must be a string (got: int); userStories[0]: missing keys: notes; userStories[0].priority: must be an integer\n" +
        "hint: fix the file; Ralph has left it as it is\n",
    );
  });

  test("a corrupt plan_state.json is left as it is", async () => {
    const text = '{ "schemaVersion": 1, "goal": 7 }';

    const { stderr, read } = await ralphCli().files({ ...AGENT, "scripts/ralph/plan_state.json": text })
      .agent("worker", "exit 0").args("plan", "a goal", "--non-interactive").expectExit(2);

    expect(stderr).toMatch(
      /error: scripts\/ralph\/plan_state\.json: .*goal: Invalid input: expected string, received number/,
    );
    expect(stderr).toMatch(/hint: fix the file; Ralph has left it as it is\n$/);
    expect(read("scripts/ralph/plan_state.json")).toBe(text);
  });

  test("a config that is no JSON", async () => {
    const { stderr, read } = await ralphCli().files({ "ralph.config.json": "{ nope" }).args("run").expectExit(2);

    expect(stderr).toMatch(
      /^error: \[ROOT\]\/ralph\.config\.json: not valid JSON: line 1, column 3: .+\nhint: `ralph help config` lists the keys\n$/,
    );
    expect(read("ralph.config.json")).toBe("{ nope");
  });

  test("a config with wrong fields names all of them", async () => {
    const { stderr } = await ralphCli().files({
      "ralph.config.json": JSON.stringify({ verify: { timeout: "long" }, maxRetries: 0 }),
    })
      .args("run").expectExit(2);

    expect(stderr).toBe(
      "error: [ROOT]/ralph.config.json: 2 problems\n" +
        '  line 1, column 12: verify.timeout: expected number, received string (got: "long")\n' +
        "  line 1, column 30: maxRetries: expected number to be >0 (got: 0)\n" +
        "hint: `ralph help config` lists the keys\n",
    );
  });

  test("an answers file that does not exist", async () => {
    const { stderr } = await ralphCli().files(READY).args("exec", "a goal", "--answers", "none.yaml").expectExit(2);

    expect(stderr).toBe(
      "error: [ROOT]/none.yaml: the file does not exist\n" +
        "hint: expected `questions: [{match, answer}]`, `otherwise: text`, `prompts: {id: answer}`\n",
    );
  });

  test("a folder where the configuration should be", async () => {
    const { stderr } = await ralphCli().files({ "ralph.config.json/x": "" }).args("status").expectExit(2);

    expect(stderr).toBe(
      "error: could not read [ROOT]/ralph.config.json: it is a folder\n" +
        "hint: a folder is where the file should be: move it away\n",
    );
  });

  test("a branch name that git does not take", async () => {
    const prd = PRD.replace('"main"', '"-x"');

    const { stderr, read } = await ralphCli().files({ ...AGENT, "scripts/ralph/prd.json": prd })
      .agent("worker", "touch ran").args("run").expectExit(2);

    expect(stderr).toBe(
      'workflow exec (scripts/ralph exists)\nagent worker (ralph.config.json)\nerror: git refuses the branch name "-x"\n' +
        "hint: change `branchName` in the PRD, or name another with `--branch NAME`; `--branch=` stays on the current one\n",
    );
    expect(read("ran")).toBeNull();
  });
});

describe("surroundings", () => {
  test("no git repository", async () => {
    const { stderr } = await ralphCli().without("repository").files(READY).agent("worker", "exit 0").args("run")
      .expectExit(2);

    expect(stderr).toBe(
      "workflow exec (scripts/ralph exists)\nagent worker (ralph.config.json)\nerror: [ROOT] is not inside a git repository\nhint: run `git init` there first: Ralph commits verified work\n",
    );
  });

  test("no git identity", async () => {
    const { stderr, git } = await ralphCli().without("identity").files(READY).agent("worker", "touch ran").args("run")
      .expectExit(2);

    expect(stderr).toMatch(
      /^workflow exec .+\nagent worker \(ralph\.config\.json\)\nerror: git has no author configured: .+\nhint: run `git config user\.name "…"` and `git config user\.email "…"`\n$/,
    );
    expect(git("status", "--porcelain")).toBe("");
  });

  test("a detached HEAD without a branch to switch to", async () => {
    const { stderr } = await ralphCli().files(READY).agent("worker", "exit 0").before("git checkout -q --detach")
      .args("run", "--branch", "").expectExit(2);

    expect(stderr).toBe(
      "workflow exec (scripts/ralph exists)\nagent worker (ralph.config.json)\nerror: HEAD is detached in [ROOT]\nhint: switch to a branch, or name one with `--branch NAME`\n",
    );
  });

  test("a dirty tree is allowed, and what was dirty stays as it was", async () => {
    const { read, git } = await ralphCli().files({ ...READY, "mine.txt": "old" }).dirty({ "mine.txt": "my own work" })
      .agent("worker", "touch a.txt; echo '<promise>COMPLETE</promise>'").args("run").expectExit(0);

    expect(read("mine.txt")).toBe("my own work");
    expect(git("status", "--porcelain")).toBe("M mine.txt");
  });

  test("no agent is configured", async () => {
    const { stderr, git } = await ralphCli().files({ "scripts/ralph/prd.json": PRD }).args("run").expectExit(4);

    // which of them are on PATH is the machine's
    expect(stderr).toMatch(
      /^workflow exec \(scripts\/ralph exists\)\nerror: no agent is configured\nhint: .*--agent.*\n$/,
    );
    expect(git("status", "--porcelain", "--ignored")).toBe("");
  });

  test.each([["run"], ["plan"], ["exec"]])(
    "`ralph %s` with an agent command that does not exist writes nothing",
    async (command) => {
      const goal = command === "run" ? [] : ["a goal", "--non-interactive"];
      const { stderr, git } = await ralphCli().files({ "scripts/ralph/prd.json": PRD })
        .args(command, ...goal, "--agent-cmd", "no-such-agent --yes").expectExit(4);

      expect(stderr).toMatch(
        /error: the agent command `no-such-agent --yes` was not found: .+\nhint: install it, or name another with `--agent-cmd`; `ralph doctor` shows what is there\n$/,
      );
      expect(git("status", "--porcelain", "--ignored")).toBe("");
    },
  );

  test.each([["plan"], ["exec"]])("`ralph %s` without a terminal starts no agent", async (command) => {
    const { stderr, git } = await ralphCli().files(AGENT).agent("worker", "touch ran").args(command, "a goal")
      .expectExit(2);

    expect(stderr).toBe(
      `error: \`ralph ${command}\` asks questions and there is no terminal\n` +
        "hint: run it in a terminal, or give `--non-interactive` with `--answers FILE` and `--approve`\n",
    );
    expect(git("status", "--porcelain", "--ignored")).toBe("");
  });

  test("a gate that does not exist", async () => {
    const { stderr } = await ralphCli().files(READY).args("exec", "a goal", "--approve", "prd,rnu").expectExit(2);

    expect(stderr).toBe("error: there is no gate named rnu\nhint: did you mean `--approve run`?\n");
  });
});
