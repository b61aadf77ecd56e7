import { problemsOf } from "../plan_file.ts";
import { type Changing, type PlanStore, planStore } from "../store.ts";
import { type Plan, PLAN_FILE } from "../types.ts";
import { type PlanView, viewPlan } from "../view.ts";
import type { Repository } from "../../../git/types.ts";
import type { Invocation } from "../../../cli/command.ts";
import { type Look, openLook } from "../../../cli/look.ts";
import { findPlace, type Place } from "../../../cli/workspace.ts";
import { planLines } from "./plan_lines.ts";
import { styleFor, toJson } from "../../../cli/show.ts";

/** The plan of the spec workflow, for commands that start no agent. */
export interface OpenPlan extends Place {
  readonly repository: Repository | null;
  readonly store: PlanStore;
}

/** Opens the plan below the root. @throws {RalphError} root-missing, config-invalid, usage */
export async function openPlan(invocation: Invocation): Promise<OpenPlan> {
  const look = await openLook(invocation, await findPlace(invocation));
  return { ...look, store: planOf(look) };
}

/** The plan of a project that is looked at. */
export function planOf({ root, config, state, repository, host }: Look): PlanStore {
  return planStore({ root, config, state, repository, host });
}

/** Makes a change and prints the updated state. @returns the exit code */
export async function changePlan(
  invocation: Invocation,
  { store, config }: OpenPlan,
  change: Changing,
  same = "",
): Promise<number> {
  const { plan, changed, warnings } = await store.mutate(change);
  for (const warning of warnings) invocation.say(`warning: ${warning}`);
  if (!changed && same !== "") invocation.say(same);
  showPlan(invocation, plan, config.limits.rejections);
  return 0;
}

/** Prints the whole state, and on standard error what is wrong with the file. */
export function showPlan(invocation: Invocation, plan: Plan, rejections: number): void {
  tellProblems(invocation, plan);
  const view: PlanView = viewPlan(plan, { rejections });
  if (!invocation.flags.has("text")) return invocation.out(toJson(view));
  for (const line of planLines(view, styleFor(invocation, "stdout"))) invocation.out(line);
}

/** Lines that cannot be read are told with every look at the plan. */
export function tellProblems({ say }: Pick<Invocation, "say">, plan: Plan): void {
  for (const { line, problem } of problemsOf(plan)) say(`warning: ${PLAN_FILE}:${line}: ${problem}`);
}
