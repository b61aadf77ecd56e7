import type { ParkedItem } from "../../backlog/types.ts";
import { findCycle } from "./graph.ts";
import { decomposeId, type SpecItem } from "./item.ts";
import { pendingOf, problemsOf } from "./plan_file.ts";
import { type Plan, PLAN_FILE } from "./types.ts";
import { waitingReasons } from "./view.ts";

/** Why nothing can be taken up although something is left. */
export function blockedReasons(
  plan: Plan,
  limit: number,
  parked: readonly ParkedItem[],
  stage: SpecItem | undefined,
): readonly string[] {
  const cycle = findCycle(pendingOf(plan));
  if (cycle !== null) return [`the tasks depend on each other in a circle: ${cycle.join(" → ")}`];
  const reasonFor = (id: string): string | undefined => parked.find((one) => one.id === id)?.reason.split("\n")[0];
  if (stage !== undefined) return [`${stage.id}: ${reasonFor(stage.id) ?? "was given up on"}`];
  const waiting = waitingReasons(plan, limit);
  return pendingOf(plan).map((task, index) => {
    const reason = reasonFor(task.kill === null ? task.id : decomposeId(task));
    return reason === undefined ? waiting[index] ?? task.id : `${task.id}: ${reason}`;
  });
}

/** A line that cannot be read may be a task: such a plan is never complete. */
export function unreadableReasons(plan: Plan): readonly string[] {
  const broken = new Set(plan.lines.filter(({ entry }) => entry.type === "invalid").map(({ number }) => number));
  return problemsOf(plan).filter(({ line }) => broken.has(line)).map(({ line, problem }) =>
    `${PLAN_FILE}:${line}: ${problem}`
  );
}
