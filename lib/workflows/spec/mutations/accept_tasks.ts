import { doneOf, without } from "../plan_file.ts";
import { refused } from "../refused.ts";
import type { Plan } from "../types.ts";
import { shortName } from "./short_name.ts";
import type { Change } from "./types.ts";

/** Takes all done tasks out of the file: they live on in git's history. @throws {RalphError} usage when none is done */
export function acceptTasks(plan: Plan): Change {
  const done = doneOf(plan);
  const [only] = done;
  if (only === undefined) {
    throw refused("no task is done", "`ralph query tasks` lists them; `ralph task done` marks one");
  }
  return {
    plan: without(plan, (entry) => entry.type === "task" && entry.task.s === "d"),
    subject: `ralph: task accept - ${done.length === 1 ? shortName(only.name) : `${done.length} tasks`}`,
  };
}
