import { note, type RalphContext } from "../../context/context.ts";
import { join } from "node:path";
import { restoreFolders } from "../../agents/agent_turn.ts";
import type { KeptRecord, KeptWork, OpenItem } from "../../backlog/journal_types.ts";
import { type Repository, requireRepository, rootPaths, type TreeSnapshot } from "../../git/repository.ts";
import { keepPaths, type KeptPath, nameKept, restoreKept } from "../../git/kept.ts";
import * as indexFlags from "../../git/index_flags.ts";
import { FROM_INPUT, outputFrom, partsOf, pathsBetween } from "../../git/run_git.ts";
import { takeOut } from "../../git/take_out.ts";
import { canMark, markedCommits } from "../../git/turn_mark.ts";
import { foldersOf, putFoldersBack } from "../../host/folders_kept.ts";
import { factsOf } from "../../host/path_facts.ts";

/** A person's uncommitted work: kept before each turn, and restored after it. */
export interface Uncommitted {
  /** Keeps the content of the user's paths that are new or have changed. */
  keep(itemId: string, before: TreeSnapshot): Promise<void>;
  /**
   * Takes out of the turn's commits what was swept into them, and restores what is gone or reverted. Any other content
   * is newer work and stays.
   *
   * @param moved the files were changed by Ralph since the turn
   * @returns whether the tree or HEAD was changed, and which deleted files the turn had made again
   */
  restore(before: TreeSnapshot, after: TreeSnapshot, moved: boolean): Promise<RestoredUncommitted>;
}

/** The repair of it after a turn. */
export interface RestoredUncommitted {
  readonly isTouched: boolean;
  /** Relative to the top level: a person had deleted them, the turn made them as HEAD has them, and they are gone again. */
  readonly remade: readonly string[];
}

/** The paths that are looked after, and where what is kept of them is recorded. */
export interface UncommittedOptions {
  /** Relative to the top level. */
  readonly userPaths: ReadonlySet<string>;
  readonly stateFiles: readonly string[];
  /** Records what was kept before a turn. */
  readonly record?: (itemId: string, kept: KeptRecord) => Promise<void>;
  /** Kept before a turn in which Ralph was killed: a person may have committed it since. @default nothing */
  readonly known?: ReadonlyMap<string, KeptWork[string]>;
}

export function createUncommitted(
  ralph: RalphContext,
  { userPaths, stateFiles, record, known }: UncommittedOptions,
): Uncommitted {
  const repository = requireRepository(ralph);
  const ref = `refs/ralph/kept/${ralph.run.id}`;
  const state = new Set(stateFiles);
  let kept: ReadonlyMap<string, KeptPath> = known ?? new Map();
  let hides = [...known?.values() ?? []].some(({ codes }) => codes.some(isHidden));
  let commit: string | null = null;
  let isReported = false;

  function report(level: "info" | "warn", message: string, paths: readonly string[]): void {
    if (paths.length === 0) return;
    const named = rootPaths(ralph, paths.slice(0, NAMED)).join(", ");
    const more = paths.length > NAMED ? ` and ${paths.length - NAMED} more` : "";
    note(ralph, level, `${message}: ${named}${more}`);
  }

  async function restoreOne(path: string): Promise<boolean> {
    return await restoreKept(repository, path, kept.get(path)!).catch(() => false);
  }

  return {
    async keep(itemId, before) {
      const paths = before.changed
        .filter(({ path, submodule }) => submodule === undefined && !path.endsWith("/") && !state.has(path))
        .filter(({ path, code }) => userPaths.has(path) || isHidden(code)).map(({ path }) => path);
      const isNew = (path: string): boolean => kept.get(path)?.content !== before.contents.get(path);
      const fresh = await keepPaths(repository, before, [...new Set(paths)].filter(isNew));
      kept = new Map(paths.map((path) => [path, fresh.get(path) ?? kept.get(path)!]));
      if (fresh.size > 0) commit = await nameKept(repository, ref, kept, commit);
      hides = before.changed.some(({ code }) => isHidden(code));
      if (kept.size > 0) await record?.(itemId, recordOf(before, kept));
      if (isReported || fresh.size === 0) return;
      isReported = true;
      const where = commit === null ? "" : ` (kept as ${ref})`;
      report("info", `your uncommitted changes stay as they are, uncommitted${where}`, paths);
      report("warn", "too large to be kept", [...kept].filter(isLeftOut).map(([path]) => path));
    },
    async restore(before, seen, moved) {
      if (kept.size === 0) return { isTouched: false, remade: [] };
      const isBack = await foldersBack(ralph, before, kept);
      const after = await shownNow(repository, isBack ? null : seen, hides);
      const { swept, theirs } = await committedPaths(repository, before, after, kept);
      if (swept.length > 0) await takeOut(repository, before.head, swept);
      const committed = before.head === null && after.head !== null ? [...kept.keys()] : swept;
      const gone = [...kept.keys()]
        .filter((path) => known === undefined || !theirs.has(path))
        .filter((path) => isGone(repository, path, after, committed, kept));
      const isThere = (path: string): boolean => factsOf(join(repository.topLevel, path)) !== null;
      const remade = gone.filter((path) => kept.get(path)!.content === null && isThere(path));
      const results = await Promise.all(gone.map(async (path) => ({ path, ok: await restoreOne(path) })));
      report("warn", COMMITTED, swept);
      const of = (ok: boolean): readonly string[] => results.filter((one) => one.ok === ok).map(({ path }) => path);
      report("warn", "the turn changed or removed uncommitted work, which was restored", of(true));
      report("warn", "uncommitted work is gone and could not be restored", of(false));
      const isTouched = swept.length + gone.length > 0 || moved || isBack;
      if (isTouched) await stageAgain(repository, before, kept);
      return { isTouched, remade };
    },
  };
}

/** Restores what a person had not committed when Ralph was killed in a turn, as after a turn that has ended. */
export async function restoreKilled(ralph: RalphContext, interrupted: readonly OpenItem[]): Promise<void> {
  for (const { attempt, kept } of interrupted) {
    if (attempt !== null || kept === undefined) continue; // known: it was restored before that
    const { head, work } = kept;
    await layHiddenAgain(ralph, work);
    const known = new Map(Object.entries(work));
    const changed = [...known].flatMap(([path, { codes }]) =>
      codes.map((code) => ({ path, code, untracked: code === "??" }))
    );
    const before = {
      head,
      branch: null,
      changed,
      contents: new Map([...known].map(([path, of]) => [path, of.content])),
    };
    const uncommitted = createUncommitted(ralph, { userPaths: new Set(known.keys()), stateFiles: [], known });
    await uncommitted.restore(before, await requireRepository(ralph).snapshot(), false);
  }
}

/** The turn was killed with what it had done to index flags. */
async function layHiddenAgain(ralph: RalphContext, work: KeptWork): Promise<void> {
  const repository = requireRepository(ralph);
  const having = (flag: string): ReadonlySet<string> =>
    new Set(Object.entries(work).filter(([, { codes }]) => codes.includes(flag)).map(([path]) => path));
  const before: indexFlags.IndexFlags = {
    assumed: having(indexFlags.ASSUMED),
    skipped: having(indexFlags.SKIPPED),
    sparse: false,
  };
  if (indexFlags.flaggedPaths(before).size === 0) return;
  const paths = await indexFlags.layFlagsAgain(repository, before, await indexFlags.readIndexFlags(repository));
  warnOfFlags(ralph, paths);
}

/** Says whose index flags are back. */
export function warnOfFlags(ralph: RalphContext, paths: readonly string[]): void {
  if (paths.length === 0) return;
  const message = "an index flag of yours hides changes of these files; the turn removed it, and it is back: ";
  note(ralph, "warn", `${message}${rootPaths(ralph, paths).join(", ")}`);
}

async function shownNow(repository: Repository, seen: TreeSnapshot | null, hides: boolean): Promise<TreeSnapshot> {
  const found = seen ?? await repository.snapshot();
  return hides ? await indexFlags.withHidden(repository, found, await indexFlags.readIndexFlags(repository)) : found;
}

function isHidden(code: string): boolean {
  return code === indexFlags.ASSUMED || code === indexFlags.SKIPPED;
}

function recordOf({ changed, head }: TreeSnapshot, kept: ReadonlyMap<string, KeptPath>): KeptRecord {
  const codes = new Map<string, string[]>();
  for (const { path, code } of changed) codes.set(path, [...codes.get(path) ?? [], code]);
  const work = Object.fromEntries([...kept].map(([path, one]) => [path, { ...one, codes: codes.get(path) ?? [] }]));
  return { head, work };
}

/**
 * Puts the folders of these files back where the turn left something else. Nothing is written through a link, or over a
 * file, that is in a folder's place.
 *
 * @returns whether there were any
 */
async function foldersBack(
  ralph: RalphContext,
  before: Pick<TreeSnapshot, "head">,
  kept: ReadonlyMap<string, KeptPath>,
): Promise<boolean> {
  const { topLevel, ralphDirectory } = requireRepository(ralph);
  const files = [...kept].filter(([, { facts }]) => facts !== null).map(([path]) => join(topLevel, path));
  const place = { aside: join(ralphDirectory, "aside"), moved: ralph.host.guard?.moved ?? new Map<string, string>() };
  const swapped = putFoldersBack(foldersOf(topLevel, files), place);
  if (swapped.length > 0) await restoreFolders(ralph, before, swapped);
  return swapped.length > 0;
}

export const COMMITTED = "the turn committed what was uncommitted before it; it is uncommitted again";

/** So many paths are named in a line. */
const NAMED = 20;

function isLeftOut([, { blob, facts }]: readonly [string, KeptPath]): boolean {
  return facts !== null && blob === undefined;
}

/** The user's paths in commits since: in the turn's, with their present content (`swept`), and in a person's. */
async function committedPaths(
  repository: Repository,
  before: TreeSnapshot,
  after: TreeSnapshot,
  kept: ReadonlyMap<string, KeptPath>,
): Promise<{ readonly swept: readonly string[]; readonly theirs: ReadonlySet<string> }> {
  // without a commit before it, all of the project is uncommitted: the first commit may take it
  if (before.head === null || after.head === null || after.head === before.head) {
    return { swept: [], theirs: new Set() };
  }
  const all = (await pathsBetween(repository, before.head, after.head)).filter((path) => kept.has(path));
  const { fromTurn, others } = await pathsOfSides(repository, all.length > 0 ? `${before.head}..${after.head}` : null);
  const touched = all.filter((path) => fromTurn?.has(path) !== false);
  const swept: string[] = [];
  for (const path of touched) {
    if (!after.contents.has(path)) swept.push(path);
    else {
      const { exitCode, stdout } = await repository.git(["rev-parse", "--verify", "--quiet", `HEAD:${path}`]);
      if (exitCode === 0 && stdout.trim() === kept.get(path)!.blob) swept.push(path);
    }
  }
  return { swept, theirs: new Set(all.filter((path) => fromTurn?.has(path) === false && others.has(path))) };
}

/** Paths of the turn's own commits, and of others: a person's stay. `null`: it cannot tell them apart. */
export async function pathsOfSides(
  repository: Repository,
  range: string | null,
): Promise<{ readonly fromTurn: ReadonlySet<string> | null; readonly others: ReadonlySet<string> }> {
  if (range === null || !await canMark(repository)) return { fromTurn: null, others: new Set() };
  const commits = (await outputFrom(repository, ["rev-list", range])).split("\n").filter((id) => id !== "");
  const marked = await markedCommits(repository, commits);
  const look = ["diff-tree", "--stdin", "-m", "-r", "-z", "--no-commit-id", "--name-only", "--no-renames"];
  const pathsOf = async (some: readonly string[]): Promise<ReadonlySet<string>> =>
    some.length === 0
      ? new Set()
      : new Set(partsOf(await outputFrom(repository, look, { input: some.map((id) => `${id}\n`).join("") })));
  return {
    fromTurn: await pathsOf(commits.filter((id) => marked.has(id))),
    others: await pathsOf(commits.filter((id) => !marked.has(id))),
  };
}

/** Reverted, stashed or deleted; what was committed is still there, unless it was deleted as well. */
function isGone(
  { topLevel }: Repository,
  path: string,
  after: TreeSnapshot,
  committed: readonly string[],
  kept: ReadonlyMap<string, KeptPath>,
): boolean {
  const { content } = kept.get(path)!;
  if (after.contents.has(path)) return isNoFile(after.contents.get(path)) && !isNoFile(content);
  return !committed.includes(path) || (content !== null && factsOf(join(topLevel, path)) === null);
}

/** By a content hash: no content of a file or link. */
function isNoFile(content: string | null | undefined): boolean {
  return content === null || content === "folder" || content === "special";
}

/** Stages again what was staged before, and lost that by a commit or a reset. */
async function stageAgain(
  repository: Repository,
  before: TreeSnapshot,
  kept: ReadonlyMap<string, KeptPath>,
): Promise<void> {
  const staged = before.changed.filter(({ path, code }) => kept.has(path) && /^[AMT] $/.test(code));
  const removed = before.changed.filter(({ path, code }) => kept.has(path) && code === "D ");
  const input = (of: typeof staged): string => of.map(({ path }) => path).join("\0");
  if (staged.length > 0) await outputFrom(repository, ["add", "--force", ...FROM_INPUT], { input: input(staged) });
  if (removed.length > 0) {
    const remove = ["rm", "--quiet", "--cached", "--ignore-unmatch", ...FROM_INPUT];
    await outputFrom(repository, remove, { input: input(removed) });
  }
}
