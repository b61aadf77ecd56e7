/**
 * The claims of turns: which ones a stage permits, and the changes of the plan that they ask for. Pure.
 *
 * @module
 */
import { applyClaims, type ClaimLine, claimSchema } from "../../backlog/claims.ts";
import { isInvestigated, issuesIn, type SpecItem, type Stage, tasksIn, testsChangedBy } from "./item.ts";
import * as mutations from "./mutations.ts";
import { doneOf, hasConflict, idsOf, issuesOf, parsePlan, rejectsOf, tasksById, tasksOf } from "./plan_file.ts";
import { usage } from "../../cli/command.ts";
import { checkTask } from "./task_input.ts";
import { type JsonObject, type Plan, PLAN_FILE } from "./types.ts";
import type { ZodType } from "zod";
import type { Claim } from "../../backlog/types.ts";

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

const EXTENT_WORDS: Readonly<Record<Extent, string>> = {
  any: "",
  given: " (for what it was given)",
  new: " (for its issues)",
  part: " (parts of its task)",
  replacement: " (with --supersedes of what it rejected)",
};

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
  const uses = Object.entries(may).map(([name, how]) => `\`${name}\`${EXTENT_WORDS[how]}`);
  const hint = `this is a ${stage} turn, which may ${uses.join(", ")}`;
  if (extent === undefined) throw usage(`\`ralph ${command}\` is not for a ${stage} turn`, hint);
  if (extent === "any") return;
  const no = (problem: string): Error => usage(problem, hint);
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
      throw usage("the turn that runs this command works on no plan", "the prompt says how its results are reported");
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
export function turnDefaults({ stage, given }: TurnScope): Partial<mutations.NewTask> {
  const [first, another] = given;
  if (stage === "DECOMPOSE" && first !== undefined) return { parent: first };
  return stage === "INVESTIGATE" && first !== undefined && another === undefined ? { created_from: first } : {};
}

/** How claims become changes. */
export interface ChangeOptions {
  /** Short hash of HEAD, or `null`: the commit that a task is done at. */
  readonly head: string | null;
  /** A pending task of the same name is brought up to date: a plan that is made again. @default false */
  readonly upsert?: boolean;
  /** The turn that asks. @default null: a person */
  readonly scope?: TurnScope | null;
}

/** The change that claims of one command line ask for; `null` changes nothing. Pure. @throws {RalphError} usage */
export function changeOf(plan: Plan, claims: readonly ClaimLine[], options: ChangeOptions): mutations.Change | null {
  const [claim] = claims;
  if (claim === undefined) return null;
  const { command, id, text = "" } = claim;
  const { scope = null } = options;
  switch (command) {
    case "task add":
      return mutations.addTasks(
        plan,
        claims.map((one): mutations.NewTask => {
          const task = checkTask(one.record ?? {}, "the task");
          return { ...task, id: one.id, own: ownKeys(plan, task, scope) };
        }),
        options,
      );
    case "task done":
      return mutations.doneTask(plan, { id, head: options.head });
    case "task accept":
      return mutations.acceptTasks(plan);
    case "task reject":
      return mutations.rejectTask(plan, { id, reason: text });
    case "issue add":
      return mutations.addIssues(
        plan,
        claims.map((one) => ({ id: one.id ?? "", desc: one.text ?? "", rounds: roundsAfter(scope) })),
      );
    case "issue done":
      return mutations.doneIssue(plan, id);
    case "set-spec":
      return mutations.setSpec(plan, text);
    default:
      throw usage(`\`${command}\` changes nothing of a plan`, "`ralph help` lists the commands");
  }
}

/**
 * Ralph itself writes these keys into a task that a turn adds: which tests it may change, and its distance from the
 * plan.
 */
function ownKeys(plan: Plan, { supersedes }: mutations.NewTask, scope: TurnScope | null): JsonObject {
  if (scope === null || scope.stage === "PLAN") return {};
  const old = supersedes === undefined ? undefined : tasksById(plan).get(supersedes);
  const rounds = old?.rounds ?? roundsAfter(scope);
  return {
    changes_tests: old === undefined ? [] : testsChangedBy(old),
    ...(rounds > 0 ? { issue_rounds: rounds } : {}),
    ...(old !== undefined && old.depth > 0 ? { decompose_depth: old.depth } : {}),
  };
}

/** A task that a turn adds while it looks into issues is one round further from the plan. */
function roundsAfter(scope: TurnScope | null): number {
  return (scope?.rounds ?? 0) + (scope?.stage === "INVESTIGATE" ? 1 : 0);
}

/**
 * A claim as the stage of its turn permits it: what replaces or divides a task has its checks, and a task that an agent
 * adds while others are built may change no tests. Pure. @throws {RalphError} usage
 */
export function permitted(scope: TurnScope, plan: Plan, claim: ClaimLine): ClaimLine {
  checkPermitted(scope, claim);
  if (claim.command !== "task add" || claim.record === undefined) return claim;
  const own = scope.stage === "PLAN" ? claim.record : mutations.withoutGrants(claim.record);
  const { supersedes } = claim.record;
  const old = typeof supersedes === "string" ? tasksById(plan).get(supersedes) : undefined;
  return { ...claim, record: old === undefined ? own : mutations.inherited(own, old) };
}

/** The plan with what a turn claims, as far as its stage permits it, or with what came from outside of one. Pure. */
export function withClaims(plan: Plan, scope: TurnScope | null, claims: readonly ClaimLine[]): Plan {
  const upsert = scope?.stage === "PLAN";
  return applyClaims(plan, claims, (now, claim) => {
    const asked = scope === null ? claim : permitted(scope, now, claim);
    return changeOf(now, [asked], { head: null, upsert, scope })?.plan ?? now;
  }).state;
}

/** The records that an item's turn is about. */
export function scopeOf(item: SpecItem): TurnScope {
  return turnScope(item.data.stage, [...tasksIn(item), ...issuesIn(item)]);
}

/** A turn's findings beside its own claim: the changes of the plan that it asks for. */
export interface SpecFindings {
  readonly claims: readonly ClaimLine[];
}

/** Loaded only where findings come from another machine. */
export async function specFindings(): Promise<ZodType<SpecFindings>> {
  const { z } = await import("zod");
  return z.object({ claims: z.array(await claimSchema()) });
}

/** A reviewer's word that the spec as a whole is not met. */
const INCOMPLETE_REGEXP = /^(?:\[RALPH\] +)?SPEC_INCOMPLETE\b/;

/**
 * The claim on a turn's item, read from the changes of the plan that the turn asks for. Pure.
 *
 * @param lines of its output
 */
export function claimOf(
  item: SpecItem,
  claims: readonly ClaimLine[],
  lines: readonly string[] = [],
): Claim<SpecFindings> {
  const findings = { claims };
  const asked = (command: string): readonly ClaimLine[] => claims.filter((claim) => claim.command === command);
  const given = new Set([...tasksIn(item), ...issuesIn(item)].map(({ id }) => id));
  const isAsked = (command: string): boolean => asked(command).some(({ id }) => given.has(id ?? ""));
  const reason = whyNotDone();
  return reason === null ? { status: "done", findings } : { status: "not-done", reason, findings };

  function whyNotDone(): string | null {
    switch (item.data.stage) {
      case "BUILD":
        return isAsked("task done") ? null : `\`ralph task done ${item.id}\` was not run`;
      case "DECOMPOSE":
        if (asked("task add").length > 0 || isAsked("task done")) return null;
        return `no task was added with \`--parent ${parentId(item)}\`, nor \`ralph task done ${parentId(item)}\` run`;
      case "INVESTIGATE":
        return isAsked("issue done") ? null : "no issue was settled by `ralph issue done`";
      case "VERIFY": {
        const rejected = asked("task reject").filter(({ id }) => given.has(id ?? ""));
        if (rejected.length > 0) return `rejected ${rejected.map(({ id, text }) => `${id}: ${text ?? ""}`).join("\n")}`;
        if (lines.some((line) => INCOMPLETE_REGEXP.test(line)) && asked("issue add").length === 0) {
          return "it said SPEC_INCOMPLETE, and neither rejected a task nor added an issue for what is missing";
        }
        if (asked("task accept").length > 0) return null;
        return "neither `ralph task accept` nor `ralph task reject` was run";
      }
    }
  }
}

/**
 * The claims of a manual edit of the plan in the working tree: a task marked as done, or taken out as accepted. Pure.
 *
 * @param known the plan as it was read before, of which unchanged lines are taken over
 */
export function claimsByHand(item: SpecItem, text: string | null, known?: Plan): readonly ClaimLine[] {
  const plan = readable(text, known);
  if (plan === null) return [];
  const claim = (command: string, id: string): ClaimLine => ({ v: 1, command, id, at: 0 });
  if (item.data.stage === "BUILD") {
    return tasksOf(plan).some(({ id, s }) => id === item.id && s === "d") ? [claim("task done", item.id)] : [];
  }
  if (item.data.stage !== "VERIFY") return [];
  const left = new Set([...tasksOf(plan), ...rejectsOf(plan)].map(({ id }) => id));
  return tasksIn(item).some(({ id }) => left.has(id)) ? [] : [claim("task accept", "")];
}

/**
 * The claims of a manual edit of the plan in a PLAN turn: the tasks that it added. Pure.
 *
 * @param text as the agent left it
 */
export function tasksByHand(written: Plan, text: string | null): readonly ClaimLine[] {
  return tasksOf(readable(text) ?? written).filter(({ id }) => !idsOf(written).has(id)).map((task) => {
    const { name, notes, accept, deps, priority } = task;
    return { v: 1, command: "task add", id: task.id, at: 0, record: { name, notes, accept, deps, priority } };
  });
}

/** The task that a DECOMPOSE turn is about. */
export function parentId(item: SpecItem): string {
  return tasksIn(item)[0]?.id ?? "";
}

/** A manual edit with git's conflict markers says nothing. */
function readable(text: string | null, known?: Plan): Plan | null {
  return text === null || hasConflict(text) ? null : parsePlan(text, PLAN_FILE, known);
}
