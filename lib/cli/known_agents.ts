import { findExecutable } from "../host/shell.ts";
import type { Environment } from "../host/types.ts";

/** An agent program that Ralph looks for on PATH. */
export interface KnownAgent {
  /** The program's name. */
  readonly name: string;
  /** Runs one turn without questions, prompt on standard input; `null` where there is no such form. */
  readonly command: string | null;
}

/** Agents that people have, with the command that runs one unattended turn. */
export const KNOWN_AGENTS: readonly KnownAgent[] = [
  { name: "claude", command: "claude -p --dangerously-skip-permissions" },
  { name: "codex", command: "codex exec --dangerously-bypass-approvals-and-sandbox -" },
  { name: "opencode", command: "opencode run --auto" },
  { name: "amp", command: "amp -x --dangerously-allow-all" },
  { name: "gemini", command: "gemini --yolo --skip-trust" },
  { name: "qwen", command: "qwen --yolo" },
  { name: "copilot", command: "copilot --allow-all --no-ask-user --no-color --silent" },
  { name: "cline", command: 'cline "Do what follows."' },
  { name: "pi", command: "pi -p" },
  { name: "cursor-agent", command: "cursor-agent -p --force" },
  { name: "droid", command: null },
  { name: "aider", command: null },
];

/** An agent that is on PATH. */
export interface FoundAgent extends KnownAgent {
  /** Absolute path of the program. */
  readonly path: string;
}

/** The known agents that are on PATH. */
export async function findAgents(environment: Environment): Promise<readonly FoundAgent[]> {
  const found = await Promise.all(KNOWN_AGENTS.map(async (agent) => {
    const path = await findExecutable(agent.name, environment, environment.cwd);
    return path === null ? [] : [{ ...agent, path }];
  }));
  return found.flat();
}
