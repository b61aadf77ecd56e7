import { letGo } from "../git/history.ts";
import { note, type RalphContext } from "../context/context.ts";
import { agentTurn, type AgentTurnRequest } from "../agents/agent_turn.ts";
import { pathsOutside } from "../checks/guards.ts";
import { changedSources, othersMessage } from "../git/changed_sources.ts";
import { requireRepository, rootPaths, topLevelPaths, type TreeSnapshot } from "../git/repository.ts";
import { markingEnvironment } from "../git/turn_mark.ts";
import { createTurnGuard, type TurnGuard } from "../loop/attempt/turn_guard.ts";
import { RalphError } from "../errors/ralph_error.ts";

/** How a turn of a planner's agent ended. */
export type PlannerTurn =
  | { readonly status: "answered"; readonly text: string }
  | { readonly status: "failed"; readonly reason: "agent-failed" | "agent-unusable"; readonly message: string }
  | { readonly status: "trespassed"; readonly paths: readonly string[]; readonly diff: string }
  | { readonly status: "aborted" };

/** A turn, and where it may write. */
export interface PlannerRequest extends Pick<AgentTurnRequest, "folder" | "interactive" | "name" | "stateFiles"> {
  prompt(): Promise<string>;
  /** Globs, relative to the root. */
  readonly allow: readonly string[];
  readonly signal: AbortSignal;
  /** Called before the turn. */
  readonly begun?: (before: TreeSnapshot) => Promise<void>;
  /** Called after the turn, before its changes are judged. */
  readonly ended?: () => Promise<void>;
}

/**
 * Gives a planner's agent one turn. A changed source file outweighs whatever it answered, and stays as it is; Ralph only
 * reports what a log, an editor or a server wrote meanwhile.
 */
export async function plannerTurn(ralph: RalphContext, request: PlannerRequest): Promise<PlannerTurn> {
  const { name, folder, allow, signal, interactive = false } = request;
  if (!await ralph.steering.rest(signal)) return { status: "aborted" };
  const prompt = `${await request.prompt()}${ralph.steering.told(null)}`;
  const repository = requireRepository(ralph);
  const before = await repository.snapshot();
  const guard = guardOf(ralph, request, before);
  await guard.beforeTurn(name, before);
  await request.begun?.(before);
  const environment = await markingEnvironment(repository, ralph.host.environment.variables);
  const observed = await agentTurn(ralph, { prompt, name, folder, signal, before, interactive, environment });
  await request.ended?.();
  const { turn, rewritten } = await guard.afterTurn(`${ralph.run.id}.${name}`, observed);
  await letGo(repository, ralph.run.root);
  if (rewritten !== null) return { status: "failed", reason: "agent-failed", message: rewritten.message };
  const { sources, others } = await changedSources(ralph, pathsOutside(turn.changedFiles, allow), before);
  if (sources.length > 0) {
    const diff = await repository.diff(topLevelPaths(ralph, sources), { base: turn.base });
    ralph.events.emit({ type: "trespass", by: "planner", paths: sources, diff });
    return { status: "trespassed", paths: sources, diff };
  }
  if (others.length > 0) note(ralph, "warn", othersMessage(others));
  const { end } = turn;
  if (end.reason === "completed") return { status: "answered", text: turn.text };
  if (end.reason === "aborted") return { status: "aborted" };
  const reason = end.reason === "agent-unusable" ? end.reason : "agent-failed";
  return { status: "failed", reason, message: end.message };
}

/** The guards of planners, and a person's paths. */
const GUARDS = new WeakMap<RalphContext["run"], { readonly guard: TurnGuard; readonly userPaths: Set<string> }>();

/** A planner's own files, in the folders where it may write, are not a person's: what was there before its first turn is. */
function guardOf(
  ralph: RalphContext,
  { allow, stateFiles = [] }: Pick<PlannerRequest, "allow" | "stateFiles">,
  { changed }: TreeSnapshot,
): TurnGuard {
  const known = GUARDS.get(ralph.run);
  const userPaths = known?.userPaths ?? new Set<string>();
  const guard = known?.guard ?? createTurnGuard(ralph, { userPaths, stateFiles, by: "the planner" });
  GUARDS.set(ralph.run, { guard, userPaths });
  const dirty = changed.map(({ path }) => path);
  const outside = new Set(topLevelPaths(ralph, pathsOutside(rootPaths(ralph, dirty), allow)));
  for (const path of dirty) if (known === undefined || outside.has(path)) userPaths.add(path);
  return guard;
}

/** Looks for the agent, and makes sure that commits are possible, before anyone is asked; holds the lock meanwhile. */
export async function planning<Ended>(ralph: RalphContext, purpose: string, run: () => Promise<Ended>): Promise<Ended> {
  const repository = requireRepository(ralph);
  await ralph.agent.ensureUsable();
  await repository.ensureReady();
  await repository.tryCommit();
  await using _lock = await ralph.lock.acquire(purpose);
  return await run();
}

/** A question that no one answers, and a Ctrl-C at one, are ends and not errors. */
export async function askingEnds<Ended>(run: () => Promise<Ended>): Promise<
  Ended | { readonly status: "aborted" } | { readonly status: "blocked"; readonly reasons: readonly string[] }
> {
  try {
    return await run();
  } catch (error) {
    if (!RalphError.isInstance(error)) throw error;
    if (error.code === "interrupted") return { status: "aborted" };
    if (error.code === "answer-missing") return { status: "blocked", reasons: [error.message, error.hint] };
    throw error;
  }
}
