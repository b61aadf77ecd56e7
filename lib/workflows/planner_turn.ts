import { letGo } from "../git/history.ts";
import { note, type RalphContext } from "../context/context.ts";
import { agentTurn, type AgentTurnRequest } from "../agents/agent_turn.ts";
import { pathsOutside } from "../checks/guards.ts";
import { changedSources } from "../git/changed_sources.ts";
import { requireRepository, rootPaths, topLevelPaths, type TreeSnapshot } from "../git/repository.ts";
import { markingEnvironment } from "../git/turn_mark.ts";
import type { KeptRecord } from "../backlog/journal_types.ts";
import { recordPlanner, restoreKilled } from "../loop/attempt/killed.ts";
import { asFound, foundIn } from "../loop/attempt/uncommitted.ts";
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
  readonly begun?: () => Promise<void>;
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
  const { guard, kept } = guardOf(ralph, request, before);
  kept.work = {};
  await guard.beforeTurn(name, before);
  await recordPlanner(ralph, { head: before.head, ...kept, contents: Object.fromEntries(before.contents), allow });
  await request.begun?.();
  const environment = await markingEnvironment(repository, ralph.host.environment.variables);
  const observed = await agentTurn(ralph, { prompt, name, folder, signal, before, interactive, environment });
  await request.ended?.();
  const { turn, rewritten } = await guard.afterTurn(`${ralph.run.id}.${name}`, observed);
  await recordPlanner(ralph, null);
  await letGo(repository, ralph.run.root);
  if (rewritten !== null) return { status: "failed", reason: "agent-failed", message: rewritten.message };
  const { sources, others } = await changedSources(ralph, pathsOutside(turn.changedFiles, allow), before);
  if (sources.length > 0) {
    const diff = await repository.diff(topLevelPaths(ralph, sources), { base: turn.base });
    ralph.events.emit({ type: "trespass", by: "planner", paths: sources, diff });
    return { status: "trespassed", paths: sources, diff };
  }
  const named = others.map((path) => {
    const [inTree = path] = topLevelPaths(ralph, [path]);
    return `${path}${asFound(inTree, foundIn(ralph, guard.found, inTree, BY))}`;
  });
  if (named.length > 0) note(ralph, "warn", `${LEFT}: ${named.join(", ")}`);
  const { end } = turn;
  if (end.reason === "completed") return { status: "answered", text: turn.text };
  if (end.reason === "aborted") return { status: "aborted" };
  const reason = end.reason === "agent-unusable" ? end.reason : "agent-failed";
  return { status: "failed", reason, message: end.message };
}

const BY = "the planner";
const LEFT = "changed while the planner was at work, by it or by something else, and left alone";

/** A guard of planners, a person's paths, and what is kept of them. */
interface Guarded {
  readonly guard: TurnGuard;
  readonly userPaths: Set<string>;
  readonly kept: { work: KeptRecord["work"] };
}

const GUARDS = new WeakMap<RalphContext["run"], Guarded>();

/** A planner's own files, in the folders where it may write, are not a person's: what was there before its first turn is. */
function guardOf(ralph: RalphContext, { allow, stateFiles = [] }: PlannerRequest, { changed }: TreeSnapshot): Guarded {
  const known = GUARDS.get(ralph.run);
  const guarded = known ?? newGuard(ralph, stateFiles);
  GUARDS.set(ralph.run, guarded);
  const dirty = changed.map(({ path }) => path);
  const outside = new Set(topLevelPaths(ralph, pathsOutside(rootPaths(ralph, dirty), allow)));
  for (const path of dirty) if (known === undefined || outside.has(path)) guarded.userPaths.add(path);
  return guarded;
}

function newGuard(ralph: RalphContext, stateFiles: readonly string[]): Guarded {
  const userPaths = new Set<string>();
  const kept: Guarded["kept"] = { work: {} };
  const record = (_: string, { work }: KeptRecord): Promise<void> => Promise.resolve(void (kept.work = work));
  return { guard: createTurnGuard(ralph, { userPaths, stateFiles, by: BY, record }), userPaths, kept };
}

/** Looks for the agent, and makes sure that commits are possible, before anyone is asked; holds the lock meanwhile. */
export async function planning<Ended>(ralph: RalphContext, purpose: string, run: () => Promise<Ended>): Promise<Ended> {
  const repository = requireRepository(ralph);
  await ralph.agent.ensureUsable();
  await repository.ensureReady();
  await repository.tryCommit();
  await using _lock = await ralph.lock.acquire(purpose);
  await restoreKilled(ralph, []);
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
