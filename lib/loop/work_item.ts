import { join } from "node:path";
import type { RalphContext } from "../context/context.ts";
import type { TreeSnapshot } from "../git/types.ts";
import { createBrief } from "../checks/brief/create_brief.ts";
import { restoreBrief } from "../checks/brief/restore_brief.ts";
import type { Brief } from "../checks/brief/types.ts";
import type {
  Attempt,
  Backlog,
  Check,
  Claim,
  Item,
  JudgeContext,
  Turn,
  Verification,
  Work,
  WorkContext,
} from "../backlog/types.ts";
import type { TimeBudget } from "./progress.ts";
import { refusalOf } from "../agents/refusal.ts";
import { verdictOf } from "../backlog/verdict.ts";
import { namedCheck } from "../checks/named_check.ts";
import type { CheckLike } from "../checks/types.ts";
import { agentTurn, type ObservedTurn } from "../agents/agent_turn.ts";
import { freshStart, type ItemStart, withTurn } from "../checks/integrity/item_start.ts";
import { findWeakened } from "../checks/integrity/test_guard.ts";
import { strayedFrom, trespassed } from "../checks/turn_guards.ts";
import { requireRepository } from "../context/require_repository.ts";
import { verify, type VerifyOptions } from "../checks/verify.ts";

/** One attempt, and what is known before it. */
export interface WorkItemOptions {
  /** @default the run's next iteration, number 1 */
  readonly attempt?: { readonly id: string; readonly number: number };
  /** Run after the backlog's own checks. */
  readonly checks?: readonly CheckLike[];
  /** The item's last attempt, told to the agent. @default none */
  readonly previous?: Attempt | null;
  /** The last attempt of the run, at whatever item. @default none */
  readonly last?: Attempt | null;
  /** Ends the turn and the checks. @default the one of the context */
  readonly signal?: AbortSignal;
  /** What the tree held before, when that is known. */
  readonly before?: TreeSnapshot;
  /** How things stood before the first attempt at the item. @default as they stand now */
  readonly start?: ItemStart;
  /** What judges the attempt, and is restored after the turn. @default as it is now */
  readonly brief?: Brief;
  /** Commands that failed before the run's first turn. */
  readonly failedBefore?: ReadonlySet<string>;
  /** When the run's time is up: nothing is waited for beyond it. */
  readonly budget?: TimeBudget | null;
}

/** An attempt with the tree before and after the agent's turn, for whoever commits. */
export interface WorkedItem<Findings> {
  /** How it ended. */
  readonly attempt: Attempt<Findings>;
  /** The tree before the turn; `null` where no turn was taken. */
  readonly before: TreeSnapshot | null;
  /** The tree after it; `null` where no turn was taken. */
  readonly after: TreeSnapshot | null;
}

/**
 * One attempt at one item: work, checks first where asked, the agent's turn in a fresh process, judge, state put back,
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
  const repository = requireRepository(ralph);
  const signal = options.signal ?? ralph.signal;
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
  const name = `iteration-${id.slice(id.lastIndexOf(".") + 1)}`;
  const logs = `${folder}/${name}`;
  const allowUnverified = backlog.unverified === "accept" || ralph.config.verify.allowUnverified;
  const known = { id, number, claim: null, turn: null, verification: null } as const;
  const { failedBefore = new Set() } = options;

  const withoutTurn = checks.filter((check) => !isReview(check));
  const first = await checkFirst(ralph, work, withoutTurn, { item, signal, failedBefore, logs: `${logs}-before` });
  if (work.prompt === null) {
    const verification = await verify(ralph, withoutTurn, { item, signal, failedBefore, logs });
    return {
      attempt: { ...known, verification, ...verdictOf(verification, allowUnverified) },
      before: null,
      after: null,
    };
  }

  const brief = options.brief ?? await createBrief(ralph, backlog);
  const before = options.before ?? await repository.snapshot();
  const start = options.start ?? await freshStart(ralph, before);
  const reviews = item.review === true;
  const prompt = typeof work.prompt === "string" ? work.prompt : work.prompt(first);
  const takeTurn = (): Promise<ObservedTurn> =>
    agentTurn(ralph, {
      prompt,
      name,
      folder,
      ...(item.transcript === undefined ? {} : { transcript: join(ralph.root, item.transcript) }),
      item,
      signal,
      ...(work.timeoutMs === undefined ? {} : { timeoutMs: work.timeoutMs }),
      ...(work.interactive === undefined ? {} : { interactive: work.interactive }),
      ...(work.environment === undefined ? {} : { environment: work.environment }),
      ...(reviews ? {} : { before }),
      budget: options.budget ?? null,
    });
  const taken = await (reviews ? brief.asInstructed(takeTurn) : takeTurn());
  const changes = await brief.compare();
  const edits = changes.filter(({ kind }) => kind === "state");
  // before the state is restored, so that it can read what the agent wrote
  const said = (checked: boolean): Promise<Claim<Findings>> =>
    judge(backlog, item, taken.turn, { ...context, checked });
  const claim = await claimOf(taken.turn, () => said(checks.length > 0));
  const idle = taken.turn.end.reason === "completed" && edits.length === 0 ? refusalOf(taken.turn) : null;
  const refusal = idle !== null && (await said(false)).status !== "done" ? idle : null;
  const restored = (changes.length === 0 ? [] : await brief.restore(changes)).filter(({ kind }) => kind !== "state");
  const after = restored.length === 0 && !reviews ? taken.after : await repository.snapshot();
  const turn = withoutPaths(taken.turn, restored.map(({ path }) => path));

  const { lines: _lines, text: _text, ...record } = turn;
  const told = { ...known, claim, turn: record };
  const give = (attempt: Attempt<Findings>): WorkedItem<Findings> => ({ attempt, before, after });

  if (turn.end.reason === "aborted" || signal.aborted) return give({ ...told, status: "interrupted" });
  const strayed = await strayedFrom(ralph, before.branch, after.branch);
  if (strayed !== null) return give({ ...told, status: "failed", reason: "branch-changed", message: strayed });
  const standing = withTurn(start, turn.changedFiles);
  const weakened = await findWeakened(ralph, standing, checks);
  const blocked = weakened.length > 0 && ralph.config.tests.integrity === "block";
  if (weakened.length > 0) {
    const { id, kind, title } = item;
    ralph.events.emit({ type: "tests-weakened", item: { id, kind, title }, findings: weakened, blocked });
  }
  const seen = weakened.length === 0 ? told : { ...told, weakened };
  const trespass = await trespassed(ralph, work, turn, backlog.stateFiles);
  if (trespass !== null) return give({ ...seen, ...trespass });
  const touched = restored.filter(({ kind }) => kind === "protected");
  if (touched.length > 0) {
    const message = `changed protected files: ${touched.map(({ path }) => path).join(", ")}`;
    return give({ ...seen, status: "failed", reason: "protected-file-changed", message });
  }
  const { end } = turn;
  if (end.reason === "agent-unusable") return give({ ...seen, status: "agent-unusable", message: end.message });
  if (end.reason === "rate-limited") return give({ ...seen, status: "interrupted" });
  if (end.reason !== "completed") return give({ ...seen, status: "failed", reason: end.reason, message: end.message });
  if (refusal !== null) return give({ ...seen, status: "failed", reason: "refused", message: refusal });
  switch (claim?.status) {
    case "failed":
      return give({ ...seen, status: "failed", reason: "agent-failed", message: claim.reason });
    case "blocked":
      return give({ ...seen, status: "blocked", message: claim.reason });
    case "not-done":
    case undefined:
      return give({ ...seen, status: "not-done", message: claim?.reason ?? "the agent did not say that it was done" });
    case "done": {
      if (blocked) {
        const message = `tests were weakened, put them back as they were:\n${weakened.join("\n")}`;
        return give({ ...seen, status: "failed", reason: "tests-weakened", message });
      }
      const reusable = first !== null && work.checkFirst === true && turn.changedFiles.length === 0 &&
        edits.length === 0;
      const done = { since: standing.since, changedFiles: standing.changedFiles };
      const verification = reusable ? first : await verify(ralph, checks, {
        item,
        base: turn.base,
        done,
        signal,
        failedBefore,
        logs,
        asInstructed: brief.asInstructed,
      });
      if (checks.some(isReview)) await restoreBrief(brief); // a reviewer is an agent too
      const proven = number === 1 ? provenRed(verification, first, checks) : verification;
      return give({ ...seen, verification: proven, ...verdictOf(proven, allowUnverified) });
    }
  }
}

/** What was restored is not the turn's change. */
function withoutPaths(turn: Turn, paths: readonly string[]): Turn {
  return { ...turn, changedFiles: turn.changedFiles.filter((path) => !paths.includes(path)) };
}

async function checkFirst(
  ralph: RalphContext,
  work: Work,
  checks: readonly CheckLike[],
  options: VerifyOptions,
): Promise<Verification | null> {
  if (work.prompt === null) return null;
  if (work.checkFirst === true) return await verify(ralph, checks, options);
  const red = checks.filter(isRedFirst);
  return red.length === 0 ? null : await verify(ralph, red, options);
}

function isReview(check: CheckLike): boolean {
  return namedCheck(check)?.review === true;
}

function isRedFirst(check: CheckLike): check is Check {
  return namedCheck(check)?.redFirst === true;
}

/** A check that had to fail before the turn and passed already proves nothing. */
function provenRed(after: Verification, first: Verification | null, checks: readonly CheckLike[]): Verification {
  if (first === null || after.status === "aborted" || after.status === "unverified") return after;
  const red = new Set(checks.filter(isRedFirst).map(({ name }) => name));
  const green = new Set(first.results.filter(({ name, ok }) => ok && red.has(name)).map(({ name }) => name));
  if (green.size === 0) return after;
  const results = after.results.map((result) =>
    green.has(result.name)
      ? { ...result, ok: false, tail: "passed before the turn already, so that it proves nothing" }
      : result
  );
  return { status: "failed", results, failures: results.filter(({ ok }) => !ok) };
}

/** A turn that failed claims nothing; what it found out on the way is kept. */
async function claimOf<Findings>(
  { end: { reason } }: Turn,
  said: () => Promise<Claim<Findings>>,
): Promise<Claim<Findings> | null> {
  if (reason === "completed") return await said();
  if (reason === "agent-unusable") return null;
  const { findings } = await said();
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
