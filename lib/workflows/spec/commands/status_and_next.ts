import type { Look } from "../../../cli/look.ts";
import type { NextView } from "../../../cli/next_view.ts";
import { nextAction, type PlanView, viewPlan } from "../view.ts";
import { givenUpIn } from "./given_up.ts";
import { planAt, readPlan, tellProblems } from "./open_plan.ts";
import { nextLine, planLines } from "./plan_lines.ts";
import type { StatusView } from "../../../cli/status_view.ts";
import { RalphError } from "../../../errors/ralph_error.ts";

/** What the next iteration would take of the plan. */
export async function nextOfPlan(look: Look): Promise<NextView> {
  const plan = await readPlan(await planAt(look));
  tellProblems(look, plan);
  const givenUp = await givenUpIn(look, plan);
  const next = nextAction(plan, { rejections: look.config.limits.rejections, givenUp });
  return { blocked: next.action === "BUILD" && next.task === null, data: next, item: [nextLine(next)] };
}

/** The state of the plan. */
export async function readSpecStatus(look: Look): Promise<StatusView> {
  const { plan, problem, givenUp } = await viewOf(look);
  const { warn } = look.style;
  return {
    data: { plan },
    lines: plan === null ? [] : [
      ...planLines(plan, look.style, givenUp).slice(0, -1), // what comes next is in the hint
      ...plan.problems.map(({ line, problem: what }) => warn(`line ${line}: ${what}`)),
    ],
    problem,
    hint: hintFor(plan),
  };
}

async function viewOf(
  look: Look,
): Promise<
  {
    readonly plan: PlanView | null;
    readonly problem: string | null;
    readonly givenUp: ReadonlyMap<string, string>;
  }
> {
  try {
    const plan = await readPlan(await planAt(look));
    const givenUp = await givenUpIn(look, plan);
    return { plan: viewPlan(plan, { rejections: look.config.limits.rejections, givenUp }), problem: null, givenUp };
  } catch (error) {
    if (RalphError.isInstance(error) && error.code === "state-invalid") {
      return { plan: null, problem: error.message, givenUp: new Map() };
    }
    throw error;
  }
}

function hintFor(plan: PlanView | null): string {
  if (plan === null) return "`ralph query --repair`";
  if (plan.stage === "PLAN" || plan.stage === "COMPLETE") return "`ralph plan SPEC.md`";
  return plan.next.action === "BUILD" && plan.next.task === null ? "`ralph build --retry-blocked`" : "`ralph build`";
}
