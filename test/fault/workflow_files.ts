/** A project of any workflow, with items that are checked by a command each: what it is made of, how it is started. */
import { featurePrd, type TestStory } from "../fixtures/feature_prd.ts";

export const WORKFLOWS = ["exec", "feature", "spec", "sprint", "gsd"] as const;
export type Workflow = typeof WORKFLOWS[number];

/** An item: what it is called, and what it is checked by. */
export interface WorkflowItem {
  readonly title: string;
  readonly check: string;
  /** Lower is earlier. @default by its place */
  readonly priority?: number;
}

/** How each workflow is started. */
export const COMMAND: Readonly<Record<Workflow, readonly string[]>> = {
  exec: ["run"],
  feature: ["run", "calc"],
  spec: ["build", "--non-interactive"],
  sprint: ["sprint", "run", ".claude/sprints/calc"],
  gsd: ["run", "--loop"],
};

/** The file that says what has passed. */
export const STATE_FILE: Readonly<Record<Workflow, string>> = {
  exec: "scripts/ralph/prd.json",
  feature: ".ralph/2026-01-01-calc/prd.json",
  spec: "ralph/plan.jsonl",
  sprint: ".claude/sprints/calc/PROGRESS.yaml",
  gsd: ".planning/ROADMAP.md",
};

/** The id of an item, counted from 1. In a sprint, it is the id of the step that its agent is to add. */
export function itemId(workflow: Workflow, number: number): string {
  switch (workflow) {
    case "exec":
    case "feature":
      return `US-${padded(number, 3)}`;
    case "spec":
      return `t-${padded(number, 4)}`;
    case "sprint":
      return `step-${number}`;
    case "gsd":
      return `01-${padded(number, 2)}`;
  }
}

/** State and configuration, with these items; a sprint has its goal, and their checks for all that it does. */
export function workflowFiles(workflow: Workflow, items: readonly WorkflowItem[]): Readonly<Record<string, string>> {
  switch (workflow) {
    case "exec":
      return { [STATE_FILE.exec]: json({ branchName: "main", userStories: storiesOf(items) }) };
    case "feature":
      return {
        [STATE_FILE.feature]: featurePrd(storiesOf(items)),
        ".ralph/2026-01-01-calc/prd.md": "# Calc\n",
        "ralph.config.json": json({ workflow, verify: { default: ["git --version"] } }),
      };
    case "spec":
      return {
        "ralph/specs/calc.md": "# Calc\n\nFiles.\n",
        [STATE_FILE.spec]: [{ t: "spec", spec: "calc.md" }, ...items.map(taskOf)]
          .map((line) => `${JSON.stringify(line)}\n`).join(""),
        "ralph.config.json": json({ workflow }),
      };
    case "sprint":
      return {
        ".gitignore": `${STATE_FILE.sprint}\n`,
        ".claude/sprints/calc/SPRINT.yaml": `workflow: ralph\ngoal: |\n  ${
          items.map(({ title }) => title).join(", ")
        }\n`,
        "ralph.config.json": json({ workflow, verify: { default: [...new Set(items.map(({ check }) => check))] } }),
      };
    case "gsd":
      return planning(items);
  }
}

function storiesOf(items: readonly WorkflowItem[]): readonly TestStory[] {
  return items.map(({ title, check, priority }, index) => ({
    id: itemId("exec", index + 1),
    title,
    acceptanceCriteria: [`Verify: \`${check}\``],
    priority: priority ?? index + 1,
    passes: false,
    notes: "",
  }));
}

function taskOf({ title, check }: WorkflowItem, index: number): object {
  return {
    t: "task",
    id: itemId("spec", index + 1),
    spec: "calc.md",
    name: title,
    s: "p",
    accept: `Verify: \`${check}\``,
    priority: ["high", "medium"][index] ?? "low",
  };
}

function planning(items: readonly WorkflowItem[]): Readonly<Record<string, string>> {
  const names = items.map((_, index) => itemId("gsd", index + 1));
  const plans = names.map((id, index) => `- [ ] ${id}-PLAN.md — ${items[index]?.title}\n`).join("");
  return {
    [STATE_FILE.gsd]:
      "# Roadmap\n\n## Phases\n\n- [ ] **Phase 1: Calc** - files\n\n## Phase Details\n\n### Phase 1: Calc\n**Goal**: files\n" +
      `**Plans**: ${items.length} plans\n\nPlans:\n${plans}`,
    ".planning/STATE.md":
      `# Project State\n\n## Current Position\n\nPhase: 1 of 1 (Calc)\nPlan: 0 of ${items.length} in current phase\n` +
      "Status: Ready to execute\nLast activity: 2026-01-01 — planned\n\nProgress: [░░░░░] 0%\n",
    ...Object.fromEntries(
      names.map((id, index) => [`.planning/phases/01-calc/${id}-PLAN.md`, planText(index + 1, items[index]!)]),
    ),
    "ralph.config.json": json({ workflow: "gsd" }),
  };
}

function planText(number: number, { title, check }: WorkflowItem): string {
  return `---\nphase: 01-calc\nplan: ${
    padded(number, 2)
  }\ntype: execute\n---\n\n<objective>${title}</objective>\n\n<tasks>\n` +
    `<task type="auto">\n  <name>${title}</name>\n  <files>src/</files>\n  <action>Write it</action>\n` +
    `  <verify>\n    <automated>${check}</automated>\n  </verify>\n  <done>It is there</done>\n</task>\n</tasks>\n`;
}

function padded(number: number, digits: number): string {
  return String(number).padStart(digits, "0");
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
