import type { NewTask } from "./mutations/add_tasks.ts";
import { doneOf, issuesOf } from "./plan_file.ts";
import { refused } from "./refused.ts";
import { STAGE_CLAIMS, type TurnScope } from "./stage_claims.ts";
import type { Plan } from "./types.ts";

/** Ids of the items that are stages; a BUILD item has its task's id. */
export const STAGE_ITEMS = {
  plan: "PLAN",
  verify: "VERIFY",
  investigate: "INVESTIGATE",
  decompose: "DECOMPOSE:",
} as const;

/** What the turn at work is about, as a command inside of it sees it. @throws {RalphError} usage outside of this workflow */
export function scopeOfTurn(
  plan: Plan,
  { stage, item }: { readonly stage: string | null; readonly item: string },
): TurnScope {
  const known = (Object.keys(STAGE_CLAIMS) as TurnScope["stage"][]).find((name) => name === stage);
  switch (known) {
    case undefined:
      throw refused("the turn that runs this command works on no plan", "the prompt says how its results are reported");
    case "PLAN":
      return { stage: known, given: [] };
    case "BUILD":
      return { stage: known, given: [item] };
    case "DECOMPOSE":
      return { stage: known, given: [item.slice(STAGE_ITEMS.decompose.length)] };
    case "VERIFY":
      return { stage: known, given: doneOf(plan).map(({ id }) => id) };
    case "INVESTIGATE":
      return { stage: known, given: issuesOf(plan).map(({ id }) => id) };
  }
}

/** What a task that is added in a turn has from it: DECOMPOSE is its parent, a single issue its reason. */
export function turnDefaults({ stage, given }: TurnScope): Partial<NewTask> {
  const [first, another] = given;
  if (stage === "DECOMPOSE" && first !== undefined) return { parent: first };
  return stage === "INVESTIGATE" && first !== undefined && another === undefined ? { created_from: first } : {};
}
