import { featurePrd, type TestStory } from "../../fixtures/feature_prd.ts";
import { PROJECTS } from "./languages.ts";
import type { Case, Name, Workflow } from "./types.ts";

/** The names of a case's functions, in the order of its items. */
export function namesOf({ items = 1 }: Case): readonly Name[] {
  return items === 1 ? ["add"] : ["add", "mul"];
}

/** The check of each item. */
function checksOf(given: Case): readonly (string | null)[] {
  return namesOf(given).map((name) => given.check === undefined ? PROJECTS[given.language].command(name) : given.check);
}

/** State and configuration of each workflow, with an item for each function. */
export const STATE: Readonly<Record<Workflow, (given: Case) => Readonly<Record<string, string>>>> = {
  exec: (given) => ({
    "scripts/ralph/prd.json": json({ branchName: "main", userStories: stories(given) }),
    ...(given.config === undefined ? {} : { "ralph.config.json": json(given.config) }),
  }),
  feature: (given) => ({
    ".ralph/2026-01-01-calc/prd.json": featurePrd(stories(given)),
    ".ralph/2026-01-01-calc/prd.md": "# Calc\n",
    "ralph.config.json": json({
      workflow: "feature",
      maxRetries: 2,
      ...given.config,
      verify: { default: ["git --version"], ...(given.config?.["verify"] as object | undefined) },
    }),
  }),
  spec: (given) => ({
    "ralph/specs/calc.md": "# Calc\n\nadd and mul work.\n",
    "ralph/plan.jsonl": [
      { t: "spec", spec: "calc.md" },
      ...checksOf(given).map((check, index) => ({
        t: "task",
        id: `t-000${index + 1}`,
        spec: "calc.md",
        name: `Implement ${namesOf(given)[index]}`,
        s: "p",
        accept: check === null ? "it works" : `it works. Verify: \`${check}\``,
        priority: index === 0 ? "high" : "low",
      })),
    ].map((line) => `${JSON.stringify(line)}\n`).join(""),
    "ralph.config.json": json({ workflow: "spec", ...given.config }),
  }),
  sprint: (given) => ({
    ".claude/sprints/calc/SPRINT.yaml": `workflow: ralph\ngoal: |\n  Implement ${namesOf(given).join(" and ")}\n`,
    "ralph.config.json": json({
      workflow: "sprint",
      ...given.config,
      verify: {
        default: checksOf(given).filter((check) => check !== null),
        ...(given.config?.["verify"] as object | undefined),
      },
    }),
  }),
  gsd: (given) => ({
    ".planning/ROADMAP.md":
      `# Roadmap\n\n## Phases\n\n- [ ] **Phase 1: Calc** - functions\n\n## Phase Details\n\n### Phase 1: Calc\n**Goal**: add and mul\n**Plans**: ${
        namesOf(given).length
      } plans\n\nPlans:\n${namesOf(given).map((name, index) => `- [ ] 01-0${index + 1}-PLAN.md — ${name}\n`).join("")}`,
    ".planning/STATE.md": `# Project State\n\n## Current Position\n\nPhase: 1 of 1 (Calc)\nPlan: 0 of ${
      namesOf(given).length
    } in current phase\nStatus: Ready to execute\nLast activity: 2026-01-01 — planned\n\nProgress: [░░░░░] 0%\n`,
    ...Object.fromEntries(
      checksOf(given).map((check, index) => [
        `.planning/phases/01-calc/01-0${index + 1}-PLAN.md`,
        plan(
          index + 1,
          namesOf(given)[index] ?? "add",
          PROJECTS[given.language].source(namesOf(given)[index] ?? "add"),
          check,
        ),
      ]),
    ),
    "ralph.config.json": json({ workflow: "gsd", ...given.config }),
  }),
};

/** Turns that a run needs beside those at its items: reviews at the end. */
export const REVIEWS: Readonly<Record<Workflow, number>> = { exec: 0, feature: 1, spec: 1, sprint: 0, gsd: 0 };

function stories(given: Case): readonly TestStory[] {
  return checksOf(given).map((check, index) => ({
    id: `US-00${index + 1}`,
    title: `Implement ${namesOf(given)[index]}`,
    acceptanceCriteria: ["it works", ...(check === null ? [] : [`Verify: \`${check}\``])],
    priority: index + 1,
    passes: false,
    notes: "",
  }));
}

function plan(number: number, name: Name, source: string, check: string | null): string {
  const verify = check === null ? "it works" : `\n    <automated>${check.replaceAll("&", "&amp;")}</automated>\n  `;
  return `---\nphase: 01-calc\nplan: 0${number}\ntype: execute\n---\n\n<objective>Implement ${name}</objective>\n\n<tasks>\n<task type="auto">\n  <name>Implement ${name}</name>\n  <files>${source}</files>\n  <action>Write the function ${name}</action>\n  <verify>${verify}</verify>\n  <done>It works</done>\n</task>\n</tasks>\n`;
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
