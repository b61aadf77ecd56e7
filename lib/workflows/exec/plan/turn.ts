import { pathsOutside } from "../../../checks/guards.ts";
import { renderPrompt } from "../../../prompts/render.ts";
import { requireRepository, rootPaths } from "../../../git/repository.ts";
import { type PlannerTurn, plannerTurn } from "../../planner_turn.ts";
import { missingStateFiles, restoreState } from "./files.ts";
import { plannerValues } from "./prompt_values.ts";
import type { PlanSession, TreeBefore } from "./state.ts";
import { EXEC_FOLDER } from "../types.ts";
import type { RalphContext } from "../../../context/context.ts";

const ALLOW = [`${EXEC_FOLDER}/**`];

/** Gives the planner's agent one turn. State files are restored after it. */
export async function planTurn(session: PlanSession, signal: AbortSignal): Promise<PlannerTurn> {
  const { folder, ralph } = session;
  const number = session.state.turns + 1;
  const name = `plan-${number}`;
  const missing = await missingStateFiles(ralph);
  return await plannerTurn(ralph, {
    prompt: async () => await renderPrompt("exec_plan", await plannerValues(session), { root: ralph.root }),
    name,
    folder,
    allow: ALLOW,
    signal,
    async begun({ head, contents }) {
      const before = { head, contents: Object.fromEntries(contents) };
      await session.save({ turns: number, openTurn: { missing, before } });
    },
    async ended() {
      await restoreState(ralph, folder, name, missing);
      await session.save({ openTurn: null });
    },
  });
}

/**
 * Says what changed outside the workflow's folder since a turn that a kill interrupted: it was never judged. Changes of
 * the agent and of a person since then look the same, so they are only reported.
 */
export async function tellUnjudged(ralph: RalphContext, before: TreeBefore): Promise<void> {
  const { head, contents } = before;
  const snapshot = { head, branch: null, changed: [], contents: new Map(Object.entries(contents)) };
  const { paths } = await requireRepository(ralph).changedSince(snapshot);
  const outside = pathsOutside(rootPaths(ralph, paths), ALLOW);
  if (outside.length === 0) return;
  const what =
    "planning was interrupted in a turn, and these files have changed since it began, by the agent or by you";
  const message = `${what}: ${outside.join(", ")}`;
  ralph.events.emit({ type: "note", level: "warn", message });
}
