import { join } from "node:path";
import { turnEnvironment } from "../../agents/environment.ts";
import type { RalphContext } from "../../context/context.ts";
import type { Outcome } from "../../recipe/outcome.ts";

/** How a session at the terminal ended. */
export type HandOverOutcome =
  & Outcome
  & (
    | { readonly status: "passed" | "aborted" }
    | { readonly status: "failed"; readonly reason: "agent-unusable" | "stopped"; readonly message: string }
  );

/** What a session is handed, and how it is called. */
export interface HandOverOptions {
  /** What the run lock says. */
  readonly purpose: string;
  /** Where the run's folder goes, relative to the root. @default ".ralph/runs" */
  readonly runsDirectory?: string;
}

/** A session ends when the person ends it. */
const SESSION_MS = 24 * 60 * 60 * 1000;

/**
 * Hands the terminal to the agent with a first prompt, and waits until the person is done. Nothing is committed.
 *
 * @throws {RalphError} agent-missing, agent-not-found, run-locked
 */
export async function handOver(
  ralph: RalphContext,
  prompt: string,
  options: HandOverOptions,
): Promise<HandOverOutcome> {
  const { agent } = ralph;
  await agent.ensureUsable();
  if (agent.interactive === false) {
    const message =
      `${agent.name} cannot be handed the terminal: name another agent with \`--agent\` or \`--agent-cmd\``;
    return { status: "failed", reason: "agent-unusable", message };
  }
  await using _lock = await ralph.lock.acquire(options.purpose);
  const folder = await ralph.run.folder(options.runsDirectory ?? ".ralph/runs");
  const transcript = join(folder, `${options.purpose}.log`);
  const { end } = await agent.runTurn({
    prompt,
    cwd: ralph.root,
    transcript,
    timeoutMs: SESSION_MS,
    environment: await turnEnvironment(ralph, null),
    interactive: true,
    signal: ralph.signal,
  });
  switch (end.reason) {
    case "completed":
      return { status: "passed" };
    case "aborted":
      return { status: "aborted" };
    case "agent-unusable":
      return { status: "failed", reason: "agent-unusable", message: end.message };
    default:
      return { status: "failed", reason: "stopped", message: end.message };
  }
}
