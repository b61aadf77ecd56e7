import { note, ownFiles, type RalphContext } from "../../context/context.ts";
import { dirname, join } from "node:path";
import { interruptedAttempt, verdictOf } from "../../backlog/attempts.ts";
import { type CheckLike, namedCheck } from "../../checks/function.ts";
import { verify } from "../../checks/verify.ts";
import { discardPaths } from "../../git/merge_change.ts";
import { isAncestor } from "../../git/refs.ts";
import {
  type Repository,
  requireRepository,
  rootPaths,
  topLevelPaths,
  type TreeSnapshot,
} from "../../git/repository.ts";
import { modifiedAt, removeLeftOvers } from "../../host/files.ts";
import { timesAt } from "../../host/path_facts.ts";
import { keptRef, warnOfChanged } from "../attempt/uncommitted.ts";
import type { JournalKey, OpenItem, Overwritten, SettledEnd } from "../../backlog/journal_types.ts";
import { type Committer, createOwnership, type Ownership, ownPaths } from "../settle/committer.ts";
import type { Attempt, Backlog, Check, Item } from "../../backlog/types.ts";
import { lineFrom, pathsBetween } from "../../git/run_git.ts";
import { markedCommits } from "../../git/turn_mark.ts";
import { behindLinks } from "../../git/index_entries.ts";
import { type LandingSteps, mayPass, settleAndCommit, unchangedWork } from "../settle/settle.ts";
import { keepEdit, restoreState } from "../../checks/brief/create_brief.ts";
import type { ManualEdit } from "../../backlog/state_files.ts";

/**
 * Brings a run that was killed to a clean start: manual edits are reverted, what was begun is settled (as `interrupted`
 * where nothing is known of it), its commit is made up for. If nothing was open, a person's changes since are the new
 * baseline.
 */
export async function recover(
  ralph: RalphContext,
  committer: Committer,
  backlog: Backlog,
  key: JournalKey,
  now: TreeSnapshot,
  shared: readonly CheckLike[],
): Promise<Recovered> {
  // what workers elsewhere were given continues
  const isOut = ({ apart, attempt }: OpenItem): boolean =>
    ralph.loop.elsewhere !== undefined && apart === true && attempt === null;
  const open = ralph.journal.open(key).filter((one) => !isOut(one));
  const overwritten = overwrittenIn(ralph, key, open, now);
  const start = { leftovers: ralph.journal.leftovers(key), overwritten, own: new Set(ownPaths(ralph, backlog)) };
  if (open.length === 0) {
    await ralph.state.adopt([...backlog.stateFiles, ...backlog.ownFiles ?? []]);
    return { ownership: createOwnership({ ...start, killed: null }, now), restored: [], counted: [], before: now };
  }

  const isThere = await hasItsWork(ralph, now, open);
  const restored = isThere ? await restoreKilledState(ralph, backlog, open) : await takeCommittedState(ralph, backlog);
  const last = open.findLast(({ apart }) => apart !== true); // the others' work is in trees of their own
  const { topLevel } = requireRepository(ralph);
  const { overAt = null } = ralph.lock;
  const timesOf = (path: string): readonly number[] => timesAt(join(topLevel, path));
  const isNewer = (path: string): boolean => overAt !== null && Math.min(...timesOf(path)) > overAt;
  const isUnsure = (path: string): boolean => overAt === null || Math.max(...timesOf(path)) > overAt;
  const killed = last === undefined ? null : { itemId: last.item.id, userPaths: last.userPaths, isNewer };
  const ownership = createOwnership({ ...start, killed }, now);
  warnOfChanged(ralph, ownership.uncommitted(), (path) => overwritten.get(path)!);
  const place = { ralph, committer, backlog, key, now, shared, ownership };
  const isLanding = ({ landing }: OpenItem): boolean => landing !== undefined;
  // a landing first: its commit may be the last one
  for (const begun of [...open.filter(isLanding), ...open.filter((one) => !isLanding(one))]) {
    if (isThere) await settleOpen(place, begun);
    else await closeInterrupted(place, begun);
  }
  const counted = killed === null ? [] : Object.keys(ownership.workOf(killed.itemId)).filter(isUnsure);
  return { ownership, restored, counted: rootPaths(ralph, counted), before: await requireRepository(ralph).snapshot() };
}

interface Recovered {
  /** Owners of the uncommitted changes in the tree. */
  readonly ownership: Ownership;
  /** State files with another text than was found. */
  readonly restored: readonly string[];
  /** Files that count as the item's, relative to the root, and may be newer than the kill. */
  readonly counted: readonly string[];
  /** The tree afterwards. */
  readonly before: TreeSnapshot;
}

interface Place {
  readonly ralph: RalphContext;
  readonly committer: Committer;
  readonly backlog: Backlog;
  readonly key: JournalKey;
  readonly now: TreeSnapshot;
  readonly shared: readonly CheckLike[];
  readonly ownership: Ownership;
}

/** A person's files that differ from what killed runs found: turns have changed them, or that person has. */
function overwrittenIn(
  { journal, loop }: Pick<RalphContext, "journal" | "loop">,
  key: JournalKey,
  open: readonly OpenItem[],
  { contents }: TreeSnapshot,
): ReadonlyMap<string, Overwritten> {
  const found = new Map<string, Overwritten>();
  for (const { item, attemptId, apart, kept } of open) {
    if (apart === true) continue; // its turns were in a tree of their own
    const ref = keptRef({ run: { id: attemptId.slice(0, attemptId.lastIndexOf(".")) } });
    for (const [path, { content, blob }] of Object.entries(kept?.work ?? {})) {
      const isOther = contents.has(path) && contents.get(path) !== content;
      if (isOther) found.set(path, { itemId: item.id, content, ref: blob === undefined ? null : ref });
    }
  }
  return new Map([...found, ...loop.acceptChanges ? [] : journal.overwritten(key)]);
}

/** Settles what the killed run had begun, as `interrupted` where nothing is known of it. */
async function settleOpen(place: Place, begun: OpenItem): Promise<void> {
  const { ralph, backlog, key, now, shared, ownership } = place;
  const { item, attemptId, number, work } = begun;
  const landing = await landedAgain(ralph, begun);
  // verified in a tree of its own, and not landing yet: it has not passed
  const isGone = landing === "in-the-way" || (landing === null && isApart(begun));
  const attempt = isGone ? null : begun.attempt;
  const known = attempt === null
    ? { attempt: interruptedAttempt({ id: attemptId, number }), checks: [] }
    : await checkedAgain(ralph, backlog, item, attempt, shared);
  const steps = attempt === null || landing === "in-the-way" ? null : landing;
  const settled = await settleAndCommit(ralph, place.committer, {
    backlog,
    key,
    item,
    attempt: known.attempt,
    checks: known.checks,
    tip: now.head,
    work: begun.apart === true ? {} : unchangedWork(now, work),
    ...(steps === null ? {} : { landing: steps, known: await requireRepository(ralph).status() }),
  });
  ownership.committed(settled.committed);
  await ralph.journal.settled(key, item, settled.attempt, {
    settlement: settled.settlement,
    ...leftOf(ownership, item),
    ...(settled.passed === null ? {} : { passed: settled.passed }),
  });
  const message = attempt === null
    ? `${item.id} was interrupted in attempt ${number}${withLeft(place, item)}`
    : `${item.id} was being settled when Ralph was stopped: ${settled.settlement.status}`;
  note(ralph, "info", message);
}

/** The state of this place may know nothing of the item: it is not settled there. */
async function closeInterrupted(place: Place, { item, attemptId, number }: OpenItem): Promise<void> {
  const { ralph, key, ownership } = place;
  const attempt = interruptedAttempt({ id: attemptId, number });
  await ralph.journal.settled(key, item, attempt, { settlement: { status: "open" }, ...leftOf(ownership, item) });
  note(ralph, "info", `${item.id} was interrupted in attempt ${number}${withLeft(place, item)}`);
}

function leftOf({ overwritten, uncommitted, workOf }: Ownership, { id }: Item): Omit<SettledEnd, "settlement"> {
  const mixed = uncommitted([id]).map((path) => [path, overwritten.get(path)!] as const);
  return { kept: workOf(id), ...mixed.length > 0 && { overwritten: Object.fromEntries(mixed) } };
}

/** Names the uncommitted files that count as the item's. */
function withLeft({ ralph, ownership }: Place, { id }: Item): string {
  const left = rootPaths(ralph, Object.keys(ownership.workOf(id)));
  return left.length === 0 ? "" : `, with what lies uncommitted since then: ${left.join(", ")}`;
}

/** HEAD has the commits of the killed run, and nothing is gone of the work that it judged and was settling. */
async function hasItsWork(ralph: RalphContext, now: TreeSnapshot, open: readonly OpenItem[]): Promise<boolean> {
  const repository = requireRepository(ralph);
  if (!await isAtKilled(repository, open)) return false;
  const judged = open.filter(({ apart, attempt }) => apart !== true && attempt !== null && mayPass(attempt));
  const work = judged.flatMap((one) => Object.entries(one.work));
  const clean = work.map(([path]) => path).filter((path) => !now.contents.has(path));
  const { contents } = await repository.withWritten(now, clean);
  const differing = work.filter(([path, content]) => contents.get(path) !== content).map(([path]) => path);
  const isGone = differing.some((path) => clean.includes(path) || contents.get(path) === null);
  return !isGone && (work.length === 0 || differing.length < work.length);
}

/**
 * The killed run's work is not here, by a person's hand: the state is what HEAD has, so that no item passes whose work is
 * gone. State that no commit holds stays Ralph's last word.
 *
 * @returns the files in which something was replaced
 */
async function takeCommittedState(ralph: RalphContext, backlog: Backlog): Promise<readonly string[]> {
  const inTree = (path: string): string => topLevelPaths(ralph, [path])[0] ?? path;
  const all = { maxBytes: Infinity };
  const committed = await requireRepository(ralph).contents("HEAD", backlog.stateFiles.map(inTree), all);
  const textOf = (path: string): string | null => committed.get(inTree(path)) ?? null;
  const edits = await ralph.state.edited(backlog.stateFiles);
  const restored = await restoreState(ralph, backlog, edits.filter(({ path }) => textOf(path) === null));
  const replaced: string[] = [];
  for (const path of backlog.stateFiles) {
    const text = textOf(path);
    if (text === null) continue;
    const found = await ralph.state.read(path);
    if (found !== text) {
      await keepEdit(ralph, backlog, { path, found, written: text });
      await ralph.state.update(path, () => text);
      replaced.push(path);
    }
    await ralph.state.adopt([path]);
  }
  const message = `work of the run that was stopped is not here; as HEAD has it: ${replaced.join(", ")}`;
  if (replaced.length > 0) note(ralph, "warn", message);
  return [...restored, ...replaced];
}

/** Passed in a tree of its own. */
function isApart({ apart, attempt }: OpenItem): boolean {
  return apart === true && (attempt?.status === "verified" || attempt?.status === "unverified");
}

/**
 * A landing that a kill cut short is made again; where a person has changed the same files since, it is reverted. If its
 * commit is there, nothing is left to bring.
 */
async function landedAgain(
  ralph: RalphContext,
  { item, landing }: OpenItem,
): Promise<LandingSteps | "in-the-way" | null> {
  if (landing === undefined) return null;
  const { landAgain } = await import("../../git/land.ts");
  const repository = requireRepository(ralph);
  const { tip, commit, own = { subjects: [], trailers: [] } } = landing;
  const missing = new Set(await pathsBetween(repository, "HEAD", commit));
  const wanted = await pathsBetween(repository, tip, commit);
  const nothing = (): Promise<void> => Promise.resolve();
  const steps = { ...landing, own, bring: nothing }; // it is there: it was checked there
  if (wanted.length > 0 && !wanted.some((path) => missing.has(path))) {
    return { ...steps, paths: [], takeBack: nothing };
  }
  const landed = await landAgain(repository, landing);
  if (landed.status === "in-the-way") {
    const message = `${item.id} was landing when Ralph was stopped, and ${landed.paths.join(", ")} changed since: ` +
      `it is worked on again; its work is ${landing.commit.slice(0, 10)}`;
    note(ralph, "warn", message);
    return "in-the-way";
  }
  return { ...steps, paths: landed.paths, takeBack: () => discardPaths(repository, landed.paths, tip) };
}

/** A verdict that a killed run left is not believed: its checks and reviews run again. */
async function checkedAgain(
  ralph: RalphContext,
  backlog: Backlog,
  item: Item,
  attempt: Attempt,
  shared: readonly CheckLike[],
): Promise<{ readonly attempt: Attempt; readonly checks: readonly Check[] }> {
  if (attempt.status !== "verified") return { attempt, checks: [] };
  const context = { cwd: ralph.root, attempt: attempt.number, previous: null, last: null, nonce: "", claims: [] };
  const work = await backlog.work(item, context);
  const checks = [...work.checks, ...shared];
  const done = { since: attempt.turn?.base ?? null, changedFiles: attempt.turn?.changedFiles ?? [] };
  const verification = await verify(ralph, checks, { item, base: done.since, done });
  const verdict = verdictOf(verification, backlog.unverified === "accept" || ralph.config.verify.allowUnverified);
  const { status: _, ...known } = attempt;
  const named = checks.map(namedCheck).filter((check) => check !== null);
  return { attempt: { ...known, verification, ...verdict }, checks: named };
}

/** Makes the working tree ready for a run: nothing of a killed one is in its way. @returns the state files that were restored */
export async function readyTree(
  ralph: RalphContext,
  backlog: StateOf,
  open: readonly OpenItem[],
): Promise<readonly string[]> {
  const linked = behindLinks(ralph.root, backlog.stateFiles);
  const files = backlog.stateFiles.filter((path) => !linked.includes(path));
  for (const folder of new Set(files.map((path) => dirname(join(ralph.root, path))))) removeLeftOvers(folder);
  const restored = open.length === 0 ? [] : await repairAfterKill(ralph, backlog, open);
  const torn = await requireRepository(ralph).ensureReady();
  if (torn !== null) reportTornIndex(ralph, torn);
  return restored;
}

/**
 * Repairs what the agent of a killed run may have left in the way: locks of its git, damage by a power cut, a damaged
 * store. Before anything is read.
 */
async function repairAfterKill(
  ralph: RalphContext,
  backlog: StateOf,
  open: readonly OpenItem[],
): Promise<readonly string[]> {
  const repository = requireRepository(ralph);
  const lastWord = await modifiedAt(ownFiles(repository, ralph.root).journal);
  if (lastWord !== null) {
    await repository.clearLeftLocks(lastWord);
    const head = open.at(-1)?.head ?? null;
    const { objects, branch, index } = await repository.repairDamage({ since: lastWord, head });
    const back = branch === null ? "" : `; ${branch} is back at ${head?.slice(0, 7)}, its files are as they were`;
    const message = `git objects that were torn when the machine stopped are set aside: ${objects}${back}`;
    if (index !== null) reportTornIndex(ralph, index);
    if (objects > 0 || branch !== null) note(ralph, "warn", message);
  }
  for (const { fold } of open) {
    if (fold !== undefined) await (await import("../../git/fold.ts")).undoFold(repository, fold);
  }
  // elsewhere the state is another one, and no edit: it is restored once the run is on its branch
  return await isAtKilled(repository, open) ? await restoreKilledState(ralph, backlog, open) : [];
}

/** State that differs from Ralph's last word is a killed turn's edit, unless a person has committed it or agrees to it. */
async function restoreKilledState(
  ralph: RalphContext,
  backlog: StateOf,
  open: readonly OpenItem[],
): Promise<readonly string[]> {
  const edits = await ralph.state.edited(backlog.stateFiles);
  const agreed: ManualEdit[] = [];
  for (const edit of edits) {
    if (ralph.loop.acceptChanges || await isCommittedByPerson(ralph, edit, open)) agreed.push(edit);
  }
  await ralph.state.adopt(agreed.map(({ path }) => path));
  return await restoreState(ralph, backlog, edits.filter((edit) => !agreed.includes(edit)));
}

type StateOf = Pick<Backlog, "runsDirectory" | "stateFiles">;

/** HEAD has what was found, and the commit that brought it since the kill is no turn's. */
async function isCommittedByPerson(
  ralph: RalphContext,
  { path, found }: ManualEdit,
  open: readonly OpenItem[],
): Promise<boolean> {
  const repository = requireRepository(ralph);
  const [inTree = path] = topLevelPaths(ralph, [path]);
  const tip = open.at(-1)?.head ?? null;
  const committed = await repository.contents("HEAD", [inTree], { maxBytes: Infinity });
  if (found === null || tip === null || committed.get(inTree) !== found) return false;
  const last = ["log", "-1", "--format=%H", `${tip}..HEAD`, "--", inTree];
  const commit = await lineFrom(repository, last);
  return commit !== "" && !(await markedCommits(repository, [commit])).has(commit);
}

/** Tells whether HEAD is on the killed run's branch and has the commit that it was at: a person may have switched since. */
export async function isAtKilled(repository: Repository, open: readonly OpenItem[]): Promise<boolean> {
  const { branch, head = null, fold, work = {} } = open.at(-1) ?? {};
  if (branch !== undefined && branch !== await repository.currentBranch()) return false;
  if (head === null || await isAncestor(repository, head, "HEAD")) return true;
  return fold !== undefined && await (await import("../../git/fold.ts")).hasFolded(repository, fold, Object.keys(work));
}

/** The staged changes were a person's, too. */
function reportTornIndex({ events }: Pick<RalphContext, "events">, kept: string): void {
  const message =
    `git's index was damaged when the machine stopped, and is made anew: nothing is staged; the old one: ${kept}`;
  note({ events }, "warn", message);
}
