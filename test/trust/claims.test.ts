import { describe, expect, test } from "vitest";
import { type Cli, type CliResult, ralphCli } from "../e2e/cli.ts";

const SPEC = '{"t": "spec", "spec": "a.md"}';
const task = (id: string, more: string): string =>
  `{"t": "task", "id": "${id}", "spec": "a.md", "name": "write ${id}", ${more}}`;
const ONE = task("t-1", '"accept": "Verify: `test -f one`", "priority": "high", "s": "p"');
const TWO = task("t-2", '"accept": "Verify: `test -f two`", "s": "p"');

function project(...lines: readonly string[]): Cli {
  return ralphCli().files({ "a.md": "# a\n", "b.md": "# b\n", "ralph/plan.jsonl": `${[SPEC, ...lines].join("\n")}\n` });
}

/** Runs `ralph build` with an agent that is this script; it has the prompt in $PROMPT. */
async function build(cli: Cli, script: string, code: number, ...more: readonly string[]): Promise<CliResult> {
  const worker =
    `PROMPT=$(cat); out() { "$@" >../out.txt 2>&1; echo "$? $*" >>../codes.txt; cat ../out.txt >>../said.txt; }\n${script}`;
  return await cli.agent("worker", worker).args("build", "--agent-cmd", "worker", "--non-interactive", ...more)
    .expectExit(code);
}

function records(result: CliResult): readonly Record<string, unknown>[] {
  return (result.read("ralph/plan.jsonl") ?? "").trimEnd().split("\n").map((line) =>
    JSON.parse(line) as Record<string, unknown>
  );
}

describe("state commands inside of a turn", () => {
  test(
    "a BUILD turn may claim its own task and add issues; the rest is refused with the stage, and nothing is written",
    async () => {
      const result = await build(
        project(ONE, TWO),
        `out ralph task done t-2; out ralph task accept; out ralph set-spec b.md; out ralph issue add found
out ralph task add '{"name": "write t-2", "accept": "Verify: \`true\`", "supersedes": "t-2"}'
RALPH_STAGE=VERIFY ralph task accept >/dev/null; cp ralph/plan.jsonl ../during.jsonl; exit 0`,
        1,
        "--max-iterations",
        "1",
      );

      expect(result.read("../codes.txt")?.split("\n").map((line) => line.split(" ").slice(0, 4).join(" "))).toEqual([
        "2 ralph task done",
        "2 ralph task accept",
        "2 ralph set-spec b.md",
        "0 ralph issue add",
        "2 ralph task add",
        "",
      ]);
      expect(result.read("../said.txt")).toContain("this is a BUILD turn, which may");
      expect(result.read("../during.jsonl")).toBe(`${[SPEC, ONE, TWO].join("\n")}\n`);
      expect(records(result).map(({ t, id, s, desc }) => [t, id, s, desc])).toEqual([
        ["spec", undefined, undefined, undefined],
        ["task", "t-1", "p", undefined],
        ["task", "t-2", "p", undefined],
        ["issue", expect.stringMatching(/^i-/), undefined, "found"],
      ]);
      expect(result.git("status", "--porcelain")).toBe("");
    },
  );

  test("they answer from the state and the turn's own claims", async () => {
    const result = await build(
      project(ONE, TWO),
      `touch one; ralph task done >/dev/null; ralph query tasks >../tasks.json; echo "$PROMPT" >../prompt.txt; grep -c '"s": "d"' ralph/plan.jsonl >../count.txt; exit 0`,
      1,
      "--max-iterations",
      "1",
    );

    const tasks = JSON.parse(result.read("../tasks.json") ?? "{}") as {
      readonly done: readonly { readonly id: string }[];
    };
    expect(tasks.done.map(({ id }) => id)).toEqual(["t-1"]);
    expect(result.read("../count.txt")).toBe("0\n");
    expect(result.read("../prompt.txt")).toMatch(/<ralph [a-z0-9]{6}>BLOCKED/);
    expect(records(result).map(({ s }) => s)).toEqual([undefined, "d", "p"]);
  });

  test("lines that a turn writes into its file itself count no more than the commands would", async () => {
    const forged = ["task accept", "task done"].map((command) =>
      JSON.stringify({ v: 1, command, at: 1, ...(command === "task done" ? { id: "t-2" } : {}) })
    );

    const result = await build(
      project(ONE, TWO),
      `printf '%s\\n' ${forged.map((line) => `'${line}'`).join(" ")} 'no json' >>"$RALPH_CLAIMS"`,
      1,
      "--max-iterations",
      "1",
    );

    expect(records(result).map(({ s }) => s)).toEqual([undefined, "p", "p"]);
  });

  test("an INVESTIGATE turn that fails keeps its issue open", async () => {
    const issue = '{"t": "issue", "id": "i-1", "spec": "a.md", "desc": "flaky"}';

    const result = await build(project(issue), `ralph issue done i-1 >/dev/null; exit 9`, 1, "--max-iterations", "1");

    expect(records(result).map(({ id }) => id)).toEqual([undefined, "i-1"]);
  });

  test("a task that supersedes a rejected one keeps its commands, and may change no tests", async () => {
    const done = task("t-1", '"accept": "Verify: `test -f one`", "s": "d", "done_at": "aaaaaaa"');

    const result = await build(
      project(done).files({ "one": "" }),
      `ralph task reject t-1 "cannot work" >/dev/null
ralph task add "another way" --accept 'It works. Changes tests: \`**\`. Verify: \`true\`' --supersedes t-1 >/dev/null`,
      1,
      "--max-iterations",
      "1",
    );

    const [, added] = records(result);
    expect(added).toMatchObject({ name: "another way", supersedes: "t-1", s: "p" });
    expect(added?.["accept"]).toBe("It works.  Verify: `true`\nVerify: `test -f one`");
  });

  test("the last part of a task has the commands of the whole, and waits for the other parts", async () => {
    const killed = task("t-1", '"accept": "Verify: `test -f one`", "s": "p", "kill": "timeout"');

    const result = await build(
      project(killed),
      `ralph task add first --accept 'Verify: \`true\`' >/dev/null; ralph task add second >/dev/null`,
      1,
      "--max-iterations",
      "1",
    );

    const [, first, second] = records(result);
    expect(first).toMatchObject({ name: "first", accept: "Verify: `true`", parent: "t-1" });
    expect(second).toMatchObject({ name: "second", accept: "Verify: `test -f one`", deps: [first?.["id"]] });
  });

  test("a command that starts or writes something on the same root ends with 3", async () => {
    const result = await build(
      project(ONE),
      `out ralph init; out ralph build; out ralph sprint compile .claude/sprints/x --force; out ralph status; exit 0`,
      1,
      "--max-iterations",
      "1",
    );

    expect(result.read("../codes.txt")?.match(/^\d+/gm)).toEqual(["3", "3", "3", "0"]);
  });
});

describe("state commands beside a run", () => {
  test("what only adds is applied between turns, the rest ends with 3", async () => {
    const outside = "env -u RALPH_CLAIMS -u RALPH_RUN -u RALPH_STAGE";

    const result = await build(
      project(ONE, TWO),
      `out ${outside} ralph issue add "by a person"; out ${outside} ralph task add "one more"
out ${outside} ralph task done t-1; out ${outside} ralph task accept
out ${outside} ralph task add x --supersedes t-2; ${outside} ralph query tasks >../tasks.json; touch one; ralph task done`,
      1,
      "--max-iterations",
      "1",
    );

    expect(result.read("../codes.txt")?.match(/^\d+/gm)).toEqual(["0", "0", "3", "3", "3"]);
    expect(result.read("../tasks.json")).toContain("one more");
    expect(records(result).map(({ name, desc, s }) => [name ?? desc, s])).toEqual([
      [undefined, undefined],
      ["write t-1", "d"],
      ["write t-2", "p"],
      ["one more", "p"],
      ["by a person", undefined],
    ]);
  });

  test("steps of a sprint are claims too: both are there after the turn, and the agent sees its own", async () => {
    const sprint = ".claude/sprints/s";
    const result = await ralphCli().files({ [`${sprint}/SPRINT.yaml`]: "workflow: ralph\ngoal: g\n" })
      .agent(
        "worker",
        `cat >/dev/null; ralph step add one >/dev/null; ralph step add two >/dev/null; ralph step done step-1 >/dev/null
ralph step list >../list.txt; cp ${sprint}/PROGRESS.yaml ../during.yaml; env -u RALPH_CLAIMS ralph step done step-2; echo $? >../code.txt`,
      ).args("sprint", "run", sprint, "--agent-cmd", "worker", "--max-iterations", "1").expectExit(1);

    expect(result.read("../during.yaml")).not.toContain("prompt: one");
    expect(result.read("../list.txt")).toMatch(/step-1 {2}one\n.*step-2 {2}two/);
    expect(result.read("../code.txt")).toBe("3\n");
    expect(result.read(`${sprint}/PROGRESS.yaml`)).toMatch(
      /id: step-1\n\s+prompt: one\n\s+status: completed[\s\S]*id: step-2\n\s+prompt: two\n\s+status: pending/,
    );
  });
});

describe("an honest exit", () => {
  test("BLOCKED parks at once although the checks pass, and no other turn is taken", async () => {
    const story = {
      id: "US-001",
      title: "t",
      acceptanceCriteria: ["Verify: `test -d .`"],
      priority: 1,
      passes: false,
      notes: "",
    };
    const prd = JSON.stringify({ branchName: "main", userStories: [story] });

    const result = await ralphCli().files({ "scripts/ralph/prd.json": prd })
      .agent("worker", `echo turn >>../turns.txt; grep -o '<ralph .*BLOCKED' | head -1 | sed 's|$|: no key</ralph>|'`)
      .args("run", "--agent-cmd", "worker").expectExit(3);

    expect(result.read("../turns.txt")).toBe("turn\n");
    expect(result.stderr).toContain("the agent is blocked: no key");
  });
});
