import { join } from "node:path";
import type { RalphContext } from "../../context/context.ts";
import { requireRepository, topLevelPaths } from "../../git/repository.ts";
import type { Fold, OwnCommits, TreeSnapshot, TreeStatus } from "../../git/repository.ts";
import type * as types from "../../backlog/types.ts";
import type { JournalKey } from "../../backlog/journal_types.ts";
import type { Landing } from "../../git/land.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { commitFields } from "../../git/run_git.ts";
import { factsOf } from "../../host/path_facts.ts";
import { commitsNothing, type Committer, maskOf, stowParked } from "./committer.ts";
import { BETWEEN } from "./run_line.ts";

/** Paths relative to the top level, with the hash of each one's content. */
export type WorkPaths = Readonly<Record<string, string | null>>;

export interface Settled {
  readonly settlement: types.Settlement;
  readonly attempt: types.Attempt;
  /** Work that was committed. */
  readonly committed: readonly string[];
  /** The journal's memory of an item that passed. */
  readonly passed: types.PassedRecord | null;
}

/** An attempt that is not settled, and comes again. */
export function leftOpen(attempt: types.Attempt, reason: string): Settled {
  return { settlement: { status: "open", reason }, attempt, committed: [], passed: null };
}

/** One attempt to be settled. */
export interface ToSettle {
  readonly backlog: types.Backlog;
  readonly key: JournalKey;
  readonly item: types.Item;
  readonly attempt: types.Attempt;
  /** The checks that it was judged by. */
  readonly checks: readonly types.Check[];
  /** Applies the loop's limits to an attempt that a hook refused. */
  readonly limited?: (attempt: types.Attempt) => types.Attempt;
  /** The paths that turns at the item left uncommitted. */
  readonly work: WorkPaths;
  /** HEAD after the last turn: what turns at the item committed may become part of its commit. @default that of `known` */
  readonly tip?: string | null;
  /** The tree after the turn, where that is known; the project's before the landing, where its work comes from another. */
  readonly known?: TreeStatus;
  /** Its work comes from a tree of its own. */
  readonly landing?: LandingSteps;
}

/** How work comes into the project's tree from another one. */
export interface LandingSteps extends Landing {
  /** The paths that it changes, relative to the top level. */
  readonly paths: readonly string[];
  /** The turns' own commits, which its body names. */
  readonly own: OwnCommits;
  /** Brings it into the project's tree, uncommitted; done again after a kill. */
  bring(): Promise<void>;
  /** It is not committed after all. */
  takeBack(): Promise<void>;
}

/**
 * Settles an attempt and commits: state, and what the turn left uncommitted where it passed. A commit that the user's
 * hook refuses makes the attempt a failed one, whose reason is what the hook printed. A turn's changes are on the disk
 * before the journal has the attempt, and the journal before the store is changed: a kill or a power cut in between is
 * made up for.
 */
export async function settleAndCommit(ralph: RalphContext, committer: Committer, toSettle: ToSettle): Promise<Settled> {
  if (!commitsNothing(toSettle.item) || ralph.repository === null) return await settleWhole(ralph, committer, toSettle);
  const { backlog, key, item, work } = toSettle;
  const fold = await foldOf(ralph, backlog, key, item, true); // first: a commit of the state would be on top of it
  const ref = fold === null
    ? null
    : await stowParked(ralph, backlog, { key, item, attemptId: toSettle.attempt.id, fold, work });
  if (ref === null) return await settleWhole(ralph, committer, toSettle);
  await committer.line.moved();
  const known = await ralph.repository.status();
  const settled = await settleWhole(ralph, committer, { ...toSettle, work: {}, known, tip: known.head }, true);
  const { settlement } = settled;
  const committed = [...settled.committed, ...Object.keys(work)];
  return {
    ...settled,
    committed,
    settlement: settlement.status === "passed" ? settlement : { ...settlement, stowed: ref },
  };
}

/** @param isAway what its turns left is out of the tree already */
async function settleWhole(
  ralph: RalphContext,
  committer: Committer,
  asked: ToSettle,
  isAway = false,
): Promise<Settled> {
  const isBack = await committer.line.hold(BETWEEN); // the state is the branch's
  const toSettle = isBack ? { ...asked, known: await requireRepository(ralph).status() } : asked;
  const before = await statesOf(ralph, toSettle.backlog);
  const since = toSettle.landing?.tip ?? ralph.journal.start(toSettle.key, toSettle.item.id);
  const settled = await settleOnce(ralph, committer, toSettle).catch(async (error: unknown) => {
    await putBack(ralph, before);
    throw error;
  });
  const { attempt } = settled;
  const { key, item, checks } = toSettle;
  const { status: end } = settled.settlement;
  if (!isAway && (end === "parked" || (end !== "passed" && item.review === true))) {
    // no commit of what is sent back may hold what a review wrote; before the next review its tests' files may stay
    const isAgain = end === "open" && (settled.settlement.reopened ?? []).length === 0;
    return {
      ...await withoutWork(ralph, committer, isAgain ? { ...toSettle, work: {} } : toSettle, settled),
      passed: null,
    };
  }
  if (settled.settlement.status !== "passed" || !mayPass(attempt)) return { ...settled, passed: null };
  const stowed = ralph.journal.stowed(key).get(item.id);
  if (stowed !== undefined && !commitsNothing(item)) {
    await requireRepository(ralph).git(["update-ref", "-d", stowed.ref]);
  }
  const { status } = attempt;
  const recorded = checks.flatMap(({ name, command, scope, expect }): readonly types.RecordedCheck[] =>
    command === undefined ? [] : [{
      name,
      command,
      ...(scope === undefined ? {} : { scope }),
      ...(expect === undefined ? {} : { expect }),
    }]
  );
  const { id, kind, fingerprint = null } = item;
  const commit = settled.head;
  const unclaimed = attempt.doubts?.some((doubt) => doubt.kind === "not-claimed") === true ? { unclaimed: true } : {};
  const more = { ...(since === null ? {} : { since }), ...unclaimed };
  return { ...settled, passed: { id, kind, fingerprint, status, commit, checks: recorded, ...more } };
}

async function statesOf(
  { state }: Pick<RalphContext, "state">,
  { stateFiles, ownFiles = [] }: Pick<types.Backlog, "stateFiles" | "ownFiles">,
): Promise<ReadonlyMap<string, string | null>> {
  const paths = [...stateFiles, ...ownFiles];
  return new Map(await Promise.all(paths.map(async (path) => [path, await state.read(path)] as const)));
}

/** No commit, no pass: the journal has the attempt, and the next run settles it again without a turn. */
async function putBack(
  { state }: Pick<RalphContext, "state">,
  before: ReadonlyMap<string, string | null>,
): Promise<void> {
  for (const [path, text] of before) {
    const written = await state.read(path);
    if (text !== null && text !== written) await state.update(path, (now) => now === written ? text : now);
  }
}

export function mayPass<Some extends types.Attempt>(
  attempt: Some,
): attempt is Some & { readonly status: "verified" | "unverified" } {
  return attempt.status === "verified" || attempt.status === "unverified";
}

/** Puts away what turns left of an item that is given up on: the next item begins in a clean tree. */
async function withoutWork(
  ralph: RalphContext,
  { line }: Pick<Committer, "line">,
  { backlog, key, item, work }: ToSettle,
  settled: Omit<Settled, "passed">,
): Promise<Omit<Settled, "passed">> {
  if (!ralph.config.commits.work || ralph.repository === null) return settled;
  const fold = await foldOf(ralph, backlog, key, item);
  const ref = await stowParked(ralph, backlog, { key, item, attemptId: settled.attempt.id, fold, work });
  if (ref === null) return settled;
  await line.moved();
  return { ...settled, settlement: { ...settled.settlement, stowed: ref }, committed: Object.keys(work) };
}

async function settleOnce(ralph: RalphContext, committer: Committer, toSettle: ToSettle) {
  const { backlog, key, item, attempt, work, landing, limited = (one) => one } = toSettle;
  const before = toSettle.known?.head ?? landing?.tip ?? null;
  const fold = await persistAndRecord(ralph, toSettle, before);
  await landing?.bring();
  const known = landing === undefined ? toSettle.known : landedIn(ralph, toSettle.known, landing);
  const paths = landing?.paths ?? Object.keys(work);
  let settlement = answered(backlog, "settle()", await backlog.settle(item, attempt));
  const isFolded = fold !== null && settlement.status === "passed" && settlement.commit?.work === true;
  if (landing !== undefined) settlement = await withLandedWork(settlement, item, landing);
  const workPaths = settlement.commit?.work === true && ralph.config.commits.work ? paths : [];
  if (workPaths.length === 0) await landing?.takeBack();
  if (settlement.commit === undefined) return { settlement, attempt, committed: [], head: before };
  const isOfAttempt = settlement.status !== "passed" && (settlement.reopened?.length ?? 0) === 0;
  const withWork = workPaths.length > 0 || isFolded;
  const name = async (commit: string | null): Promise<void> => {
    if (settlement.status !== "passed" || commit === null) return;
    await backlog.record?.({ type: "item-committed", item, commit });
  };
  if (!withWork && backlog.record !== undefined) {
    const { head = null } = await ralph.repository?.head() ?? {};
    // an item passes once, and may be sent back more than once
    const start = settlement.status === "passed" ? landing?.tip ?? ralph.journal.start(key, item.id) : null;
    const made = await madeSince(ralph, start, settlement.commit);
    await name(made ?? head);
    if (made !== null) return { settlement, attempt, committed: [], head };
  }
  const result = await committer.commit(settlement.commit, workPaths, {
    known,
    fold: isFolded ? fold : null,
    isOfAttempt,
  });
  if (result.status !== "refused") {
    const head = result.status === "committed" ? result.commit : before;
    if (withWork) await name(head);
    return { settlement, attempt, committed: workPaths, head };
  }

  await landing?.takeBack();
  const message = `the commit was refused by ${result.by}:\n${result.output}`;
  const refused = limited({ ...attempt, status: "failed", reason: "commit-refused", message });
  await ralph.journal.settling(key, item, refused, { work });
  const again = answered(backlog, "settle()", await backlog.settle(item, refused));
  const ofRefused = { ...again.commit, work: false } as types.SettleCommit;
  if (again.commit !== undefined) await committer.commit(ofRefused, [], { known, isOfAttempt: true });
  return { settlement: again, attempt: refused, committed: [], head: before };
}

/**
 * The item's commit, where it is there: a kill came before the call of `record()`, or a turn made it. The next commit
 * takes the name along.
 *
 * @param since `null`: only the newest commit may be it
 */
async function madeSince(
  ralph: RalphContext,
  since: string | null,
  { subject, stateSubject = subject, body = "" }: types.SettleCommit,
): Promise<string | null> {
  const range = since === null ? "-1" : `${since}..HEAD`;
  const found = await commitFields(requireRepository(ralph), ["%H", "%B"], [range]);
  const isIt = ([, message = ""]: readonly string[]): boolean =>
    [subject, stateSubject].map(maskOf(ralph)).some((one) => `${message}\n`.startsWith(`${one}\n\n${body}`));
  return found.find(isIt)?.[0]?.trim() ?? null;
}

/** The commits of turns at an item since its first attempt, as far as no one else has them and they may be moved. */
async function foldOf(
  ralph: RalphContext,
  backlog: Pick<types.Backlog, "policy">,
  key: JournalKey,
  item: types.Item,
  always = false,
): Promise<Fold | null> {
  const { work, squash = backlog.policy?.squash ?? true } = ralph.config.commits;
  const start = ralph.journal.start(key, item.id);
  if (!(always || (work && squash)) || start === null) return null;
  const { head, branch } = await requireRepository(ralph).status(); // a restoration may have been committed since the turn
  if (head === null || head === start) return null;
  const { planFold } = await import("../../git/fold.ts");
  return await planFold(requireRepository(ralph), { start, head, branch, mask: maskOf(ralph) });
}

/** The tree with what has landed; where that holds more than files, git is asked what the tree is now. */
function landedIn(
  ralph: RalphContext,
  before: TreeStatus | undefined,
  { paths }: LandingSteps,
): TreeStatus | undefined {
  if (before === undefined) return undefined;
  const { topLevel } = requireRepository(ralph);
  const landed = paths.map((path) => ({ path, kind: factsOf(join(topLevel, path))?.kind ?? null }));
  if (landed.some(({ kind }) => kind === "other")) return undefined;
  const now = new Set(paths);
  const changed = landed.map(({ path, kind }) => ({ path, code: kind === null ? "D " : "M ", untracked: false }));
  return { ...before, changed: [...before.changed.filter(({ path }) => !now.has(path)), ...changed] };
}

/** A turn's changes are on the disk before the journal has the attempt; landing work is already, as objects of git. */
async function persistAndRecord(
  ralph: RalphContext,
  { backlog, key, item, attempt, work, tip, landing }: ToSettle,
  before: string | null,
): Promise<Fold | null> {
  if (landing !== undefined) {
    const { tip: onto, commit, own } = landing;
    await ralph.journal.settling(key, item, attempt, { work, landing: { tip: onto, commit, own } });
    return null; // its commits never were on the branch
  }
  const changed = topLevelPaths(ralph, attempt.turn?.changedFiles ?? []);
  if (attempt.turn !== null) await ralph.repository?.persist([...Object.keys(work), ...changed]);
  const isMoved = ralph.journal.start(key, item.id) !== (tip ?? before);
  const fold = mayPass(attempt) && isMoved ? await foldOf(ralph, backlog, key, item) : null;
  await ralph.journal.settling(key, item, attempt, { work, ...(fold === null ? {} : { fold }) });
  return fold;
}

/** Landed work is committed, also if the backlog leaves that to the turns: others begin with it. */
async function withLandedWork(
  settlement: types.Settlement,
  item: types.Item,
  { own }: LandingSteps,
): Promise<types.Settlement> {
  if (settlement.status !== "passed") return settlement;
  const commit: Omit<types.SettleCommit, "work"> = settlement.commit ??
    { subject: `${item.id}: ${item.title}`, paths: [] };
  const { bodyWith } = await import("../../git/fold.ts");
  const body = bodyWith(commit.body, own, commit.subject);
  return { ...settlement, commit: { ...commit, ...(body === "" ? {} : { body }), work: true } };
}

/** The paths whose content is still what the journal remembers. Pure. */
export function unchangedWork(now: TreeSnapshot, work: WorkPaths): WorkPaths {
  return Object.fromEntries(
    Object.entries(work).filter(([path, content]) => now.contents.has(path) && now.contents.get(path) === content),
  );
}

/**
 * Returns the answer to a call of a backlog if it is one of the unions on `status`: a recipe's own backlog may be
 * JavaScript.
 *
 * @throws {RalphError} backlog-invalid
 */
export function answered<Answer extends { readonly status: string }>(
  backlog: { readonly name: string },
  call: string,
  answer: Answer,
): Answer {
  if (typeof answer === "object" && answer !== null && typeof answer.status === "string") return answer;
  const problem = `${call} answered ${
    answer === undefined ? "nothing" : JSON.stringify(answer)
  }, expected a \`status\``;
  throw new RalphError("backlog-invalid", { details: { backlog: backlog.name, problem } });
}

/** Why a run ends whose backlog waits for what will never end. */
export function waitsInVain({ name: backlog }: Pick<types.Backlog, "name">): RalphError {
  const problem = "next() waits although nothing is in flight";
  return new RalphError("backlog-invalid", { details: { backlog, problem } });
}
