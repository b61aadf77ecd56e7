import { circlesOf, inDependencyOrder } from "../dependencies.ts";
import { parsePlanName } from "./file_names.ts";
import { scalar } from "./front_matter.ts";
import { compareNumbers, sameNumber } from "./numbers.ts";
import type { Phase, Plan, Planning } from "./types.ts";

/** A plan with what there is to report on it. */
export interface Noted {
  readonly id: string;
  readonly note: string;
}

/** The position in a GSD project, and the next step. */
export interface Position {
  /**
   * `plan`: there is one to run. `unplanned`: all that is written is complete, or older; phases are still to be planned.
   * `done`: everything is complete. `blocked`: a person has to do something first.
   */
  readonly status: "plan" | "unplanned" | "done" | "blocked";
  /** The plan that comes next. */
  readonly next: Plan | null;
  /** Plans that may be worked on at once, `next` first: those of its phase that build on nothing unfinished. */
  readonly ready: readonly Plan[];
  /** Why this one, why none, or what is in the way. */
  readonly reasons: readonly string[];
  /** Plans that are complete. */
  readonly complete: number;
  /** Plans there are. */
  readonly total: number;
  /** Plans left in the present phase and those behind it, in the order in which they come. */
  readonly open: readonly Plan[];
  /** Plans of earlier phases without a SUMMARY: run only by `--plan`. */
  readonly gaps: readonly Noted[];
  /** Plans that depend on each other in a circle: an error. */
  readonly circles: readonly (readonly string[])[];
  /** Complete although they have no SUMMARY of their own. */
  readonly withoutSummary: readonly Noted[];
  /** Phases that still have to be planned, before and after the present one. */
  readonly unplanned: readonly Noted[];
  /** Work that is left behind, beside the next step: older plans, and plans that older phases lack. */
  readonly warnings: readonly string[];
  /** Plans that phases lack which the project has passed: beside what comes next, never in its place. */
  readonly older: readonly string[];
}

/**
 * The next plan: the first one of STATE.md's phase, or of a later one, that is not complete and whose dependencies are.
 * STATE.md's plan number counts for nothing: plans of one phase are worked on side by side. Pure.
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
  const { phases } = planning;
  const all = phases.flatMap(({ plans }) => plans);
  const incomplete = all.filter(({ completion }) => !completion.done);
  const waiting = new Set(incomplete.map(({ id }) => id));
  const passedBy = lastPassedPhase(planning);
  const isPassed = (phase: string): boolean => passedBy !== null && compareNumbers(phase, passedBy) <= 0;
  const left = incomplete.filter(({ phase }) => !isPassed(phase));
  const free = left.filter(({ dependsOn }) => !dependsOn.some((id) => waiting.has(id)));
  const next = free[0] ?? null;
  const lacking = phases.filter(({ finished, lacking, plans }) => !finished && (plans.length === 0 || lacking > 0));
  const toPlan = lacking.filter(({ number, begun }) => !isPassed(number) || !begun);
  const present = planning.state?.phase ?? null;
  const gaps = incomplete.filter(({ phase }) => isPassed(phase)).map(({ id, phase }) => ({
    id,
    note: present === null
      ? `no SUMMARY, but phase ${phase} is over: STATE.md names no present one`
      : `no SUMMARY, but STATE.md is at phase ${present}`,
  }));
  const circles = circlesOf(incomplete);
  const older = lacking.filter((phase) => !toPlan.includes(phase)).map(lackingLine);
  const warnings = [...(gaps.length === 0 ? [] : [gapsLine(gaps)]), ...older];
  const known = {
    complete: all.length - incomplete.length,
    total: all.length,
    ready: free.filter((plan) => plan === next || (plan.phase === next?.phase && isBeside(plan, left))),
    open: inDependencyOrder(left),
    gaps,
    circles,
    withoutSummary: all.flatMap(({ id, completion }) =>
      completion.done && completion.by !== "summary"
        ? [{ id, note: `no SUMMARY, but ${WITHOUT_SUMMARY[completion.by]}` }]
        : []
    ),
    unplanned: toPlan.map((phase) => ({ id: phase.number, note: lackingLine(phase) })),
    warnings,
    older,
  };
  if (next !== null) return { ...known, status: "plan", next, reasons: reasonsFor(next, left, present) };
  const blocked = [
    ...circles.map(circleLine),
    ...left.filter(({ id }) => !circles.some((circle) => circle.includes(id))).map(({ id, dependsOn }) =>
      `${id} waits for ${dependsOn.filter((other) => waiting.has(other)).join(", ")}`
    ),
  ];
  const notes = known.unplanned.map(({ note }) => note);
  if (blocked.length > 0) return { ...known, status: "blocked", next, reasons: [...blocked, ...warnings, ...notes] };
  if (notes.length > 0) return { ...known, status: "unplanned", next, reasons: [...notes, ...warnings] };
  if (gaps.length > 0) return { ...known, status: "blocked", next, reasons: warnings };
  const complete = all.length > 0 ? "every plan is complete" : "every phase is complete";
  return { ...known, status: "done", next, reasons: [complete, ...warnings] };
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

/**
 * A plan need not wait for the others of its phase: it says what it depends on, or its wave, and no earlier wave is
 * open. One that says neither builds on all before it.
 */
function isBeside(plan: Plan, left: readonly Plan[]): boolean {
  const waveOf = ({ frontMatter }: Plan): number => Number(scalar(frontMatter, "wave") ?? NaN);
  if (!("depends_on" in plan.frontMatter) && Number.isNaN(waveOf(plan))) return false;
  return !left.some((other) => other.phase === plan.phase && waveOf(other) < waveOf(plan));
}

/**
 * The last phase that the project has passed: the one before STATE.md's. If STATE.md says that there is none (between
 * milestones), or that the next one has not begun, it is the last one in which something is complete. `null`: none.
 */
function lastPassedPhase({ phases, state }: Planning): string | null {
  if (state === null) return null;
  const { phase: present } = state;
  if (present !== null) return phases.findLast(({ number }) => compareNumbers(number, present) < 0)?.number ?? null;
  if (state.kind === "unknown") return null;
  const begun = phases.findLast(({ finished, plans }) => finished || plans.some(({ completion }) => completion.done));
  return (begun ?? (state.kind === "none" ? phases.at(-1) : undefined))?.number ?? null;
}

function gapsLine(gaps: readonly Noted[]): string {
  const ids = gaps.map(({ id }) => id);
  const which = `${ids.length} older ${ids.length > 1 ? "plans have" : "plan has"} no SUMMARY: ${ids.join(", ")}`;
  const closes = "a tick in ROADMAP.md ([x], or [-] for what is left out) closes it";
  return `${which}; \`ralph run --plan ${ids[0]}\` runs one, ${closes}`;
}

/** `depends_on goes in a circle: 01-01 → 01-02 → 01-01`. Pure. */
export function circleLine(circle: readonly string[]): string {
  return `depends_on goes in a circle: ${[...circle, ...circle.slice(0, 1)].join(" → ")}`;
}

const WITHOUT_SUMMARY = {
  roadmap: "ROADMAP.md ticks it",
  skipped: "ROADMAP.md marks it as left out",
  phase: "ROADMAP.md ticks its phase",
  shipped: "ROADMAP.md calls its milestone shipped",
  superseded: "it says itself that it is superseded",
} as const;

/** Says which plans a phase lacks, and what to do about it. */
function lackingLine({ number, name, begun, lacking, planned, unwritten, written }: Phase): string {
  const titled = name === "" ? number : `${number} (${name})`;
  const command = `\`ralph plan ${number}\``;
  if (!begun) return `phase ${titled} has no plan yet: ${command}`;
  if (unwritten.length > 0) {
    return `phase ${titled}: ROADMAP.md lists ${unwritten.join(", ")}, not written yet: ${command}`;
  }
  if (lacking > 0) {
    return `phase ${titled}: ${written} of ${planned} plans are written: ${command}, or correct the number in ROADMAP.md and STATE.md`;
  }
  return `phase ${titled} is begun and has no PLAN file here: ${command}, or tick it in ROADMAP.md`;
}

function reasonsFor(next: Plan, left: readonly Plan[], present: string | null): readonly string[] {
  const from = present === null
    ? `${next.id} is the first plan that is not complete`
    : `STATE.md is at phase ${present}; ${next.id} is the first plan from there on that is not complete`;
  const held = left.slice(0, left.indexOf(next));
  return [from, ...held.map(({ id, dependsOn }) => `${id} comes later: it depends on ${dependsOn.join(", ")}`)];
}
