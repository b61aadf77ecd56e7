import type { LimitsConfig } from "../config/types.ts";
import type { RalphContext } from "../context/context.ts";

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
