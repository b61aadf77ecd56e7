import type { ParkedItem } from "../../../backlog/types.ts";
import { isTaskParked } from "../next_item.ts";
import { decomposeId } from "../item.ts";
import { isDivided } from "../stage.ts";
import { pendingOf } from "../plan_file.ts";
import type { Plan } from "../types.ts";

/** Why the loop gave up on pending tasks, by their ids: `ralph build` does not take these up, and the plan does not show it. */
export function givenUpIn(plan: Plan, parked: readonly ParkedItem[]): ReadonlyMap<string, string> {
  const reasons = new Map(parked.map(({ id, reason }) => [id, reason]));
  const ids = new Set(reasons.keys());
  return new Map(
    pendingOf(plan).flatMap((task) => {
      const id = isDivided(task) && ids.has(decomposeId(task)) ? decomposeId(task) : task.id;
      const isParked = id !== task.id || isTaskParked(task, parked, ids);
      return isParked ? [[task.id, reasons.get(id) ?? ""]] : [];
    }),
  );
}
