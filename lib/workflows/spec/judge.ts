import type { Claim } from "../../backlog/types.ts";
import { issuesIn, type SpecItem, tasksIn } from "./item.ts";
import { rejectionsOf } from "./mutations/reject_task.ts";
import { issuesOf, rejectsOf, tasksOf } from "./plan_file.ts";
import type { Plan } from "./types.ts";

/** What a turn claims by what it made of the plan. Pure. */
export function claimOf(item: SpecItem, plan: Plan): Claim {
  switch (item.data.stage) {
    case "BUILD":
      return tasksOf(plan).some(({ id, s }) => id === item.id && s === "d")
        ? { status: "done" }
        : { status: "not-done", reason: `\`ralph task done ${item.id}\` was not run` };
    case "DECOMPOSE":
      return newChildren(item, plan).length > 0
        ? { status: "done" }
        : { status: "not-done", reason: `no task was added with \`--parent ${parentId(item)}\`` };
    case "VERIFY":
      return verified(item, plan);
    case "INVESTIGATE": {
      const left = new Set(issuesOf(plan).map(({ id }) => id));
      return issuesIn(item).some(({ id }) => !left.has(id))
        ? { status: "done" }
        : { status: "not-done", reason: "no issue was settled by `ralph issue done`" };
    }
  }
}

/** Tasks that a DECOMPOSE turn made of its own. */
export function newChildren(item: SpecItem, plan: Plan): readonly string[] {
  const parent = parentId(item);
  return tasksOf(plan).filter((task) => task.parent === parent && !item.data.ids.includes(task.id)).map(({ id }) => id);
}

/** The task that a DECOMPOSE turn is about. */
export function parentId(item: SpecItem): string {
  return tasksIn(item)[0]?.id ?? "";
}

function verified(item: SpecItem, plan: Plan): Claim {
  const given = tasksIn(item);
  const rejected = given.filter((task) => wasRejected(plan, task.id, task.doneAt));
  if (rejected.length > 0) {
    const reasons = rejected.map(({ id }) =>
      `${id}: ${rejectsOf(plan).findLast((reject) => reject.id === id)?.reason ?? ""}`
    );
    return { status: "not-done", reason: `rejected ${reasons.join("\n")}` };
  }
  const left = new Set(tasksOf(plan).map(({ id }) => id));
  return given.some(({ id }) => left.has(id))
    ? { status: "not-done", reason: "neither `ralph task accept` nor `ralph task reject` was run" }
    : { status: "done" };
}

/** A tombstone names the very commit at which this task was done. */
export function wasRejected(plan: Plan, id: string, doneAt: string | null): boolean {
  return rejectionsOf(plan, id) > 0 &&
    rejectsOf(plan).some((reject) => reject.id === id && (doneAt === null || reject.doneAt === doneAt));
}
