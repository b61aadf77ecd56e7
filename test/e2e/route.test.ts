/** `provider.route` in every workflow, by real runs: which agent took which turn, and what the report says of each. */
import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fits } from "../../lib/agents/route.ts";
import { checkConfig } from "../../lib/config/check.ts";
import type { RalphEvent } from "../../lib/events/types.ts";
import { type CrashProject, crashProject, WORKFLOWS } from "../fault/crash/projects.ts";
import { runProgram } from "../fault/crash/run_program.ts";
import { ralphProgram } from "../fault/program.ts";

/** The agent whose turn it was, and why. */
type Turn = readonly [agent: string, route: string | undefined];

async function run(
  project: CrashProject,
  provider: object,
  flags: readonly string[] = [],
): Promise<{ readonly exitCode: number | null; readonly turns: readonly Turn[]; readonly output: string }> {
  const { root, folder, environment, git } = project;
  const file = join(root, "ralph.config.json");
  const config = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) as object : {};
  writeFileSync(file, JSON.stringify({ ...config, provider, limits: { idle: 30 } }));
  git("add", "ralph.config.json");
  git("commit", "-qm", "agents");
  for (const name of ["big", "judge"]) copyFileSync(join(folder, "bin/worker"), join(folder, "bin", name));
  writeFileSync(join(folder, "bin/small"), "#!/bin/sh\ncat > /dev/null\necho I cannot do that.\n", { mode: 0o755 });
  const words = project.command.filter((word) => !["--agent-cmd", "worker", "--ui", "plain"].includes(word));
  const { exitCode, output } = await runProgram([...words, "--json", ...flags], { cwd: root, environment });
  const events = output.split("\n").filter((line) => line.startsWith("{")).map((line) =>
    JSON.parse(line) as RalphEvent
  );
  const turns = events.flatMap((event): readonly Turn[] =>
    event.type === "turn-start" ? [[event.agent, event.route]] : []
  );
  return { exitCode, turns, output };
}

describe("provider.route", () => {
  test.each(WORKFLOWS)(
    "%s: a stronger agent after a failed attempt, another one for reviews; the report has each",
    async (workflow) => {
      const project = crashProject(workflow, "committed");
      try {
        // a sprint's reflections are items of their own, so that none of them has a second attempt
        const isSprint = workflow === "sprint";
        const stronger = isSprint ? { kind: "reflecting", command: "big" } : { after: 1, command: "big" };
        const route = [{ stage: "review", command: "judge" }, stronger];
        const { exitCode, turns, output } = await run(project, { command: "small", route });

        expect(exitCode, output.slice(-2000)).toBe(0);
        if (!isSprint) expect(turns[0]).toEqual(["small", undefined]);
        expect(turns).toContainEqual(["big", `provider.route[1]: ${isSprint ? "kind reflecting" : "after 1"}`]);
        const reviewed = turns.filter(([agent]) => agent === "judge");
        expect(reviewed.length > 0).toBe(["feature", "spec"].includes(workflow));
        for (const [, route] of reviewed) expect(route).toBe("provider.route[0]: stage review");
        const words = [...ralphProgram(), "report", "--format", "json", "--root", project.root];
        const report = await runProgram(words, { cwd: project.root, environment: project.environment });
        const { agents } = JSON.parse(report.output) as {
          readonly agents: readonly { name: string; passed: number; attempts: number }[];
        };
        if (!isSprint) expect(agents.find(({ name }) => name === "small")).toMatchObject({ passed: 0 });
        if (!isSprint) expect(agents.find(({ name }) => name === "small")?.attempts).toBeGreaterThan(0);
        expect(agents.find(({ name }) => name === "big")?.passed).toBeGreaterThan(0);
      } finally {
        project.remove();
      }
    },
  );

  test("an agent that is named for the run takes every turn", async () => {
    const project = crashProject("exec", "committed");
    try {
      const { exitCode, turns } = await run(project, {
        command: "small",
        route: [{ stage: "work", command: "nobody" }],
      }, [
        "--agent-cmd",
        "worker",
      ]);

      expect(exitCode).toBe(0);
      expect(new Set(turns.map(([agent]) => agent))).toEqual(new Set(["worker"]));
    } finally {
      project.remove();
    }
  });

  test("an agent of a rule that is not there ends the run before its first turn", async () => {
    const project = crashProject("exec", "committed");
    try {
      const { exitCode, turns, output } = await run(project, {
        command: "worker",
        route: [{ after: 2, command: "nobody" }],
      });

      expect(exitCode).toBe(4);
      expect(output).toContain("nobody");
      expect(turns).toEqual([]);
    } finally {
      project.remove();
    }
  });

  test("the scripted agent goes by the name of the agent that a rule chooses", async () => {
    const project = crashProject("exec", "tree");
    writeFileSync(
      join(project.folder, "turns.yaml"),
      `turns:\n${
        [1, 2, 3].map((number) =>
          `  - write: { src/${number}.txt: "done\\n" }\n    say: "<promise>COMPLETE</promise>"\n`
        ).join("")
      }`,
    );
    try {
      const rule = { priority: [2, 3], preset: "claude", model: "opus" };
      const flags = ["--script", join(project.folder, "turns.yaml")];
      const { exitCode, turns, output } = await run(project, { preset: "codex", route: [rule] }, flags);

      expect(exitCode, output.slice(-1000)).toBe(0);
      expect(turns).toEqual([
        ["scripted", undefined],
        ["claude (opus)", "provider.route[0]: priority 2 or 3"],
        ["claude (opus)", "provider.route[0]: priority 2 or 3"],
      ]);
    } finally {
      project.remove();
    }
  });
});

describe("fits()", () => {
  const item = { kind: "BUILD", tags: ["ui", "slow"], priority: 1 };
  const turn = { stage: "work", item, attempt: 2 } as const;

  test.each(
    [
      [{ stage: "work" }, true],
      [{ stage: "plan" }, false],
      [{ kind: "build" }, true],
      [{ kind: ["VERIFY", "PLAN"] }, false],
      [{ tag: "UI" }, true],
      [{ tag: ["api", "slow"] }, true],
      [{ tag: "api" }, false],
      [{ priority: [1, 2] }, true],
      [{ priority: 2 }, false],
      [{ after: 1 }, true],
      [{ after: 2 }, false],
      [{ kind: "BUILD", after: 2 }, false],
    ] as const,
  )("%j is %s: every condition must hold", (rule, expected) => {
    expect(fits(rule, turn)).toBe(expected);
  });

  test("without an item only the stage can hold", () => {
    const planning = { stage: "plan", item: null, attempt: 1 } as const;

    expect(fits({ stage: "plan" }, planning)).toBe(true);
    for (const rule of [{ kind: "story" }, { tag: "ui" }, { priority: 1 }, { after: 1 }]) {
      expect(fits(rule, planning)).toBe(false);
    }
  });
});

test.each([
  [{ preset: "claude" }, "provider.route[0]: needs a condition: stage, kind, tag, priority, after"],
  [{ after: 2 }, "provider.route[0]: needs a choice: command, preset, model, reasoning, endpoint"],
  [{ stage: "build", model: "m" }, 'provider.route[0].stage must be "plan", "work" or "review"'],
  [{ after: 0, model: "m" }, "provider.route[0].after"],
])("%j says what is wrong and where", (rule, problem) => {
  expect(checkConfig({ provider: { route: [rule] } }).problems.map(({ text }) => text).join("\n")).toContain(problem);
});
