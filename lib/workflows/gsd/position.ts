import { parsePlanName } from "./file_names.ts";
import { compareNumbers, sameNumber } from "./numbers.ts";
import type { Phase, Plan, Planning } from "./types.ts";

/** A plan with what there is to report on it. */
export interface Noted {
  readonly id: string;
  readonly note: string;
}

/** Where a GSD project is, and what comes next. */
export interface Position {
  /** Where the project is. */
  readonly status: "plan" | "done" | "blocked";
  /** The plan that comes next. */
  readonly next: Plan | null;
  /** Why this one, why none, or what is in the way. */
  readonly reasons: readonly string[];
  /** Plans that are complete. */
  readonly complete: number;
  /** Plans there are. */
  readonly total: number;
  /** Plans left from here on, in the order in which they come. */
  readonly open: readonly Plan[];
  /** Plans without a SUMMARY that the project has long passed: run only by `--plan`. */
  readonly gaps: readonly Noted[];
  /** Complete although they have no SUMMARY of their own. */
  readonly withoutSummary: readonly Noted[];
  /** Phases that still have to be planned. */
  readonly unplanned: readonly Noted[];
}

/**
 * The next plan: the first one from STATE.md's position on that is not complete and whose dependencies are. Pure.
 *
 * @example The next plan of a project
 * ```ts
 * import { positionOf, readPlanning } from "ralph/gsd";
 * import { testContext } from "ralph/testing";
 *
 * await using ralph = await testContext({ files: { ".planning/phases/01-base/01-01-PLAN.md": "<task><name>a</name></task>\n" } });
 * console.log(positionOf(await readPlanning(ralph)).next?.id); // 01-01
 * ```
 */
export function positionOf(planning: Planning): Position {
  const { phases, state } = planning;
  const all = phases.flatMap(({ plans }) => plans);
  const incomplete = all.filter(({ completion }) => !completion.done);
  const passed = new Set(incomplete.filter((plan) => isPassed(plan, phases, planning)).map(({ id }) => id));
  const left = incomplete.filter(({ id }) => !passed.has(id));
  const leftIds = new Set(left.map(({ id }) => id));
  const ready = left.filter(({ dependsOn }) => !dependsOn.some((id) => leftIds.has(id)));
  const next = ready[0] ?? null;
  const unplanned = phases.flatMap((phase) => unplannedNote(phase, planning));
  const known = {
    complete: all.length - incomplete.length,
    total: all.length,
    open: inOrder(left),
    gaps: incomplete.filter(({ id }) => passed.has(id)).map(({ id }) => ({
      id,
      note: `no SUMMARY, but ${standsAt(state)}: \`--plan ${id}\` runs it`,
    })),
    withoutSummary: all.flatMap(noteWithoutSummary),
    unplanned,
  };
  if (next !== null) return { ...known, status: "plan", next, reasons: reasonsFor(next, left, planning) };
  if (left.length > 0) {
    return {
      ...known,
      status: "blocked",
      next,
      reasons: left.map(({ id, dependsOn }) =>
        `${id} waits for ${dependsOn.filter((other) => leftIds.has(other)).join(", ")}`
      ),
    };
  }
  if (all.length === 0) {
    const reasons = unplanned.length === 0 ? ["there is no plan to run"] : unplanned.map(({ note }) => note);
    return { ...known, status: "blocked", next, reasons };
  }
  const why = known.gaps.length === 0
    ? "every plan is complete"
    : `every plan from here on is complete; ${known.gaps.length} older without a SUMMARY`;
  return { ...known, status: "done", next, reasons: [why, ...unplanned.map(({ note }) => note)] };
}

/**
 * Finds the plan that a person names: `01-02`, `1-2`, `01-02-PLAN.md`. Pure.
 *
 * @example A plan by the name that a person types
 * ```ts
 * import { findPlan, readPlanning } from "ralph/gsd";
 * import { testContext } from "ralph/testing";
 *
 * await using ralph = await testContext({ files: { ".planning/phases/01-base/01-01-PLAN.md": "<task><name>a</name></task>\n" } });
 * console.log(findPlan(await readPlanning(ralph), "1-1")?.id); // 01-01
 * ```
 */
export function findPlan(planning: Planning, named: string): Plan | null {
  const name = parsePlanName(`${named.replace(/^.*\//, "").replace(/(-PLAN)?(\.md)?$/i, "")}-PLAN.md`, "PLAN");
  if (name === null || name.phase === null || name.number === null) return null;
  const { phase, number } = name;
  return planning.phases.flatMap(({ plans }) => plans).find((plan) =>
    sameNumber(plan.phase, phase) && sameNumber(plan.number, number)
  ) ?? null;
}

/** The plans left, each after those that it depends on, else in their order. */
function inOrder(left: readonly Plan[]): readonly Plan[] {
  const rest = [...left];
  const sorted: Plan[] = [];
  while (rest.length > 0) {
    const at = rest.findIndex(({ dependsOn }) => !rest.some(({ id }) => dependsOn.includes(id)));
    sorted.push(...rest.splice(Math.max(at, 0), 1));
  }
  return sorted;
}

function isPassed(plan: Plan, phases: readonly Phase[], { state }: Planning): boolean {
  if (state?.kind === "none") return true;
  if (state?.phase === null || state === null) return false;
  const order = compareNumbers(plan.phase, state.phase);
  if (order !== 0) return order < 0;
  const place = phases.find(({ number }) => number === plan.phase)?.plans.findIndex(({ id }) => id === plan.id) ?? 0;
  return state.plan !== null && place + 1 < state.plan;
}

function standsAt(state: Planning["state"]): string {
  if (state === null || state.phase === null) return "STATE.md names no current phase";
  return `STATE.md is at phase ${state.phase}${state.plan === null ? "" : `, plan ${state.plan}`}`;
}

function noteWithoutSummary({ id, completion }: Plan): readonly Noted[] {
  if (!completion.done || completion.by === "summary") return [];
  const why = {
    roadmap: "ROADMAP.md ticks it",
    skipped: "ROADMAP.md marks it as left out",
    phase: "ROADMAP.md ticks its phase",
    superseded: "it says itself that it is superseded",
  }[completion.by];
  return [{ id, note: `no SUMMARY, but ${why}` }];
}

function unplannedNote(phase: Phase, { state }: Planning): readonly Noted[] {
  const { number, name, plans, unwritten, ticked } = phase;
  if (ticked || (state !== null && state.phase !== null && compareNumbers(number, state.phase) < 0)) return [];
  const titled = name === "" ? number : `${number} (${name})`;
  if (plans.length === 0) return [{ id: number, note: `phase ${titled} has no plan yet: \`ralph plan ${number}\`` }];
  if (unwritten.length === 0) return [];
  return [{
    id: number,
    note: `phase ${titled}: ROADMAP.md lists ${unwritten.join(", ")}, not written yet: \`ralph plan ${number}\``,
  }];
}

function reasonsFor(next: Plan, left: readonly Plan[], { state }: Planning): readonly string[] {
  const from = state === null || state.phase === null
    ? `${next.id} is the first plan that is not complete`
    : `${standsAt(state)}; ${next.id} is the first plan from there on that is not complete`;
  const held = left.slice(0, left.findIndex(({ id }) => id === next.id));
  return [from, ...held.map(({ id, dependsOn }) => `${id} comes later: it depends on ${dependsOn.join(", ")}`)];
}
