import type { Look } from "../../../cli/look.ts";
import type { NextView } from "../../../cli/next_view.ts";
import { nextAction } from "../view.ts";
import { planAt, readPlan, tellProblems } from "./open_plan.ts";
import { nextLine } from "./plan_lines.ts";

/** `ralph query next`, as text. */
export async function nextOfPlan(look: Look): Promise<NextView> {
  const plan = await readPlan(await planAt(look));
  tellProblems(look, plan);
  const next = nextAction(plan, { rejections: look.config.limits.rejections });
  return { blocked: next.action === "BUILD" && next.task === null, data: next, item: [nextLine(next)] };
}
