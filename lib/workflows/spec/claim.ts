import type { ZodType } from "zod";
import { type ClaimLine, claimSchema } from "../../backlog/claims.ts";
import type { Claim } from "../../backlog/types.ts";
import { issuesIn, type SpecItem, tasksIn } from "./item.ts";
import { hasConflict, idsOf, parsePlan, rejectsOf, tasksOf } from "./plan_file.ts";
import { type Plan, PLAN_FILE } from "./types.ts";

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
    const isDone = tasksOf(plan).some(({ id, s }) => id === item.id && s === "d");
    return isDone ? [claim("task done", item.id)] : [];
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
