import type { Look } from "../../../cli/look.ts";
import { hintOf } from "../../../cli/next_step.ts";
import type { NextView } from "../../../cli/next_view.ts";
import { givenUpIn, offered } from "../next_item.ts";
import { isWaiting, nextAction, viewPlan } from "../view.ts";
import type { Plan } from "../types.ts";
import { offerOptions, planAt, readPlan, tellProblems } from "./open_plan.ts";
import { nextLine, planLines } from "./plan_lines.ts";
import type { StatusView } from "../../../cli/status_view.ts";
import { RalphError } from "../../../errors/ralph_error.ts";

/** The action that the next iteration would take from the plan. */
export async function nextOfPlan(look: Look): Promise<NextView> {
  const plan = await readPlan(await planAt(look));
  tellProblems(look, plan);
  const next = nextAction(plan, await offerOptions(look));
  return { blocked: isWaiting(next), data: next, item: [nextLine(next)] };
}

/** The state of the plan. */
export async function readSpecStatus(look: Look): Promise<StatusView> {
  let plan: Plan;
  try {
    plan = await readPlan(await planAt(look));
  } catch (error) {
    if (!RalphError.isInstance(error) || error.code !== "state-invalid") throw error;
    return { data: { plan: null }, lines: [], problem: error.message, hint: "`ralph query --repair`" };
  }
  const options = await offerOptions(look);
  const view = viewPlan(plan, options);
  return {
    data: { plan: view },
    lines: [
      ...planLines(view, look.style, givenUpIn(plan, options.parked)).slice(0, -1), // what comes next is in the hint
      ...view.problems.map(({ line, problem }) => look.style.warn(`line ${line}: ${problem}`)),
    ],
    problem: null,
    hint: view.stage === "PLAN"
      ? "`ralph plan SPEC.md`"
      : hintOf(offered(plan, options), { run: "ralph build", retry: "ralph build --retry-blocked" }),
  };
}
