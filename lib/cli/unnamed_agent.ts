import type { Agent } from "../context/agent.ts";
import { RalphError } from "../errors/ralph_error.ts";

/**
 * How an agent is named, where none is: a command that starts none need not have one. `null`: one is named.
 *
 * @throws {RalphError} it cannot be used
 */
export async function unnamedAgent(agent: Pick<Agent, "ensureUsable">): Promise<string | null> {
  try {
    await agent.ensureUsable();
    return null;
  } catch (error) {
    if (RalphError.isInstance(error) && error.code === "agent-missing") return error.hint;
    throw error;
  }
}
