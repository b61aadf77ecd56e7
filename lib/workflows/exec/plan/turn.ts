import { renderPrompt } from "../../../prompts/render.ts";
import { agentTurn } from "../../../agents/agent_turn.ts";
import { requireRepository } from "../../../git/require_repository.ts";
import { topLevelPaths } from "../../../git/tree_paths.ts";
import { missingStateFiles, putBackState } from "./files.ts";
import { outsideOf, treeBefore } from "./open_turn.ts";
import { plannerValues } from "./prompt_values.ts";
import type { PlanSession } from "./session.ts";

/** How a turn of the planner's agent ended. */
export type PlannerTurn =
  | { readonly status: "answered"; readonly text: string }
  | { readonly status: "failed"; readonly message: string }
  | { readonly status: "unusable"; readonly message: string }
  | { readonly status: "trespassed"; readonly paths: readonly string[]; readonly diff: string }
  | { readonly status: "aborted" };

/**
 * Gives the planner's agent one turn. State files are restored after it; a change anywhere else outside the workflow's
 * folder outweighs whatever it answered, and is left as it is.
 */
export async function plannerTurn(session: PlanSession, folder: string, signal: AbortSignal): Promise<PlannerTurn> {
  const { ralph } = session;
  const number = session.state.turns + 1;
  const name = `plan-${number}`;
  const prompt = await renderPrompt("exec_plan", await plannerValues(session), { root: ralph.root });
  const missing = await missingStateFiles(ralph);
  const before = await requireRepository(ralph).snapshot();
  await session.save({ turns: number, openTurn: { missing, before: treeBefore(before) } });

  const { turn } = await agentTurn(ralph, { prompt, name, folder, signal, before });
  await putBackState(ralph, folder, name, missing);
  await session.save({ openTurn: null });

  const outside = outsideOf(turn.changedFiles);
  if (outside.length > 0) {
    const diff = await requireRepository(ralph).diff(topLevelPaths(ralph, outside), { base: turn.base });
    return { status: "trespassed", paths: outside, diff };
  }
  switch (turn.end.reason) {
    case "completed":
      return { status: "answered", text: turn.text };
    case "aborted":
      return { status: "aborted" };
    case "agent-unusable":
      return { status: "unusable", message: turn.end.message };
    default:
      return { status: "failed", message: turn.end.message };
  }
}
