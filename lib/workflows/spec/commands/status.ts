import { readLockHolder } from "../../../host/read_lock_holder.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import { ownFiles } from "../../../context/own_files.ts";
import { type PlanView, viewPlan } from "../view.ts";
import type { Invocation } from "../../../cli/command.ts";
import { openPlan, readPlan } from "./open_plan.ts";
import { planLines } from "./plan_lines.ts";
import { styleFor, toJson } from "../../../cli/show.ts";

/** `ralph status` of the spec workflow: where things stand, and the plan. */
export async function specStatus(invocation: Invocation): Promise<void> {
  const { flags, out } = invocation;
  const open = await openPlan(invocation);
  const { root, workflow, repository, config } = open;
  const holder = await readLockHolder(ownFiles(repository, root).runLock);
  const { plan, problem } = await viewOf(() => readPlan(open), config.limits.rejections);
  const agent = config.provider.command ?? config.provider.preset ?? null;
  const branch = await repository?.currentBranch() ?? null;
  const running = holder === null ? null : { pid: holder.pid, purpose: holder.purpose, since: holder.since };
  const hint = hintFor(plan);
  if (flags.has("json")) {
    return out(
      toJson({ root, workflow: workflow.name, why: workflow.why, branch, agent, running, plan, problem, hint }),
    );
  }
  const style = styleFor(invocation, "stdout");
  const { bold, dim, bad, warn, symbols } = style;
  out(
    `${bold(workflow.name)} ${
      dim(`(${workflow.why}) ${symbols.dot} ${root}${branch === null ? "" : ` ${symbols.dot} ${branch}`}`)
    }`,
  );
  out(`agent: ${agent ?? warn("none configured")}`);
  if (running !== null) out(warn(`running: \`ralph ${running.purpose}\`, pid ${running.pid}, since ${running.since}`));
  if (problem !== null) out(`${bad(symbols.failed)} ${problem}`);
  if (plan !== null) { for (const line of planLines(plan, style)) out(line); }
  for (const { line, problem: what } of plan?.problems ?? []) out(warn(`line ${line}: ${what}`));
  out(`run next: ${hint}`);
}

async function viewOf(
  load: () => Promise<Parameters<typeof viewPlan>[0]>,
  rejections: number,
): Promise<{ readonly plan: PlanView | null; readonly problem: string | null }> {
  try {
    return { plan: viewPlan(await load(), { rejections }), problem: null };
  } catch (error) {
    if (RalphError.isInstance(error) && error.code === "state-invalid") return { plan: null, problem: error.message };
    throw error;
  }
}

function hintFor(plan: PlanView | null): string {
  if (plan === null) return "`ralph query --repair`";
  if (plan.stage === "PLAN" || plan.stage === "COMPLETE") return "`ralph plan SPEC.md`";
  return plan.next.action === "BUILD" && plan.next.task === null ? "`ralph build --retry-blocked`" : "`ralph build`";
}
