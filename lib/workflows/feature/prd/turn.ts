import type { FeatureDirectory } from "../directories.ts";
import type { RalphContext } from "../../../context/context.ts";
import { trespassText } from "../../../ui/text.ts";
import { type PlannerTurn, plannerTurn } from "../../planner_turn.ts";
import type { Outcome } from "../../../recipe/outcome.ts";

/**
 * One turn of the agent at a PRD: it may write in the feature's own directory and nowhere else.
 *
 * @param interactive the terminal is handed over
 */
export async function prdTurn(
  ralph: RalphContext,
  feature: FeatureDirectory,
  request: { readonly prompt: string; readonly name: string; readonly interactive?: boolean },
): Promise<Extract<PlannerTurn, { readonly status: "answered" }> | PrdFailure> {
  const turn = await plannerTurn(ralph, {
    ...request,
    prompt: () => Promise.resolve(request.prompt),
    folder: await ralph.run.folder(".ralph/runs"),
    allow: [`${feature.path}/**`],
    signal: ralph.signal,
  });
  if (turn.status === "trespassed") {
    const reasons = [trespassText({ type: "trespass", by: "planner", ...turn })];
    return { status: "failed", reason: "trespassed", reasons };
  }
  return turn.status === "failed" ? { status: "failed", reason: turn.reason, reasons: [turn.message] } : turn;
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
