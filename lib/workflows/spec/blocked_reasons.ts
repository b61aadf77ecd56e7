import type { ParkedItem } from "../../backlog/types.ts";
import { describeCycle, findCycle } from "./graph.ts";
import { decomposeId, type SpecItem } from "./item.ts";
import { issuesOf, pendingOf, specOf } from "./plan_file.ts";
import { isDivided, isInvestigated, isUnplanned, MOST_ROUNDS } from "./stage.ts";
import type { Plan } from "./types.ts";
import { unreadableReasons, waitingReasons } from "./view.ts";

/** Why no turn is worth its price: nothing was planned, or the plan can never be complete as it is. */
export function hopelessReasons(plan: Plan): readonly string[] {
  const spec = specOf(plan);
  if (spec === null) return ["no spec is set: `ralph plan SPEC.md` plans one"];
  if (isUnplanned(plan)) return [`nothing is planned for ${spec}: \`ralph plan ${spec}\` does so`];
  const cycle = findCycle(pendingOf(plan));
  return cycle === null ? [] : [`the tasks depend on each other in a circle: ${describeCycle(cycle)}`];
}

/** Why nothing can be taken up although something is left. */
export function blockedReasons(
  plan: Plan,
  limit: number,
  parked: readonly ParkedItem[],
  stage: SpecItem | undefined,
): readonly string[] {
  const reasons = new Map(parked.map(({ id, reason }) => [id, reason.split("\n")[0]]));
  if (stage !== undefined) return [`${stage.id}: ${reasons.get(stage.id) ?? "was given up on"}`];
  const pending = pendingOf(plan);
  const waiting = waitingReasons(plan, limit);
  const tasks = pending.map((task, index) => {
    const reason = reasons.get(isDivided(task) ? decomposeId(task) : task.id);
    return reason === undefined ? waiting[index] ?? task.id : `${task.id}: ${reason}`;
  });
  const issues = pending.length > 0
    ? []
    : issuesOf(plan).filter((issue) => !isInvestigated(issue)).map(({ id, desc }) =>
      `${id}: ${
        desc.split("\n")[0]
      }: found by the task of an issue, ${MOST_ROUNDS} times in a row: decide it yourself ` +
      `(\`ralph issue done ${id}\`, or \`ralph task add "…" --created-from ${id}\`)`
    );
  return [...tasks, ...issues, ...unreadableReasons(plan)];
}
