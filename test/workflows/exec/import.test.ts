import { describe, expect, test } from "vitest";
import { type ExternalPlan, readerFor } from "../../../lib/workflows/exec/import/recognize.ts";
import { toPrd } from "../../../lib/workflows/exec/commands/import.ts";
import { circlesOf } from "../../../lib/workflows/dependencies.ts";
import { parsePrd } from "../../../lib/workflows/exec/format.ts";
import { type Prd, validatePrd } from "../../../lib/workflows/exec/types.ts";

/** As the tools' own examples are made, with other words. */
const SNARKTANK = {
  project: "Greenhouse",
  branchName: "ralph/vents",
  description: "Vents that open by themselves",
  userStories: [
    {
      id: "US-001",
      title: "Read the thermometer",
      description: "As a grower, I want the temperature so that vents can follow it.",
      acceptanceCriteria: ["Reads every minute", "Typecheck passes"],
      priority: 2,
      passes: true,
      notes: "use the old sensor",
    },
    {
      id: "US-002",
      title: "Open the vents",
      description: "As a grower, I want open vents above 30 degrees.",
      acceptanceCriteria: ["Verify: `npm test -- vents`"],
      priority: 1,
      passes: false,
      notes: "",
    },
  ],
};
const TUI = {
  name: "Greenhouse",
  description: "Vents",
  userStories: [
    { id: "US-002", title: "Open", passes: false, priority: 1, dependsOn: ["US-001"], acceptanceCriteria: ["opens"] },
    { id: "US-001", title: "Read", passes: false, priority: 2, labels: ["io"], completionNotes: "nearly" },
  ],
  metadata: { createdAt: "2026-01-01T00:00:00Z" },
};
const OPENRALPH = {
  metadata: { generated: true, title: "Greenhouse vents", risks: [] },
  items: [
    {
      id: "1.1.1",
      category: "setup",
      description: "Wire the sensor",
      steps: ["It reads"],
      effort: "S",
      status: "done",
    },
    {
      id: "1.1.2",
      category: "impl",
      description: "Open the vents",
      steps: ["Opens at 30", "Closes at 20"],
      passes: false,
    },
  ],
};
const TASKS = [
  { id: 1, title: "Wire the sensor", description: "Solder it.", status: "done", dependencies: [], priority: "high" },
  {
    id: 2,
    title: "Open the vents",
    description: "By motor.",
    details: "Use the relay.",
    testStrategy: "Heat it and look.",
    status: "pending",
    dependencies: [3],
    priority: "high",
    subtasks: [
      { id: 1, title: "Relay", description: "Switch it", status: "done", dependencies: [] },
      { id: 2, title: "Motor", status: "pending", dependencies: [1] },
    ],
  },
  { id: 3, title: "Buy a motor", status: "in-progress", dependencies: ["1"], priority: "low" },
  { id: 4, title: "Paint it", status: "cancelled", dependencies: [], priority: "low" },
];
const SPEC_KIT = `# Tasks: Greenhouse vents

**Input**: Design documents from \`/specs/004-vents/\`

## Format: \`[ID] [P?] [Story] Description\`

- **[P]**: Can run in parallel

## Phase 1: Setup (Shared Infrastructure)

**Purpose**: Something to stand on

- [X] T001 Create the project
- [ ] T002 [P] Configure linting

\`\`\`text
- [ ] T900 An example in a fence
\`\`\`

## Phase 3: User Story 1 - Open the vents (Priority: P1) 🎯 MVP

**Goal**: Vents open by themselves

**Independent Test**: Heat the sensor and look

### Implementation for User Story 1

- [ ] T010 [P] [US1] Create the vent in src/vent.ts
- [ ] T011 [US1] Open it in src/open.ts (depends on T010)
`;

function read(data: unknown, { path = "prd.json", tag }: { path?: string; tag?: string } = {}): ExternalPlan {
  const known = readerFor(typeof data === "string" ? data : JSON.stringify(data));
  if (known === null) throw new Error("no reader");
  return known.reader.read(known.source, { path, tag });
}

function short({ branchName, userStories }: Prd): readonly unknown[] {
  return [branchName, ...userStories.map(({ id, priority, passes }) => `${priority} ${id}${passes ? " passes" : ""}`)];
}

describe("formats of other tools", () => {
  test.each<[string, unknown, string | null]>([
    ["snarktank/ralph", SNARKTANK, "snarktank/ralph"],
    ["ralph-tui", TUI, "ralph-tui"],
    [
      "ralph-tui, by its stories alone",
      { userStories: [{ id: "1", title: "a", passes: false, dependsOn: [] }] },
      "ralph-tui",
    ],
    ["openralph", OPENRALPH, "openralph"],
    ["openralph, a bare list", OPENRALPH.items, "openralph"],
    ["Taskmaster without tags", { tasks: TASKS }, "Taskmaster"],
    ["Taskmaster with tags", { master: { tasks: TASKS, metadata: {} } }, "Taskmaster"],
    ["spec-kit", SPEC_KIT, "spec-kit"],
    ["another JSON object", { name: "x", scripts: {} }, null],
    ["a list of numbers", [1, 2], null],
    ["Markdown without such tasks", "- [ ] do something\n", null],
    ["nothing", "", null],
  ])("readerFor() of %s", (_name, data, tool) => {
    expect(readerFor(typeof data === "string" ? data : JSON.stringify(data))?.reader.tool ?? null).toBe(tool);
  });

  test.each<[string, unknown, { path?: string; tag?: string }, readonly unknown[]]>([
    ["snarktank/ralph", SNARKTANK, {}, ["ralph/vents", "1 US-002", "2 US-001 passes"]],
    ["ralph-tui: nothing before what it depends on", TUI, {}, ["ralph/greenhouse", "1 US-001", "2 US-002"]],
    ["openralph", OPENRALPH, {}, ["ralph/greenhouse-vents", "1 1.1.1 passes", "2 1.1.2"]],
    ["Taskmaster", { master: { tasks: TASKS } }, {}, ["ralph/taskmaster", "1 1 passes", "2 3", "3 2"]],
    ["spec-kit", SPEC_KIT, { path: "/x/specs/004-vents/tasks.md" }, [
      "004-vents",
      "1 T001 passes",
      "2 T002",
      "3 T010",
      "4 T011",
    ]],
  ])("a plan of %s becomes a valid PRD in its order", (_name, data, hint, expected) => {
    const prd = toPrd(read(data, hint));

    expect(validatePrd(prd)).toEqual([]);
    expect(short(prd)).toEqual(expected);
  });

  test("what the agent has to know stays: description and notes, details, goal and test of a phase", () => {
    expect(toPrd(read(SNARKTANK)).userStories[1]).toMatchObject({
      acceptanceCriteria: ["Reads every minute", "Typecheck passes"],
      notes: "As a grower, I want the temperature so that vents can follow it.\n\nuse the old sensor",
    });
    expect(toPrd(read({ tasks: TASKS })).userStories[2]).toMatchObject({
      acceptanceCriteria: ["Relay: Switch it (done already)", "Motor", "Heat it and look."],
      notes: "By motor.\n\nUse the relay.",
    });
    expect(toPrd(read(SPEC_KIT)).userStories[2]).toMatchObject({
      title: "Create the vent in src/vent.ts",
      notes:
        "Phase 3: User Story 1 - Open the vents (Priority: P1) 🎯 MVP\n\nGoal: Vents open by themselves\n\nIndependent Test: Heat the sensor and look\n\nUser story US1",
    });
  });

  test("what a PRD has no place for is listed", () => {
    expect(read(TUI).left).toEqual(["metadata", "labels of the stories"]);
    expect(read(OPENRALPH).left).toEqual(["metadata", "effort of the items"]);
    expect(read({ master: { tasks: TASKS }, later: { tasks: [] } }).left).toEqual([
      "task 4, which is cancelled",
      "the tag later",
    ]);
  });

  test("of several lists of tasks one has to be named", () => {
    const data = { one: { tasks: TASKS }, two: { tasks: TASKS.slice(0, 1) } };

    expect(() => read(data)).toThrow("the file has several lists of tasks");
    expect(() => read(data, { tag: "three" })).toThrow("there is no tag three in the file");
    expect(read(data, { tag: "two" }).items.length).toBe(1);
  });

  test("odd files are read as far as they go: ids twice or missing, criteria that are objects, branch names that git refuses", () => {
    const story = { title: "A\n thing", passes: false, acceptanceCriteria: [{ text: "works" }, 3] };
    const data = { branchName: "bad name..", userStories: [{ ...story, id: "A" }, { ...story, id: "A" }, story] };
    const prd = toPrd(read(data));

    expect(validatePrd(prd)).toEqual([]);
    expect(prd.branchName).toBe("ralph/bad-name");
    expect(prd.userStories.map(({ id }) => id)).toEqual(["A", "A-2", "US-003"]);
    expect(prd.userStories[0]).toMatchObject({ title: "A thing", acceptanceCriteria: ["works", "3"] });
  });

  test("a circle of dependencies is named, and left in the file's order", () => {
    const plan = read({ tasks: [{ id: 1, title: "a", dependencies: [2] }, { id: 2, title: "b", dependencies: [1] }] });

    expect(circlesOf(plan.items)).toEqual([["1", "2"]]);
    expect(toPrd(plan).userStories.map(({ id }) => id)).toEqual(["1", "2"]);
  });
});

test("a PRD that is refused names `ralph import` where it is another tool's, and not where it is a damaged one of Ralph's", () => {
  const hintOf = (data: unknown): string => {
    try {
      parsePrd(JSON.stringify(data), "scripts/ralph/prd.json");
      return "";
    } catch (error) {
      return (error as { hint: string }).hint;
    }
  };
  const damaged = { branchName: "x", userStories: [{ id: "US-1", title: "a", passes: false }] };

  expect(hintOf(SNARKTANK)).toBe(
    "scripts/ralph/prd.json is a plan of snarktank/ralph: `ralph import scripts/ralph/prd.json` makes a PRD of it",
  );
  expect(hintOf(OPENRALPH)).toContain("is a plan of openralph");
  expect(hintOf(damaged)).toBe("fix the file; Ralph has left it as it is");
});
