import type { Invocation } from "../../../cli/command.ts";
import { endWith } from "../../../cli/end_with.ts";
import { goalOf } from "../../../cli/goal.ts";
import { openSession } from "../../../cli/session.ts";
import { optional } from "../../../cli/settings.ts";
import type { Place } from "../../../cli/workspace.ts";
import { note, type RalphContext } from "../../../context/context.ts";
import { join } from "node:path";
import { newestArchive } from "../../../git/archive.ts";
import { pathExists } from "../../../host/files.ts";
import { layInFiles } from "../../lay_in_files.ts";
import { PLAN_STATE_FILE, PLAN_TRANSCRIPT_FILE, PRD_FILE, PROGRESS_FILE } from "../types.ts";

/** `ralph plan "<goal>"`: the planner alone. */
export async function planGoal(invocation: Invocation, place: Place): Promise<number> {
  const goal = await goalOf(invocation);
  await using session = await openSession(invocation, { asks: true, gates: ["prd"], place });
  const { plan } = await import("../plan/plan.ts");
  const planned = await plan(session.ralph, {
    goal,
    resume: invocation.flags.has("resume"),
    ...optional("base", invocation.flags.text("base")),
  });
  return endWith(invocation, session.ralph, planned, "ralph run");
}

/** `ralph understand`: the understanding loop. Typing it is the consent. */
export async function understandCode(invocation: Invocation): Promise<number> {
  await using session = await openSession(invocation, { asks: false, gates: [] });
  const { understand } = await import("../understand/understand.ts");
  return endWith(invocation, session.ralph, await understand(session.ralph), "ralph understand");
}

/** `ralph run`: the loop on the PRD. */
export async function runStories(invocation: Invocation, place: Place): Promise<number> {
  await using session = await openSession(invocation, { asks: false, gates: [], place });
  const { ralph } = session;
  const { runLoop } = await import("../../../loop/run/run_loop.ts");
  const { prdBacklog } = await import("../backlog.ts");
  await layIn(ralph);
  return endWith(invocation, ralph, await runLoop(ralph, prdBacklog(ralph), { purpose: "run" }), "ralph run");
}

/** After `ralph finish` the branch has no PRD: the one that was taken off is laid in again, so that the work continues. */
export async function layIn(ralph: RalphContext): Promise<void> {
  const { repository, root } = ralph;
  if (repository === null || await pathExists(join(root, PRD_FILE))) return;
  const branch = await repository.currentBranch();
  const archived = branch === null ? null : await newestArchive(repository, branch);
  if (archived === null) return;
  const below = await repository.git(["merge-base", "--is-ancestor", archived.parent, "HEAD"]);
  if (below.exitCode !== 0) return; // a branch of the same name that began elsewhere is another goal's
  const laid = await layInFiles(ralph, archived, [PRD_FILE, PLAN_STATE_FILE, PLAN_TRANSCRIPT_FILE, PROGRESS_FILE]);
  if (laid.length === 0) return;
  note(ralph, "info", `the state of ${branch} is back: ${laid.join(", ")}`);
}
