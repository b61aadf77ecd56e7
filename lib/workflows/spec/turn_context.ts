import type { NewTask } from "./mutations/add_tasks.ts";
import { doneOf, issuesOf, tasksOf } from "./plan_file.ts";
import { refused } from "./refused.ts";
import { isInvestigated } from "./stage.ts";
import type { TurnScope } from "./stage_claims.ts";
import type { Plan } from "./types.ts";

/** Ids of the items that are stages; a BUILD item has its task's id. */
export const STAGE_ITEMS = {
  plan: "PLAN",
  verify: "VERIFY",
  investigate: "INVESTIGATE",
  decompose: "DECOMPOSE:",
} as const;

const STAGES = ["PLAN", "BUILD", "DECOMPOSE", "VERIFY", "INVESTIGATE"] as const;

/**
 * The subject of the turn at work, as a command inside of it sees it.
 *
 * @throws {RalphError} usage outside of this workflow
 */
export function scopeOfTurn(
  plan: Plan,
  { stage, item }: { readonly stage: string | null; readonly item: string },
): TurnScope {
  const known = STAGES.find((name) => name === stage);
  switch (known) {
    case undefined:
      throw refused("the turn that runs this command works on no plan", "the prompt says how its results are reported");
    case "PLAN":
      return turnScope(known, []);
    case "BUILD":
    case "DECOMPOSE": // a task that the plan does not hold (any more) is given all the same
      return turnScope(known, [tasksOf(plan).find(({ id }) => id === item) ?? { id: item, rounds: 0 }]);
    case "VERIFY":
      return turnScope(known, doneOf(plan));
    case "INVESTIGATE":
      return turnScope(known, issuesOf(plan).filter(isInvestigated));
  }
}

/** The subject of a turn of a stage, from the records that it is given. Pure. */
export function turnScope(
  stage: TurnScope["stage"],
  records: readonly { readonly id: string; readonly rounds: number }[],
): TurnScope {
  return {
    stage,
    given: records.map(({ id }) => id),
    rounds: records.reduce((most, { rounds }) => Math.max(most, rounds), 0),
  };
}

/** A task that is added in a turn inherits this: DECOMPOSE is its parent, a single issue its reason. */
export function turnDefaults({ stage, given }: TurnScope): Partial<NewTask> {
  const [first, another] = given;
  if (stage === "DECOMPOSE" && first !== undefined) return { parent: first };
  return stage === "INVESTIGATE" && first !== undefined && another === undefined ? { created_from: first } : {};
}
