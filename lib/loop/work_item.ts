import { join } from "node:path";
import type {
  Attempt,
  Backlog,
  Check,
  Claim,
  Item,
  JudgeContext,
  TimeBudget,
  Turn,
  Verification,
  Work,
  WorkContext,
} from "../backlog/types.ts";
import { verdictOf } from "../backlog/verdict.ts";
import { agentTurn } from "../agents/agent_turn.ts";
import { refusalOf } from "../agents/refusal.ts";
import { protectedPaths } from "../checks/guards.ts";
import { freshStart, type ItemStart, withTurn } from "../checks/integrity/item_start.ts";
import { findWeakened } from "../checks/integrity/test_guard.ts";
import { namedCheck } from "../checks/named_check.ts";
import { strayedFrom, trespassed } from "../checks/turn_guards.ts";
import type { CheckLike } from "../checks/types.ts";
import { verify } from "../checks/verify.ts";
import type { RalphContext } from "../context/context.ts";
import { requireRepository } from "../context/require_repository.ts";
import type { TreeSnapshot } from "../git/types.ts";
import { putBackEdits } from "./recover.ts";

/** One attempt, and what is known before it. */
export interface WorkItemOptions {
  /** @default the run's next iteration, number 1 */
  readonly attempt?: { readonly id: string; readonly number: number };
  /** Run after the backlog's own checks. */
  readonly checks?: readonly CheckLike[];
  /** The item's last attempt, reported to the agent. @default none */
  readonly previous?: Attempt | null;
  /** The last attempt of the run, at whatever item. @default none */
  readonly last?: Attempt | null;
  /** Ends the turn and the checks. @default the one of the context */
  readonly signal?: AbortSignal;
  /** What the tree held before, when that is known. */
  readonly before?: TreeSnapshot;
  /** What the tree and the tests were before the first attempt at the item. @default what they are now */
  readonly start?: ItemStart;
  /** Commands that failed before the run's first turn. */
  readonly failedBefore?: ReadonlySet<string>;
  /** Commands that passed when the last item was settled, on this very tree: green, without running them again. */
  readonly green?: ReadonlySet<string>;
  /** The item's own checks were all green before its first attempt; absent: this is the first attempt, and they are run. */
  readonly greenBefore?: boolean;
  /** When the run's time is up: nothing is waited for beyond it. */
  readonly budget?: TimeBudget | null;
}

/** An attempt with the tree before and after the agent's turn, for the caller that commits. */
export interface WorkedItem<Findings> {
  /** How it ended. */
  readonly attempt: Attempt<Findings>;
  /** The item's checks, the backlog's own first. */
  readonly checks: readonly Check[];
  /** The tree before the turn; `null` where no turn was taken. */
  readonly before: TreeSnapshot | null;
  /** The tree after it; `null` where no turn was taken. */
  readonly after: TreeSnapshot | null;
}

/** All that one attempt works with. */
interface AttemptParts<Data, Findings> {
  readonly ralph: RalphContext;
  readonly backlog: Backlog<Data, Findings>;
  readonly item: Item<Data>;
  readonly context: WorkContext<Findings>;
  readonly work: Work;
  readonly checks: readonly CheckLike[];
  readonly options: WorkItemOptions;
  readonly signal: AbortSignal;
  readonly id: string;
  /** Absolute path of the run's folder. */
  readonly folder: string;
  /** Absolute path of the folder for the checks' logs. */
  readonly logs: string;
}

/** What a turn left. */
interface TakenTurn<Findings> {
  readonly turn: Turn;
  readonly before: TreeSnapshot;
  readonly after: TreeSnapshot;
  readonly claim: Claim<Findings> | null;
  /** Why the turn was none, although it ended in order. */
  readonly refusal: string | null;
  /** It edited state files, which were restored. */
  readonly edited: boolean;
}

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
  if (greenBefore && ralph.config.trust === "strict") {
    const message = "its own checks pass before anything was done for it, so that they prove nothing";
    return { attempt: { ...known, greenBefore, status: "blocked", message }, checks: named, before: null, after: null };
  }
  const before = options.before ?? await requireRepository(ralph).snapshot();
  const start = options.start ?? await freshStart(ralph, before);
  const taken = await takeTurn(parts, { before, first, greenBefore });
  const { lines: _lines, text: _text, ...record } = taken.turn;
  const standing = withTurn(start, taken.turn.changedFiles);
  const weakened = await findWeakened(ralph, standing, checks);
  const attempted = {
    ...known,
    claim: taken.claim,
    turn: record,
    ...(weakened.length === 0 ? {} : { weakened }),
    ...(greenBefore ? { greenBefore } : {}),
  };
  const guarded = await guard(parts, taken, attempted);
  const attempt = guarded ?? await judged(parts, taken, { attempted, first, standing });
  return { attempt, checks: named, before, after: taken.after };
}

async function prepare<Data, Findings>(
  ralph: RalphContext,
  backlog: Backlog<Data, Findings>,
  item: Item<Data>,
  options: WorkItemOptions,
): Promise<AttemptParts<Data, Findings>> {
  const { id, number } = options.attempt ?? { id: `${ralph.run.id}.${ralph.run.nextIteration()}`, number: 1 };
  const context = {
    cwd: ralph.root,
    attempt: number,
    previous: options.previous ?? null,
    last: options.last ?? null,
  } as WorkContext<Findings>;
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
    signal: options.signal ?? ralph.signal,
    id,
    folder,
    logs,
  };
}

async function takeTurn<Data, Findings>(
  parts: AttemptParts<Data, Findings>,
  { before, first, greenBefore }: {
    readonly before: TreeSnapshot;
    readonly first: Verification | null;
    readonly greenBefore: boolean;
  },
): Promise<TakenTurn<Findings>> {
  const { ralph, backlog, item, work, options, signal, folder, checks, context } = parts;
  const prompt = work.prompt ?? "";
  const { turn, after } = await agentTurn(ralph, {
    prompt: typeof prompt === "string" ? prompt : prompt(first),
    name: nameOf(parts.id),
    folder,
    ...(item.transcript === undefined ? {} : { transcript: join(ralph.root, item.transcript) }),
    item,
    signal,
    ...(work.timeoutMs === undefined ? {} : { timeoutMs: work.timeoutMs }),
    ...(work.interactive === undefined ? {} : { interactive: work.interactive }),
    ...(work.environment === undefined ? {} : { environment: work.environment }),
    before,
    budget: options.budget ?? null,
  });
  const edits = await ralph.state.edited(backlog.stateFiles);
  // before the state is restored, so that it can read what the agent wrote
  const claimed = (checked: boolean): Promise<Claim<Findings>> => judge(backlog, item, turn, { ...context, checked });
  const own = checks.map(namedCheck).some((check) => check?.own === true);
  const claim = await claimOf(turn, () => claimed(own && !greenBefore));
  const idle = turn.end.reason === "completed" && edits.length === 0 ? refusalOf(turn) : null;
  const refusal = idle !== null && (await claimed(false)).status !== "done" ? idle : null;
  const restored = await ralph.state.putBack(edits, backlog.restore);
  if (restored.length > 0) ralph.events.emit({ type: "state-put-back", paths: restored });
  return { turn, before, after, claim, refusal, edited: edits.length > 0 };
}

type Attempted<Findings> = Pick<Attempt<Findings>, "id" | "number" | "claim" | "turn" | "verification" | "weakened">;

/** Ends that no claim and no check can change, or `null`. */
async function guard<Data, Findings>(
  { ralph, backlog, item, work, signal }: AttemptParts<Data, Findings>,
  { turn, before, after, refusal }: TakenTurn<Findings>,
  attempted: Attempted<Findings>,
): Promise<Attempt<Findings> | null> {
  const { end } = turn;
  if (end.reason === "aborted" || signal.aborted) return { ...attempted, status: "interrupted" };
  const strayed = await strayedFrom(ralph, before.branch, after.branch);
  if (strayed !== null) return { ...attempted, status: "failed", reason: "branch-changed", message: strayed };
  const { weakened = [] } = attempted;
  if (weakened.length > 0) {
    const blocked = ralph.config.tests.integrity === "block";
    const { id, kind, title } = item;
    ralph.events.emit({ type: "tests-weakened", item: { id, kind, title }, findings: weakened, blocked });
  }
  const trespass = await trespassed(ralph, work, turn, backlog.stateFiles);
  if (trespass !== null) return { ...attempted, ...trespass };
  const touched = protectedPaths(turn.changedFiles, ralph.config.protect);
  if (touched.length > 0) {
    const message = `changed protected files: ${touched.join(", ")}`;
    return { ...attempted, status: "failed", reason: "protected-file-changed", message };
  }
  if (end.reason === "agent-unusable") return { ...attempted, status: "agent-unusable", message: end.message };
  if (end.reason === "rate-limited") return { ...attempted, status: "interrupted" };
  if (end.reason !== "completed") {
    return { ...attempted, status: "failed", reason: end.reason, message: end.message };
  }
  return refusal === null ? null : { ...attempted, status: "failed", reason: "refused", message: refusal };
}

/** What the claim and then the checks make of the turn. */
async function judged<Data, Findings>(
  parts: AttemptParts<Data, Findings>,
  { turn, claim, edited }: TakenTurn<Findings>,
  { attempted, first, standing }: {
    readonly attempted: Attempted<Findings>;
    readonly first: Verification | null;
    readonly standing: ItemStart;
  },
): Promise<Attempt<Findings>> {
  const { ralph, backlog, item, work, checks, options, signal, logs } = parts;
  switch (claim?.status) {
    case "failed":
      return { ...attempted, status: "failed", reason: "agent-failed", message: claim.reason };
    case "blocked":
      return { ...attempted, status: "blocked", message: claim.reason };
    case "not-done":
    case undefined:
      return { ...attempted, status: "not-done", message: claim?.reason ?? "the agent did not say that it was done" };
    case "done":
      break;
  }
  const { weakened = [] } = attempted;
  if (weakened.length > 0 && ralph.config.tests.integrity === "block") {
    const message = `tests were weakened, restore them as they were:\n${weakened.join("\n")}`;
    return { ...attempted, status: "failed", reason: "tests-weakened", message };
  }
  const isUnchanged = turn.changedFiles.length === 0 && !edited;
  const done = { since: standing.since, changedFiles: standing.changedFiles };
  const verification = first !== null && work.checkFirst === true && isUnchanged
    ? first
    : await verify(ralph, checks, { item, base: turn.base, done, signal, logs, ...failedBefore(options) });
  if (checks.some(isReview)) await putBackEdits(ralph, backlog); // a reviewer is an agent too
  return { ...attempted, verification, ...verdictOf(verification, allowsUnverified(parts)) };
}

/** The item's own checks prove nothing where all of them pass before anything was done for it. */
async function wasGreen<Data, Findings>(
  parts: AttemptParts<Data, Findings>,
  checks: readonly Check[],
): Promise<boolean> {
  const { options, context } = parts;
  const own = checks.filter((check) => check.own === true);
  if (own.length === 0 || parts.item.exclusive === true) return false; // a review looks at work that is there
  if (options.greenBefore !== undefined || context.attempt > 1) return options.greenBefore ?? false;
  const unknown = own.filter(({ command }) => command === undefined || options.green?.has(command) !== true);
  if (unknown.length === 0) return true;
  return (await verifyBefore(parts, unknown)).status === "passed";
}

async function verifyBefore<Data, Findings>(
  { ralph, item, signal, logs, options }: AttemptParts<Data, Findings>,
  checks: readonly CheckLike[],
): Promise<Verification> {
  return await verify(ralph, checks, { item, signal, logs: `${logs}-before`, ...failedBefore(options) });
}

function failedBefore(options: WorkItemOptions): { readonly failedBefore: ReadonlySet<string> } {
  return { failedBefore: options.failedBefore ?? new Set() };
}

function allowsUnverified<Data, Findings>({ backlog, ralph }: AttemptParts<Data, Findings>): boolean {
  return backlog.unverified === "accept" || ralph.config.verify.allowUnverified;
}

function nameOf(id: string): string {
  return `iteration-${id.slice(id.lastIndexOf(".") + 1)}`;
}

function isReview(check: CheckLike): boolean {
  return namedCheck(check)?.review === true;
}

function withoutReviews(checks: readonly CheckLike[]): readonly CheckLike[] {
  return checks.filter((check) => !isReview(check));
}

/** A turn that failed claims nothing; what it found out on the way is kept. */
async function claimOf<Findings>(
  { end: { reason } }: Turn,
  claimed: () => Promise<Claim<Findings>>,
): Promise<Claim<Findings> | null> {
  if (reason === "completed") return await claimed();
  if (reason === "agent-unusable") return null;
  const { findings } = await claimed();
  return findings === undefined ? null : { status: "not-done", reason: `the turn ended as ${reason}`, findings };
}

async function judge<Data, Findings>(
  backlog: Backlog<Data, Findings>,
  item: Item<Data>,
  turn: Turn,
  context: JudgeContext<Findings>,
): Promise<Claim<Findings>> {
  if (backlog.judge !== undefined) return await backlog.judge(item, turn, context);
  return turn.lines.includes("<ralph>DONE</ralph>")
    ? { status: "done" }
    : { status: "not-done", reason: "no `<ralph>DONE</ralph>` line" };
}
