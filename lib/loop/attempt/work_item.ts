import { letGo } from "../../git/history.ts";
import { join } from "node:path";
import { agentTurn, type ObservedTurn } from "../../agents/agent_turn.ts";
import { refusalOf } from "../../agents/turn_verdict.ts";
import { CLAIMS_VARIABLE, createClaimsFile } from "../../backlog/claims.ts";
import { endedWith } from "../../backlog/last_line.ts";
import { ASKED, blockedReason, NONCE_LENGTH, saysPassing } from "../../backlog/signals.ts";
import type { Attempt, Backlog, Check, Claim, Item, JudgeContext, Turn, Verification } from "../../backlog/types.ts";
import { verdictOf } from "../../backlog/attempts.ts";
import { createBrief } from "../../checks/brief/create_brief.ts";
import type { BriefChange } from "../../checks/brief/types.ts";
import { namedCheck } from "../../checks/function.ts";
import { verify } from "../../checks/verify.ts";
import type { RalphContext } from "../../context/context.ts";
import { requireRepository, type TreeSnapshot } from "../../git/repository.ts";
import { markingEnvironment } from "../../git/turn_mark.ts";
import { allowsUnverified, failedBefore, verifyBefore, withoutReviews } from "./attempt_parts.ts";
import type { AttemptParts, TakenTurn, WorkedItem, WorkItemOptions } from "./attempt_parts.ts";
import { maskedClaims } from "../recover/inbox.ts";
import { endedBy, hung, judged } from "./judge_attempt.ts";
import { NOT_CLAIMED } from "../policy/progress.ts";
import { createTurnGuard, type GuardedTurn, type TurnGuard } from "./turn_guard.ts";

export type { WorkedItem, WorkItemOptions } from "./attempt_parts.ts";

/**
 * One attempt at one item: work, checks first where asked, the agent's turn in a fresh process, judge, state restored,
 * guards, verification. It settles nothing and changes no state.
 *
 * @returns the attempt: `verified`, `unverified`, `not-done`, `failed`, `blocked`, `interrupted`, `trespassed` or
 * `agent-unusable`
 * @throws {RalphError} not-a-repository
 * @example Work on the next item of a backlog, without the loop
 * ```ts
 * import { memoryBacklog, workItem } from "ralph";
 * import { scriptedAgent, testContext } from "ralph/testing";
 *
 * await using ralph = await testContext({ agent: { turns: [{ write: { "a.txt": "a" }, say: "<ralph>DONE</ralph>" }] } });
 * const backlog = memoryBacklog([{ id: "a", title: "write a.txt", checks: ["test -f a.txt"] }]);
 * const next = await backlog.next({ inFlight: [], parked: [] });
 * if (next.status === "item") console.log((await workItem(ralph, backlog, next.item)).attempt.status); // verified
 * ```
 */
export async function workItem<Data, Findings>(
  ralph: RalphContext,
  backlog: Backlog<Data, Findings>,
  item: Item<Data>,
  options: WorkItemOptions = {},
): Promise<WorkedItem<Findings>> {
  const parts = await prepare(ralph, backlog, item, options);
  const { work, checks, signal, logs } = parts;
  const named = checks.map(namedCheck).filter((check) => check !== null);
  const known = { id: parts.id, number: parts.context.attempt, claim: null, turn: null, verification: null } as const;
  if (work.prompt === null) {
    const verification = await verify(ralph, withoutReviews(checks), { item, signal, logs, ...failedBefore(options) });
    const verdict = verdictOf(verification, allowsUnverified(parts));
    return { attempt: { ...known, verification, ...verdict }, checks: named, before: null, after: null };
  }

  const first = work.checkFirst === true ? await verifyBefore(parts, withoutReviews(checks)) : null;
  const greenBefore = await wasGreen(parts, named);
  const before = options.before ?? await requireRepository(ralph).snapshot();
  const taken = await takeTurn(parts, { before, first, greenBefore });
  const { lines: _lines, text: _text, ...record } = taken.turn;
  const { since, changedFiles } = options.start ?? { since: before.head, changedFiles: [] };
  const standing = { since, changedFiles: [...new Set([...changedFiles, ...taken.turn.changedFiles])] };
  const attempted = {
    ...known,
    claim: taken.claim,
    turn: record,
    ...(greenBefore ? { greenBefore } : {}),
  };
  let attempt = await endedBy(parts, taken, attempted);
  if (attempt === null) {
    const found = withoutClaim(taken, await judged(parts, taken, { attempted, first, standing }));
    const isChallenged = ralph.config.verify.challenge > 0; // loaded only where it is asked for
    attempt = isChallenged ? await (await import("./challenge.ts")).challenged(parts, standing, found) : found;
  }
  return { attempt: attempt as Attempt<Findings>, checks: named, before, after: taken.after };
}

/** Green checks without a claim verify nothing: the agent may have stopped halfway. */
function withoutClaim({ unclaimed, turn }: TakenTurn, attempt: Attempt): Attempt {
  if (!unclaimed || attempt.status !== "verified") return attempt;
  return {
    ...attempt,
    status: "unverified",
    doubts: [{ kind: "not-claimed", message: `${NOT_CLAIMED}${endedWith(turn.lines)}` }],
  };
}

async function prepare(
  ralph: RalphContext,
  backlog: Backlog,
  item: Item,
  options: WorkItemOptions,
): Promise<AttemptParts> {
  const { id, number } = options.attempt ?? { id: `${ralph.run.id}.${ralph.run.nextIteration()}`, number: 1 };
  const context = {
    cwd: ralph.root,
    attempt: number,
    previous: options.previous ?? null,
    last: options.last ?? null,
    nonce: ralph.host.ids.random(NONCE_LENGTH),
    claims: [],
    repository: ralph.repository,
    state: ralph.state,
  };
  const work = await backlog.work(item, context);
  const checks = [...work.checks, ...options.checks ?? []];
  const folder = await ralph.run.folder(backlog.runsDirectory ?? ".ralph/runs");
  const logs = join(folder, nameOf(id));
  return {
    ralph,
    backlog,
    item,
    context,
    work,
    checks,
    options,
    brief: options.brief ?? await createBrief(ralph, backlog),
    signal: options.signal ?? ralph.signal,
    id,
    folder,
    logs,
  };
}

async function takeTurn(
  parts: AttemptParts,
  { before, first, greenBefore }: {
    readonly before: TreeSnapshot;
    readonly first: Verification | null;
    readonly greenBefore: boolean;
  },
): Promise<TakenTurn> {
  const { ralph, backlog, item, work, checks, context, brief } = parts;
  const reviews = item.review === true;
  const prompt = work.prompt ?? "";
  const own = typeof prompt === "string" ? prompt : prompt(first);
  const { note } = parts.options;
  const text = note === undefined ? own : `${own}\n\n${note}`;
  await using file = await createClaimsFile(ralph.host);
  const guard = parts.options.guard ?? guardOf(ralph, backlog.stateFiles, before);
  await guard.beforeTurn(item.id, before);
  const early: BriefChange[] = [];
  const place = { before: reviews ? null : before, file: file.path, early };
  const run = async (): Promise<GuardedTurn> => {
    const guarded = await guard.afterTurn(parts.id, await runTurn(parts, text, place));
    if (parts.options.guard === undefined) await letGo(requireRepository(ralph), ralph.run.root);
    return guarded;
  };
  const taken = await (reviews ? brief.asInstructed(run) : run());
  const asked = maskedClaims(ralph, await file.read());
  const changes = await brief.compare();
  const edited = changes.some(({ kind }) => kind === "state");
  const earlier = reviews ? [] : parts.options.start?.changedFiles ?? [];
  const withEarlier = { ...taken.turn, changedFiles: [...new Set([...earlier, ...taken.turn.changedFiles])] };
  // before the state is restored, so that it can read what the agent wrote
  const claimed = (checked: boolean): Promise<Claim> =>
    judge(backlog, item, checked ? withEarlier : taken.turn, { ...context, claims: asked, checked });
  const hasOwn = checks.map(namedCheck).some((check) => check?.own === true);
  const claims = claimsOf(ralph, taken.turn);
  const needsNone = hasOwn && !greenBefore && claims !== "required";
  const claim = await claimOf(taken.turn, needsNone, claimed);
  const unclaimed = needsNone && claim?.status === "done" && claims === "asked" &&
    (await claimed(false)).status === "not-done";
  const idle = taken.turn.end.reason === "completed" && !edited ? refusalOf(taken.turn) : null;
  const bare = idle === null ? null : (await claimed(false)).status;
  const refusal = bare === "done" || bare === "blocked" ? null : idle;
  const later = (changes.length === 0 ? [] : await brief.restore(changes)).filter(({ kind }) => kind !== "state");
  const restored = [...early, ...later];
  const after = restored.length === 0 && !reviews ? taken.after : await requireRepository(ralph).snapshot();
  const isChange = (path: string): boolean => !restored.some((one) => one.path === path);
  const turn = { ...taken.turn, changedFiles: taken.turn.changedFiles.filter(isChange) };
  return { ...taken, turn, before, after, claim, refusal, unclaimed, edited, restored };
}

/**
 * @param place the tree before the turn (`null`: looked at when the turn begins), the file for its claims, and what gets
 * the files of the git directory that were restored before git looked
 */
async function runTurn(
  { ralph, backlog, item, work, options, signal, folder, id, context, brief }: AttemptParts,
  prompt: string,
  place: { readonly before: TreeSnapshot | null; readonly file: string; readonly early: BriefChange[] },
): Promise<ObservedTurn> {
  return await agentTurn(ralph, {
    prompt: item.review === true ? prompt : `${prompt}${ralph.steering.told(item.id)}`,
    name: nameOf(id),
    folder,
    ...(item.transcript === undefined ? {} : { transcript: join(ralph.run.root, item.transcript) }),
    item,
    attempt: context.attempt,
    stateFiles: backlog.stateFiles,
    signal,
    ...(work.timeoutMs === undefined ? {} : { timeoutMs: work.timeoutMs }),
    ...(work.interactive === undefined ? {} : { interactive: work.interactive }),
    environment: {
      ...work.environment,
      [CLAIMS_VARIABLE]: place.file,
      ...await markingEnvironment(requireRepository(ralph), ralph.host.environment.variables),
    },
    nonce: context.nonce,
    ...(place.before === null ? {} : { before: place.before }),
    budget: options.budget ?? null,
    async restoreGit() {
      const changes = await brief.compare("git");
      if (changes.length > 0) place.early.push(...await brief.restore(changes));
    },
  });
}

function guardOf(ralph: RalphContext, stateFiles: readonly string[], { changed }: TreeSnapshot): TurnGuard {
  return createTurnGuard(ralph, { userPaths: new Set(changed.map(({ path }) => path)), stateFiles });
}

/** The item's own checks prove nothing where all of them pass before anything was done for it. */
async function wasGreen(parts: AttemptParts, checks: readonly Check[]): Promise<boolean> {
  const { options, context } = parts;
  const own = checks.filter((check) => check.own === true);
  if (own.length === 0 || parts.item.exclusive === true) return false; // a review looks at work that is there
  if (options.greenBefore !== undefined || context.attempt > 1) return options.greenBefore ?? false;
  const unknown = own.filter(({ command }) => command === undefined || options.green?.has(command) !== true);
  const found = unknown.length === 0 ? null : await verifyBefore(parts, unknown);
  if (found?.status === "aborted") return false;
  if (found !== null) await options.clean?.look(found.results, unknown, parts.signal);
  const green = found === null || found.status === "passed";
  await options.baselineTaken?.(green);
  return green;
}

function nameOf(id: string): string {
  return `iteration-${id.slice(id.lastIndexOf(".") + 1)}`;
}

/**
 * Tells whether green checks need the agent's claim beside them. Known agents print their last words, which their
 * streams show; any other command is asked for them, and its work is unverified without.
 */
function claimsOf({ config }: Pick<RalphContext, "config">, turn: Turn): "required" | "optional" | "asked" {
  const { provider, trust } = config;
  if (provider.claims !== undefined) return provider.claims;
  if (trust === "strict") return "required";
  if (turn.needsClaim === false) return "optional";
  return turn.activity === undefined ? "asked" : "required";
}

/** A turn that failed claims nothing, unless it hung after it had claimed; what it found out on the way is kept. */
async function claimOf(
  { end: { reason } }: Turn,
  checked: boolean,
  claimed: (checked: boolean) => Promise<Claim>,
): Promise<Claim | null> {
  if (reason === "completed") return await claimed(checked);
  if (reason === "agent-unusable") return null;
  const claim = await claimed(false);
  if (claim.status === "done" && hung(reason)) return claim;
  const { findings } = claim;
  return findings === undefined ? null : { status: "not-done", reason: `the turn ended as ${reason}`, findings };
}

async function judge(backlog: Backlog, item: Item, turn: Turn, context: JudgeContext): Promise<Claim> {
  const claim = backlog.judge === undefined
    ? defaultClaim(turn, context, backlog.stateFiles)
    : await backlog.judge(item, turn, context);
  const blocked = blockedReason(turn.lines);
  if (blocked !== null) {
    const { findings } = claim;
    return {
      status: "blocked",
      reason: `${ASKED}${blocked}`,
      ...findings === undefined ? {} : { findings },
    };
  }
  const isDone = item.review === true && claim.status === "done";
  const written = isDone ? turn.changedFiles.filter((path) => !backlog.stateFiles.includes(path)) : [];
  if (written.length > 0) {
    const reason = `it changed files, which a review does not do: ${written.join(", ")}`;
    return { ...claim, status: "not-done", reason };
  }
  return claim.status === "not-done" ? { ...claim, reason: `${claim.reason}${endedWith(turn.lines)}` } : claim;
}

function defaultClaim(
  { changedFiles, lines }: Turn,
  { checked, nonce }: JudgeContext,
  stateFiles: readonly string[],
): Claim {
  const worked = checked && changedFiles.some((path) => !stateFiles.includes(path));
  return worked || saysPassing(lines, nonce, "DONE")
    ? { status: "done" }
    : { status: "not-done", reason: "the answer did not end with `<ralph>DONE</ralph>`" };
}
