import { canonical, sameNumber } from "./numbers.ts";
import { isShipped, isTicked, type Roadmap, type RoadmapPlan } from "./roadmap_file.ts";
import type { PhaseStanding, Plan } from "./types.ts";

/** Folder, ROADMAP.md and STATE.md say this of one phase. */
export interface PhaseFacts extends Pick<PhaseStanding, "closed" | "number"> {
  readonly plans: readonly Pick<Plan, "completion" | "number">[];
  /** Numbers of the plans whose SUMMARY is in the folder without their PLAN. */
  readonly orphans: readonly string[];
  /** The boxes of its plans in ROADMAP.md. */
  readonly listed: readonly RoadmapPlan[];
  /** ROADMAP.md says in words that the phase is done or left out, or that it is not; `null`: neither. */
  readonly done: boolean | null;
  /** How many plans the line `**Plans**:` of ROADMAP.md gives it; `null` where there is no such number. */
  readonly inRoadmap: number | null;
  /** How many plans STATE.md gives it; `null` where it is at another phase, or does not say. */
  readonly inState: number | null;
  /** How many plans its row gives it: often an estimate of the day on which the roadmap was made. */
  readonly inRow: number | null;
  /** STATE.md is at this phase. */
  readonly present: boolean;
}

/**
 * Counts a phase's plans: how many it is to have, how many of them are written and complete, and whether anything is
 * left. Nothing else decides that. Pure.
 */
export function phaseStanding(facts: PhaseFacts): PhaseStanding {
  const { number, plans, orphans, listed, closed, done, present } = facts;
  const others = listed.filter((plan) => !plans.some((other) => sameNumber(other.number, plan.number)));
  const isOrphan = (plan: RoadmapPlan): boolean => orphans.some((orphan) => sameNumber(orphan, plan.number));
  const open = others.filter((plan) => !isTicked(plan.mark) && plan.mark !== "-" && !isOrphan(plan));
  const unwritten = new Set(open.map((plan) => `${plan.phase}-${plan.number}`));
  const gone = new Set(
    [...others.filter((plan) => !open.includes(plan)).map((plan) => plan.number), ...orphans].map(canonical),
  );
  const written = plans.length + gone.size;
  const complete = plans.filter(({ completion }) => completion.done).length + gone.size;
  const said = facts.inRoadmap ?? facts.inState ?? (listed.length > 0 ? null : facts.inRow);
  const isCounted = said !== null || others.length > 0;
  const planned = Math.max(said ?? 0, written + unwritten.size);
  // SUMMARY files alone do not say how many plans there are
  const isKnown = plans.length > 0 || isCounted || (done !== false && !present);
  const isAll = closed !== null || done === true || (written > 0 && written >= planned && isKnown);
  return {
    number,
    planned: isCounted || written > 0 ? planned : null,
    written,
    complete,
    closed,
    begun: written > 0,
    finished: isAll && complete >= written,
    lacking: isAll ? 0 : planned - written,
    unwritten: isAll ? [] : [...unwritten],
  };
}

/** ROADMAP.md says this of one phase, beside the boxes of its plans. */
export function saidOf(
  { phases, rows, totals, called, milestones }: Roadmap,
  number: string,
): Pick<PhaseFacts, "closed" | "done" | "inRoadmap" | "inRow"> & { readonly name: string } {
  const known = phases.find((phase) => sameNumber(phase.number, number));
  const mark = known?.mark ?? null;
  const shipped = known?.shipped ?? isShipped(number, { inside: false, outside: false, mark: null }, milestones);
  const byMilestone = shipped ? "shipped" : null;
  const notTicked = mark === "-" ? "skipped" : byMilestone;
  const words = called.filter(({ phase }) => sameNumber(phase, number)).map(({ done }) => done);
  const row = rows.find(({ phase, plans }) => plans !== null && sameNumber(phase, number))?.plans;
  const line = totals.find(({ phase }) => sameNumber(phase, number));
  return {
    name: known?.name ?? "",
    closed: isTicked(mark) ? "ticked" : notTicked,
    done: words.includes(true) || (words.includes(false) || mark === " " || line?.total === null ? false : null),
    inRoadmap: line?.total ?? null,
    inRow: Number(row?.split("/")[1] ?? 0) || null,
  };
}
