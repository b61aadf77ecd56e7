import { gsdBacklog, type GsdBacklogOptions } from "../backlog.ts";
import { findPlan, positionOf } from "../position.ts";
import { type Planning, STATE_FILE } from "../types.ts";
import { readPlanning } from "../read_planning.ts";
import { runLoop } from "../../../loop/run/run_loop.ts";
import type { Invocation } from "../../../cli/command.ts";
import { endWith } from "../../../cli/end_with.ts";
import { usage } from "../../../cli/parse.ts";
import type { Place } from "../../../cli/workspace.ts";
import { openSession } from "../../../cli/session.ts";
import { parseCount, parseWorkers } from "../../../cli/settings.ts";

/** `ralph run` in the workflow gsd: the next plan, the one that is named, or with `--loop` all of them. */
export async function runGsd(invocation: Invocation, place: Place): Promise<number> {
  const { flags } = invocation;
  const loop = flags.has("loop");
  const cap = flags.text("loop") ?? "";
  const maxItems = loop && cap !== "" ? parseCount("--loop", cap, 1) : null;
  if (loop && flags.has("plan")) {
    throw usage("--loop and --plan exclude each other", "`--plan` runs one plan, `--loop` all that are left");
  }
  if (!loop && (parseWorkers(flags.text("parallel")) ?? 1) > 1) {
    throw usage("--parallel needs --loop: without it one plan is run", "`ralph run --loop --parallel 2`");
  }
  const planning = await readPlanning(place);
  const options = loop ? {} : one(planning, flags.text("plan"), invocation);
  if (!flags.has("plan") && !flags.has("quiet") && !flags.has("json")) sayWhy(planning, invocation);
  await using session = await openSession(invocation, { asks: false, gates: [], place });
  const { ralph } = session;
  // an agent that has no session at the terminal cannot do checkpoints with a person
  const alone = options.checkpoints === "interactive" && ralph.agent.interactive === false;
  const backlog = gsdBacklog(ralph, alone ? { ...options, checkpoints: "block" } : options);
  const outcome = await runLoop(ralph, backlog, { purpose: "run", ...(maxItems === null ? {} : { maxItems }) });
  return endWith(invocation, ralph, outcome, loop ? "ralph run --loop" : "ralph run");
}

/** One plan, with a person for its checkpoints where there is a terminal. @throws {RalphError} usage */
function one(planning: Planning, named: string | undefined, { flags, host }: Invocation): GsdBacklogOptions {
  const unattended = flags.has("non-interactive") || flags.has("json") || !host.terminal.interactive;
  const checkpoints = unattended ? "block" : "interactive";
  if (named === undefined) {
    const { next } = positionOf(planning);
    return next === null ? { checkpoints } : { plan: next.id, checkpoints };
  }
  const plan = findPlan(planning, named);
  const plans = planning.phases.flatMap(({ plans }) => plans);
  if (plan === null) {
    const left = plans.filter(({ summarized }) => !summarized).map(({ id }) => id);
    throw usage(`there is no plan ${named}`, `plans: ${left.join(", ") || "all are complete"}`);
  }
  if (plan.summarized) {
    throw usage(`${plan.id} is complete: ${plan.summaryFile} is there`, "move its SUMMARY away to run it again");
  }
  return { plan: plan.id, checkpoints };
}

/** Which plan comes next and why, before the agent is started. */
function sayWhy(planning: Planning, { say }: Invocation): void {
  const { next, reasons } = positionOf(planning);
  if (next !== null && reasons[0] !== undefined) say(reasons[0]);
  for (const { file, message } of planning.diagnostics.filter((one) => one.file === STATE_FILE)) {
    say(`warning: ${file}: ${message}`);
  }
}
