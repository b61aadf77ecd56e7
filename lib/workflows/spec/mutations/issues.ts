import { issuesOf, specOf, without, withRecord } from "../plan_file.ts";
import { refused } from "../refused.ts";
import type { Plan } from "../types.ts";
import { checkFree } from "./add_tasks.ts";
import { type Change, shortName } from "./change.ts";

/** An issue to be added. */
export interface NewIssue {
  readonly id: string;
  readonly desc: string;
  /** Rounds of issue and task that led to it. @default 0 */
  readonly rounds?: number;
}

/** Adds issues to the current spec. @throws {RalphError} usage without a spec or a description, for a taken id */
export function addIssues(plan: Plan, issues: readonly NewIssue[]): Change {
  const spec = specOf(plan);
  if (spec === null) throw refused("no spec is set, and an issue belongs to one", "`ralph set-spec FILE` sets it");
  let changed = plan;
  for (const { id, desc, rounds = 0 } of issues) {
    if (desc.trim() === "") throw refused("an issue needs a description", '`ralph issue add "what was found"`');
    checkFree(changed, id);
    changed = withRecord(changed, { t: "issue", id, spec, desc, ...(rounds > 0 ? { issue_rounds: rounds } : {}) });
  }
  const [first] = issues;
  const what = issues.length === 1 && first !== undefined ? shortName(first.desc) : `${issues.length} issues`;
  return { plan: changed, subject: `ralph: issue add - ${what}` };
}

/** Removes an issue. @param id default: the first. @throws {RalphError} usage when there is none */
export function doneIssue(plan: Plan, id?: string): Change {
  const issues = issuesOf(plan);
  const issue = id === undefined ? issues[0] : issues.find((one) => one.id === id);
  if (issue === undefined) {
    const which = id === undefined ? "" : ` ${id}`;
    throw refused(`there is no issue${which}`, "`ralph query issues` lists them");
  }
  return {
    plan: without(plan, (entry) => entry.type === "issue" && entry.issue === issue),
    subject: `ralph: issue done - ${shortName(issue.desc)}`,
  };
}
