import { compareNumbers } from "./numbers.ts";
import type { Plan, Planning, PlanTask, Verifying } from "./types.ts";
import type { Position } from "./position.ts";
import type { StateFiles } from "../../backlog/state_files.ts";
import type { Config } from "../../config/types.ts";
import type { RunInfo } from "../../context/context.ts";
import type { EventSink } from "../../events/types.ts";
import type { Repository } from "../../git/types.ts";
import type { Host } from "../../host/types.ts";

/** What an item of the gsd backlog carries: the plan as it stood when it was taken up. Plain JSON. */
export interface GsdItemData {
  readonly id: string;
  readonly phase: string;
  readonly phaseName: string;
  readonly number: string;
  /** The plan's place in its phase, from 1. */
  readonly place: number;
  readonly file: string;
  readonly summaryFile: string;
  readonly title: string;
  readonly tasks: readonly Pick<PlanTask, "checkpoint" | "commands" | "name" | "notCheckable" | "number">[];
  readonly verification: Verifying;
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
  /** Ids of the other plans that are not complete: a SUMMARY of one of them that turns up is none. */
  readonly others: readonly string[];
}

/** Takes the snapshot. Pure. */
export function itemDataOf(plan: Plan, planning: Planning, position: Position): GsdItemData {
  const phase = planning.phases.find(({ number }) => number === plan.phase);
  const plans = phase?.plans ?? [];
  const unwritten = planning.phases.reduce((sum, { unwritten: ids }) => sum + ids.length, 0);
  return {
    id: plan.id,
    phase: plan.phase,
    phaseName: phase?.name ?? "",
    number: plan.number,
    place: plans.findIndex(({ id }) => id === plan.id) + 1,
    file: plan.file,
    summaryFile: plan.summaryFile,
    title: plan.title ?? plan.id,
    tasks: plan.tasks.map(({ checkpoint, commands, name, notCheckable, number }) => ({
      checkpoint,
      commands,
      name,
      notCheckable,
      number,
    })),
    verification: plan.verification,
    checkpointsOnly: plan.tasks.length > 0 && plan.tasks.every(({ checkpoint }) => checkpoint),
    phaseComplete: plans.filter(({ id, completion }) => id !== plan.id && completion.done).length,
    phaseTotal: plans.length + (phase?.unwritten.length ?? 0),
    complete: position.complete - (plan.completion.done ? 1 : 0),
    total: position.total + unwritten,
    behind: plan.completion.done || position.gaps.some(({ id }) => id === plan.id) ||
      position.open.some((other) => compareNumbers(other.phase, plan.phase) < 0),
    progress: planning.state?.progress ?? null,
    wasDone: plan.completion.done,
    wasTicked: plan.completion.done && plan.completion.by === "roadmap",
    others: planning.phases.flatMap(({ plans: all }) => all).filter(({ id, summarized }) =>
      id !== plan.id && !summarized
    ).map(({ id }) => id),
  };
}

/** What the backlog needs of the context. */
export interface GsdBacklogContext {
  readonly root: string;
  readonly config: Config;
  readonly state: StateFiles;
  readonly repository: Repository | null;
  readonly host: Host;
  readonly events: EventSink;
  readonly run: Pick<RunInfo, "folder">;
}
