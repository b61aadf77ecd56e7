import type { ClaimLine } from "../../backlog/claims.ts";
import type { NewTask } from "./mutations.ts";
import { doneOf, issuesOf, tasksById } from "./plan_file.ts";
import { refused } from "./refused.ts";
import { isInvestigated, type Stage } from "./stage.ts";
import type { Plan } from "./types.ts";

const STAGES = ["PLAN", "BUILD", "DECOMPOSE", "VERIFY", "INVESTIGATE"] as const;

/** The subject of a turn. */
export interface TurnScope {
  readonly stage: Exclude<Stage, "COMPLETE">;
  /** Ids of the records that it was given. */
  readonly given: readonly string[];
  /** Rounds of issue and task that led to what it was given. */
  readonly rounds: number;
}

/** How far a stage may use a command: `given` only for what it was given. */
type Extent = "any" | "given" | "new" | "part" | "replacement";

/** The claims that a turn of each stage may make; every stage may add issues. */
export const STAGE_CLAIMS: Readonly<Record<TurnScope["stage"], Readonly<Record<string, Extent>>>> = {
  PLAN: { "issue add": "any", "task add": "any", "set-spec": "any" },
  BUILD: { "issue add": "any", "task done": "given" },
  VERIFY: { "issue add": "any", "task accept": "any", "task reject": "given", "task add": "replacement" },
  INVESTIGATE: { "issue add": "any", "issue done": "given", "task add": "new" },
  DECOMPOSE: { "issue add": "any", "task add": "part", "task done": "given" },
};

/** Commands that only add: these may come from outside of a turn while a run is at work. */
export function onlyAdds({ command, record }: ClaimLine): boolean {
  return command === "issue add" || (command === "task add" && record?.["supersedes"] === undefined);
}

/** Refuses what the stage of the turn does not permit. Pure. @throws {RalphError} usage, with the stage in the hint */
export function checkPermitted({ stage, given }: TurnScope, { command, id, record = {} }: ClaimLine): void {
  const may = STAGE_CLAIMS[stage];
  const extent = may[command];
  const hint = `this is a ${stage} turn, which may ${
    Object.entries(may).map(([name, how]) => `\`${name}\`${EXTENT_WORDS[how]}`).join(", ")
  }`;
  if (extent === undefined) throw refused(`\`ralph ${command}\` is not for a ${stage} turn`, hint);
  if (extent === "any") return;
  const no = (problem: string): Error => refused(problem, hint);
  const { parent, supersedes, created_from: issue } = record;
  switch (extent) {
    case "given":
      if (!given.includes(id ?? "")) throw no(`${id ?? "it"} is not what this turn was given: ${given.join(", ")}`);
      return;
    case "part":
      if (supersedes !== undefined) throw no("a part supersedes nothing");
      if (parent !== given[0]) {
        throw no(`only parts of ${given[0] ?? ""} are added here (got: ${JSON.stringify(parent)})`);
      }
      return;
    case "replacement":
      if (typeof supersedes !== "string" || !given.includes(supersedes)) {
        throw no("a task is added here only with `--supersedes` of one that this turn has rejected");
      }
      return;
    case "new":
      if (supersedes !== undefined || parent !== undefined) throw no("a task of an issue replaces no other");
      if (issue !== undefined && (typeof issue !== "string" || !given.includes(issue))) {
        throw no(`${JSON.stringify(issue)} is not an issue of this turn: ${given.join(", ")}`);
      }
  }
}

const EXTENT_WORDS: Readonly<Record<Extent, string>> = {
  any: "",
  given: " (for what it was given)",
  new: " (for its issues)",
  part: " (parts of its task)",
  replacement: " (with --supersedes of what it rejected)",
};

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
      return turnScope(known, [tasksById(plan).get(item) ?? { id: item, rounds: 0 }]);
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
  return { stage, given: records.map(({ id }) => id), rounds: Math.max(0, ...records.map(({ rounds }) => rounds)) };
}

/** A task that is added in a turn inherits this: DECOMPOSE is its parent, a single issue its reason. */
export function turnDefaults({ stage, given }: TurnScope): Partial<NewTask> {
  const [first, another] = given;
  if (stage === "DECOMPOSE" && first !== undefined) return { parent: first };
  return stage === "INVESTIGATE" && first !== undefined && another === undefined ? { created_from: first } : {};
}
