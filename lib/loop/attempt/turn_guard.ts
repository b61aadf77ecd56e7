import { dropEntries } from "../../git/index_entries.ts";
import { note, type RalphContext } from "../../context/context.ts";
import { join } from "node:path";
import type { ObservedTurn } from "../../agents/agent_turn.ts";
import * as git from "../../git/repository.ts";
import { guardHistory, type HistoryRewritten } from "../../git/history.ts";
import * as indexFlags from "../../git/index_flags.ts";
import { dropConflicts, endOperations } from "../../git/operations.ts";
import { isUnmerged, labelTurnConflicts } from "../../git/turn_conflicts.ts";
import { realPath } from "../../host/file_state.ts";
import { factsOf } from "../../host/path_facts.ts";
import { keepUnreadable, restoreUnreadable, takeOut, takeOutUnreadable } from "../../git/take_out.ts";
import * as persons from "./uncommitted.ts";
import { pathsOfSides } from "./damage.ts";
import { createWatch } from "./watch.ts";
import { NAMES_AT, pathsBetween, pathsFrom } from "../../git/run_git.ts";
import { type Ignored, readIgnored, type WasIgnored } from "../../git/ignored.ts";
import { nameAsideIn, type RunLine } from "../settle/run_line.ts";

/** A turn after the guard has looked at it. */
export interface GuardedTurn extends ObservedTurn {
  /** The attempt fails; branch and files are as they were before the turn. */
  readonly rewritten: HistoryRewritten | null;
  /** Relative to the root: files that a person had deleted, which it made again, and which are gone again. */
  readonly remade: readonly string[];
}

/** Looks after history, and after what a person has not committed, from turn to turn. */
export interface TurnGuard {
  /** A person's uncommitted work as it was found first. */
  readonly found: persons.Uncommitted["found"];
  /** Of it, paths that are gone, with the one who is blamed. */
  readonly lost: persons.Uncommitted["lost"];
  /** Call before each turn. */
  beforeTurn(itemId: string, before: git.TreeSnapshot): Promise<void>;
  /** Call once the turn's processes have ended, before anything is judged. */
  afterTurn(attemptId: string, observed: ObservedTurn): Promise<GuardedTurn>;
  /**
   * Call after an item's commit, in which git's hooks ran.
   *
   * @param status `passed`: what is committed is verified, and no later attempt may rewrite it
   * @param by blamed for what changed meanwhile. @default "a hook of git"
   */
  settled(status: "passed" | "open", by?: string): Promise<void>;
  /**
   * Keeps a person's work before anything has run.
   *
   * @param itemId worked on in another tree; `null`: none yet
   * @param branches no guard of a worker's looks after branches and stashes
   */
  keep(itemId: string | null, before: git.TreeSnapshot, branches: boolean): Promise<void>;
  /** Call after whatever ran that was no turn: a check, a hook. @param by blamed for what is restored, as "the hook lint" */
  look(by: string): Promise<void>;
}

interface TurnGuardOptions extends Omit<persons.UncommittedOptions, "known"> {
  /** The branch of the run, in the project's own tree. */
  readonly line?: RunLine;
}

/** @param own the user's paths, and state files, which Ralph restores by itself */
export function createTurnGuard(ralph: RalphContext, own: TurnGuardOptions): TurnGuard {
  const repository = git.requireRepository(ralph);
  const stateFiles = git.topLevelPaths(ralph, own.stateFiles);
  const uncommitted = persons.createUncommitted(ralph, { ...own, stateFiles });
  const ignored = createIgnoredBefore(ralph, stateFiles);
  let last: { readonly itemId: string; readonly head: string | null } | null = null;
  let floor: string | null = null;
  let flags: indexFlags.IndexFlags | null = null;
  let stamp: string | undefined;
  const watch = createWatch(ralph, uncommitted, own.line);
  const reportUnreadable = unreadableReport(ralph);

  return {
    found: uncommitted.found,
    lost: uncommitted.lost,
    async beforeTurn(itemId, before) {
      // what a failed attempt at the same item committed may be rewritten while nothing is on top of it
      if (last === null || last.itemId !== itemId || last.head !== before.head) floor = before.head;
      last = { itemId, head: before.head };
      flags ??= await indexFlags.readIndexFlags(repository);
      stamp = stampOf(repository);
      reportUnreadable(before.unreadable);
      await Promise.all([ignored.look(), keepUnreadable(repository, before, bytesRef(ralph, own.by))]);
      const shown = await indexFlags.withHidden(repository, before, flags);
      await watch.begin(itemId, shown, { isSaid: own.by === undefined, held: true });
    },
    async afterTurn(attemptId, observed) {
      const { before } = observed;
      reportUnreadable(observed.after.unreadable);
      const wrote = stamp !== stampOf(repository);
      const paths = git.topLevelPaths(ralph, observed.turn.changedFiles);
      const conflicts = wrote ? await labelTurnConflicts(repository, { since: floor, now: observed.after, paths }) : [];
      const operations = await endOperations(repository);
      if (observed.after.changed.some(isUnmerged)) await dropConflicts(repository);
      const now = operations.length === 0 ? observed.after : await repository.status();
      const rewritten = await guardHistory(repository, { ...before, floor }, now, attemptId);
      if (rewritten?.aside) (own.line?.nameAside ?? nameAsideIn(ralph))(rewritten.aside);
      const gone = await watch.gone(attemptId);
      const { cleared, isMoved } = await flagsAsBefore(ralph, flags!, wrote, { from: before.head, to: now.head });
      const isWritten = isMoved || rewritten !== null || await keptOut(ralph, before, { now: now.head, by: own.by });
      const isEnded = isWritten || operations.length + conflicts.length + cleared.length > 0;
      const found = isEnded ? await repository.snapshot() : observed.after;
      const persons = await ignored.takeOut(before, found);
      const moved = isEnded || persons.size > 0;
      const after = persons.size > 0 ? await repository.snapshot() : found;
      const { isTouched, remade } = await uncommitted.restore(before, after, rewritten !== null);
      for (const text of [...notesOf(operations, git.rootPaths(ralph, cleared)), ...gone]) note(ralph, "warn", text);
      const guarded = moved || isTouched ? await observedAgain(ralph, repository, observed, persons) : observed;
      await watch.again(guarded.after, own.by ?? "the turn");
      last = { itemId: last?.itemId ?? "", head: guarded.after.head };
      return { ...guarded, rewritten, remade: git.rootPaths(ralph, remade) };
    },
    async settled(status, by = "a hook of git") {
      if (status === "passed") last = null;
      await watch.committed();
      await watch.look(by);
    },
    keep: (itemId, before, branches) => watch.begin(itemId, before, { isSaid: false, held: branches ? false : null }),
    look: watch.look,
  };
}

function bytesRef(ralph: RalphContext, by: string | undefined): string {
  return `${persons.keptRef(ralph, by)}.bytes`;
}

/** The names that are not UTF-8. @returns whether the branch was moved */
async function keptOut(
  ralph: RalphContext,
  before: git.TreeSnapshot,
  { now, by }: { readonly now: string | null; readonly by: string | undefined },
): Promise<boolean> {
  const repository = git.requireRepository(ralph);
  const paths = await takeOutUnreadable(repository, before, now);
  const back = await restoreUnreadable(repository, before, bytesRef(ralph, by));
  const who = by ?? persons.TURN;
  for (const [said, some] of [[persons.committedBy(who), paths], [persons.restoredBy(who), back]] as const) {
    if (some.length > 0) note(ralph, "warn", `${said}: ${git.rootPaths(ralph, some).join(", ")}`);
  }
  return paths.length > 0;
}

/** Names each path once. */
function unreadableReport(ralph: RalphContext) {
  const unreadable = new Set<string>();
  return (paths: readonly string[] = []): void => {
    const fresh = paths.filter((path) => !unreadable.has(path));
    if (fresh.length === 0) return;
    for (const path of fresh) unreadable.add(path);
    const message = `not compared and not committed, since the name is not UTF-8: ${
      git.rootPaths(ralph, fresh).join(", ")
    }`;
    note(ralph, "warn", message);
  };
}

/** Changes with every write of the index: without one there is no new flag. */
function stampOf({ gitDirectory }: git.Repository): string | undefined {
  return factsOf(realPath(join(gitDirectory, "index")))?.stamp;
}

async function observedAgain(
  ralph: RalphContext,
  repository: git.Repository,
  observed: ObservedTurn,
  ignored: ReadonlySet<string>,
): Promise<ObservedTurn> {
  const { paths, now } = await repository.changedSince(observed.before);
  const changed = paths.filter((path) => !ignored.has(path));
  const turn = { ...observed.turn, changedFiles: git.rootPaths(ralph, changed), head: now.head };
  return { ...observed, turn, after: now };
}

function notesOf(operations: readonly string[], cleared: readonly string[]): readonly string[] {
  return [
    ...operations.map((operation) => `the turn left a ${operation} in progress: it was ended`),
    ...(cleared.length === 0 ? [] : [`the turn hid changes by index flags, which were cleared: ${cleared.join(", ")}`]),
  ];
}

interface Heads {
  readonly from: git.TreeSnapshot["head"];
  readonly to: git.TreeSnapshot["head"];
}

/**
 * Clears the index flags that a turn has set, lays a person's in again, and takes the files that these hide out of the
 * turn's commits.
 *
 * @param wrote whether the index was written since
 * @returns the paths whose flags were cleared, and whether HEAD or the index was changed otherwise
 */
async function flagsAsBefore(ralph: RalphContext, before: indexFlags.IndexFlags, wrote: boolean, heads: Heads) {
  const repository = git.requireRepository(ralph);
  const committed = await committedOf(repository, indexFlags.flaggedPaths(before), heads);
  if (committed.length > 0) await takeOut(repository, heads.from, committed);
  if (!wrote && committed.length === 0) return { cleared: [], isMoved: false };
  const now = await indexFlags.readIndexFlags(repository);
  const cleared = await indexFlags.clearNewFlags(repository, before, now);
  const back = await indexFlags.layFlagsAgain(repository, before, now);
  if (committed.length > 0) {
    note(ralph, "warn", `${persons.committedBy("the turn")}: ${git.rootPaths(ralph, committed).join(", ")}`);
  }
  persons.warnOfFlags(ralph, back.filter((path) => !committed.includes(path)));
  return { cleared, isMoved: committed.length + back.length > 0 };
}

async function committedOf(
  repository: git.Repository,
  flagged: ReadonlySet<string>,
  { from, to }: Heads,
): Promise<readonly string[]> {
  if (flagged.size === 0 || from === null || to === null || from === to) return [];
  const paths = (await pathsBetween(repository, from, to)).filter((path) => flagged.has(path));
  const { fromTurn } = await pathsOfSides(repository, paths.length > 0 ? from : null, to);
  return paths.filter((path) => fromTurn.has(path));
}

/**
 * The files that git ignored, and that were there, before the first turn: a person's.
 *
 * @param stateFiles relative to the top level
 */
function createIgnoredBefore(ralph: RalphContext, stateFiles: readonly string[]) {
  const repository = git.requireRepository(ralph);
  let ignored: Ignored | null = null;
  const named = new Set<string>();
  function nameGone(): void {
    const isGone = (path: string): boolean => !named.has(path) && factsOf(join(repository.topLevel, path)) === null;
    const gone = (ignored?.files ?? []).filter(isGone);
    for (const path of gone) named.add(path);
    const message = `removed while the turn ran, and not kept, since git ignores them: ${
      git.rootPaths(ralph, gone).join(", ")
    }`;
    if (gone.length > 0) note(ralph, "warn", message);
  }
  return {
    /** Call before each turn. */
    async look(): Promise<void> {
      ignored ??= await readIgnored(repository, ralph.host.clock.now());
    },
    /** Takes them out of the turn's commits and of the index, and says which; the files stay. */
    async takeOut(before: git.TreeSnapshot, after: git.TreeSnapshot): Promise<ReadonlySet<string>> {
      nameGone();
      const isPersons: WasIgnored = (path) =>
        !stateFiles.includes(path) && !before.contents.has(path) && ignored?.was(path) === true;
      const committed = await committedPaths(repository, before.head, after.head, isPersons);
      if (committed.length > 0) await takeOut(repository, before.head, committed);
      const isNew = ({ code }: git.ChangedPath): boolean => /^A|\?/.test(code);
      const shown = after.changed.filter((entry) => isNew(entry) && isPersons(entry.path));
      await dropEntries(repository, shown.filter(({ untracked }) => !untracked).map(({ path }) => path));
      const paths = new Set([...committed, ...shown.map(({ path }) => path)]);
      if (paths.size === 0) return paths;
      const message = `ignored and there before the turn, so not committed: ${
        git.rootPaths(ralph, [...paths]).join(", ")
      }`;
      note(ralph, "warn", message);
      return paths;
    },
  };
}

/** A person's paths in the turn's commits that the commit before them had not. */
async function committedPaths(
  repository: git.Repository,
  from: string | null,
  to: string | null,
  isPersons: WasIgnored,
): Promise<readonly string[]> {
  if (to === null || to === from) return [];
  if (from === null) return (await pathsFrom(repository, [...NAMES_AT, to])).filter(isPersons);
  const paths = (await pathsBetween(repository, from, to)).filter(isPersons);
  if (paths.length === 0) return [];
  const { fromTurn } = await pathsOfSides(repository, from, to);
  const known = new Set(await pathsFrom(repository, [...NAMES_AT, from]));
  return paths.filter((path) => fromTurn.has(path) && !known.has(path));
}
