import { changedSources, othersMessage } from "../../../git/changed_sources.ts";
import { trespassText } from "../../../ui/event_text.ts";
import type { FeatureDirectory } from "../directories.ts";
import type { RalphContext } from "../../../context/context.ts";
import { pathsOutside } from "../../../checks/guards.ts";
import { agentTurn } from "../../../agents/agent_turn.ts";
import { requireRepository } from "../../../git/require_repository.ts";
import { topLevelPaths } from "../../../git/tree_paths.ts";
import type { Outcome } from "../../../recipe/outcome.ts";

/** A turn at a PRD that ended as it should. */
export interface PrdTurn {
  readonly status: "answered";
  readonly text: string;
}

/**
 * One turn of the agent at a PRD: it may write in the feature's own directory and nowhere else.
 *
 * @param interactive the terminal is handed over
 */
export async function prdTurn(
  ralph: RalphContext,
  feature: FeatureDirectory,
  request: { readonly prompt: string; readonly name: string; readonly interactive?: boolean },
): Promise<PrdTurn | PrdFailure> {
  const folder = await ralph.run.folder(".ralph/runs");
  if (!await ralph.steering.rest(ralph.signal)) return { status: "aborted" };
  const before = await requireRepository(ralph).snapshot();
  const prompt = `${request.prompt}${ralph.steering.told(null)}`;
  const { turn } = await agentTurn(ralph, { ...request, prompt, folder, before });
  const outside = pathsOutside(turn.changedFiles, [`${feature.path}/**`]);
  const { sources, others } = await changedSources(ralph, outside, before);
  if (sources.length > 0) {
    const diff = await requireRepository(ralph).diff(topLevelPaths(ralph, sources), { base: turn.base });
    const trespass = { type: "trespass", by: "planner", paths: sources, diff } as const;
    ralph.events.emit(trespass);
    return { status: "failed", reason: "trespassed", reasons: [trespassText(trespass)] };
  }
  if (others.length > 0) ralph.events.emit({ type: "note", level: "warn", message: othersMessage(others) });
  const { end } = turn;
  switch (end.reason) {
    case "completed":
      return { status: "answered", text: turn.text };
    case "aborted":
      return { status: "aborted" };
    case "agent-unusable":
      return { status: "failed", reason: "agent-unusable", reasons: [end.message] };
    default:
      return { status: "failed", reason: "agent-failed", reasons: [end.message] };
  }
}

/** Why a PRD did not come to be. */
export type PrdFailure =
  | {
    readonly status: "failed";
    readonly reason: "trespassed" | "agent-failed" | "agent-unusable" | "no-prd" | "invalid-prd" | "editor-failed";
    readonly reasons: readonly string[];
  }
  | { readonly status: "aborted" };

/** How `prd()` ended. */
export type PrdOutcome =
  /** prd.json is there; `next` is the command that works it off. */
  | { readonly status: "approved"; readonly feature: string; readonly file: string; readonly next: readonly string[] }
  /** It is kept as it is, for later. */
  | { readonly status: "declined"; readonly next: readonly string[] }
  /** No one could be asked. */
  | { readonly status: "blocked"; readonly reasons: readonly string[] }
  | PrdFailure
  /** Execution was chosen, and ended so. */
  | Outcome;
