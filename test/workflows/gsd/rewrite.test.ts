import { describe, expect, test } from "vitest";
import { progressValue } from "../../../lib/workflows/gsd/progress_value.ts";
import {
  rewriteRoadmap,
  rewriteState,
  type StateUpdate,
  withSectionOf,
  withTicksOf,
} from "../../../lib/workflows/gsd/rewrite.ts";
import { ROADMAP, STATE } from "./planning.ts";

const NOW = new Date(2026, 1, 3, 12).getTime();
const UPDATE: StateUpdate = {
  phase: "01",
  phaseName: "Base",
  plan: 1,
  plans: 2,
  status: "In progress",
  activity: "Completed 01-01-PLAN.md",
  now: NOW,
  progress: { value: "[░░░░░░░░░░] 0%", before: 0, after: 1, total: 3 },
};

function section(...lines: readonly string[]): string {
  return ["## Current Position", ...lines, "", "## Other", "Plan: 9 of 9", "Status: mine", ""].join("\n");
}

function rewritten(lines: readonly string[], update: Partial<StateUpdate> = {}): readonly string[] {
  const text = rewriteState(section(...lines), { ...UPDATE, ...update });
  expect(text.endsWith("\n\n## Other\nPlan: 9 of 9\nStatus: mine\n")).toBe(true);
  return text.split("\n").slice(1, -5);
}

describe("rewriteState()", () => {
  test("writes plan, status, last activity and progress in the section's own style", () => {
    expect(rewriteState(STATE, UPDATE)).toBe(
      STATE.replace("Plan: 0 of 2", "Plan: 1 of 2").replace("Ready to execute", "In progress").replace(
        "2026-01-01 — Roadmap created",
        "2026-02-03 — Completed 01-01-PLAN.md",
      )
        .replace("[░░░░░░░░░░] 0%", "[███░░░░░░░] 33%"),
    );
  });

  test("twice is once", () => {
    expect(rewriteState(rewriteState(STATE, UPDATE), UPDATE)).toBe(rewriteState(STATE, UPDATE));
  });

  test.each([
    ["**Plan:** Not started", "**Plan:** 1 of 2"],
    ["**Plan**: 2/7", "**Plan**: 1/2"],
    ["- Plan: 01 of 03  ", "- Plan: 01 of 2  "],
    ["Plan: 3/3 complete", "Plan: 1/2"],
    ["Plan: N/A", "Plan: 1 of 2"],
  ])("%j", (before, after) => {
    expect(rewritten(["Phase: 1", before])[1]).toBe(after);
  });

  test.each([
    ["Last activity: 2026-01-01 -- x", "Last activity: 2026-02-03 -- Completed 01-01-PLAN.md"],
    ["Last activity: 2026-01-01 - x", "Last activity: 2026-02-03 - Completed 01-01-PLAN.md"],
    [
      "Last activity: 2026-01-01T10:00:00.000Z",
      `Last activity: ${new Date(NOW).toISOString()} — Completed 01-01-PLAN.md`,
    ],
  ])("%j", (before, after) => {
    expect(rewritten(["Phase: 1", "Plan: 1", "Status: x", before])[3]).toBe(after);
  });

  test("the phase changes only when the plan is of another one, name included", () => {
    const update = { phase: "02", phaseName: "More" };

    expect(rewritten(["Phase: 1 of 2 (Base)"], update)[0]).toBe("Phase: 2 of 2 (More)");
    expect(rewritten(["**Phase**: 01 - Base"], update)[0]).toBe("**Phase**: 02 - More");
    expect(rewritten(["Phase: 06"], update)[0]).toBe("Phase: 02");
    expect(rewritten(["Phase: Not started"], update)[0]).toBe("Phase: 2 (More)");
    expect(rewritten(["Phase: 02 of 2 (My own)"], update)[0]).toBe("Phase: 02 of 2 (My own)");
  });

  test("fields that are missing come behind the one before them, in its style", () => {
    expect(rewritten(["", "**Phase:** 1", ""])).toEqual([
      "",
      "**Phase:** 1",
      "**Plan:** 1 of 2",
      "**Status:** In progress",
      "**Last activity:** 2026-02-03 — Completed 01-01-PLAN.md",
      "",
    ]);
  });

  test("an older plan leaves the position where it is", () => {
    expect(
      rewritten(["Phase: 8", "Plan: 2 of 2", "Status: Complete", "Last activity: 2026-01-01 - x"], { behind: true }),
    ).toEqual([
      "Phase: 8",
      "Plan: 2 of 2",
      "Status: Complete",
      "Last activity: 2026-02-03 - Completed 01-01-PLAN.md",
    ]);
  });

  test("CRLF stays, and a file without the section stays as it is", () => {
    const text = STATE.replaceAll("\n", "\r\n");

    expect(rewriteState(text, UPDATE)).toBe(rewriteState(STATE, UPDATE).replaceAll("\n", "\r\n"));
    expect(rewriteState("# State\r\nPlan: 1 of 2\r\n", UPDATE)).toBe("# State\r\nPlan: 1 of 2\r\n");
    expect(rewriteState("## Current Position\r\nPhase: 1\r\n", UPDATE).replaceAll("\r\n", "")).not.toContain("\n");
  });
});

describe("progressValue()", () => {
  /** The fifth of eight plans of all phases is done. */
  const after = (value: string): string => progressValue({ value, before: 4, after: 5, total: 8 });

  test.each([
    ["of all plans", "[█████░░░░░] 50%", "[██████░░░░] 63%"],
    ["of all plans, without a bar", "~50%", "~63%"],
    ["of all plans, by its decimals", "50.0%", "62.5%"],
    ["a bare bar", "██████████░░░░░░░░░░ 50%", "████████████░░░░░░░░ 63%"],
    ["a fraction of its own", "[████░] 78% (21/27 milestone plans)", "[████░] 81% (22/27 milestone plans)"],
    ["in words", "[████░░░░░░] 42% (5 of 12 total plans)", "[█████░░░░░] 50% (6 of 12 total plans)"],
    ["a fraction first", "2/4 plans complete (50%)", "3/4 plans complete (75%)"],
    ["nearly all", "[█████████░] 99% (222/224 plans)", "[█████████░] 99% (223/224 plans)"],
  ])("counts one more %s: %s", (_name, before, expected) => {
    expect(after(before)).toBe(expected);
  });

  test.each([
    ["a milestone's percentage", "[░░░░░░░░░░] 0%"],
    ["a milestone that is full", "[██████████] 100% (12/12 plans)"],
    ["phases", "[█████░░░░░] 50% (4/8 phases)"],
    ["numbers that contradict each other", "10% (4/8 plans)"],
    ["another meaning in words", "[█████░░░░░] 50% (v1.2)"],
    ["two fractions", "50% (4/8 plans, 1/2 phases)"],
    ["two percentages", "50% code-complete; 20% verified"],
    ["a plan count that is not known", "50% (4/TBD plans complete)"],
    ["no number", "none yet"],
    ["a box", "`[ ] Phase 1`"],
  ])("leaves %s alone: %s", (_name, before) => {
    expect(after(before)).toBe(before);
  });

  test("counts one less where a plan is sent back, and nothing twice", () => {
    expect(progressValue({ value: "63% (5/8 plans)", before: 5, after: 4, total: 8 })).toBe("50% (4/8 plans)");
    expect(progressValue({ value: "63% (5/8 plans)", before: 5, after: 5, total: 8 })).toBe("63% (5/8 plans)");
  });
});

test.each([
  ["Phase: 2 of 2 (Base)", "Phase: 10 of 12 (Next)"],
  ["Phase: 2 of 11 (Base)", "Phase: 10 of 11 (Next)"],
  ["Phase: 2 of ? (Base)", "Phase: 10 of ? (Next)"],
])("the number of phases is never below the phase: %s", (before, after) => {
  expect(rewritten([before], { phase: "10", phaseName: "Next", lastPhase: "12.1" })[0]).toBe(after);
});

describe("withTicksOf()", () => {
  const ticked = ROADMAP.replace("[ ] 01-01", "[x] 01-01").replace("| 0/2 | Not started |", "| 1/2 | In progress |");
  const thought = "### Phase 3: Later\n\n- [x] 03-01-PLAN.md — Something\n";

  test("keeps what a person wrote meanwhile; ticks, counts and rows are Ralph's, new boxes are not ticked", () => {
    const found = ROADMAP.replace("**Goal**: more", "**Goal**: much more").replace("[ ] 02-01", "[x] 02-01")
      .replace("[ ] **Phase 2", "[x] **Phase 2").replace("| 0/1 | Not started", "| 1/1 | Complete");

    expect(withTicksOf(ROADMAP.replace("**Goal**: more", "**Goal**: much more") + thought, ticked)).toBe(
      ticked.replace("**Goal**: more", "**Goal**: much more") + thought.replace("[x]", "[ ]"),
    );
    expect(withTicksOf(found, ROADMAP)).toBe(ROADMAP);
  });

  test.each([
    ["a box is gone", ROADMAP.replace(/^.*02-01.*\n/m, "")],
    ["a box is in a code fence", ROADMAP.replace("Plans:\n- [ ] 02-01", "```\n- [ ] 02-01")],
    ["a phase is gone", ROADMAP.replaceAll(/^.*(?:Phase 2|2\. More).*\n/gm, "")],
    ["a phase is called done", ROADMAP.replace("**Goal**: more", "**Status**: DONE")],
    ["all is gone", ""],
  ])("%s: all of Ralph's version comes back", (_name, found) => {
    expect(withTicksOf(found, ticked)).toBe(ticked);
  });

  test("the same text stays, line ends included", () => {
    const windows = ticked.replaceAll("\n", "\r\n");

    expect([withTicksOf(ticked, ticked), withTicksOf(windows, windows)]).toEqual([ticked, windows]);
  });
});

describe("withSectionOf()", () => {
  test("keeps the agent's other sections and Ralph's current position", () => {
    const found = STATE.replace("- none", "- use X").replace("Plan: 0 of 2", "Plan: 2 of 2") + "## New\n";

    expect(withSectionOf(found, STATE)).toBe(STATE.replace("- none", "- use X") + "## New\n");
  });

  test("a section that was taken out comes back with the whole file", () => {
    expect(withSectionOf("# State\n", STATE)).toBe(STATE);
  });

  test("a section at the end of either file joins with whole lines", () => {
    const written = "# S\n\n## Current Position\n\nPhase: 1\n";

    expect(withSectionOf("# S\n\n## Current Position\n\nPhase: 2\n\n## After\n", written)).toBe(
      "# S\n\n## Current Position\n\nPhase: 1\n\n## After\n",
    );
    expect(withSectionOf(written.replace("1", "2").trimEnd(), "## Current Position\nPhase: 1\n\n## More\n")).toBe(
      "# S\n\n## Current Position\nPhase: 1\n",
    );
  });
});

describe("rewriteRoadmap()", () => {
  const tick = { phase: "01", plan: "01", done: true, complete: 1, total: 2, now: NOW };

  test("ticks the plan and counts in its phase's row", () => {
    const after = ROADMAP.replace("- [ ] 01-01", "- [x] 01-01").replace(
      "| 1. Base | 0/2 | Not started | - |",
      "| 1. Base | 1/2 | In progress | - |",
    );

    expect(rewriteRoadmap(ROADMAP, tick)).toBe(after);
    expect(rewriteRoadmap(after, tick)).toBe(after);
    expect(rewriteRoadmap(ROADMAP.replaceAll("\n", "\r\n"), tick)).toBe(after.replaceAll("\n", "\r\n"));
  });

  test("the last plan completes the row, and leaves the phase's own box to GSD", () => {
    const text = rewriteRoadmap(ROADMAP, { ...tick, plan: "02", complete: 2 });

    expect(text).toContain("| 1. Base | 2/2 | Complete | 2026-02-03 |");
    expect(text).toContain("- [ ] **Phase 1: Base**");
  });

  test("a tick is taken back with the counts", () => {
    const done = rewriteRoadmap(ROADMAP, { ...tick, plan: "02", complete: 2 });
    const back = rewriteRoadmap(done, { ...tick, plan: "02", done: false });

    expect(back).toBe(ROADMAP.replace("| 1. Base | 0/2 | Not started | - |", "| 1. Base | 1/2 | In progress | - |"));
    expect(rewriteRoadmap(ROADMAP, { ...tick, done: false })).toBe(ROADMAP);
  });

  test("boxes in code fences, of other phases and counts in prose stay", () => {
    const text =
      "```\n- [ ] 01-01-PLAN.md\n```\n- [ ] 11-01-PLAN.md\n**Plans**: 0/2 plans executed\n### Phase 1: A\n**Plans**: 0/2 plans executed\n- [ ] 01-01: a\n";

    expect(rewriteRoadmap(text, tick)).toBe(
      "```\n- [ ] 01-01-PLAN.md\n```\n- [ ] 11-01-PLAN.md\n**Plans**: 0/2 plans executed\n### Phase 1: A\n**Plans**: 1/2 plans executed\n- [x] 01-01: a\n",
    );
  });
});
