import { note, type RalphContext } from "../../context/context.ts";
import { join } from "node:path";
import type { Backlog, Item, SettleCommit } from "../../backlog/types.ts";
import * as git from "../../git/repository.ts";
import type { TreeSnapshot } from "../../git/repository.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { pathExists } from "../../host/files.ts";
import type { JournalKey, Leftover, Overwritten } from "../../backlog/journal_types.ts";
import { redactorFor } from "../../events/redact.ts";
import type { Mask } from "../../git/fold.ts";
import { WORK_REFS } from "../../git/run_git.ts";
import type { KeptWork } from "../../git/work_commit.ts";
import { keyOf } from "../journal/journal_record.ts";
import { BETWEEN, type RunLine } from "./run_line.ts";

/** Makes the loop's commits. */
export interface Committer {
  /** The branch that they come onto. */
  readonly line: RunLine;
  /** State and work together, in one commit; work runs the user's hooks, state alone does not. */
  commit(
    commit: SettleCommit,
    workPaths: readonly string[],
    options?: {
      readonly known?: git.TreeStatus | undefined;
      /** Commits that become part of this one. */
      readonly fold?: git.Fold | null;
      /** It records an attempt that has not passed: made where the configuration or the backlog wants it. @default false */
      readonly isOfAttempt?: boolean;
    },
  ): Promise<git.CommitResult>;
  /** Tells whether git has these files, as far as commits of this run show. Paths are relative to the root. */
  knows(paths: readonly string[]): boolean;
}

/**
 * A committer for one run: it remembers which state files git knows, so that a later commit need not ask again; where an
 * agent has taken one out of git since, it asks after all.
 */
export function createCommitter(ralph: RalphContext, backlog: Pick<Backlog, "policy">, line: RunLine): Committer {
  const withAttempts = ralph.config.commits.attempts ?? backlog.policy?.attempts ?? false;
  const tracked = new Set<string>();
  let toldIgnored = false;
  return {
    line,
    async commit(commit, workPaths, { known, fold = null, isOfAttempt = false } = {}) {
      if (isOfAttempt && !withAttempts) return { status: "nothing", ignored: [] };
      const statePaths = ralph.config.commits.prdChanges ? git.topLevelPaths(ralph, commit.paths) : [];
      const paths = [...new Set([...workPaths, ...statePaths])];
      if (paths.length === 0 && fold === null) return { status: "nothing", ignored: [] };
      const withWork = workPaths.length > 0 || fold !== null;
      const subject = maskOf(ralph)(withWork ? commit.subject : commit.stateSubject ?? commit.subject);
      const repository = git.requireRepository(ralph);
      const { body } = commit;
      const folded = fold === null ? {} : { fold };
      const { signal } = ralph;
      const onSlowHooks = (names: readonly string[]): void =>
        note(ralph, "warn", `the commit waits for the repository's hooks (${names.join(", ")}); Ctrl-C ends them`);
      const own = { ...(body === undefined ? {} : { body }), ...folded };
      const request = { paths, subject, hooks: withWork, signal, onSlowHooks, ...own };
      const isNew = new Set(known?.changed.filter(({ untracked }) => untracked).map(({ path }) => path));
      const sure = known !== undefined && statePaths.every((path) => tracked.has(path) || isNew.has(path));
      const given = sure ? withState(known, statePaths) : undefined;
      const result = await commitOn(line, given, (more) => repository.commit({ ...request, ...more }));
      if (result.status === "committed") {
        // a file that was taken away is committed as such, and untracked when it is made anew
        for (const path of statePaths) {
          if (await pathExists(join(repository.topLevel, path))) tracked.add(path);
          else tracked.delete(path);
        }
        ralph.events.emit({ type: "commit", commit: result.commit, subject });
        for (const message of aboutHooks(ralph, result)) note(ralph, "warn", message);
      } else if (result.status === "nothing" && result.ignored.length > 0 && !toldIgnored) {
        toldIgnored = true;
        note(ralph, "warn", `ignored by git and therefore not committed: ${result.ignored.join(", ")}`);
      }
      return result;
    },
    knows: (paths) => git.topLevelPaths(ralph, paths).every((path) => tracked.has(path)),
  };
}

/** Somebody who leaves the branch again and again is not fought. */
const TRIES = 3;

/** Commits onto the branch of the run, and nowhere else. */
async function commitOn(
  line: RunLine,
  known: git.TreeStatus | undefined,
  commit: (more: Pick<git.CommitRequest, "branch" | "known">) => Promise<git.CommitResult>,
): Promise<git.CommitResult> {
  for (let given = known, tries = 1;; given = undefined, tries += 1) {
    if (await line.hold(BETWEEN)) given = undefined;
    const { branch } = line;
    const isAgain = (error: unknown): null => {
      if (isLate(error) || !(given !== undefined || (isAstray(error) && tries < TRIES))) throw error;
      return null;
    };
    const result = await commit({ branch, ...given !== undefined && { known: given } }).catch(isAgain);
    if (result === null) continue;
    if (result.status === "committed") line.made(result.commit);
    await line.hold("a hook of git");
    return result;
  }
}

function isAstray(error: unknown): boolean {
  return RalphError.isInstance(error) && error.details["astray"] === 1;
}

/** Sentences about what the repository's hooks made of a commit. */
function aboutHooks(
  ralph: RalphContext,
  made: Extract<git.CommitResult, { readonly status: "committed" }>,
): readonly string[] {
  const staged = (paths: readonly string[] = [], end: string): readonly string[] => {
    const named = git.rootPaths(ralph, paths).join(", ");
    return paths.length === 0
      ? []
      : [`a hook of the repository staged uncommitted changes, which are ${end}: ${named}`];
  };
  const commit = made.commit.slice(0, 10);
  const away = made.strayedTo?.replace("refs/heads/", "the branch ").replace(/^HEAD$/, "a detached HEAD");
  return [
    ...staged(made.without, "not in the commit"),
    ...staged(made.with, `in the commit ${commit}, since somebody has committed on top of it`),
    ...away === undefined ? [] : [
      `a hook of the repository, or a person, went to ${away} while ${commit} was committed: HEAD is back, and the ` +
      "commit is on the run's branch alone",
    ],
  ];
}

/** The status that was known after the turn, and the state that Ralph has written since. */
function withState(known: git.TreeStatus, statePaths: readonly string[]): git.TreeStatus {
  const others = known.changed.filter(({ path, untracked }) => untracked || !statePaths.includes(path));
  const isNew = new Set(others.map(({ path }) => path));
  const written = statePaths.filter((path) => !isNew.has(path));
  return { ...known, changed: [...others, ...written.map((path) => ({ path, code: " M", untracked: false }))] };
}

/** Hooks of the repository had to be ended: the settlement is open, and is made again when the run continues. */
export function isLate(error: unknown): boolean {
  return RalphError.isInstance(error) && error.details["late"] === 1;
}

/** Paths relative to the top level that Ralph itself writes. */
export function ownPaths(
  ralph: Pick<RalphContext, "root" | "repository">,
  { stateFiles, ownFiles = [] }: Pick<Backlog, "stateFiles" | "ownFiles">,
): readonly string[] {
  return git.topLevelPaths(ralph, [...stateFiles, ...ownFiles]);
}

/** Turns at such an item judge or prepare: what they commit themselves does not stay. Pure. */
export function commitsNothing({ review, commitsNothing: asked = review === true }: Item): boolean {
  return asked;
}

/** Takes secrets out of what a turn said in its commits: Ralph repeats it in its own. */
export function maskOf({ host }: Pick<RalphContext, "host">): Mask {
  const redactor = redactorFor(host.environment.variables);
  return (text) => redactor.text(text);
}

/** Puts away what turns at an item left that is given up on, and reports where. @returns the ref, or `null`: nothing was left */
export async function stowParked(
  ralph: RalphContext,
  backlog: Backlog,
  { key, item, attemptId, fold, work }: {
    readonly key: JournalKey;
    readonly item: Item;
    readonly attemptId: string;
    readonly fold: git.Fold | null;
    /** The work that they left uncommitted. */
    readonly work: Readonly<Record<string, unknown>>;
  },
): Promise<string | null> {
  const repository = git.requireRepository(ralph);
  const { stowWork } = await import("../../git/stow.ts");
  const ref = `${WORK_REFS}${attemptId}`;
  const stowed = await stowWork(repository, {
    ref,
    subject: `${item.id} - ${item.title} (given up on)`,
    fold,
    paths: Object.keys(work),
    without: ownPaths(ralph, backlog),
    mask: maskOf(ralph),
    empty: commitsNothing(item),
  });
  if (stowed === null) return null;
  const last = ralph.journal.stowed(key).get(item.id);
  await ralph.journal.stow(key, item.id, { ref, isBack: false });
  if (last !== undefined && last.ref !== ref && !commitsNothing(item)) {
    await repository.git(["update-ref", "-d", last.ref]);
  }
  note(ralph, "info", `what the turns at ${item.id} left is kept as ${ref}, and out of the tree`);
  return ref;
}

/** Puts what turns in the project's tree left of an item where its worker takes it up. @returns the commit; `null`: nothing was left */
export async function leaveToWorker(
  { ralph, ownership, backlog }: Omit<Bringing, "key"> & { readonly backlog: Backlog },
  item: Item,
  ref: string,
): Promise<string | null> {
  const paths = Object.keys(ownership.workOf(item.id));
  if (paths.length === 0) return null;
  const { stowWork } = await import("../../git/stow.ts");
  const subject = `${item.id} - ${item.title}`;
  const request = { ref, subject, fold: null, paths, without: ownPaths(ralph, backlog), mask: maskOf(ralph) };
  const stowed = await stowWork(git.requireRepository(ralph), request);
  ownership.committed(paths);
  if (stowed !== null) {
    note(ralph, "info", `what earlier turns at ${item.id} left is its worker's, and out of the tree`);
  }
  return stowed?.commit ?? null;
}

/** The parts of a run, as far as work comes back in it. */
interface Bringing {
  readonly ralph: RalphContext;
  readonly key: JournalKey;
  readonly ownership: Ownership;
}

/** Brings back what was left of an item, when it is taken up again. @returns whether the tree was changed */
export async function bringBack(parts: Bringing, item: Item): Promise<boolean> {
  const { ralph, key } = parts;
  const stowed = ralph.journal.stowed(key).get(item.id);
  if (stowed === undefined || stowed.isBack || commitsNothing(item)) return false; // a review leaves nothing
  const back = await bringRef(parts, item, {
    ref: stowed.ref,
    left: `what earlier turns at ${item.id} left`,
    union: false, // it was rejected: joined to a person's repair it would be committed with it
  });
  await ralph.journal.stow(key, item.id, { ...stowed, isBack: true });
  return back === "back";
}

/** The work that runs with several workers kept of items, for a run with one. */
export class LeftByWorkers {
  readonly #parts: Bringing;
  #kept: KeptWork | null = null;

  constructor(parts: Bringing) {
    this.#parts = parts;
  }

  /** Brings it into the tree when the item is taken up. @returns whether the tree was changed */
  async bringBack(item: Item): Promise<boolean> {
    const { ralph, key } = this.#parts;
    const { createKeptWork, workRef } = await import("../../git/work_commit.ts");
    this.#kept ??= createKeptWork(git.requireRepository(ralph), keyOf(key), { alone: true });
    const ref = workRef(keyOf(key), item);
    if (await this.#kept.of(ref) === null) return false;
    const left = `what a run with several workers left of ${item.id}`;
    const back = await bringRef(this.#parts, item, { ref, left, union: true });
    if (back !== "differs") await this.#kept.drop(ref);
    return back === "back";
  }

  /** The item has passed. */
  async passed(item: Item): Promise<void> {
    if (this.#kept === null) return;
    const { workRef } = await import("../../git/work_commit.ts");
    await this.#kept.drop(workRef(keyOf(this.#parts.key), item));
  }
}

async function bringRef(
  { ralph, ownership }: Bringing,
  item: Item,
  { ref, left, union }: { readonly ref: string; readonly left: string; readonly union: boolean },
): Promise<"back" | "differs" | "gone"> {
  const repository = git.requireRepository(ralph);
  const { bringBackWork } = await import("../../git/stow.ts");
  const work = await bringBackWork(repository, ref, { union });
  if (work === null) return "gone";
  const isBack = work.conflict === null;
  if (isBack) ownership.afterTurn(item.id, work.paths, await repository.snapshot());
  const message = isBack
    ? `${left} is back in the tree`
    : `${left} stays at ${ref}: ${work.conflict} has changed in the same place`;
  note(ralph, isBack ? "info" : "warn", message);
  return isBack ? "back" : "differs";
}

/** The owner of an uncommitted change: the user, or an item whose turn made it. Paths are relative to the top level. */
export interface Ownership {
  /** Dirty before any turn: never committed by Ralph. */
  readonly userPaths: ReadonlySet<string>;
  /** The user's paths that turns of a killed run have changed. */
  readonly overwritten: ReadonlyMap<string, Overwritten>;
  /** Call before each turn: what is dirty and not an item's is the user's; what items left that this one continues is its own. */
  beforeTurn(before: TreeSnapshot, item: Pick<Item, "id" | "continues">): void;
  /**
   * Call after each turn with what it changed.
   * @returns paths that were the user's and that the turn changed all the same
   */
  afterTurn(itemId: string, changed: readonly string[], after: TreeSnapshot): readonly string[];
  /** The files that turns at this item left uncommitted, with content hashes. */
  workOf(itemId: string): Readonly<Record<string, string | null>>;
  committed(paths: readonly string[]): void;
  /**
   * Paths of the user's that turns at these items have changed, so that their work is not committed whole. Sorted.
   *
   * @param itemIds default all
   */
  uncommitted(itemIds?: Iterable<string>): readonly string[];
}

interface OwnershipStart {
  /** The changes of earlier runs that the journal remembers: still theirs if the content is the same. */
  readonly leftovers: ReadonlyMap<string, Leftover>;
  /** The user's paths that turns of a killed run have changed. @default none */
  readonly overwritten?: ReadonlyMap<string, Overwritten>;
  /** The paths that Ralph itself writes: no one's. @default nothing */
  readonly own?: ReadonlySet<string>;
  /** A run was killed in this item's turn: what is dirty now, and neither was the user's then nor is newer, is the item's. */
  readonly killed: {
    readonly itemId: string;
    readonly userPaths: readonly string[];
    /** Written since all had ended that the run had started. @default nothing is */
    readonly isNewer?: (path: string) => boolean;
  } | null;
}

/** Pure but for its own memory. */
export function createOwnership(start: OwnershipStart, now: TreeSnapshot): Ownership {
  const { own = new Set(), overwritten = new Map(), killed } = start;
  const left = new Map<string, Leftover>();
  const userPaths = new Set<string>(killed?.userPaths ?? []);
  const mixed = new Map<string, Set<string>>();
  const mix = (itemId: string, paths: readonly string[]): void =>
    void mixed.set(itemId, new Set([...mixed.get(itemId) ?? [], ...paths]));
  let were = now.contents;
  for (const [path, content] of now.contents) {
    if (own.has(path)) continue;
    const known = start.leftovers.get(path);
    const isAsLeft = known !== undefined && known.content === content;
    if (isAsLeft && !userPaths.has(path)) left.set(path, known);
    else if (killed !== null && !userPaths.has(path) && killed.isNewer?.(path) !== true) {
      left.set(path, { itemId: killed.itemId, content });
    }
    const before = overwritten.get(path);
    if (before !== undefined && before.content !== content) mix(before.itemId, [path]);
  }
  return {
    userPaths,
    overwritten,
    beforeTurn(before, { id, continues = [] }) {
      were = before.contents;
      for (const [path, { itemId, content }] of left) {
        if (continues.includes(itemId)) left.set(path, { itemId: id, content });
      }
      for (const { path } of before.changed) if (!left.has(path) && !own.has(path)) userPaths.add(path);
    },
    afterTurn(itemId, changed, after) {
      for (const path of left.keys()) if (!after.contents.has(path)) left.delete(path);
      for (const path of changed) {
        const content = after.contents.get(path);
        if (content !== undefined && !userPaths.has(path)) left.set(path, { itemId, content });
      }
      for (const paths of mixed.values()) for (const path of paths) if (!after.contents.has(path)) paths.delete(path);
      const isBoth = (path: string): boolean =>
        userPaths.has(path) && after.contents.has(path) && after.contents.get(path) !== were.get(path);
      const both = changed.filter(isBoth); // a person may have committed a part of the file
      if (both.length > 0) mix(itemId, both);
      return both;
    },
    workOf: (itemId) =>
      Object.fromEntries(
        [...left].filter(([, owner]) => owner.itemId === itemId).map(([path, { content }]) => [path, content]),
      ),
    committed(paths) {
      for (const path of paths) left.delete(path);
    },
    uncommitted: (itemIds = mixed.keys()) =>
      [...new Set([...itemIds].flatMap((id) => [...mixed.get(id) ?? []]))].sort(),
  };
}
