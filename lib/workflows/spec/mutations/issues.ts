import { newId, type RandomText } from "../ids.ts";
import { issuesOf, specOf, tasksOf, without, withRecord } from "../plan_file.ts";
import { refused } from "../refused.ts";
import type { Plan } from "../types.ts";
import { shortName } from "./short_name.ts";
import type { Change } from "./types.ts";

/** Adds issues to the current spec. @throws {RalphError} usage without a spec or a description */
export function addIssues(plan: Plan, descriptions: readonly string[], random: RandomText): Change {
  const spec = specOf(plan);
  if (spec === null) throw refused("no spec is set, and an issue belongs to one", "`ralph set-spec FILE` sets it");
  let changed = plan;
  for (const desc of descriptions) {
    if (desc.trim() === "") throw refused("an issue needs a description", '`ralph issue add "what was found"`');
    const taken = new Set([...tasksOf(changed), ...issuesOf(changed)].map(({ id }) => id));
    changed = withRecord(changed, { t: "issue", id: newId("i", taken, random), spec, desc });
  }
  const [first = ""] = descriptions;
  return {
    plan: changed,
    subject: `ralph: issue add - ${descriptions.length === 1 ? shortName(first) : `${descriptions.length} issues`}`,
  };
}

/** Removes an issue. @param id default: the first. @throws {RalphError} usage when there is none */
export function doneIssue(plan: Plan, id?: string): Change {
  const issues = issuesOf(plan);
  const issue = id === undefined ? issues[0] : issues.find((one) => one.id === id);
  if (issue === undefined) {
    throw refused(
      id === undefined ? "there is no issue" : `there is no issue ${id}`,
      "`ralph query issues` lists them",
    );
  }
  return {
    plan: without(plan, (entry) => entry.type === "issue" && entry.issue === issue),
    subject: `ralph: issue done - ${shortName(issue.desc)}`,
  };
}
