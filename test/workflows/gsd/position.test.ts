import { describe, expect, test } from "vitest";
import { findPlan, type Position, positionOf } from "../../../lib/workflows/gsd/position.ts";
import { readPlanning } from "../../../lib/workflows/gsd/read_planning.ts";
import { temporaryRepository } from "../../../lib/testing/temporary_repository.ts";
import { ONE, planText, PROJECT, ROADMAP, STATE, summaryOf, THREE, TWO } from "./planning.ts";

async function at(
  files: Readonly<Record<string, string | null>>,
): Promise<Position & { readonly diagnostics: readonly string[] }> {
  const present = Object.entries({ ...PROJECT, ...files }).filter((entry): entry is [string, string] =>
    entry[1] !== null
  );
  await using tree = await temporaryRepository({ files: Object.fromEntries(present), commit: false });
  const planning = await readPlanning({ root: tree.path });
  return {
    ...positionOf(planning),
    diagnostics: planning.diagnostics.map(({ file, message }) => `${file}: ${message}`),
  };
}

function state(...lines: readonly string[]): string {
  return ["## Current Position", "", ...lines, ""].join("\n");
}

describe("positionOf()", () => {
  test("a project at its start: the first plan, and why", async () => {
    const position = await at({});

    expect(position.next?.id).toBe("01-01");
    expect(position.reasons).toEqual([
      "STATE.md is at phase 1; 01-01 is the first plan from there on that is not complete",
    ]);
    expect([position.complete, position.total, position.open.map(({ id }) => id)]).toEqual([0, 3, [
      "01-01",
      "01-02",
      "02-01",
    ]]);
  });

  test("a plan is complete by its own SUMMARY, by its tick, by `[-]`, by its phase's tick, or superseded", async () => {
    const position = await at({
      [summaryOf(ONE)]: "# Summary\n",
      ".planning/ROADMAP.md": ROADMAP.replace("[ ] 01-02", "[x] 01-02").replace("[ ] 02-01", "[-] 02-01").replace(
        "[ ] **Phase 2",
        "[x] **Phase 2",
      ),
      ".planning/phases/02-more/02-02-PLAN.md": planText("a"),
      ".planning/phases/03-last/03-01-PLAN.md": planText("b", { front: "status: superseded" }),
    });

    expect([position.status, position.next, position.complete]).toEqual(["done", null, 5]);
    expect(position.withoutSummary).toEqual([
      { id: "01-02", note: "no SUMMARY, but ROADMAP.md ticks it" },
      { id: "02-01", note: "no SUMMARY, but ROADMAP.md marks it as left out" },
      { id: "02-02", note: "no SUMMARY, but ROADMAP.md ticks its phase" },
      { id: "03-01", note: "no SUMMARY, but it says itself that it is superseded" },
    ]);
  });

  test.each(["0 of 2", "2 of 2", "2/2 complete", "3 of 3", "—"])(
    "a plan of the present phase without SUMMARY and tick is open, whatever plan STATE.md names: %s",
    async (plan) => {
      const position = await at({
        ".planning/STATE.md": state("Phase: 1 of 2", `Plan: ${plan}`),
        [summaryOf(TWO)]: "x",
      });

      expect([position.status, position.next?.id, position.gaps]).toEqual(["plan", "01-01", []]);
    },
  );

  test("what is older than STATE.md's phase is a gap: never next, and nothing is done while there is one", async () => {
    const second = { ".planning/STATE.md": state("Phase: 2 of 2", "Plan: 1 of 1") };
    const position = await at(second);
    const over = await at({ ...second, [summaryOf(THREE)]: "x" });

    expect([position.next?.id, position.gaps]).toEqual(["02-01", [
      { id: "01-01", note: "no SUMMARY, but STATE.md is at phase 2" },
      { id: "01-02", note: "no SUMMARY, but STATE.md is at phase 2" },
    ]]);
    expect([over.status, over.reasons]).toEqual(["blocked", [
      "2 older plans have no SUMMARY: 01-01, 01-02; `ralph run --plan 01-01` runs one, a tick in ROADMAP.md ([x], or [-] for what is left out) closes it",
    ]]);
  });

  test("a gap satisfies no dependency", async () => {
    const position = await at({
      ".planning/STATE.md": state("Phase: 2 of 2"),
      [THREE]: planText("c", { front: 'depends_on: ["01-02"]' }),
    });

    expect([position.status, position.next, position.reasons[0]]).toEqual(["blocked", null, "02-01 waits for 01-02"]);
  });

  test.each([
    "None (between milestones)",
    "— (between milestones)",
    "Between milestones",
    "Milestone complete",
    "v1.2 COMPLETE",
    "Ready for next milestone",
    "Milestone v2.0 complete — awaiting next milestone",
  ])("`Phase: %s` means that there is no present phase: no ancient plan is taken up", async (phase) => {
    const position = await at({ ".planning/STATE.md": state(`Phase: ${phase}`), [summaryOf(TWO)]: "x" });
    const nothing = await at({ ".planning/STATE.md": state(`Phase: ${phase}`) });

    expect([position.next?.id, position.gaps.map(({ id }) => id)]).toEqual(["02-01", ["01-01"]]);
    expect([nothing.status, nothing.next, nothing.gaps.length]).toEqual(["blocked", null, 3]);
  });

  test("`Phase: Not started (defining requirements)`: a new milestone begins behind what is complete", async () => {
    const text = state("Phase: Not started (defining requirements)");
    const position = await at({ ".planning/STATE.md": text, [summaryOf(TWO)]: "x" });

    expect([position.next?.id, position.gaps.map(({ id }) => id)]).toEqual(["02-01", ["01-01"]]);
    expect((await at({ ".planning/STATE.md": text })).next?.id).toBe("01-01");
  });

  test("a phase that is done without PLAN files is done: by its boxes, its SUMMARY files, its status or its row", async () => {
    const files = { [ONE]: null, [TWO]: null, [summaryOf(THREE)]: "x", ".planning/STATE.md": null };
    const ticked = await at({
      ...files,
      ".planning/ROADMAP.md": ROADMAP.replace("[ ] 01-01", "[x] 01-01").replace("[ ] 01-02", "[x] 01-02"),
    });
    const summaries = await at({ ...files, [summaryOf(ONE)]: "x", [summaryOf(TWO)]: "x" });
    const called = await at({
      ...files,
      ".planning/ROADMAP.md": ROADMAP.replace("**Goal**: a base", "- **Status**: DONE"),
    });
    const row = await at({
      ...files,
      ".planning/ROADMAP.md": ROADMAP.replace("| 0/2 | Not started", "| 2/2 | ✅ Complete"),
    });
    const begun = await at({ ...files, [summaryOf(ONE)]: "x" });

    for (const position of [ticked, summaries, called, row]) {
      expect([position.status, position.unplanned]).toEqual(["done", []]);
    }
    expect(begun.reasons).toEqual([
      "phase 01 (Base): ROADMAP.md lists 01-02, not written yet: `ralph plan 01`",
    ]);
  });

  test("without STATE.md, or without a phase in it, the order decides, and that is said", async () => {
    const without = await at({ ".planning/STATE.md": null });
    const silent = await at({ ".planning/STATE.md": "# State\n", [summaryOf(ONE)]: "x" });

    expect([without.next?.id, without.reasons]).toEqual(["01-01", ["01-01 is the first plan that is not complete"]]);
    expect(without.diagnostics).toEqual([
      ".planning/STATE.md: there is no STATE.md: the order of the phases decides what comes next",
    ]);
    expect(silent.next?.id).toBe("01-02");
    expect(silent.diagnostics).toEqual([
      ".planning/STATE.md: names no phase under `## Current Position`: the order of the phases decides what comes next",
    ]);
  });

  test("a plan waits for those that it depends on, whatever form they are named in", async () => {
    const position = await at({
      [ONE]: planText("a", { front: "depends_on: [01-02-PLAN.md]" }),
      [TWO]: planText("b", { front: 'depends_on: ["03"]' }),
      ".planning/phases/01-base/01-03-PLAN.md": planText("c", { front: "depends_on:\n  - 00-99" }),
    });

    expect(position.next?.id).toBe("01-03");
    expect(position.open.map(({ id }) => id)).toEqual(["01-03", "01-02", "01-01", "02-01"]);
    expect(position.reasons.slice(1)).toEqual([
      "01-01 comes later: it depends on 01-02",
      "01-02 comes later: it depends on 01-03",
    ]);
    expect(position.diagnostics).toEqual([
      ".planning/phases/01-base/01-03-PLAN.md: depends_on names 00-99, which is no plan here",
    ]);
  });

  test("plans that wait for each other are blocked, with the reasons", async () => {
    const position = await at({
      [ONE]: planText("a", { front: "depends_on: [01-02]" }),
      [TWO]: planText("b", { front: "depends_on: [01-01]" }),
      [THREE]: null,
      ".planning/ROADMAP.md": null,
    });

    expect([position.status, position.circles, position.reasons]).toEqual(["blocked", [["01-01", "01-02"]], [
      "depends_on goes in a circle: 01-01 → 01-02 → 01-01",
    ]]);
  });

  test("a phase that is still to be planned is told", async () => {
    const position = await at({ [THREE]: null, [summaryOf(ONE)]: "x", [summaryOf(TWO)]: "x" });
    const nothing = await at({ [ONE]: null, [TWO]: null, [THREE]: null });

    expect([position.status, position.reasons]).toEqual(["unplanned", [
      "phase 2 (More) has no plan yet: `ralph plan 2`",
    ]]);
    expect([nothing.status, nothing.reasons[0]]).toEqual([
      "unplanned",
      "phase 1 (Base) has no plan yet: `ralph plan 1`",
    ]);
  });

  test("a SUMMARY that is empty, a phase's, or says that its plan was blocked completes nothing", async () => {
    const position = await at({
      [summaryOf(ONE)]: "---\nstatus: blocked\n---\n",
      [summaryOf(TWO)]: "",
      ".planning/phases/02-more/02-SUMMARY.md": "done",
    });

    expect([position.complete, position.next?.id]).toEqual([0, "01-01"]);
    expect(position.diagnostics).toEqual([
      `${summaryOf(ONE)}: says itself that its plan was not carried out: it completes nothing`,
      `${summaryOf(TWO)}: is empty: it completes nothing`,
    ]);
  });

  test("look-alikes, other folders and the shelf are left out, and told", async () => {
    const position = await at({
      ".planning/phases/01-base/PRUNING-PLAN.md": "x",
      ".planning/phases/notes/a.md": "x",
      ".planning/phases/999.1-later/999.1-01-PLAN.md": "x",
      ".planning/phases/README.md": "x",
      ".planning/quick/1-a/1-PLAN.md": "x",
    });

    expect(position.total).toBe(3);
    expect(position.diagnostics).toEqual([
      ".planning/phases/01-base/PRUNING-PLAN.md: no plan by its name (01-01-PLAN.md): left out",
      ".planning/phases/999.1-later: on GSD's shelf for later: left out",
      ".planning/phases/notes: no phase by its name: left out",
    ]);
  });
});

describe("findPlan()", () => {
  test.each([["01-02", "01-02"], ["1-2", "01-02"], ["01-02-PLAN.md", "01-02"], [TWO, "01-02"], ["9-9", undefined], [
    "x",
    undefined,
  ]])("%j", async (named, id) => {
    await using tree = await temporaryRepository({ files: PROJECT, commit: false });

    expect(findPlan(await readPlanning({ root: tree.path }), named)?.id).toBe(id);
  });
});

describe("readPlanning()", () => {
  test("no .planning/ and no phase in it are errors, never done", async () => {
    await using none = await temporaryRepository();
    await using empty = await temporaryRepository({
      files: { ".planning/PROJECT.md": "# x\n", ".planning/ROADMAP.md": "# Roadmap\n", ".planning/STATE.md": STATE },
      commit: false,
    });

    await expect(readPlanning({ root: none.path })).rejects.toMatchObject({ code: "state-missing", exitCode: 2 });
    await expect(readPlanning({ root: empty.path })).rejects.toMatchObject({ code: "state-invalid", exitCode: 2 });
  });
});
