import { asideFolder } from "../../host/remove_path.ts";
import { note, type RalphContext } from "../../context/context.ts";
import { join } from "node:path";
import { restoreFolders } from "../../agents/agent_turn.ts";
import type { Found, KeptRecord, KeptWork } from "../../backlog/journal_types.ts";
import { type Repository, requireRepository, rootPaths, type TreeSnapshot } from "../../git/repository.ts";
import { keepPaths, type KeptPath, nameKept, restoreKept, restoreStaged, stagedIn } from "../../git/kept.ts";
import * as indexFlags from "../../git/index_flags.ts";
import { readTags } from "../../git/tags.ts";
import { entriesOf } from "../../git/index_entries.ts";
import { takeOut } from "../../git/take_out.ts";
import { markedCommits } from "../../git/turn_mark.ts";
import { firstOf } from "../../host/data.ts";
import { foldersOf, putFoldersBack } from "../../host/folders_kept.ts";
import { factsOf } from "../../host/path_facts.ts";
import { type Compared, type Damage, damageTo, isInTheWay } from "./damage.ts";

/** A person's uncommitted work: kept before each turn, and restored after it. */
export interface Uncommitted {
  /** Kept paths, as they were found first. */
  readonly found: ReadonlyMap<string, KeptPath>;
  /** Paths that are gone and could not be restored, with the one who is blamed. */
  readonly lost: ReadonlyMap<string, string>;
  /**
   * Keeps the content of the user's paths that are new or have changed.
   *
   * @param itemId `null`: there is none yet
   * @param isSaid a person is told once
   */
  keep(itemId: string | null, before: TreeSnapshot, isSaid: boolean): Promise<void>;
  /** Keeps a person's newer versions, so that these are restored from now on. @returns what is seen now, hidden changes too */
  renew(now: TreeSnapshot): Promise<TreeSnapshot>;
  /** The paths that are kept, relative to the top level. */
  paths(): readonly string[];
  /**
   * Takes out of the turn's commits what was swept into them, and restores what is gone or reverted. Any other content
   * is newer work and stays.
   *
   * @param moved the files were changed by Ralph since the turn
   * @param by blamed where it was no turn
   * @returns whether the tree or HEAD was changed, and which deleted files the turn had made again
   */
  restore(before: TreeSnapshot, after: TreeSnapshot, moved: boolean, by?: string): Promise<RestoredUncommitted>;
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
  /** Blamed for what is restored; nothing is said of what is kept. @default the turn */
  readonly by?: string;
  /** Tells which paths are restored whatever is in them. @default none */
  readonly isExact?: (path: string) => boolean;
  /** Records what was kept before a turn. */
  readonly record?: (itemId: string, kept: KeptRecord) => Promise<void>;
  /** Kept before a turn in which Ralph was killed: a person may have committed it since. @default nothing */
  readonly known?: ReadonlyMap<string, KeptWork[string]>;
}

export function createUncommitted(
  ralph: RalphContext,
  { userPaths, stateFiles, by: blamed, isExact = () => false, record, known }: UncommittedOptions,
): Uncommitted {
  const repository = requireRepository(ralph);
  const ref = keptRef(ralph, blamed);
  let kept: ReadonlyMap<string, KeptPath> = known ?? new Map();
  let hidden = [...known ?? []].flatMap(([path, { codes }]) => codes.map((code) => ({ path, code }))).filter(isHidden);
  const first = new Map<string, KeptPath>();
  const named = new Map<string, string>();
  const gone = new Map<string, string>();
  let isReported = false;
  const report = reportOf(ralph);

  const self: Uncommitted = {
    found: first,
    lost: gone,
    async renew(now) {
      const shown = await shownNow(repository, now, hidden.length > 0);
      return await self.keep(null, shown, false).then(() => shown);
    },
    async keep(itemId, before, isSaid) {
      const own = ownIn(before.changed, { userPaths, stateFiles });
      const paths = own.filter((one) => !isRepository(one)).map(pathOf);
      const staged = stagedIn(before.changed);
      if (await areGone(ralph, named, first)) kept = new Map();
      const isNew = (path: string): boolean =>
        kept.get(path)?.content !== before.contents.get(path) || kept.get(path)?.staged !== staged.get(path);
      const fresh = await keepPaths(repository, before, [...new Set(paths)].filter(isNew));
      kept = new Map(paths.map((path) => [path, fresh.get(path) ?? kept.get(path)!]));
      for (const [path, one] of fresh) first.set(path, { ...one, ...first.get(path) });
      if (fresh.size > 0) await nameKept(repository, ref, { first, now: kept }, named);
      hidden = before.changed.filter(isHidden);
      if (kept.size > 0 && itemId !== null) await record?.(itemId, recordOf(before, kept));
      if (!isSaid) return;
      report("warn", INSIDE, own.filter(isChangedInside).map(pathOf));
      if (!isReported) sayKept(report, kept, named.has(ref) ? ` (kept as ${ref})` : "");
      isReported ||= kept.size > 0;
    },
    paths: () => [...kept.keys()],
    async restore(before, seen, moved, by = blamed ?? TURN) {
      if (kept.size === 0) return { isTouched: false, remade: [] };
      const isBack = await foldersBack(ralph, before, kept);
      const after = await shownNow(repository, isBack ? null : seen, hidden.length > 0);
      const { swept, theirs, gone: wanted } = await damageTo(repository, { before, after, kept, isExact });
      if (swept.length > 0) await takeOut(repository, before.head, swept);
      const remade = wanted.filter((path) => kept.get(path)!.content === null && isThere(repository, path));
      const { back, missing } = await restoreAll(repository, wanted, kept, report);
      for (const path of missing) gone.set(path, by);
      const lost = await lostEntries(repository, { before, after, kept, swept, theirs });
      report("warn", committedBy(by), swept);
      report("info", "no longer uncommitted", [...theirs].filter((path) => !after.contents.has(path)));
      const restored = new Set([...back, ...apartIn(before, lost).filter((path) => !swept.includes(path))]);
      report("warn", restoredBy(by), [...restored]);
      await restoreStaged(repository, lost);
      if (lost.size > 0) await hideAgain(repository, hidden);
      return { isTouched: swept.length + wanted.length + lost.size > 0 || moved || isBack, remade };
    },
  };
  return self;
}

/** Sets the refs again that a turn has removed. @returns whether git has no object of one any more; all are forgotten then */
async function areGone(ralph: RalphContext, refs: Map<string, string>, first: Map<string, unknown>): Promise<boolean> {
  const { git, gitDirectory } = requireRepository(ralph);
  const there = refs.size === 0 ? new Map() : readTags(gitDirectory, "ralph/kept");
  for (const [ref, commit] of refs) {
    if (there.has(ref.replace("refs/ralph/kept/", ""))) continue;
    if ((await git(["update-ref", ref, commit])).exitCode === 0) continue;
    refs.clear();
    first.clear();
    note(ralph, "warn", `what ${ref} kept was removed and pruned: it is kept anew as it is now`);
    return true;
  }
  return false;
}

/** The ref that names what a run has kept. @param by another than the turn that it is kept from, as "the planner" */
export function keptRef({ run }: { readonly run: Pick<RalphContext["run"], "id"> }, by?: string): string {
  return `refs/ralph/kept/${run.id}${by === undefined ? "" : by.replace("the ", "-")}`;
}

/** A person's file as this run found it. @param by as in {@link keptRef} */
export function foundIn(
  ralph: Pick<RalphContext, "run">,
  found: Uncommitted["found"],
  path: string,
  by?: string,
): Found {
  const { content = null, blob } = found.get(path) ?? {};
  return { content, ref: blob === undefined ? null : keptRef(ralph, by) };
}

/** Says how a person gets back what a run found in a file, which is in no commit. */
export function asFound(path: string, { ref }: Found): string {
  return ref === null ? "" : ` (\`git show ${ref}:${path}\` prints it as the run found it)`;
}

/** Names a person's files that have changed since the turn began. */
export function warnOfChanged(
  ralph: RalphContext,
  paths: readonly string[],
  foundOf: (path: string) => Found,
): void {
  const named = paths.map((path) => `${rootPaths(ralph, [path])[0]}${asFound(path, foundOf(path))}`).join(", ");
  if (named !== "") note(ralph, "warn", `changed while the turn ran, by it or a person, and not committed: ${named}`);
}

const IN_THE_WAY = "other things were in the place of these files; folders that held something are in .git/ralph/aside";
const INSIDE = "not kept: changes inside of submodules and nested repositories";

function reportOf(ralph: RalphContext) {
  const inside = new Set<string>();
  return (level: "info" | "warn", message: string, given: readonly string[]): void => {
    const paths = message === INSIDE ? given.filter((path) => !inside.has(path)) : given;
    if (paths.length === 0) return;
    if (message === INSIDE) { for (const path of paths) inside.add(path); }
    note(ralph, level, `${message}: ${firstOf(rootPaths(ralph, paths), NAMED)}`);
  };
}

/** Lays the index flags in again that hid changes. @returns the paths */
export async function hideAgain(repository: Repository, changed: readonly Coded[]): Promise<readonly string[]> {
  const having = (flag: string): ReadonlySet<string> =>
    new Set(changed.filter(({ code }) => code === flag).map(({ path }) => path));
  const before = { assumed: having(indexFlags.ASSUMED), skipped: having(indexFlags.SKIPPED), sparse: false };
  if (indexFlags.flaggedPaths(before).size === 0) return [];
  return await indexFlags.layFlagsAgain(repository, before, await indexFlags.readIndexFlags(repository));
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

function ownIn(
  changed: TreeSnapshot["changed"],
  { userPaths, stateFiles }: Pick<UncommittedOptions, "stateFiles" | "userPaths">,
): TreeSnapshot["changed"] {
  return changed.filter((one) => !stateFiles.includes(one.path) && (userPaths.has(one.path) || isHidden(one)));
}

function pathOf({ path }: Coded): string {
  return path;
}

type Coded = Pick<TreeSnapshot["changed"][number], "path" | "code">;

function isHidden({ code }: Coded): boolean {
  return code === indexFlags.ASSUMED || code === indexFlags.SKIPPED;
}

/** A submodule, or a repository that is none. */
function isRepository({ path, submodule }: TreeSnapshot["changed"][number]): boolean {
  return submodule !== undefined || path.endsWith("/");
}

/** It has uncommitted changes of its own, or that is not known. */
function isChangedInside({ path, submodule = "" }: TreeSnapshot["changed"][number]): boolean {
  return path.endsWith("/") || /[MU]/.test(submodule.slice(2));
}

async function restoreAll(
  repository: Repository,
  paths: readonly string[],
  kept: ReadonlyMap<string, KeptPath>,
  report: ReturnType<typeof reportOf>,
) {
  const inTheWay = paths.filter((path) => isInTheWay(repository, path, kept.get(path)!));
  const isBack = await Promise.all(
    paths.map((path) => restoreKept(repository, path, kept.get(path)!).catch(() => false)),
  );
  const [back, missing] = [paths.filter((_, at) => isBack[at]), paths.filter((_, at) => !isBack[at])];
  report("warn", "uncommitted work is gone and could not be restored", missing);
  report("warn", IN_THE_WAY, inTheWay.filter((path) => back.includes(path)));
  return { back, missing };
}

function isThere({ topLevel }: Repository, path: string): boolean {
  return factsOf(join(topLevel, path)) !== null;
}

/** Staged paths whose files are other ones. */
function apartIn({ changed }: TreeSnapshot, staged: ReadonlyMap<string, string>): readonly string[] {
  return changed.filter(({ path, code }) => code[1] !== " " && staged.has(path)).map(({ path }) => path);
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
  const place = { aside: asideFolder(ralphDirectory), moved: ralph.host.guard?.moved ?? new Map<string, string>() };
  const swapped = putFoldersBack(foldersOf(topLevel, files), place);
  if (swapped.length > 0) await restoreFolders(ralph, before, swapped);
  return swapped.length > 0;
}

export const TURN = "the turn";
const STAYS = "your uncommitted changes stay as they are, uncommitted";

/** While a turn runs, a person may have done it as well. */
export function restoredBy(by: string): string {
  return `${by === TURN ? `${by} or a person` : by} changed or removed uncommitted work, which was restored`;
}

/** Says that what a person had not committed is out of the commits again. */
export function committedBy(by: string): string {
  return `${by} committed what was uncommitted before it; it is uncommitted again`;
}

/** So many paths are named in a line. */
const NAMED = 20;

function sayKept(report: ReturnType<typeof reportOf>, kept: ReadonlyMap<string, KeptPath>, where: string): void {
  const isLarge = ({ blob, facts }: KeptPath): boolean => facts !== null && blob === undefined;
  const paths = (large: boolean) => [...kept].filter(([, one]) => isLarge(one) === large).map(([path]) => path);
  report("info", `${STAYS}${where}`, paths(false));
  report("warn", "too large to be kept: nothing brings it back if a turn changes or removes it", paths(true));
}

/** HEAD's entries of files that the index has no more, where nothing was staged. */
async function droppedEntries(
  repository: Repository,
  { after, kept, theirs }: Pick<Compared, "after" | "kept"> & Pick<Damage, "theirs">,
): Promise<ReadonlyMap<string, string>> {
  const now = stagedIn(after.changed);
  const isDropped = ([path, { staged }]: readonly [string, KeptPath]): boolean =>
    staged === undefined && now.get(path)?.startsWith("000000 ") === true && !theirs.has(path);
  const paths = [...kept].filter(isDropped).map(([path]) => path);
  if (paths.length === 0 || after.head === null) return new Map();
  const entries = await entriesOf(repository, after.head, paths);
  return new Map(paths.flatMap((path, at) => {
    const [mode, , hash] = entries[at]?.split(" ") ?? [];
    return hash === undefined ? [] : [[path, `${mode} ${hash}`]];
  }));
}

/** The entries that the index has no more, those of HEAD where nothing was staged. A person may have staged something else while the turn ran: it stays. */
async function lostEntries(
  repository: Repository,
  { before, after, kept, swept, theirs }: Compared & Pick<Damage, "swept" | "theirs">,
): Promise<ReadonlyMap<string, string>> {
  if (before.head === null && after.head !== null) return new Map(); // the first commit may take all
  const now = stagedIn(after.changed);
  const found = [...kept].flatMap(([path, { staged, blob }]) => {
    const isLost = staged !== undefined && (swept.includes(path) || (now.get(path) !== staged && !theirs.has(path)));
    const newer = now.get(path)?.split(" ")[1] ?? "0";
    return isLost ? [{ path, staged, newer: /^0+$/.test(newer) || newer === blob ? null : newer }] : [];
  });
  const marked = await markedCommits(repository, found.flatMap(({ newer }) => newer ?? []));
  const isLost = ({ path, newer }: typeof found[number]): boolean =>
    newer === null || marked.has(newer) || swept.includes(path);
  const lost = found.filter(isLost).map(({ path, staged }) => [path, staged] as const);
  return new Map([...lost, ...await droppedEntries(repository, { after, kept, theirs })]);
}
