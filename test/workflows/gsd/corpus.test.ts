/**
 * Real `.planning/` trees, read in place. The expected values were written down by reading the files, not by running
 * this.
 */
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { changeLines, rewriteRoadmap, rewriteState, withSectionOf } from "../../../lib/workflows/gsd/rewrite.ts";
import { positionOf } from "../../../lib/workflows/gsd/position.ts";
import { parseState } from "../../../lib/workflows/gsd/state_file.ts";
import { readPlanning } from "../../../lib/workflows/gsd/read_planning.ts";
import { temporaryDirectory } from "../../../lib/host/files.ts";
import { only } from "../../needs.ts";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../../..");
const CORPUS = join(ROOT, "../shared/corpus/gsd");
const missing = !existsSync(CORPUS);
if (missing) console.warn(`${CORPUS} is not there: the real planning folders are not read`);

interface Expected {
  readonly tree: string;
  /** Phases, and how many plans each has. */
  readonly plans: Readonly<Record<string, number>>;
  readonly tasks: number;
  readonly checkpoints: number;
  /** `<automated>` in tasks and verification. */
  readonly commands: number;
  readonly complete: number;
  readonly phase: string | null;
  readonly plan: number | null;
  readonly status: string | null;
  readonly unplanned: readonly string[];
}

const TREES: readonly Expected[] = [
  {
    tree: "0xc0re__godot-mcp",
    plans: { "01": 3, "02": 3, "03": 3, "04": 3, "05": 2, "06": 3, "07": 3, "08": 2 },
    tasks: 36,
    checkpoints: 0,
    commands: 36,
    complete: 22,
    phase: "8",
    plan: 2,
    status: "Complete",
    unplanned: [],
  },
  {
    tree: "AbianS__prisma-generate-uml",
    plans: { "01": 3, "02": 3, "3": 0 },
    tasks: 13,
    checkpoints: 0,
    commands: 6,
    complete: 6,
    phase: "2",
    plan: null,
    status: "Pending",
    unplanned: ["3"],
  },
  {
    tree: "AntJanus__agent-compiler",
    plans: { "01": 3, "02": 3, "03": 3, "04": 5 },
    tasks: 33,
    checkpoints: 1,
    commands: 0,
    complete: 14,
    phase: "4",
    plan: 5,
    status: "Phase complete - All verification gaps closed",
    unplanned: [],
  },
  {
    tree: "BarlowTucker__elgato-wled-controller",
    plans: { "01": 3, "02": 2, "3": 0, "4": 0 },
    tasks: 9,
    checkpoints: 0,
    commands: 0,
    complete: 5,
    phase: "2",
    plan: 2,
    status: "In progress — Plan 02-02 complete (ActivatePresetAction, activate-preset PI with preset name dropdowns)",
    unplanned: ["3", "4"],
  },
  {
    tree: "MiteshSharma__clawrium",
    plans: { "01": 2, "02": 4, "03": 4, "04": 4, "05": 2, "06": 3 },
    tasks: 36,
    checkpoints: 0,
    commands: 36,
    complete: 19,
    phase: "06",
    plan: null,
    status: null,
    unplanned: [],
  },
  {
    tree: "ahmetb__kubectl-fields",
    plans: { "01": 2, "02": 2, "03": 2, "04": 1 },
    tasks: 14,
    checkpoints: 0,
    commands: 0,
    complete: 7,
    phase: null,
    plan: null,
    status: "v1.0 milestone complete, archived",
    unplanned: [],
  },
];

function textOf(tree: string, file: string): string {
  return readFileSync(join(CORPUS, tree, ".planning", file), "utf8");
}

/** The lines that differ, as a diff shows them. */
function diff(before: string, after: string): readonly string[] {
  const [old, now] = [before.split("\n"), after.split("\n")];
  expect(now.length).toBe(old.length);
  return old.flatMap((line, index) => line === now[index] ? [] : [`-${line}`, `+${now[index]}`]);
}

describe("real planning folders", only(!missing, "the corpus of planning folders"), () => {
  test.each(TREES)("$tree is read as a person reads it", async (expected) => {
    const planning = await readPlanning({ root: join(CORPUS, expected.tree) });
    const position = positionOf(planning);

    const plans = planning.phases.flatMap((phase) => phase.plans);
    const tasks = plans.flatMap((plan) => plan.tasks);
    const commands = [...tasks, ...plans.map((plan) => plan.verification)].flatMap((part) => part.commands);
    expect(Object.fromEntries(planning.phases.map((phase) => [phase.number, phase.plans.length]))).toEqual(
      expected.plans,
    );
    expect(tasks.length).toBe(expected.tasks);
    expect(tasks.filter(({ checkpoint }) => checkpoint).length).toBe(expected.checkpoints);
    expect(commands.length).toBe(expected.commands);
    expect(position.complete).toBe(expected.complete);
    expect([planning.state?.phase, planning.state?.plan, planning.state?.status]).toEqual([
      expected.phase,
      expected.plan,
      expected.status,
    ]);
    expect(position.unplanned.map(({ id }) => id)).toEqual(expected.unplanned);
    expect([position.next, position.gaps, position.status]).toEqual([
      null,
      [],
      expected.unplanned.length > 0 ? "unplanned" : "done",
    ]);
    expect(planning.diagnostics).toEqual([]);
  });

  test.each(TREES)(
    "$tree: STATE.md and ROADMAP.md rewritten with no change are the same bytes",
    async ({ tree }) => {
      const [state, roadmap] = [textOf(tree, "STATE.md"), textOf(tree, "ROADMAP.md")];
      const { phases } = await readPlanning({ root: join(CORPUS, tree) });

      expect(changeLines(state, new Map())).toBe(state);
      expect(withSectionOf(state, state)).toBe(state);
      for (const { number: phase, plans } of phases) {
        const row = roadmap.split("\n").find((line) => new RegExp(`^\\| 0?${Number(phase)}\\. `).test(line));
        const complete = row === undefined || row.includes("Complete");
        const total = Number(/(\d+)\/\d+/.exec(row ?? "")?.[1] ?? 1);
        for (const { id, number: plan } of plans) {
          const done = roadmap.includes(`[x] ${id}`);
          if (done && !complete) continue; // a row that says `1/3` of three ticked plans would be put right
          expect(rewriteRoadmap(roadmap, { phase, plan, done, complete: total, total, now: 0 })).toBe(roadmap);
        }
      }
    },
  );

  test("ticking a plan changes its box and the counts of its phase, nothing else", () => {
    const now = new Date(2026, 2, 1, 12).getTime();
    const tick = (tree: string, phase: string, plan: string, complete: number, total: number): readonly string[] => {
      const before = textOf(tree, "ROADMAP.md");
      return diff(before, rewriteRoadmap(before, { phase, plan, done: true, complete, total, now }));
    };

    expect(tick("BarlowTucker__elgato-wled-controller", "02", "01", 1, 2)).toEqual([
      "-- [ ] 02-01-PLAN.md — WLEDClient extensions (togglePower, getPresets), TogglePowerAction with PI and controller multi-select",
      "+- [x] 02-01-PLAN.md — WLEDClient extensions (togglePower, getPresets), TogglePowerAction with PI and controller multi-select",
      "-| 2. Button Actions | 0/2 | Planning | - |",
      "+| 2. Button Actions | 1/2 | In progress | - |",
    ]);
    expect(tick("BarlowTucker__elgato-wled-controller", "02", "02", 2, 2).slice(2)).toEqual([
      "-| 2. Button Actions | 0/2 | Planning | - |",
      "+| 2. Button Actions | 2/2 | Complete | 2026-03-01 |",
    ]);
    expect(tick("BarlowTucker__elgato-wled-controller", "3", "01", 1, 2)[1]).toBe(
      "+- [x] 03-01: Dial action foundation (encoder events, debounce, optimistic display, live state sync)",
    );
    expect(tick("AntJanus__agent-compiler", "04", "05", 5, 5)).toEqual([
      "-- [ ] 04-05-PLAN.md — Gap closure: Integrate line ending and permission utilities (Wave 1) [GAP FIX]",
      "+- [x] 04-05-PLAN.md — Gap closure: Integrate line ending and permission utilities (Wave 1) [GAP FIX]",
      "-| 4. CLI & Polish | 4/5 | Gap closure needed | - |",
      "+| 4. CLI & Polish | 5/5 | ✓ Complete | 2026-03-01 |",
    ]);
    expect(tick("MiteshSharma__clawrium", "06", "03", 3, 3)).toEqual([
      "-| 6. Per-Instance Secrets | 1/3 | In Progress|  |",
      "+| 6. Per-Instance Secrets | 3/3 | Complete| 2026-03-01 |",
    ]);
  });

  test("completing a plan changes only lines of the current position in STATE.md", () => {
    const now = new Date(2026, 2, 1, 12).getTime();
    const complete = (tree: string, phase: string, plan: number): readonly string[] => {
      const before = textOf(tree, "STATE.md");
      return diff(
        before,
        rewriteState(before, {
          phase,
          phaseName: "Next",
          plan,
          plans: 3,
          status: "In progress",
          activity: "Completed it",
          now,
          progress: { value: parseState(before).progress ?? "", before: 5, after: 6, total: 8 },
        }),
      );
    };

    expect(complete("BarlowTucker__elgato-wled-controller", "03", 1)).toEqual([
      "-Phase: 2 of 4 (Actions)",
      "+Phase: 3 of 4 (Next)",
      "-Plan: 2 of N in current phase",
      "+Plan: 1 of 3 in current phase",
      "-Status: In progress — Plan 02-02 complete (ActivatePresetAction, activate-preset PI with preset name dropdowns)",
      "+Status: In progress",
      "-Last activity: 2026-02-19 — Plan 02-02 complete (ActivatePresetAction simple/advanced mode, preset name dropdowns from WLED)",
      "+Last activity: 2026-03-01 — Completed it",
      "-Progress: [█████░░░░░] 42% (5 of 12 total plans)",
      "+Progress: [█████░░░░░] 50% (6 of 12 total plans)",
    ]);
    expect(complete("0xc0re__godot-mcp", "08", 1)).toEqual([
      "-Plan: 2 of 2 complete",
      "+Plan: 1 of 3",
      "-Status: Complete",
      "+Status: In progress",
      "-Last activity: 2026-03-04 - Completed quick task 1: add logging so we can see when/what is called",
      "+Last activity: 2026-03-01 - Completed it",
    ]);
  });

  test("a plan that lost its SUMMARY long ago is a gap, not the next plan", async () => {
    await using folder = await temporaryDirectory("ralph-corpus-");
    cpSync(join(CORPUS, "0xc0re__godot-mcp"), folder.path, { recursive: true });
    rmSync(join(folder.path, ".planning/phases/03-project-script-intelligence/03-02-SUMMARY.md"));
    const ticked = positionOf(await readPlanning({ root: folder.path }));
    const file = join(folder.path, ".planning/ROADMAP.md");
    writeFileSync(file, readFileSync(file, "utf8").replace("- [x] Phase 3:", "- [ ] Phase 3:"));
    const shipped = positionOf(await readPlanning({ root: folder.path }));
    writeFileSync(file, readFileSync(file, "utf8").replaceAll(/shipped/gi, "in progress"));

    const position = positionOf(await readPlanning({ root: folder.path }));

    expect([ticked.next, ticked.complete, ticked.withoutSummary.map(({ id }) => id)]).toEqual([null, 22, ["03-02"]]);
    expect([shipped.status, shipped.complete, shipped.gaps]).toEqual(["done", 22, []]);
    expect([position.next, position.status, position.complete]).toEqual([null, "blocked", 21]);
    expect(position.gaps).toEqual([{
      id: "03-02",
      note: "no SUMMARY, but STATE.md is at phase 8",
    }]);
  });
});
