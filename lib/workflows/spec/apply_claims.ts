import { tasksById } from "./plan_file.ts";
import { applyClaims, type ClaimLine } from "../../backlog/claims.ts";
import { issuesIn, type SpecItem, tasksIn, testsChangedBy } from "./item.ts";
import {
  acceptTasks,
  addIssues,
  addTasks,
  type Change,
  doneIssue,
  doneTask,
  inherited,
  type NewTask,
  rejectTask,
  setSpec,
  unknownIds,
  withoutGrants,
} from "./mutations.ts";
import { refused } from "./refused.ts";
import { checkPermitted, type TurnScope, turnScope } from "./stage_claims.ts";
import { checkTask } from "./task_input.ts";
import type { JsonObject, Plan } from "./types.ts";

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
export function changeOf(plan: Plan, claims: readonly ClaimLine[], options: ChangeOptions): Change | null {
  const [claim] = claims;
  if (claim === undefined) return null;
  const { command, id, text = "" } = claim;
  const { scope = null } = options;
  switch (command) {
    case "task add": {
      const tasks = claims.map((one): NewTask => {
        const task = checkTask(one.record ?? {}, "the task");
        return { ...task, id: one.id, own: ownKeys(plan, task, scope) };
      });
      // the command has looked them up in the history
      return addTasks(plan, tasks, { known: new Set(unknownIds(plan, tasks)), upsert: options.upsert ?? false });
    }
    case "task done":
      return doneTask(plan, { id, head: options.head });
    case "task accept":
      return acceptTasks(plan);
    case "task reject":
      return rejectTask(plan, { id, reason: text });
    case "issue add":
      return addIssues(
        plan,
        claims.map((one) => ({ id: one.id ?? "", desc: one.text ?? "", rounds: roundsAfter(scope) })),
      );
    case "issue done":
      return doneIssue(plan, id);
    case "set-spec":
      return setSpec(plan, text);
    default:
      throw refused(`\`${command}\` changes nothing of a plan`, "`ralph help` lists the commands");
  }
}

/**
 * Ralph itself writes these keys into a task that a turn adds: which tests it may change, and its distance from the
 * plan.
 */
function ownKeys(plan: Plan, { supersedes }: NewTask, scope: TurnScope | null): JsonObject {
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
  const own = scope.stage === "PLAN" ? claim.record : withoutGrants(claim.record);
  const { supersedes } = claim.record;
  const old = typeof supersedes === "string" ? tasksById(plan).get(supersedes) : undefined;
  return { ...claim, record: old === undefined ? own : inherited(own, old) };
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
