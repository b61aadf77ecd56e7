import { dirname, join, relative } from "node:path";
import type { RalphContext } from "../context.ts";
import type { TreeSnapshot } from "../git/types.ts";
import { ensureRunsIgnored, isIgnoring } from "../loop/runs_ignored.ts";
import type { Item, Turn } from "../loop/types.ts";
import { turnEnvironment } from "../agents/environment.ts";
import { requireRepository } from "./require_repository.ts";
import { rootPaths } from "./tree_paths.ts";

/** One turn, and where it happens. */
export interface AgentTurnRequest {
  readonly prompt: string;
  /** Name of the transcript file: `iteration-3` makes `iteration-3.log`. */
  readonly name: string;
  /** Absolute path of the run's folder. */
  readonly folder: string;
  /** @default the root */
  readonly cwd?: string;
  readonly item?: Item | null;
  /** Milliseconds. @default provider.timeout of the configuration */
  readonly timeoutMs?: number;
  readonly interactive?: boolean;
  /** Added to the agent's environment. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** What the tree held before the turn, when that is known. */
  readonly before?: TreeSnapshot;
}

/** A turn with the tree before and after it. */
export interface ObservedTurn {
  readonly turn: Turn;
  readonly before: TreeSnapshot;
  readonly after: TreeSnapshot;
}

/** Gives one prompt to the agent and sees what it did to the working tree, by content, commits included. */
export async function agentTurn(ralph: RalphContext, request: AgentTurnRequest): Promise<ObservedTurn> {
  const repository = requireRepository(ralph);
  const cwd = request.cwd ?? ralph.root;
  const before = request.before ?? await repository.snapshot();
  const transcript = join(request.folder, `${request.name}.log`);
  const runs = dirname(request.folder);
  const ignored = await isIgnoring(runs);
  ralph.events.emit({ type: "turn-start", agent: ralph.agent.name, transcript: relative(ralph.root, transcript) });
  const started = ralph.host.clock.now();
  const agentTurn = await ralph.agent.runTurn({
    prompt: request.prompt,
    cwd,
    transcript,
    timeoutMs: request.timeoutMs ?? ralph.config.provider.timeout * 1000,
    idleTimeoutMs: ralph.config.provider.idleTimeout * 1000,
    environment: { ...await turnEnvironment(ralph, request.item ?? null), ...request.environment },
    interactive: request.interactive ?? false,
    signal: request.signal ?? ralph.signal,
  });
  await repository.clearLeftLocks(started);
  if (ignored) await ensureRunsIgnored(runs); // the agent may have taken the folder away: its files are nobody's work
  const { end, durationMs, usage } = agentTurn;
  const message = "message" in end ? end.message : null;
  ralph.events.emit({ type: "turn-end", agent: ralph.agent.name, reason: end.reason, message, durationMs, usage });
  const { paths, now } = await repository.changedSince(before);
  const changedFiles = rootPaths(ralph, paths);
  return { turn: { ...agentTurn, changedFiles, base: before.head, head: now.head }, before, after: now };
}
