import { RalphError } from "../errors/ralph_error.ts";
import type { AgentTurn } from "../backlog/types.ts";
import type { Agent } from "../context/agent.ts";

/** Stands where no agent is configured: says so when it is needed, not before. */
export function missingAgent(): Agent {
  return {
    name: "none",
    ensureUsable: () => Promise.reject(new RalphError("agent-missing")),
    runTurn: (): Promise<AgentTurn> => Promise.reject(new RalphError("agent-missing")),
  };
}
