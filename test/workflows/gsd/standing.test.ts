/** The counts of a phase: planned, written, complete, shipped. */
import { describe, expect, test } from "vitest";
import { type Position, positionOf } from "../../../lib/workflows/gsd/position.ts";
import { readPlanning } from "../../../lib/workflows/gsd/read_planning.ts";
import { withTicksOf } from "../../../lib/workflows/gsd/rewrite.ts";
import type { Planning } from "../../../lib/workflows/gsd/types.ts";
import { temporaryRepository } from "../../../lib/testing/temporary_repository.ts";
import { planText } from "./planning.ts";

const PHASES = ".planning/phases";
const SUMMARY = "# Summary\n";

/** A project of these files, and where it is. */
async function at(
  files: Readonly<Record<string, string>>,
): Promise<{ readonly planning: Planning; readonly position: Position }> {
  await using tree = await temporaryRepository({ files, commit: false });
  const planning = await readPlanning({ root: tree.path });
  return { planning, position: positionOf(planning) };
}

/** `01-base/01-01` is complete. */
function complete(...plans: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(plans.flatMap((plan) => [
    [`${PHASES}/${plan}-PLAN.md`, planText("a.txt")],
    [`${PHASES}/${plan}-SUMMARY.md`, SUMMARY],
  ]));
}

function state(...lines: readonly string[]): Readonly<Record<string, string>> {
  return { ".planning/STATE.md": ["## Current Position", "", ...lines, ""].join("\n") };
}

function roadmap(...lines: readonly string[]): Readonly<Record<string, string>> {
  return { ".planning/ROADMAP.md": ["# Roadmap", "", ...lines, ""].join("\n") };
}

function finished({ planning }: { readonly planning: Planning }): readonly string[] {
  return planning.phases.filter((phase) => phase.finished).map(({ number }) => number);
}

describe("phases that nobody has planned", () => {
  test("are named before the present phase too, and come next: an inserted phase does not pass over them", async () => {
    const { position } = await at({
      ...complete("08-a/08-01", "10.1-fix/10.1-01"),
      ...roadmap(
        "- [x] **Phase 8: A** - a",
        "- [ ] **Phase 9: B** - b",
        "- [ ] **Phase 10: C** - c",
        "- [ ] **Phase 10.1: Fix (INSERTED)** - f",
      ),
      ...state("Phase: 10.1 of 10 (Fix)", "Plan: 1 of 1", "Status: Phase complete"),
    });

    expect([position.status, position.reasons]).toEqual(["unplanned", [
      "phase 9 (B) has no plan yet: `ralph plan 9`",
      "phase 10 (C) has no plan yet: `ralph plan 10`",
    ]]);
  });

  test("stay beside a plan that can be run, and do not take its place", async () => {
    const { position } = await at({
      [`${PHASES}/03-c/03-01-PLAN.md`]: planText("a.txt"),
      ...roadmap("### Phase 2: B", "### Phase 3: C"),
      ...state("Phase: 3 of 3 (C)"),
    });

    expect([position.next?.id, position.unplanned.map(({ id }) => id)]).toEqual(["03-01", ["2"]]);
  });

  test.each([
    ["left out by its box", "- [-] **Phase 2: B** - b"],
    ["struck out", "### ~~Phase 2: B~~"],
    ["deferred", "### Phase 2: B\n**Status**: Deferred to v2"],
    ["done by its row", "| Phase | Plans Complete | Status |\n|---|---|---|\n| 2. B | 0/0 | Complete |"],
  ])("are not those that ROADMAP.md closes: %s", async (_, line) => {
    const { position } = await at({
      ...complete("01-a/01-01", "03-c/03-01"),
      ...roadmap("### Phase 1: A", "### Phase 3: C", "", line),
      ...state("Phase: 3 of 3 (C)"),
    });

    expect([position.status, position.unplanned]).toEqual(["done", []]);
  });
});

describe("two folders of one number", () => {
  const OLD = { [`${PHASES}/01-a-old/notes.md`]: "before\n" };

  test("the one that is named like the phase in ROADMAP.md is the phase", async () => {
    const { planning, position } = await at({
      ...OLD,
      [`${PHASES}/01-new-api/01-01-PLAN.md`]: planText("a.txt"),
      ...roadmap("### Phase 1: New API!"),
    });

    expect([position.next?.id, planning.phases[0]?.directory]).toEqual(["01-01", `${PHASES}/01-new-api`]);
    expect(planning.diagnostics.map(({ file, message }) => `${file}: ${message}`)).toContain(
      `${PHASES}/01-a-old: a second folder for phase 01: left out, the phase is ${PHASES}/01-new-api`,
    );
  });

  test("that holds although the other one has plans as well", async () => {
    const { planning } = await at({
      ...complete("01-a-old/01-01"),
      [`${PHASES}/01-new/01-RESEARCH.md`]: "r\n",
      ...roadmap("- [ ] **Phase 1: New** - n"),
    });

    expect([planning.phases[0]?.directory, planning.phases[0]?.plans]).toEqual([`${PHASES}/01-new`, []]);
  });

  test("where no name fits, the one with plans is the phase", async () => {
    const { position } = await at({
      ...OLD,
      [`${PHASES}/01-z/01-01-PLAN.md`]: planText("a.txt"),
      ...roadmap("### Phase 1: Foundation"),
    });

    expect(position.next?.id).toBe("01-01");
  });

  test("where both have plans and no name fits, the error names both", async () => {
    const reading = at({ ...complete("01-a/01-01", "01-b/01-01"), ...roadmap("### Phase 1: C") });

    await expect(reading).rejects.toMatchObject({ code: "state-invalid", exitCode: 2 });
    await expect(reading).rejects.toThrow(`two folders with plans for phase 01: ${PHASES}/01-a and ${PHASES}/01-b`);
  });

  test("in a phase that is closed they stop nobody", async () => {
    const { position } = await at({ ...complete("01-a/01-01", "01-b/01-01"), ...roadmap("- [x] Phase 1: C") });

    expect(position.status).toBe("done");
  });
});

test("a plan by GSD's loose form of a name is a plan; its SUMMARY completes it, and `--plan` finds it", async () => {
  const plan = { [`${PHASES}/01-a/01-plan2-PLAN.md`]: planText("b.txt") };
  const open = await at({ ...complete("01-a/01-01"), ...plan });
  const done = await at({ ...complete("01-a/01-01"), ...plan, [`${PHASES}/01-a/01-plan2-SUMMARY.md`]: SUMMARY });

  expect([open.position.next?.id, open.position.total, done.position.status]).toEqual(["01-plan2", 2, "done"]);
});

describe("a phase is complete with as many plans as it is to have", () => {
  const TWO = complete("01-a/01-01", "01-a/01-02");
  const line =
    "phase 01 (A): 2 of 4 plans are written: `ralph plan 01`, or correct the number in ROADMAP.md and STATE.md";

  test.each([
    ["a sentence", "**Plans**: 4 plans created\n- 01-03: third"],
    ["a fraction", "**Plans:** 2/4 plans executed"],
    ["a number", "**Plans**: 4"],
    ["its row", "\n| Phase | Plans Complete | Status |\n|---|---|---|\n| 1. A | 2/4 | In progress |"],
  ])("by ROADMAP.md: %s", async (_, count) => {
    const { planning, position } = await at({ ...TWO, ...roadmap("### Phase 1: A", "", count) });

    expect([position.status, position.reasons]).toEqual(["unplanned", [line]]);
    expect(planning.phases[0]).toMatchObject({ planned: 4, written: 2, complete: 2, lacking: 2, finished: false });
  });

  test("by STATE.md, where ROADMAP.md does not say", async () => {
    const known = { ...TWO, ...roadmap("### Phase 1: A", "**Plans**: TBD") };
    const open = await at({
      ...known,
      ...state("Phase: 1 of 1 (A)", "Plan: 2 of 4 in current phase", "Status: In progress"),
    });
    const over = await at({ ...known, ...state("Phase: 1 of 1 (A)", "Plan: 2 of 4", "Status: Phase complete") });

    expect([open.position.reasons, over.position.status]).toEqual([[line], "done"]);
  });

  test.each([
    "**Plans**: 2 plans",
    "**Plans**: ~4 plans",
    "**Plans**: 3-4 plans",
    "**Plans**: TBD",
    "**Plans**: 1 plan",
  ])(
    "no estimate, and no number that is reached, keeps it open: %s",
    async (count) => {
      expect(finished(await at({ ...TWO, ...roadmap("### Phase 1: A", count) }))).toEqual(["01"]);
    },
  );

  test("a phase that the project has passed is a warning beside what comes next", async () => {
    const { position } = await at({
      ...TWO,
      [`${PHASES}/02-b/02-01-PLAN.md`]: planText("a.txt"),
      ...roadmap("### Phase 1: A", "**Plans**: 4 plans", "### Phase 2: B"),
      ...state("Phase: 2 of 2 (B)"),
    });

    expect([position.next?.id, position.unplanned, position.older]).toEqual(["02-01", [], [line]]);
  });

  test.each([
    ["its box", "- [ ] **Phase 3: C** - c\n\n### Phase 3: C\n**Plans**: 0/TBD"],
    ["its row", "| Phase | Plans | Status |\n|---|---|---|\n| 3. C | 0/TBD | Not started |"],
    ["its plans", "### Phase 3: C\n**Plans**: TBD"],
  ])("a SUMMARY without its PLAN does not complete what ROADMAP.md calls open by %s", async (_, lines) => {
    const { position } = await at({ [`${PHASES}/03-c/03-01-SUMMARY.md`]: SUMMARY, ...roadmap(lines) });

    expect([position.status, position.unplanned.map(({ id }) => id)]).toEqual(["unplanned", ["03"]]);
  });
});

describe("a milestone that ROADMAP.md calls shipped is closed", () => {
  /** Phase 2 has a plan without SUMMARY; phase 12 is to be planned. */
  const GAPS = {
    ...complete("01-a/01-01", "11-k/11-01"),
    [`${PHASES}/02-b/02-03-PLAN.md`]: planText("a.txt"),
    ...state("Phase: 11 of 12 (K)", "Plan: 1 of 1"),
  };
  const NOW = ["", "### Phase 11: K", "### Phase 12: L"];

  test.each([
    ["a line with its range", "- ✅ **v1.0 MVP** - Phases 1-10 (shipped 2026-02-04)"],
    ["a line without a list's mark", "**v1.0 MVP** - Phases 1-10 (shipped 2026-02-04)"],
    ["a dash and `to`", "- **v1.0** — Phases 1 to 10, completed"],
    ["`<details>`", "<details>\n<summary>v1.0 MVP (Phases 1-10) - SHIPPED</summary>\n\n### Phase 2: B\n</details>"],
    ["a section", "### v1.0 MVP — SHIPPED 2026-02-04\n- [x] Phase 1: A\n- Phase 2: B\n\n## Phase Details"],
    ["a count", "## Completed Milestones\n- **v1 MVP** — 2 phases, archived\n\n## Phases"],
    ["a row", "| Milestone | Phases | Status |\n|---|---|---|\n| v1.0 | 1-10 | Shipped |"],
  ])("%s", async (_, lines) => {
    const { position } = await at({ ...GAPS, ...roadmap(lines, ...NOW) });

    expect([position.status, position.reasons, position.gaps]).toEqual(["unplanned", [
      "phase 12 (L) has no plan yet: `ralph plan 12`",
    ], []]);
    expect(position.withoutSummary).toEqual([
      { id: "02-03", note: "no SUMMARY, but ROADMAP.md calls its milestone shipped" },
    ]);
  });

  test.each([
    ["one that is in progress", "- 🚧 **v1.0 MVP** - Phases 1-10 (in progress)"],
    ["one that is not shipped yet", "- **v1.0 MVP** - Phases 1-10 (not shipped)"],
    ["a word in a goal", "Phases 1-10 are done when all is complete"],
    ["numbers begun again", "- ✅ **v1.0** - Phases 1-10 (shipped)\n- **v2.0** - Phases 1-3 (in progress)"],
  ])("%s is not closed", async (_, lines) => {
    const { position } = await at({ ...GAPS, ...roadmap(lines, ...NOW) });

    expect(position.gaps.map(({ id }) => id)).toEqual(["02-03"]);
  });

  test("older plans without SUMMARY are a warning, behind the phase that is to be planned", async () => {
    const { position } = await at({ ...GAPS, ...roadmap(...NOW) });

    expect([position.status, position.reasons]).toEqual(["unplanned", [
      "phase 12 (L) has no plan yet: `ralph plan 12`",
      "1 older plan has no SUMMARY: 02-03; `ralph run --plan 02-03` runs one, a tick in ROADMAP.md ([x], or [-] for what is left out) closes it",
    ]]);
  });
});

test.each([
  ["a milestone is called shipped", "- **v1** - Phases 1-2 (shipped)"],
  ["a phase is to have fewer plans", "### Phase 1: A\n**Plans**: 2 plans"],
])("what a turn writes into ROADMAP.md to end a phase early is taken back: %s", (_, line) => {
  const written = "# Roadmap\n\n### Phase 1: A\n**Plans**: 4 plans\n";
  const found = line.startsWith("###") ? `# Roadmap\n\n${line}\n` : `${written}\n${line}\n`;

  expect(withTicksOf(found, written)).toBe(written);
});
