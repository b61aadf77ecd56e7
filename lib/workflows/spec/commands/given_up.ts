import { type Look, parkedIn } from "../../../cli/look.ts";
import { pendingOf } from "../plan_file.ts";
import type { Plan } from "../types.ts";

/** Why the loop gave up on pending tasks, by their ids: `ralph build` does not take these up, and the plan does not show it. */
export async function givenUpIn(
  look: Pick<Look, "own" | "repository">,
  plan: Plan,
): Promise<ReadonlyMap<string, string>> {
  const parked = await parkedIn(look, { name: "spec" });
  if (parked.length === 0) return new Map();
  const { isTaskParked } = await import("../next_item.ts");
  const reasons = new Map(parked.map(({ id, reason }) => [id, reason]));
  const ids = new Set(reasons.keys());
  return new Map(
    pendingOf(plan).filter((task) => isTaskParked(task, parked, ids)).map(({ id }) => [id, reasons.get(id) ?? ""]),
  );
}
