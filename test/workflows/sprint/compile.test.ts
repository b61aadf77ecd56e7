import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { compileSprint, sprintHooks } from "../../../lib/workflows/sprint/compile.ts";
import { readSprint } from "../../../lib/workflows/sprint/backlog.ts";
import { mergeHooks } from "../../../lib/workflows/sprint/hook_definitions.ts";
import { loopWorld, type World } from "../../loop/loop_world.ts";

const DIRECTORY = ".claude/sprints/auth";
const SPRINT = `${DIRECTORY}/SPRINT.yaml`;
const PROGRESS = `${DIRECTORY}/PROGRESS.yaml`;

function world(files: Readonly<Record<string, string>>): Promise<World> {
  return loopWorld(async () => {}, { files });
}

describe("compileSprint()", () => {
  test("keys that are nearly one that is read are named with their line; those of other tools, and what could forge a line, are not", async () => {
    const workflow = ".claude/workflows/own.yaml";
    await using here = await world({
      [SPRINT]:
        'workflow: own\ngoal: say hello\nowner: me\nsteps: []\ngoal-promt: hi\n"step-pr\\nompt": x\n"goal-prom\\e[1mt": x\n' +
        "ralph:\n  min-iteration: 2\nper-iteration-hooks:\n  count:\n    enabeld: false\n",
      [workflow]: "name: own\nmode: ralph\nper-iteration-hook: []\nper-iteration-hooks:\n" +
        "  - id: count\n    command: wc -w notes.md\n    timeout: 5\n    paralel: false\n",
    });

    const { definition } = await compileSprint(here.ralph, { directory: DIRECTORY });

    expect(definition.warnings).toEqual([
      `${SPRINT}:5: \`goal-promt\` is not read; did you mean \`goal-prompt\`?`,
      `${SPRINT}:9: \`min-iteration\` is not read; did you mean \`min-iterations\`?`,
      `${SPRINT}:12: \`enabeld\` is not read; did you mean \`enabled\`?`,
      `${workflow}:3: \`per-iteration-hook\` is not read; did you mean \`per-iteration-hooks\`?`,
      `${workflow}:8: \`paralel\` is not read; did you mean \`parallel\`?`,
    ]);
    await here.ralph.state.update(SPRINT, () => "workflow: ralph\ngaol: say hello\n");
    await expect(compileSprint(here.ralph, { directory: DIRECTORY })).rejects.toThrow(
      `1 problem\n  RALPH_MISSING_GOAL: a sprint in ralph mode needs a goal\n  ${SPRINT}:2: \`gaol\` is not read; did you mean \`goal\`?`,
    );
  });

  test("the seed's example: the built-in workflow's three hooks, two of them enabled by the sprint", async () => {
    await using here = await world({
      [SPRINT]:
        "workflow: ralph\ngoal: |\n  Build a complete authentication system with JWT tokens.\n\nper-iteration-hooks:\n  learning:\n    enabled: true\n  documentation:\n    enabled: true\n",
    });

    const compiled = await compileSprint(here.ralph, { directory: DIRECTORY });
    const progress = await readSprint(here.ralph, PROGRESS);
    const text = await here.ralph.state.read(PROGRESS);

    expect(compiled).toMatchObject({ status: "written", file: PROGRESS });
    expect(progress).toMatchObject({
      sprintId: "auth",
      status: "not-started",
      idleThreshold: 3,
      minIterations: 0,
      steps: [],
      hookTasks: [],
    });
    expect(progress.hooks.map(({ id, enabled, parallel }) => [id, enabled, parallel])).toEqual([
      ["learning", true, true],
      ["documentation", true, true],
      ["tests", false, true],
    ]);
    for (
      const key of [
        "mode: ralph",
        "current:",
        "phase: 0",
        "sub-phase: 0",
        "stats:",
        "started-at: null",
        "total-phases: 0",
        "current-iteration: 0",
        "ralph-exit:",
        "detected-at: null",
        "final-summary: null",
      ]
    ) {
      expect(text).toContain(key);
    }
    expect(await sprintHooks(here.ralph, { directory: DIRECTORY })).toMatchObject([
      { id: "learning", workflow: "m42-signs:learning-extraction" },
      {},
      {},
    ]);
  });

  test("a project's own workflow, its prompts and thresholds, and the sprint's own before them", async () => {
    await using here = await world({
      ".claude/workflows/mine.yaml":
        "mode: ralph\ngoal-prompt: workflow's\nreflection-prompt: reflect\nralph: { idle-threshold: 2, min-iterations: 4 }\nper-iteration-hooks:\n  - { id: lint, command: npm run lint, parallel: false, enabled: true, when: before, timeout: 9 }\n",
      [SPRINT]: "sprint-id: S1\nworkflow: mine\ngoal: g\ngoal-prompt: sprint's\nralph: { idle-threshold: 1 }\n",
    });

    await compileSprint(here.ralph, { directory: DIRECTORY });

    expect(await readSprint(here.ralph, PROGRESS)).toMatchObject({
      sprintId: "S1",
      goalPrompt: "sprint's",
      reflectionPrompt: "reflect",
      idleThreshold: 1,
      minIterations: 4,
    });
    const [hook] = await sprintHooks(here.ralph, { directory: DIRECTORY });
    expect(hook?.store?.directory).toBe(`${DIRECTORY}/logs`);
    expect({ ...hook, store: null }).toEqual({
      store: null,
      id: "lint",
      command: "npm run lint",
      parallel: false,
      enabled: true,
      when: "before",
      isolated: true,
      timeoutMs: 9000,
    });
  });

  test("says everything that is wrong at once, with the codes", async () => {
    await using here = await world({
      ".claude/workflows/mine.yaml":
        "mode: ralph\nper-iteration-hooks:\n  - prompt: no id\n  - { id: none }\n  - { id: both, prompt: a, workflow: b }\n  - { id: local, workflow: missing, enabled: true }\n",
      [SPRINT]: "workflow: mine\nper-iteration-hooks:\n  unknown: { enabled: true }\nralph: { idle-threshold: 0 }\n",
    });

    const error = await compileSprint(here.ralph, { directory: DIRECTORY }).catch((thrown: unknown) =>
      thrown as Error & { readonly exitCode: number }
    );

    expect(error).toMatchObject({ code: "sprint-invalid", exitCode: 2 });
    const codes = [...(error as Error).message.matchAll(/^ {2}([A-Z_]+):/gm)].map(([, code]) => code);
    expect(codes).toEqual([
      "RALPH_MISSING_GOAL",
      "MISSING_HOOK_ID",
      "RALPH_INVALID_HOOK_OVERRIDE",
      "RALPH_INVALID_HOOK",
      "HOOK_AMBIGUOUS_ACTION",
      "HOOK_WORKFLOW_NOT_FOUND",
      "INVALID_VALUE",
    ]);
    expect(await here.ralph.state.read(PROGRESS)).toBeNull();
  });

  test.each([
    ["name: x\n", "MISSING_PHASES"],
    ["mode: standard\nphases:\n  - prompt: a\n", "MISSING_PHASE_ID"],
    ["mode: other\n", "INVALID_MODE"],
  ])("refuses the workflow %j as %s", async (workflow, code) => {
    await using here = await world({ ".claude/workflows/w.yaml": workflow, [SPRINT]: "workflow: w\ngoal: g\n" });

    await expect(compileSprint(here.ralph, { directory: DIRECTORY })).rejects.toThrow(code);
  });

  test("refuses a workflow that is not there, and a missing or broken SPRINT.yaml", async () => {
    await using here = await world({ [SPRINT]: "workflow: none\ngoal: g\n", "b/SPRINT.yaml": "goal: [\n" });

    await expect(compileSprint(here.ralph, { directory: DIRECTORY })).rejects.toThrow("WORKFLOW_NOT_FOUND");
    await expect(compileSprint(here.ralph, { directory: "b" })).rejects.toMatchObject({ code: "state-invalid" });
    await expect(compileSprint(here.ralph, { directory: "c" })).rejects.toMatchObject({ code: "state-missing" });
  });

  test("a sprint that has begun keeps its steps and comments: only goal and hooks change; --force begins anew", async () => {
    await using here = await world({ [SPRINT]: "workflow: ralph\ngoal: old\n" });
    await compileSprint(here.ralph, { directory: DIRECTORY });
    const begun = (await here.ralph.state.read(PROGRESS))!.replace(
      "dynamic-steps: []",
      "# mine\ndynamic-steps:\n  - { id: step-1, prompt: a, status: completed }",
    ).replace("not-started", "in-progress");
    await here.write(PROGRESS, begun);

    expect(await compileSprint(here.ralph, { directory: DIRECTORY })).toMatchObject({ status: "unchanged" });
    await here.write(SPRINT, "workflow: ralph\ngoal: new\nper-iteration-hooks: { tests: true }\n");
    expect(await compileSprint(here.ralph, { directory: DIRECTORY })).toMatchObject({ status: "updated" });
    const text = await here.ralph.state.read(PROGRESS);
    expect(text).toContain("# mine\ndynamic-steps:\n  - { id: step-1, prompt: a, status: completed }");
    expect(await readSprint(here.ralph, PROGRESS)).toMatchObject({
      goal: "new",
      status: "in-progress",
      hooks: [{}, {}, { id: "tests", enabled: true }],
    });

    await here.write(`${DIRECTORY}/transcripts/iteration-1.jsonl`, "what was done\n");
    await here.write(`${DIRECTORY}/logs/hook-iter1-tests.log`, "what was said\n");
    const forced = await compileSprint(here.ralph, { directory: DIRECTORY, force: true });
    expect(forced).toMatchObject({
      status: "written",
      moved: expect.stringMatching(/logs\/before-\d{8}T\d{6}Z$/),
    });
    // the first iteration of the next run writes files of these names
    expect(readdirSync(join(here.root, forced.moved ?? "")).toSorted()).toEqual([
      "PROGRESS.yaml",
      "hook-iter1-tests.log",
      "transcripts",
    ]);
    expect(readdirSync(join(here.root, DIRECTORY, "logs")).toSorted()).toEqual([
      ".gitignore",
      expect.stringMatching(/^before-/),
    ]);
    expect((await readSprint(here.ralph, PROGRESS)).steps).toEqual([]);
  });
});

describe("mergeHooks()", () => {
  test("a list in the sprint changes hooks by id and may add one", () => {
    const { hooks, problems } = mergeHooks([{ id: "a", prompt: "p", enabled: false, parallel: true }], [{
      id: "a",
      enabled: true,
    }, { id: "b", command: "x" }], "w.yaml");

    expect(problems).toEqual([]);
    expect(hooks).toMatchObject([{ id: "a", enabled: true, prompt: "p" }, {
      id: "b",
      command: "x",
      enabled: true,
      parallel: true,
    }]);
  });

  test.each([
    [{ prompt: "own" }, { prompt: "own" }],
    [{ command: "x", enabled: true }, { command: "x", enabled: true }],
    [{ enabled: true }, { workflow: "plugin:command", enabled: true }],
    [{ prompt: null, enabled: true }, { workflow: "plugin:command", enabled: true }],
  ])("an override of %j replaces the action that the hook has", (fields, expected) => {
    const hook = { id: "a", workflow: "plugin:command", enabled: false };
    const { hooks, problems } = mergeHooks([hook], { a: fields }, "the built-in workflow");

    expect(problems).toEqual([]);
    expect(hooks).toEqual([{ id: "a", enabled: false, parallel: true, when: "after", isolated: true, ...expected }]);
  });

  test.each([
    [[{ id: "a", prompt: "p" }, { id: "a", prompt: "q" }], undefined, "DUPLICATE_HOOK_ID"],
    [[{ id: "a/b", prompt: "p" }], undefined, "INVALID_HOOK_ID"],
    [[{ id: "a", prompt: "p", enabled: "yes" }], undefined, "RALPH_INVALID_HOOK"],
    ["text", undefined, "RALPH_INVALID_HOOK"],
    [[{ id: "a", prompt: "p" }], { a: 3 }, "RALPH_INVALID_HOOK_OVERRIDE"],
    [[{ id: "a", prompt: "p" }], "a", "RALPH_INVALID_HOOK_OVERRIDE"],
  ])("%j with %j is %s", (workflow, overrides, code) => {
    expect(mergeHooks(workflow, overrides, "w.yaml").problems.map((problem) => problem.code)).toEqual([code]);
  });
});
