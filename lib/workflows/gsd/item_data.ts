import { compareNumbers } from "./numbers.ts";
import type { Plan, Planning, PlanTask } from "./types.ts";
import type { Position } from "./position.ts";
import type { RalphContext, RunInfo } from "../../context/context.ts";
import type { EventSink } from "../../events/types.ts";

/** An item of the gsd backlog carries the plan as it stood when it was taken up. Plain JSON. */
export interface GsdItemData extends Pick<Plan, "file" | "id" | "number" | "phase" | "summaryFile" | "verification"> {
  readonly phaseName: string;
  /** The plan's place in its phase, from 1. */
  readonly place: number;
  readonly title: string;
  readonly tasks: readonly Pick<PlanTask, "checkpoint" | "commands" | "name" | "notCheckable" | "number">[];
  /** Nothing in it is for an agent. */
  readonly checkpointsOnly: boolean;
  /** Complete before this plan, and all: of its phase, and over all phases. */
  readonly phaseComplete: number;
  readonly phaseTotal: number;
  readonly complete: number;
  readonly total: number;
  /** Older than STATE.md's position, or ahead of open plans of an earlier phase: that position stays where it is. */
  readonly behind: boolean;
  /** `Progress:` of STATE.md. */
  readonly progress: string | null;
  /** It was complete. */
  readonly wasDone: boolean;
  /** ROADMAP.md ticked it already. */
  readonly wasTicked: boolean;
  /** The places of the other plans without a SUMMARY: one of theirs that turns up completes nothing. */
  readonly unsummarized?: readonly PlanRange[];
}

/** Plans that follow each other: the first and the last one. However long a plan is, there are few of them. */
export type PlanRange = readonly [from: PlanPlace, to: PlanPlace];

/** A plan's phase and number. */
export type PlanPlace = readonly [phase: string, number: string];

/** These counts change as other plans pass. */
export type GsdCounts = Pick<GsdItemData, "complete" | "phaseComplete" | "phaseTotal" | "total">;

/** Takes the snapshot. Pure. */
export function itemDataOf(plan: Plan, planning: Planning, position: Position): GsdItemData {
  const phase = planning.phases.find(({ number }) => number === plan.phase);
  return {
    id: plan.id,
    phase: plan.phase,
    phaseName: phase?.name ?? "",
    number: plan.number,
    place: (phase?.plans ?? []).findIndex(({ id }) => id === plan.id) + 1,
    file: plan.file,
    summaryFile: plan.summaryFile,
    title: plan.title ?? plan.id,
    tasks: plan.tasks.map(({ line: _line, type: _type, ...task }) => task),
    verification: plan.verification,
    checkpointsOnly: plan.tasks.length > 0 && plan.tasks.every(({ checkpoint }) => checkpoint),
    ...countsWithout(plan, planning),
    behind: plan.completion.done || position.gaps.some(({ id }) => id === plan.id) ||
      position.open.some((other) => compareNumbers(other.phase, plan.phase) < 0),
    progress: planning.state?.progress ?? null,
    wasDone: plan.completion.done,
    wasTicked: plan.completion.done && plan.completion.by === "roadmap",
    unsummarized: rangesOf(planning),
  };
}

/** The plans without a SUMMARY, as ranges in the order of the phases. */
function rangesOf({ phases }: Planning): readonly PlanRange[] {
  const ranges: [from: PlanPlace, to: PlanPlace][] = [];
  let isOpen = false;
  for (const { phase, number, summarized } of phases.flatMap(({ plans }) => plans)) {
    if (!summarized && isOpen) ranges.at(-1)![1] = [phase, number];
    else if (!summarized) ranges.push([[phase, number], [phase, number]]);
    isOpen = !summarized;
  }
  return ranges;
}

/** True where a plan is in one of the ranges. Pure. */
export function isWithin({ phase, number }: Pick<Plan, "number" | "phase">, ranges: readonly PlanRange[]): boolean {
  const here = [phase, number] as const;
  return ranges.some(([from, to]) => comparePlaces(from, here) <= 0 && comparePlaces(here, to) <= 0);
}

function comparePlaces([phase, number]: PlanPlace, [otherPhase, otherNumber]: PlanPlace): number {
  return compareNumbers(phase, otherPhase) || compareNumbers(number, otherNumber);
}

/** How many plans are complete, one left out, and how many there are. Pure. */
export function countsWithout(
  { id: own, phase: number }: Pick<Plan, "id" | "phase">,
  { phases }: Pick<Planning, "phases">,
): GsdCounts {
  const complete = (plans: readonly Plan[]): number =>
    plans.filter(({ id, completion }) => id !== own && completion.done).length;
  const phase = phases.find((one) => one.number === number);
  return {
    phaseComplete: complete(phase?.plans ?? []),
    phaseTotal: (phase?.plans.length ?? 0) + (phase?.lacking ?? 0),
    complete: complete(phases.flatMap(({ plans }) => plans)),
    total: phases.reduce((sum, { plans, lacking }) => sum + plans.length + lacking, 0),
  };
}

/** The part of the context that the backlog needs. */
export interface GsdBacklogContext extends Pick<RalphContext, "config" | "host" | "repository" | "root" | "state"> {
  readonly events: EventSink;
  readonly run: Pick<RunInfo, "folder">;
}
