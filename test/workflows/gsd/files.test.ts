import { describe, expect, test } from "vitest";
import { isOwnSummary, parsePhaseName, parsePlanName, summaryNameOf } from "../../../lib/workflows/gsd/file_names.ts";
import { compareNumbers } from "../../../lib/workflows/gsd/numbers.ts";
import { parseRoadmap } from "../../../lib/workflows/gsd/roadmap_file.ts";
import { parseState } from "../../../lib/workflows/gsd/state_file.ts";
import { summaryVerdict } from "../../../lib/workflows/gsd/summary_file.ts";

describe("numbers", () => {
  test("compareNumbers() goes by integer, letter, then segment by segment", () => {
    const numbers = ["12A", "3", "2.10", "12", "02.1", "2", "10.1.1", "2.2", "00", "10.1", "01a", "1"];

    expect(numbers.toSorted(compareNumbers)).toEqual([
      "00",
      "1",
      "01a",
      "2",
      "02.1",
      "2.2",
      "2.10",
      "3",
      "10.1",
      "10.1.1",
      "12",
      "12A",
    ]);
  });
});

describe("file names", () => {
  test.each([
    ["01-foundation", "01", "foundation"],
    ["02.1-x", "02.1", "x"],
    ["10.1.1-y", "10.1.1", "y"],
    ["12A", "12A", ""],
    ["CK-01-name", "01", "name"],
    ["00-setup", "00", "setup"],
  ])("parsePhaseName(%j)", (folder, number, name) => {
    expect(parsePhaseName(folder)).toEqual({ number, name });
  });

  test.each(["notes", "archive-01", "v1.0"])("%j is no phase", (folder) => {
    expect(parsePhaseName(folder)).toBe(null);
  });

  test.each([
    ["01-01-PLAN.md", "01", "01", ""],
    ["02.1-01-PLAN.md", "02.1", "01", ""],
    ["10.1.1-01-PLAN.md", "10.1.1", "01", ""],
    ["04-01-slug-here-PLAN.md", "04", "01", "slug-here"],
    ["07-01a-PLAN.md", "07", "01a", ""],
    ["6.1-01-PLAN.md", "6.1", "01", ""],
    ["02-05.1-PLAN.md", "02", "05.1", ""],
    ["01-PLAN-01-slug.md", "01", "01", "slug"],
    ["PLAN-01-slug.md", null, "01", "slug"],
    ["CK-01-02-PLAN.md", "01", "02", ""],
    ["02-PLAN.md", null, "02", ""],
    ["PLAN.md", null, null, ""],
  ])("parsePlanName(%j)", (file, phase, number, slug) => {
    expect(parsePlanName(file, "PLAN")).toEqual({ phase, number, slug, side: false });
  });

  test.each([
    "CONSOLIDATION-PLAN.md",
    "PRUNING-PLAN.md",
    "01-01-PLAN-OUTLINE.md",
    "01-01-PLAN.pre-bounce.md",
    "01-01-PLAN-REVIEW.md",
    "REPLAN-INPUTS.md",
    "01-01-FIX.md",
    "v2.1-PLAN.md",
    "01-CONTEXT.md",
  ])("%j is no plan", (file) => {
    expect(parsePlanName(file, "PLAN")?.side ?? true).toBe(true);
  });

  test.each([
    ["01-01-SUMMARY.md", "01-01-PLAN.md", true],
    ["1-1-SUMMARY.md", "01-01-PLAN.md", true],
    ["03-01-SUMMARY.md", "03-01-slug-PLAN.md", true],
    ["03-01-slug-SUMMARY.md", "03-01-slug-PLAN.md", true],
    ["03-01-other-SUMMARY.md", "03-01-slug-PLAN.md", false],
    ["01-02-SUMMARY.md", "01-01-PLAN.md", false],
    ["SUMMARY.md", "01-01-PLAN.md", false],
    ["01-SUMMARY.md", "01-01-PLAN.md", false],
    ["02-SUMMARY.md", "02-PLAN.md", true],
    ["04-SUMMARY.md", "04-01-PLAN.md", false],
    ["SUMMARY.md", "PLAN.md", true],
    ["01-01-FIX-SUMMARY.md", "01-01-PLAN.md", false],
    ["01-01-GAPCLOSURE-SUMMARY.md", "01-01-PLAN.md", false],
  ])("%j of %j: %s", (summary, plan, own) => {
    const [one, other] = [parsePlanName(summary, "SUMMARY"), parsePlanName(plan, "PLAN")];

    expect(one !== null && other !== null && isOwnSummary(one, other)).toBe(own);
  });

  test.each([["01-01-PLAN.md", "01-01-SUMMARY.md"], ["PLAN.md", "SUMMARY.md"], [
    "plans/PLAN-01-a.md",
    "plans/SUMMARY-01-a.md",
  ], ["04-01-plan-it-PLAN.md", "04-01-plan-it-SUMMARY.md"]])(
    "summaryNameOf(%j)",
    (file, name) => {
      expect(summaryNameOf(file)).toBe(name);
    },
  );
});

describe("parseState()", () => {
  const at = (...lines: string[]): ReturnType<typeof parseState> =>
    parseState(["# State", "", "## Current Position", "", ...lines, "", "## Next", "Phase: 9 of 9"].join("\n"));

  test.each([
    ["Phase: 2 of 5 (Core)", "phase", "2", "5", "Core"],
    ["Phase: 2 of 5 (Core", "phase", "2", "5", null],
    ["Phase: 02.1 of 5", "phase", "02.1", "5", null],
    ["**Phase**: 3 - Name", "phase", "3", null, "Name"],
    ["**Phase:** 2", "phase", "2", null, null],
    ["Phase: 06", "phase", "06", null, null],
    ["Phase: None (between milestones)", "none", null, null, null],
    ["Phase: Not started", "not-started", null, null, null],
    ["Phase 23-slug — Name", "phase", "23", null, "slug — Name"],
    ["- Phase: 1 of 2 (A)", "phase", "1", "2", "A"],
    ["**Phases:** 3 total, 0 complete", "unknown", null, null, null],
    ["Phase: later", "unknown", null, null, null],
    ["", "unknown", null, null, null],
  ])("reads %j", (line, kind, phase, totalPhases, phaseName) => {
    expect(at(line)).toMatchObject({ kind, phase, totalPhases, phaseName });
  });

  test.each([
    ["Plan: 1 of 3 in current phase", 1],
    ["Plan: Not started", null],
    ["Plan: 2 of TBD", 2],
    ["**Plan**: 2/7", 2],
    ["Plan: 3/3 complete", 3],
    ["Plan: N/A", null],
    ["Plan: —", null],
    ["Plan: All 3 plans executed", null],
    ["Plan: 02-03 of 4", 3],
  ])("reads %j", (line, plan) => {
    expect(at("Phase: 1", line).plan).toBe(plan);
  });

  test("takes the phase under the current position, not one in front matter, code or another section", () => {
    const text = [
      "---",
      "status: unknown",
      "Phase: 7",
      "---",
      "Phase: 8",
      "```",
      "## Current Position",
      "Phase: 6",
      "```",
      "## Current Position",
      "Phase: 2 of 3",
      "Status: **ok**",
    ].join("\r\n");

    expect(parseState(text)).toMatchObject({ phase: "2", status: "**ok**" });
  });

  test("a file without the section is read by its first lines", () => {
    expect(parseState("# State\nPhase: 4 of 5\nPlan: 1 of 2\nPhase: 1\n")).toMatchObject({ phase: "4", plan: 1 });
  });
});

describe("parseRoadmap()", () => {
  const numbersOf = (...lines: string[]): readonly string[] =>
    parseRoadmap(lines.join("\n")).phases.map(({ number, name, mark }) => `${number} ${name} ${mark ?? "?"}`);

  test.each([
    ["### Phase 1: Foundation", "1 Foundation ?"],
    ["## Phase 02.1: Fix (INSERTED)", "02.1 Fix ?"],
    ["#### ✅ Phase 3 — Third", "3 Third ?"],
    ["### ~~Phase 4: Old~~", "4 Old ?"],
    ["### Phase 10 (continued): More", "10 More ?"],
    ["- [ ] **Phase 1: X** - what", "1 X  "],
    ["- [x] Phase 2: Y (2/2 plans) — completed 2026-01-01", "2 Y x"],
    ["* Phase 5 — Bullet", "5 Bullet ?"],
    ["- **Phase 6: Bold** - what", "6 Bold ?"],
    ["- [x] ~~**Phase 7: Gone**~~ - what", "7 Gone x"],
  ])("reads the phase in %j", (line, phase) => {
    expect(numbersOf(line)).toEqual([phase]);
  });

  test.each([
    "## Phase Details",
    "text with ### Phase 3: inside",
    "```\n### Phase 1: a\n```",
    "**Depends on**: Phase 1",
    "Phases execute in order: 1 → 2",
    "## Phases",
  ])("%j is no phase", (line) => {
    expect(numbersOf(line)).toEqual([]);
  });

  test("phases in <details>, in tables alone, and in ranges are phases", () => {
    expect(
      numbersOf(
        "<details>",
        "<summary>v1 (Phases 1-2)</summary>",
        "",
        "- [x] Phase 1: A",
        "### Phase 2: B",
        "</details>",
      ),
    ).toEqual(["1 A x", "2 B ?"]);
    expect(numbersOf("| Phase | Status |", "|---|---|", "| 1. Base | Complete |", "| 02-auth | Planned |")).toEqual([
      "1 Base ?",
      "02 auth ?",
    ]);
    expect(numbersOf("### Phase 11.2–11.3: Both")).toEqual(["11.2 Both ?", "11.3 Both ?"]);
  });

  test.each([
    ["- [x] 01-01-PLAN.md — Build it", ["01", "01", "x", "Build it"]],
    ["- [ ] 01-02-PLAN.md -- Build it", ["01", "02", " ", "Build it"]],
    ["- [ ] 01-03: Build it", ["01", "03", " ", "Build it"]],
    ["  - [-] 02.1-01-PLAN.md - left out", ["02.1", "01", "-", "left out"]],
    ["- [ ] 07-01a-PLAN.md", ["07", "01a", " ", ""]],
    ["- [ ] **01-04**: bold", ["01", "04", " ", "bold"]],
    ["- [ ] `01-05-PLAN.md` — ticks", ["01", "05", " ", "ticks"]],
    ["- [ ] [01-06-PLAN.md](phases/x) — link", ["01", "06", " ", "link"]],
    ["- [ ] 04-01-slug-PLAN.md — slug", ["04", "01", " ", "slug"]],
  ])("reads the plan in %j", (line, expected) => {
    const { plans } = parseRoadmap(line);

    expect(plans.map(({ phase, number, mark, description }) => [phase, number, mark, description])).toEqual([expected]);
  });

  test.each([
    "- [ ] TBD",
    "- [ ] 3 plans to come",
    "- [ ] 2026-01-01 review",
    "- [ ] Phase 1: A",
    "- [ ] 2026/01/01 review",
    "```\n- [ ] 01-01-PLAN.md\n```",
  ])("%j is no plan", (line) => {
    expect(parseRoadmap(line).plans).toEqual([]);
  });

  test("a plan in a phase's section may leave the phase out", () => {
    expect(parseRoadmap("### Phase 3: A\nPlans:\n- [ ] Plan 02: b\n").plans).toMatchObject([{
      phase: "3",
      number: "02",
      description: "b",
    }]);
  });
});

describe("summaryVerdict()", () => {
  test.each([
    ["---\nstatus: blocked\n---\n", "failed"],
    ["---\nstatus: complete\n---\nx", "complete"],
    ["# Summary\n", "complete"],
    [" \n", "empty"],
    ["---\nresult: partial\n---\n", "failed"],
  ])("%j", (text, verdict) => {
    expect(summaryVerdict(text)).toBe(verdict);
  });
});
