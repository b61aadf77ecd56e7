import type { LimitsConfig } from "../../config/schema.ts";
import type { RalphContext } from "../../context.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import type { Backlog } from "../../loop/types.ts";
import { requireRepository } from "../require_repository.ts";

/** The configuration's limits with the options' laid over them. */
export function limitsOf(
  ralph: Pick<RalphContext, "config">,
  options: { readonly limits?: Partial<LimitsConfig>; readonly maxIterations?: number },
): LimitsConfig {
  const limits = { ...ralph.config.limits, ...options.limits };
  const { maxIterations } = options;
  if (maxIterations === undefined) return limits;
  return { ...limits, iterations: Math.min(maxIterations, limits.iterations ?? maxIterations) };
}

/** Creates or switches to the branch that is asked for, or that the backlog works on. @throws {RalphError} git-detached-head, branch-failed */
export async function onBranch<Data, Findings>(
  ralph: RalphContext,
  backlog: Backlog<Data, Findings>,
  asked: string | undefined,
): Promise<void> {
  const repository = requireRepository(ralph);
  const current = await repository.currentBranch();
  const wanted = asked ?? await backlog.branch?.() ?? "";
  if (wanted === "" && current === null) throw new RalphError("git-detached-head", { details: { root: ralph.root } });
  if (wanted === "" || wanted === current) return;
  await repository.switchTo(wanted);
  ralph.events.emit({ type: "note", level: "info", message: `working on the branch ${wanted}` });
}
