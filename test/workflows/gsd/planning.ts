/** A plan with one task, which passes when a file is there. */
export function planText(
  file: string,
  extra: { readonly verification?: string; readonly front?: string; readonly task?: string } = {},
): string {
  return [
    "---",
    ...(extra.front === undefined ? [] : [extra.front]),
    "type: execute",
    "---",
    "",
    "<objective>",
    `Make ${file}.`,
    "</objective>",
    "",
    "<tasks>",
    '<task type="auto">',
    `  <name>Write ${file}</name>`,
    `  <action>Write ${file}</action>`,
    "  <verify>",
    `    <automated>grep -q right ${file}</automated>`,
    "  </verify>",
    `  <done>${file} is there</done>`,
    "</task>",
    ...(extra.task === undefined ? [] : [extra.task]),
    "</tasks>",
    "",
    "<verification>",
    extra.verification ?? "- [ ] all is well",
    "</verification>",
    "",
  ].join("\n");
}

/** Three plans over two phases. */
export const STATE = [
  "# Project State",
  "",
  "## Current Position",
  "",
  "Phase: 1 of 2 (Base)",
  "Plan: 0 of 2 in current phase",
  "Status: Ready to execute",
  "Last activity: 2026-01-01 — Roadmap created",
  "",
  "Progress: [░░░░░░░░░░] 0%",
  "",
  "## Decisions",
  "",
  "- none",
  "",
].join("\n");

export const ROADMAP = [
  "# Roadmap",
  "",
  "## Phases",
  "",
  "- [ ] **Phase 1: Base** - the base",
  "- [ ] **Phase 2: More** - more",
  "",
  "## Phase Details",
  "",
  "### Phase 1: Base",
  "**Goal**: a base",
  "**Plans**: 2 plans",
  "",
  "Plans:",
  "- [ ] 01-01-PLAN.md — One",
  "- [ ] 01-02-PLAN.md — Two",
  "",
  "### Phase 2: More",
  "**Goal**: more",
  "**Plans**: 1 plan",
  "",
  "Plans:",
  "- [ ] 02-01-PLAN.md — Three",
  "",
  "## Progress",
  "",
  "| Phase | Plans Complete | Status | Completed |",
  "|-------|----------------|--------|-----------|",
  "| 1. Base | 0/2 | Not started | - |",
  "| 2. More | 0/1 | Not started | - |",
  "",
].join("\n");

/** The project's plans are here. */
export const ONE = ".planning/phases/01-base/01-01-PLAN.md";
export const TWO = ".planning/phases/01-base/01-02-PLAN.md";
export const THREE = ".planning/phases/02-more/02-01-PLAN.md";

/** The SUMMARY of a plan's file. */
export function summaryOf(plan: string): string {
  return plan.replace("-PLAN.md", "-SUMMARY.md");
}

export const PROJECT: Readonly<Record<string, string>> = {
  ".planning/STATE.md": STATE,
  ".planning/ROADMAP.md": ROADMAP,
  [ONE]: planText("one.txt"),
  [TWO]: planText("two.txt"),
  [THREE]: planText("three.txt"),
};
