import { describe, expect, test } from "vitest";
import { gsdBacklog } from "../../../lib/workflows/gsd/backlog.ts";
import { runLoop } from "../../../lib/loop/run/run_loop.ts";
import { fileOf, gsdWorld } from "./gsd_world.ts";
import { ONE, planText, ROADMAP, STATE, summaryOf, THREE, TWO } from "./planning.ts";

const LAST = ".planning/phases/01-base/01-03-PLAN.md";
const STATE_FILE = ".planning/STATE.md";
/** Phase 1 is over, as STATE.md has it. */
const SECOND_PHASE = { [STATE_FILE]: STATE.replace("Phase: 1 of 2 (Base)", "Phase: 2 of 2 (More)") };

function reasonsOf(run: object): readonly string[] {
  return "reasons" in run ? run.reasons as readonly string[] : [];
}

describe("no plan is left behind", () => {
  test("a plan that comes later by depends_on than by number is run, after the one that it waits for", async () => {
    await using one = await gsdWorld({
      [TWO]: planText("two.txt", { front: 'depends_on: ["01-03"]' }),
      [LAST]: planText("last.txt"),
    });

    const run = await runLoop(one.ralph, gsdBacklog(one.ralph));

    expect([run.status, run.passed]).toEqual(["passed", ["01-01", "01-03", "01-02", "02-01"]]);
    expect(fileOf(one, STATE_FILE)).toContain("Phase: 2 of 2 (More)\nPlan: 1 of 1");
  });

  test("a later plan by name leaves the earlier ones open, and STATE.md's phase where it is", async () => {
    await using one = await gsdWorld({});

    const named = await runLoop(one.ralph, gsdBacklog(one.ralph, { plan: "02-01" }));
    const state = fileOf(one, STATE_FILE);
    const ralph = await one.again();
    const rest = await runLoop(ralph, gsdBacklog(ralph));

    expect([named.status, "summary" in named && named.summary]).toEqual(["passed", "02-01 is complete; next: 01-01"]);
    expect(state).toContain("Phase: 1 of 2 (Base)\nPlan: 0 of 2");
    expect([rest.status, rest.passed]).toEqual(["passed", ["01-01", "01-02"]]);
  });

  test("plans that depend on each other in a circle are an error, before a turn is paid for", async () => {
    await using one = await gsdWorld({
      [ONE]: planText("one.txt", { front: "depends_on: [01-02]" }),
      [TWO]: planText("two.txt", { front: "depends_on: [01-01]" }),
    });

    const run = runLoop(one.ralph, gsdBacklog(one.ralph));

    await expect(run).rejects.toThrow(`${ONE}: depends_on goes in a circle: 01-01 → 01-02 → 01-01`);
    expect(one.prompts).toEqual([]);
  });

  test("a run that leaves plans of earlier phases has not passed, and names them with the ways out", async () => {
    await using one = await gsdWorld({ ...SECOND_PHASE, [summaryOf(ONE)]: "x" });

    const run = await runLoop(one.ralph, gsdBacklog(one.ralph));

    expect([run.status, run.passed, reasonsOf(run)]).toEqual(["blocked", ["02-01"], [
      "1 older plan has no SUMMARY: 01-02; `ralph run --plan 01-02` runs one, a tick in ROADMAP.md ([x], or [-] for what is left out) closes it",
    ]]);
  });

  test("a plan whose dependency is a plan of an earlier phase without SUMMARY waits for it", async () => {
    await using one = await gsdWorld({
      ...SECOND_PHASE,
      [summaryOf(ONE)]: "x",
      [THREE]: planText("three.txt", { front: 'depends_on: ["01-02"]' }),
    });

    const run = await runLoop(one.ralph, gsdBacklog(one.ralph));
    const ralph = await one.again();
    const named = await runLoop(ralph, gsdBacklog(ralph, { plan: "01-02" }));
    const rest = await one.again();

    expect([run.status, run.passed, reasonsOf(run)[0]]).toEqual(["blocked", [], "02-01 waits for 01-02"]);
    expect(named.status).toBe("passed");
    expect((await runLoop(rest, gsdBacklog(rest))).status).toBe("passed");
  });

  test("phases to be planned: passed where the run did something, blocked where nothing was left to begin with", async () => {
    await using one = await gsdWorld({
      [THREE]: null,
      [TWO]: null,
      ".planning/ROADMAP.md": ROADMAP.replace(/^.*01-02.*\n/m, "").replace("2 plans", "1 plan"),
    });

    const run = await runLoop(one.ralph, gsdBacklog(one.ralph));
    const ralph = await one.again();
    const again = await runLoop(ralph, gsdBacklog(ralph));

    expect([run.status, "summary" in run && run.summary]).toEqual([
      "passed",
      "phase 2 (More) has no plan yet: `ralph plan 2`",
    ]);
    expect([again.status, reasonsOf(again)]).toEqual(["blocked", [
      "phase 2 (More) has no plan yet: `ralph plan 2`",
    ]]);
  });
});

test("what a person writes into ROADMAP.md while a plan is worked on stays, beside Ralph's tick", async () => {
  await using one = await gsdWorld({}, async (write) => {
    await write(
      ".planning/ROADMAP.md",
      `${ROADMAP.replace("[ ] 02-01", "[x] 02-01")}\n### Phase 3: A careful thought\n`,
    );
  });

  const run = await runLoop(one.ralph, gsdBacklog(one.ralph, { plan: "01-01" }));

  const roadmap = fileOf(one, ".planning/ROADMAP.md");
  expect(run.status).toBe("passed");
  expect(roadmap).toContain("\n### Phase 3: A careful thought\n");
  expect(roadmap).toContain("- [x] 01-01-PLAN.md — One\n- [ ] 01-02-PLAN.md — Two\n");
  expect(roadmap).toContain("- [ ] 02-01-PLAN.md — Three\n");
});

test("Progress keeps its meaning through a run: a milestone's stays, a fraction of plans counts on", async () => {
  const state = (value: string): Record<string, string> => ({ [STATE_FILE]: STATE.replace("[░░░░░░░░░░] 0%", value) });
  await using milestone = await gsdWorld(state("[██░░░░░░░░] 20%"));
  await using fraction = await gsdWorld(state("[██░░░░░░░░] 20% (2/10 milestone plans)"));

  await runLoop(milestone.ralph, gsdBacklog(milestone.ralph, { plan: "01-01" }));
  await runLoop(fraction.ralph, gsdBacklog(fraction.ralph, { plan: "01-01" }));

  expect(fileOf(milestone, STATE_FILE)).toContain("Progress: [██░░░░░░░░] 20%\n");
  expect(fileOf(fraction, STATE_FILE)).toContain("Progress: [███░░░░░░░] 30% (3/10 milestone plans)\n");
});

test("the prompt says who decides where the plan names GSD's own executor, and that no PLAN.md may change", async () => {
  await using one = await gsdWorld({}, async (write, id) => {
    if (one.prompts.length === 1) await write("one.txt", "wrong\n");
    expect(id).toBe("01-01");
  });

  await runLoop(one.ralph, gsdBacklog(one.ralph, { plan: "01-01" }));

  const [first = "", second = ""] = one.prompts;
  expect(first).toContain("Where it and this page differ, this page holds.");
  expect(first).toContain("Do not change a PLAN.md, this one or another");
  expect([first, second].map((text) => text.includes("the earlier attempt did"))).toEqual([false, true]);
});
