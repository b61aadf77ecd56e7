import { changedSources, othersMessage } from "../../../git/changed_sources.ts";
import { renderPrompt } from "../../../prompts/render.ts";
import { agentTurn } from "../../../agents/agent_turn.ts";
import { requireRepository } from "../../../git/require_repository.ts";
import { rootPaths, topLevelPaths } from "../../../git/tree_paths.ts";
import { missingStateFiles, restoreState } from "./files.ts";
import { plannerValues } from "./prompt_values.ts";
import type { PlanSession } from "./session.ts";
import { EXEC_FOLDER } from "../paths.ts";
import type { RalphContext } from "../../../context/context.ts";
import type { TreeSnapshot } from "../../../git/types.ts";
import type { TreeBefore } from "./state.ts";

/** How a turn of the planner's agent ended. */
export type PlannerTurn =
  | { readonly status: "answered"; readonly text: string }
  | { readonly status: "failed"; readonly message: string }
  | { readonly status: "unusable"; readonly message: string }
  | { readonly status: "trespassed"; readonly paths: readonly string[]; readonly diff: string }
  | { readonly status: "aborted" };

/**
 * Gives the planner's agent one turn. State files are restored after it. A changed source file outweighs whatever it
 * answered, and is left as it is; so is what a log, an editor or a server wrote meanwhile, which is only reported.
 */
export async function plannerTurn(session: PlanSession, folder: string, signal: AbortSignal): Promise<PlannerTurn> {
  const { ralph } = session;
  const number = session.state.turns + 1;
  const name = `plan-${number}`;
  if (!await ralph.steering.rest(signal)) return { status: "aborted" };
  const rendered = await renderPrompt("exec_plan", await plannerValues(session), { root: ralph.root });
  const prompt = `${rendered}${ralph.steering.told(null)}`;
  const missing = await missingStateFiles(ralph);
  const before = await requireRepository(ralph).snapshot();
  await session.save({ turns: number, openTurn: { missing, before: treeBefore(before) } });

  const { turn } = await agentTurn(ralph, { prompt, name, folder, signal, before });
  await restoreState(ralph, folder, name, missing);
  await session.save({ openTurn: null });

  const { sources, others } = await changedSources(ralph, outsideOf(turn.changedFiles), before);
  if (sources.length > 0) {
    const diff = await requireRepository(ralph).diff(topLevelPaths(ralph, sources), { base: turn.base });
    return { status: "trespassed", paths: sources, diff };
  }
  if (others.length > 0) {
    ralph.events.emit({ type: "note", level: "warn", message: othersMessage(others) });
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

/** A snapshot as `plan_state.json` keeps it while a turn is open. Pure. */
function treeBefore({ head, contents }: TreeSnapshot): TreeBefore {
  return { head, contents: Object.fromEntries(contents) };
}

/** Those of the paths, relative to the root, that the planner's agent may not write. Pure. */
function outsideOf(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => !path.startsWith(`${EXEC_FOLDER}/`));
}

/**
 * Says what changed outside the workflow's folder since a turn that a kill interrupted: it was never judged. What the agent
 * did and what a person did since look the same, so it is only reported.
 */
export async function tellUnjudged(ralph: RalphContext, before: TreeBefore): Promise<void> {
  const { head, contents } = before;
  const snapshot = { head, branch: null, changed: [], contents: new Map(Object.entries(contents)) };
  const { paths } = await requireRepository(ralph).changedSince(snapshot);
  const outside = outsideOf(rootPaths(ralph, paths));
  if (outside.length === 0) return;
  const message =
    `planning was interrupted in a turn, and these files have changed since it began, by the agent or by you: ${
      outside.join(", ")
    }`;
  ralph.events.emit({ type: "note", level: "warn", message });
}
