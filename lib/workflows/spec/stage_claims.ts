import type { ClaimLine } from "../../backlog/claims.ts";
import { refused } from "./refused.ts";
import type { Stage } from "./stage.ts";

/** Commands that change the plan. */
export type PlanCommand =
  | "task add"
  | "task done"
  | "task accept"
  | "task reject"
  | "issue add"
  | "issue done"
  | "set-spec";

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
