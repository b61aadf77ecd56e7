import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { runLoop } from "../../../lib/loop/run/run_loop.ts";
import { appendClaims } from "../../../lib/backlog/claims.ts";
import type { TurnRequest } from "../../../lib/context/context.ts";
import { compileSprint } from "../../../lib/workflows/sprint/compile.ts";
import { openSprint } from "../../../lib/workflows/sprint/open_sprint.ts";
import { loopWorld, type Turns, type World } from "../../loop/loop_world.ts";
import { DIRECTORY, PROGRESS } from "./sprint_world.ts";

interface Part {
  readonly id: string;
  readonly status: string;
  readonly prompt?: string;
  readonly steps?: readonly Part[];
  readonly phases?: readonly Part[];
  readonly "completed-at"?: string;
}

interface Progress {
  readonly status: string;
  readonly phases: readonly Part[];
  readonly current: unknown;
  readonly stats: Readonly<Record<string, unknown>>;
  readonly "hook-tasks"?: readonly unknown[];
}

const WORKFLOWS = {
  ".claude/workflows/whole.yaml": `name: Whole
phases:
  - id: prepare
    prompt: |
      Prepare {{sprint.id}}.
  - id: development
    for-each: step
    workflow: tdd
  - id: finish
    prompt: Finish it.
`,
  ".claude/workflows/tdd.yaml": `name: TDD
phases:
  - { id: red, prompt: "Write a failing test for {{step.id}}: {{step.prompt}}" }
  - { id: green, prompt: "Make it pass ({{item.id}}, {{phase.id}})." }
`,
};
const SPRINT = `workflow: whole
sprint-id: s-1
steps:
  - prompt: Parse {{item.id}} literally
    id: parser
  - Print
`;

/** As other tools leave it in the middle: no mode, no hooks, keys that Ralph does not know. */
const FOREIGN = `# written by a compiler
sprint-id: s-1
status: in-progress
phases:
  - id: prepare
    status: completed
    prompt: Prepare.
    elapsed: "00:02:00"
  - id: development
    status: in-progress
    steps:
      # the only step
      - id: parser
        prompt: |
          Parse it
        status: in-progress
        model: opus
        phases:
          - id: red
            status: skipped
            prompt: test
          - id: green
            status: in-progress # green
            prompt: make it pass
            retry-count: 1
  - id: finish
    status: pending
    prompt: Finish.
current:
  phase: 1
  step: 0
  sub-phase: 1
operator-queue: []
stats:
  started-at: "2026-01-15T09:00:00Z"
  total-phases: 3
  completed-phases: 1
`;

/** A repository with this sprint; the agent completes what it is asked for where `turns` says nothing else. */
async function world(turns: Turns, files: Readonly<Record<string, string>> = {}, check = "true"): Promise<World> {
  return await loopWorld(turns, {
    files: { ...WORKFLOWS, [`${DIRECTORY}/SPRINT.yaml`]: SPRINT, ...files },
    config: { verify: { default: [check] } },
  });
}

const say = (
  environment: TurnRequest["environment"],
  command: string,
  more: { id?: string; text?: string },
): Promise<void> => appendClaims(environment?.["RALPH_CLAIMS"] ?? "", [{ v: 1, command, at: 0, ...more }]);

const completes: Turns = async ({ cwd, environment }, number) => {
  await writeFile(join(cwd, `w${number}.txt`), `${environment?.["RALPH_ITEM"]}`);
  await say(environment, "step done", { id: environment?.["RALPH_ITEM"] ?? "" });
};

async function progressOf({ root }: { readonly root: string }): Promise<Progress> {
  return parse(await readFile(join(root, PROGRESS), "utf8")) as Progress;
}

function idsOf({ events }: World): readonly string[] {
  return events.flatMap((event) => event.type === "iteration-start" ? [event.item.id] : []);
}

const ORDER = [
  "prepare",
  "development/parser/red",
  "development/parser/green",
  "development/step-1/red",
  "development/step-1/green",
  "finish",
];

describe("a sprint in standard mode", () => {
  test("runs its phases and their steps in order, and is checked as a whole", async () => {
    await using here = await world(completes, {}, "test -f w6.txt");
    const { backlog, hooks } = await openSprint(here.ralph, { directory: DIRECTORY });

    const run = await runLoop(here.ralph, backlog, { hooks });

    expect(run).toMatchObject({ status: "passed", turns: 6, passed: ORDER });
    expect(idsOf(here)).toEqual(ORDER);
    expect(here.prompts[0]).toContain("Prepare s-1.");
    expect(here.prompts[1]).toContain("Write a failing test for parser: Parse {{item.id}} literally");
    expect(here.prompts[4]).toContain("Make it pass (step-1, green).");
    expect(here.prompts[0]).not.toContain("RALPH_COMPLETE");
    const { status, phases, stats } = await progressOf(here);
    expect(status).toBe("completed");
    expect(phases.map((phase) => phase.status)).toEqual(["completed", "completed", "completed"]);
    expect(phases[1]?.steps?.every((step) => step["completed-at"] !== undefined)).toBe(true);
    expect(stats).toMatchObject({ "total-phases": 3, "completed-phases": 3, "total-steps": 2, "completed-steps": 2 });
    expect(stats["completed-at"]).toBeTypeOf("string");
    expect(await here.git("log", "--format=%s")).toContain(
      "feat: development/parser/red - red: Parse {{item.id}} literally",
    );
  });

  test("continues another tool's PROGRESS.yaml where it stands, and keeps its comments and keys", async () => {
    await using here = await world(completes, { [PROGRESS]: FOREIGN });
    const { backlog } = await openSprint(here.ralph, { directory: DIRECTORY });

    const run = await runLoop(here.ralph, backlog);

    expect(run).toMatchObject({ status: "passed", passed: ["development/parser/green", "finish"] });
    const text = await readFile(join(here.root, PROGRESS), "utf8");
    for (const line of FOREIGN.split("\n").filter((one) => /#|model|elapsed|operator|retry/.test(one))) {
      expect(text).toContain(line.replace("in-progress #", "completed #"));
    }
    expect((await progressOf(here)).phases[1]).toMatchObject({ status: "completed", steps: [{ status: "completed" }] });
    expect(text).not.toContain("dynamic-steps");
    expect(text).not.toContain("per-iteration-hooks");
  });

  test("a sprint that has begun needs neither its SPRINT.yaml nor its workflow any more", async () => {
    const files = { [PROGRESS]: FOREIGN, [`${DIRECTORY}/SPRINT.yaml`]: "workflow: gone\nsteps: [a]\n" };
    await using here = await world(completes, files);
    const { backlog } = await openSprint(here.ralph, { directory: DIRECTORY });

    expect((await runLoop(here.ralph, backlog)).status).toBe("passed");
    expect(notesOf(here)).toContainEqual(expect.stringContaining("there is no .claude/workflows/gone.yaml"));
  });

  test("what holds up a phase holds up all that follows, until it is tried again", async () => {
    const turns: Turns = async (request, number) => {
      if (number === 1) return { lines: [`<ralph ${nonceOf(request.prompt)}>BLOCKED: no key</ralph>`] };
      await completes(request, number);
    };
    await using here = await world(turns);
    const { backlog } = await openSprint(here.ralph, { directory: DIRECTORY });

    const run = await runLoop(here.ralph, backlog);

    expect(run).toMatchObject({ status: "blocked", turns: 1, reasons: [expect.stringContaining("prepare")] });
  });

  test.each(["failed", "blocked"])(
    "a phase that another tool left as %s is tried again with --retry-blocked",
    async (end) => {
      const text = FOREIGN.replace("status: in-progress # green", `status: ${end}`).replace(
        "status: in-progress",
        "status: blocked",
      );
      await using here = await world(completes, { [PROGRESS]: text });
      const first = await openSprint(here.ralph, { directory: DIRECTORY });
      expect(await runLoop(here.ralph, first.backlog)).toMatchObject({ status: "blocked", turns: 0 });

      const { backlog } = await openSprint(here.ralph, { directory: DIRECTORY, retryBlocked: true });
      expect((await runLoop(here.ralph, backlog)).status).toBe("passed");
    },
  );

  test("steps that a turn adds come right after its own, by command and by hand, and `failed` with a repair is done", async () => {
    const turns: Turns = async (request, number) => {
      const item = request.environment?.["RALPH_ITEM"];
      if (item === "development/parser/red") {
        await say(request.environment, "step add", { id: "development/parser/added-1", text: "read the grammar" });
      }
      if (item !== "development/parser/green") return await completes(request, number);
      const path = join(request.cwd, PROGRESS);
      const text = await readFile(path, "utf8");
      const at = text.indexOf("status: in-progress", text.indexOf("id: green"));
      const add = "- { id: fix-qa, status: pending, prompt: fix the issues }\n          ";
      await writeFile(
        path,
        text.slice(0, at).replace(/(- id: green\n\s+)$/, `${add}$1`) + text.slice(at).replace("in-progress", "failed"),
      );
    };
    await using here = await world(async (request, number) => {
      await turns(request, number);
      if (request.environment?.["RALPH_ITEM"] === "development/parser/red") await completes(request, number);
    });
    const { backlog } = await openSprint(here.ralph, { directory: DIRECTORY });

    expect((await runLoop(here.ralph, backlog)).status).toBe("passed");
    expect(idsOf(here).slice(0, 6)).toEqual([
      "prepare",
      "development/parser/red",
      "development/parser/added-1",
      "development/parser/green",
      "development/parser/added-2",
      "development/step-1/red",
    ]);
  });

  test("checks that fail at the end get a phase of their own", async () => {
    await using here = await world(completes, {}, "test -f w7.txt || { echo no proof; exit 4; }");
    const { backlog } = await openSprint(here.ralph, { directory: DIRECTORY });

    const run = await runLoop(here.ralph, backlog);

    expect(run.status).toBe("passed");
    expect(idsOf(here)).toEqual([...ORDER, "fix-checks"]);
    expect(here.prompts[6]).toContain("no proof");
  });

  test("a breakpoint pauses the sprint behind its phase, and a gate is a check of its own", async () => {
    const whole = "phases:\n  - { id: plan, prompt: plan, break: true }\n  - { id: look, break: true }\n" +
      "  - { id: build, prompt: build, gate: { script: test -f w2.txt } }\n  - { id: last, break: true }\n";
    await using here = await world(completes, { ".claude/workflows/whole.yaml": whole });
    for (const [turns, status] of [[1, "blocked"], [1, "passed"]] as const) {
      const { backlog } = await openSprint(here.ralph, { directory: DIRECTORY, retryBlocked: turns === 1 });
      expect(await runLoop(here.ralph, backlog)).toMatchObject({ status, turns });
    }
    expect(here.events).toContainEqual(expect.objectContaining({ type: "check-end", name: "test -f w2.txt" }));
  });
});

describe("compileSprint() in standard mode", () => {
  const compiled = async (files: Readonly<Record<string, string>>): Promise<readonly string[]> => {
    await using here = await world(completes, files);
    await compileSprint(here.ralph, { directory: DIRECTORY });
    return leaves((await progressOf(here)).phases);
  };
  const sprint = (text: string): Readonly<Record<string, string>> => ({ [`${DIRECTORY}/SPRINT.yaml`]: text });

  test.each([
    ["steps without a workflow", "steps: [one, { prompt: two, id: b }]", ["step-0/execute: one", "b/execute: two"]],
    [
      "collections",
      "workflow: each\ncollections:\n  feature: [{ id: f, name: Login, prompt: do }]",
      ["f/execute: Login do feature"],
    ],
    [
      "a workflow for one step, for each of them",
      "workflow: tdd\nsteps: [one]",
      ["step-0/red: Write a failing test for step-0: one", "step-0/green: Make it pass (step-0, green)."],
    ],
    [
      "a step's own workflow, itself one of a whole sprint",
      "workflow: whole\nsteps: [{ prompt: one, workflow: outer }]",
      ["prepare: Prepare sprint.\n", "step-0/plan: plan one", "step-0/do-red: Write a failing test for step-0: one"],
    ],
  ])("%s", async (_, text, expected) => {
    const files = {
      ".claude/workflows/each.yaml":
        "phases: [{ id: all, for-each: feature, prompt: '{{item.name}} {{feature.prompt}} {{unknown.key}}feature' }]",
      ".claude/workflows/outer.yaml":
        "phases: [{ id: plan, prompt: 'plan {{item.prompt}}' }, { id: do, for-each: step, workflow: tdd }]",
    };
    const all = await compiled({ ...files, ...sprint(text) });
    for (const line of expected) expect(all.map((one) => one.replace("{{unknown.key}}", ""))).toContain(line);
  });

  test.each([
    ["no steps", "workflow: whole\n", "MISSING_STEPS: .claude/workflows/whole.yaml:6: `for-each: step` needs"],
    ["a step without a prompt", "workflow: tdd\nsteps:\n  - a\n  - { id: x }\n", "INVALID_STEP: sprint/SPRINT.yaml:4:"],
    [
      "an unknown workflow of a step",
      "workflow: tdd\nsteps:\n  - { prompt: a, workflow: nope }\n",
      "WORKFLOW_NOT_FOUND: sprint/SPRINT.yaml:3: there is no .claude/workflows/nope.yaml",
    ],
    ["a circle", "workflow: circle\nsteps: [a]\n", "CYCLE_DETECTED: .claude/workflows/circle.yaml:1: "],
    [
      "a phase without an action",
      "workflow: empty\nsteps: [a]\n",
      "PHASE_MISSING_ACTION: .claude/workflows/empty.yaml:2:",
    ],
  ])("refuses %s with file and line", async (_, text, message) => {
    const files = {
      ".claude/workflows/circle.yaml": "phases: [{ id: a, for-each: step, workflow: circle }]\n",
      ".claude/workflows/empty.yaml": "phases:\n  - { id: a }\n",
    };
    await expect(compiled({ ...files, ...sprint(text) })).rejects.toThrow(message);
  });

  test.each([
    [
      "status: done",
      "line 6: a: expected a status of pending, in-progress, completed, skipped, failed, blocked (got: done)",
    ],
    ["note: nothing", "line 4: a: expected a `prompt` or `steps`"],
  ])("refuses a PROGRESS.yaml with %s, with its line", async (key, message) => {
    const text = `sprint-id: x\nstatus: in-progress\nphases:\n  - id: a\n    ${key}\n`.replace(
      "    status",
      "    prompt: p\n    status",
    );
    await using here = await world(completes, { [PROGRESS]: text });

    await expect(openSprint(here.ralph, { directory: DIRECTORY })).rejects.toThrow(message);
  });

  test("a sprint that has not begun follows its SPRINT.yaml; one that has begun says that it does not", async () => {
    await using here = await world(completes);
    await compileSprint(here.ralph, { directory: DIRECTORY });
    await here.write(`${DIRECTORY}/SPRINT.yaml`, SPRINT.replace("  - Print\n", ""));
    expect((await compileSprint(here.ralph, { directory: DIRECTORY })).changed).toContain("phases");
    const { backlog } = await openSprint(here.ralph, { directory: DIRECTORY });
    await runLoop(here.ralph, backlog);
    await here.write(`${DIRECTORY}/SPRINT.yaml`, SPRINT);

    const again = await compileSprint(here.ralph, { directory: DIRECTORY });

    expect(again.changed).toEqual([]);
    expect(again.definition.warnings.join()).toContain("has begun with other phases");
  });
});

function leaves(phases: readonly Part[]): readonly string[] {
  return phases.flatMap(({ steps = [], id, prompt }) =>
    steps.length === 0
      ? [`${id}: ${prompt}`]
      : steps.flatMap((step) => (step.phases ?? []).map((one) => `${step.id}/${one.id}: ${one.prompt}`))
  );
}

function notesOf({ events }: World): readonly string[] {
  return events.flatMap((event) => event.type === "note" ? [event.message] : []);
}

function nonceOf(prompt: string): string {
  return /<ralph (\S+)>BLOCKED/.exec(prompt)?.[1] ?? "";
}
