import { asideFolder } from "../host/remove_path.ts";
import { dirname, join, parse, relative, sep } from "node:path";
import type { TurnStage } from "../config/load.ts";
import { type Agent, note, type RalphContext, type TurnKind, type TurnRequest } from "../context/context.ts";
import { gitFailed } from "../git/run_git.ts";
import * as git from "../git/repository.ts";
import { isIgnoring, keepRunsIgnored } from "../events/known_runs.ts";
import type { TimeBudget } from "../backlog/turn_types.ts";
import { readStart, resolveInside } from "../host/files.ts";
import { foldersAbove, putFoldersBack, type SwappedFolder } from "../host/folders_kept.ts";
import { restoreBelow, restoreInHead } from "../git/take_out.ts";
import type { AgentTurn, Item, Turn } from "../backlog/types.ts";
import { turnEnvironment } from "./environment.ts";
import { patientTurn } from "./patient_turn.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { silentTurn } from "./turn_end.ts";
import { mendGitDirectory } from "../git/git_directory.ts";

/** More are not looked at line by line. */
const COUNTED_PATHS = 500;
const COUNTED_BYTES = 1 << 20;

/** One turn, and where it happens. */
export interface AgentTurnRequest {
  readonly prompt: string;
  /** Name of the transcript file: `iteration-3` makes `iteration-3.log`. */
  readonly name: string;
  /** Absolute path of the run's folder. */
  readonly folder: string;
  /** Absolute path of the transcript. @default below `folder`, by `name` */
  readonly transcript?: string;
  /** @default the root */
  readonly cwd?: string;
  readonly item?: Item | null;
  /** The kind of turn, for `provider.route`. @default by the item; without one it plans */
  readonly stage?: TurnStage;
  /** The attempt at the item, from 1. @default 1 */
  readonly attempt?: number;
  /** Milliseconds. @default provider.timeout of the configuration */
  readonly timeoutMs?: number;
  readonly interactive?: boolean;
  /** The mark that the prompt asks signals that speak for passing to carry. */
  readonly nonce?: string;
  /** Added to the agent's environment. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** The tree before the turn, when that is known. */
  readonly before?: git.TreeSnapshot;
  /** Relative to the root: the folders above them are put back where the turn left something else. @default none */
  readonly stateFiles?: readonly string[];
  /** Restores what decides what git reads and runs: called before the first git after the turn. */
  readonly restoreGit?: () => Promise<void>;
  /** When the run's time is up: nothing is waited for beyond it, and the turn ends there. */
  readonly budget?: TimeBudget | null;
}

/** A turn with the tree before and after it. */
export interface ObservedTurn {
  readonly turn: Turn;
  readonly before: git.TreeSnapshot;
  readonly after: git.TreeSnapshot;
  /** It put something else in the place of folders that Ralph writes in: a sentence about each. */
  readonly swapped: readonly string[];
}

/** Gives one prompt to the agent and sees what it did to the working tree, by content, commits included. */
export async function agentTurn(ralph: RalphContext, request: AgentTurnRequest): Promise<ObservedTurn> {
  const repository = git.requireRepository(ralph);
  const cwd = request.cwd ?? ralph.root;
  const before = request.before ?? await repository.snapshot();
  const signal = request.signal ?? ralph.signal;
  const environment = { ...await turnEnvironment(ralph, request.item ?? null), ...request.environment };
  const runs = dirname(request.folder);
  const ignored = await isIgnoring(runs);
  const routed = ralph.router?.choose(kindOf(request)) ?? null;
  const agent = routed?.agent ?? ralph.agent;
  const transcript = request.transcript ?? join(request.folder, `${request.name}.log`);
  const folders = [
    ...foldersAbove(ralph.run.root, [transcript]),
    ...foldersAbove(ralph.root, (request.stateFiles ?? []).map((path) => join(ralph.root, path))),
  ];
  const swapped: SwappedFolder[] = [];
  const aside = asideFolder(repository.ralphDirectory);
  const putBack = (): void => {
    swapped.push(...putFoldersBack(folders, { aside, moved: ralph.host.guard?.moved ?? new Map() }));
  };
  const timeoutMs = request.timeoutMs ?? ralph.config.provider.timeout * 1000;
  const once = (taker: Agent, number: number, timeoutMs: number): Promise<AgentTurn> => {
    const route = taker === agent ? routed?.why : undefined;
    const place = { cwd, environment, signal, timeoutMs, transcript: numbered(transcript, number), route, putBack };
    return oneTurn(ralph, taker, request, place);
  };
  const agentTurn = request.interactive === true
    ? await once(agent, 1, timeoutMs)
    : await patientTurn({ ...ralph, agent }, { signal, timeoutMs, run: once, budget: request.budget ?? null });
  if (ignored) await keepRunsIgnored(runs); // its files are no part of the work
  await request.restoreGit?.();
  if (swapped.length > 0) await restoreFolders(ralph, before, swapped);
  const { paths, now } = await repository.changedSince(before).catch(async (error: unknown) => {
    if (!await mendGitDirectory(repository.gitDirectory, before)) throw gone();
    await request.restoreGit?.();
    const fixed = await repository.changedSince(before).catch(async () => {
      throw before.head === null || await hasCommit(repository, before.head) ? error : gone();
    });
    note(ralph, "warn", "the turn left a repository that git could not read: fixed");
    return fixed;
  });
  if (now.head === null && before.head !== null && !await hasCommit(repository, before.head)) throw gone();
  const changedFiles = git.rootPaths(ralph, paths);
  const diff = await linesChanged(repository, before.head, paths, now);
  const turn = { ...agentTurn, changedFiles, ...diff, base: before.head, head: now.head };
  return { turn, before, after: now, swapped: swapped.map((one) => sentenceAbout(ralph, one)) };
}

/** Folders that were put back empty hold again what was committed; what a person has not committed is restored later. */
export async function restoreFolders(
  ralph: RalphContext,
  { head }: Pick<git.TreeSnapshot, "head">,
  swapped: readonly SwappedFolder[],
): Promise<void> {
  const repository = git.requireRepository(ralph);
  for (const one of swapped) note(ralph, "warn", sentenceAbout(ralph, one));
  if (head === null) return;
  const paths = swapped.map(({ folder }) => relative(repository.topLevel, folder).replaceAll(sep, "/"));
  const made = await restoreInHead(repository, head, paths);
  if (made !== null) ralph.events.emit({ type: "commit", ...made });
  await restoreBelow(repository, head, paths);
}

function sentenceAbout({ root }: Pick<RalphContext, "root">, { folder, kept, kind }: SwappedFolder): string {
  return `the turn put ${kind} in the place of the folder ${relative(root, folder)}, which is as it was before the ` +
    `turn; what it put there is kept as ${relative(root, kept)}`;
}

/** Lines of these paths since a commit, those of new files included. Git is asked only about files that it knows. */
async function linesChanged(
  repository: git.Repository,
  base: string | null,
  paths: readonly string[],
  now: git.TreeSnapshot,
): Promise<Pick<Turn, "diff">> {
  if (base === null || paths.length === 0 || paths.length > COUNTED_PATHS) return {};
  const changed = new Set(paths);
  const isChanged = ({ path }: git.ChangedPath): boolean => changed.has(path);
  const untracked = now.changed.filter((entry) => entry.untracked && isChanged(entry));
  const known = now.head === base ? now.changed.filter((entry) => !entry.untracked).filter(isChanged) : null;
  const asked = known?.map(({ path }) => path) ?? paths;
  const { statOf } = await import("../git/branch_work.ts");
  const { added, removed } = asked.length === 0
    ? { added: 0, removed: 0 }
    : await statOf(repository, [base, "--", ...asked]);
  let fresh = 0;
  for (const { path } of untracked) {
    const bytes = await readStart(join(repository.topLevel, path), COUNTED_BYTES);
    fresh += bytes === null || bytes.includes(0) ? 0 : bytes.filter((byte) => byte === 10).length;
  }
  return { diff: { added: added + fresh, removed } };
}

function kindOf({ stage, item = null, attempt = 1 }: AgentTurnRequest): TurnKind {
  const own = item === null || item.preparatory === true ? "plan" : "work";
  return { stage: stage ?? (item?.review === true ? "review" : own), item, attempt };
}

async function hasCommit({ git }: git.WithGit, commit: string): Promise<boolean> {
  return (await git(["cat-file", "-e", `${commit}^{commit}`])).exitCode === 0;
}

function gone(): RalphError {
  const hint =
    "the working tree is as the turn left it: put `.git` back from a clone or a backup, and the same command " +
    "continues";
  return gitFailed(["status"], "the turn removed the git directory, or put another in its place", hint);
}

/** A turn that is taken again after a wait has a transcript of its own. */
function numbered(path: string, number: number): string {
  const { dir, name, ext } = parse(path);
  return number === 1 ? path : join(dir, `${name}-${number}${ext}`);
}

/** An agent of a recipe's own may throw, or answer with nothing: then its turn has failed, and is looked after as any. */
async function takenBy(agent: Agent, request: TurnRequest): Promise<AgentTurn> {
  const failed = (message: string): AgentTurn => silentTurn({ reason: "agent-failed", message }, request.transcript);
  try {
    const turn = await agent.runTurn(request);
    return typeof turn?.end?.reason === "string"
      ? turn
      : failed("the agent answered with no turn: it has no `end.reason`");
  } catch (error) {
    if (RalphError.isInstance(error) || request.signal?.aborted === true) throw error;
    return failed(`the agent threw: ${error instanceof Error ? error.message : String(error)}`);
  }
}

interface OneTurn
  extends Required<Pick<AgentTurnRequest, "cwd" | "environment" | "signal" | "timeoutMs" | "transcript">> {
  /** Why this agent takes it, where a rule says so. */
  readonly route: string | undefined;
  /** Folders that Ralph writes in are folders again. */
  readonly putBack: () => void;
}

async function oneTurn(
  ralph: RalphContext,
  agent: Agent,
  request: AgentTurnRequest,
  { cwd, environment, signal, timeoutMs, transcript: named, route, putBack }: OneTurn,
): Promise<AgentTurn> {
  const transcript = request.transcript === undefined ? named : await resolveInside(ralph.run.root, named);
  ralph.events.emit({
    type: "turn-start",
    agent: agent.name,
    transcript: relative(ralph.run.root, transcript),
    ...(route === undefined ? {} : { route }),
  });
  const started = ralph.host.clock.now();
  ralph.host.guard?.begin();
  const turn = await takenBy(agent, {
    prompt: request.prompt,
    cwd,
    transcript,
    timeoutMs,
    idleTimeoutMs: ralph.config.provider.idleTimeout * 1000,
    environment,
    interactive: request.interactive ?? false,
    ...(request.nonce === undefined ? {} : { nonce: request.nonce }),
    signal,
    onEvent: (event) => ralph.events.emit(event),
    onPreview: (preview) => ralph.events.preview?.(preview),
  });
  putBack(); // before anything is logged
  await ralph.host.guard?.look();
  await git.requireRepository(ralph).clearLeftLocks(started);
  const { end, durationMs, usage } = turn;
  const message = "message" in end ? end.message : null;
  ralph.events.emit({ type: "turn-end", agent: agent.name, reason: end.reason, message, durationMs, usage });
  return turn;
}
