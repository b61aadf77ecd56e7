/**
 * A worker's own tree: a git worktree beside the project that lives as long as the run, so that what is installed in it
 * is installed once. It is reset between items. Nothing that is to last is in it alone.
 *
 * @module
 */
import { asideFolder } from "../../host/remove_path.ts";
import { basename, join, relative } from "node:path";
import { deleteRefs } from "../../git/refs.ts";
import { createStateFiles } from "../../backlog/state_files.ts";
import type { Backlog, Item } from "../../backlog/types.ts";
import { createBrief } from "../../checks/brief/create_brief.ts";
import type { Brief } from "../../checks/brief/types.ts";
import { note, type RalphContext } from "../../context/context.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { openRepository } from "../../git/open_repository.ts";
import { labelConflicts } from "../../git/conflict_markers.ts";
import { mergeTrees } from "../../git/land.ts";
import { endOperations } from "../../git/operations.ts";
import { type Repository, requireRepository, topLevelPaths, treesDirectory } from "../../git/repository.ts";
import type { Captured } from "../../git/fold.ts";
import { changesBetween } from "../../git/changes.ts";
import { NAMES_AT, outputFrom, pathsBetween, pathsFrom } from "../../git/run_git.ts";
import { ensureDirectory, hashText, pathExists, removeOwn, resolveInside, writeAtomic } from "../../host/files.ts";
import { tidied } from "../run/tidied.ts";
import { createFilledTree, type FilledTree } from "./filled_tree.ts";
import { captureOf, findTrees, isWorktreeOf, type Marker, removeTree, writeMarker } from "./leftover_trees.ts";

/** One worker's place. Disposing of it removes the tree. */
export interface WorkerTree extends OpenTree, AsyncDisposable {
  /** The brief that judges here, as it was before the first turn. */
  readonly brief: Brief;
}

interface OpenTree {
  /** Absolute path of its top level. A turn may have removed it: it is made anew for the next item. */
  readonly path: string;
  /** From 0. Also `RALPH_LANE` of every process in it, so that ports can be told apart. */
  readonly lane: number;
  /** A context whose root is this tree. */
  readonly ralph: RalphContext;
  /** The run's own context, with events that say in which lane they happen. */
  readonly home: RalphContext;
  readonly backlog: Pick<Backlog, "record" | "stateFiles">;
  readonly filled: FilledTree;
  readonly now: {
    /** The lane of its events: another item may be landing in it. */
    lane: number;
    /** The item at work in it. */
    begun: Pick<TreeBegin, "tip" | "ref"> | null;
    /** The texts of state files that it began with. */
    given: ReadonlyMap<string, string>;
  };
}

/** A state file as a turn left it, the part that is Ralph's as it was. */
export interface Note {
  /** Relative to the root. */
  readonly path: string;
  /** As the turn found it. */
  readonly before: string;
  readonly text: string;
}

/** The state that a tree begins an item with. */
export interface TreeBegin {
  readonly tip: string;
  /** A commit on an earlier tip; `null`: nothing was left. */
  readonly left: string | null;
  /** The ref that keeps the work. */
  readonly ref: string;
  readonly item: Item;
  readonly attemptId: string;
}

/**
 * Opens the tree of a lane: the one that an earlier run left, or a new one.
 *
 * @throws {RalphError} git-failed, setup-failed, file-unwritable
 */
export async function openWorkerTree(ralph: RalphContext, backlog: Backlog, lane: number): Promise<WorkerTree> {
  const path = await placeOf(ralph, lane);
  try {
    return await openAt(ralph, backlog, { lane, path });
  } catch (error) {
    await tidied(ralph, () => removeTree(ralph, path)); // half of it may fill the disk
    throw error;
  }
}

async function openAt(
  ralph: RalphContext,
  backlog: Backlog,
  { lane, path }: { readonly lane: number; readonly path: string },
): Promise<WorkerTree> {
  const main = requireRepository(ralph);
  await ensureDirectory(treesDirectory(ralph));
  await writeMarker(path, { v: 1, root: ralph.root, run: ralph.run.id, work: null });
  await ensureWorktree(ralph, path);
  const root = join(path, relative(main.topLevel, ralph.root));
  const now: OpenTree["now"] = { lane, begun: null, given: new Map() };
  const derived = await contextIn(ralph, { lane, path, root, now });
  const { workspace, parallel } = ralph.config;
  const { host, signal } = derived;
  const aside = asideFolder(main.ralphDirectory);
  const onCopy = (copied: string): void => note(ralph, "info", `copies ${copied} into the tree of worker ${lane + 1}`);
  const filled = createFilledTree({ host, from: main.topLevel, to: path, root, aside, workspace, signal, onCopy });
  const open: OpenTree = {
    path,
    lane,
    ralph: derived,
    home: { ...ralph, events: derived.events },
    backlog,
    filled,
    now,
  };
  await requireRepository(derived).clearLeftLocks(0); // a killed run's: no other program works in this tree
  await requireRepository(derived).ensureReady();
  await checkOut(open, (await main.status()).head ?? "HEAD");
  const tree = { ...open, brief: await createBrief(derived, backlog) };
  return {
    ...tree,
    async [Symbol.asyncDispose]() {
      await closeTree(tree);
      if (!parallel.keep) await removeTree(ralph, path);
    },
  };
}

/** Lets go of what it holds in memory; the tree stays. */
export async function closeTree({ brief, ralph }: Pick<WorkerTree, "brief" | "ralph">): Promise<void> {
  await brief.release();
  ralph.state.release();
}

/** Brings the tree to a commit as it is, for its checks. */
export async function checkOut(tree: OpenTree, commit: string): Promise<void> {
  const { ralph, home, path, filled } = tree;
  const repository = requireRepository(ralph);
  if (!await pathExists(join(path, ".git"))) { // a turn may have removed it
    await ensureWorktree(home, path);
    filled.forget();
  }
  await endOperations(repository);
  await outputFrom(repository, ["checkout", "--quiet", "--force", "--detach", commit]);
  const keep = filled.links.flatMap((link) => ["-e", `/${link}`]);
  await outputFrom(repository, ["clean", "-ffdq", ...keep]); // what git ignores stays: packages, caches
  await filled.bringUp(commit);
  await copyState(tree);
}

/**
 * Brings the tree to a commit, with what earlier attempts left (a commit) merged over it, uncommitted.
 *
 * @returns the files in which conflict markers are, and all that the merge changed; relative to the top level
 */
export async function prepareTree(
  tree: OpenTree,
  { tip, left, ref, item, attemptId }: TreeBegin,
): Promise<{ readonly conflicts: readonly string[]; readonly left: readonly string[] }> {
  const { ralph, now, backlog } = tree;
  const repository = requireRepository(ralph);
  await checkOut(tree, tip);
  await mark(tree, { base: tip, ref });
  now.begun = { tip, ref };
  if (left === null) return { conflicts: [], left: [] };
  const { tree: merged, conflicts } = await mergeTrees(repository, tip, left);
  await outputFrom(repository, ["read-tree", "-m", "-u", tip, merged]);
  await outputFrom(repository, ["reset", "--quiet", tip]);
  const state = stateOf(tree);
  const inWork = conflicts.filter((path) => !state.has(path));
  const made = await labelConflicts(repository, { tip, left, itemId: item.id }, inWork);
  await copyState(tree);
  // what conflicts had passed its checks: only the merge is left to do
  const returned = { type: "work-returned", item, root: ralph.root, attemptId } as const;
  const done = conflicts.length > 0 ? undefined : await backlog.record?.(returned);
  const gone = new Set(topLevelPaths(ralph, done?.paths ?? []));
  const brought = (await pathsBetween(repository, tip, merged)).filter((path) => !gone.has(path) && !state.has(path));
  return { conflicts: inWork, left: [...brought, ...made] };
}

/**
 * Commits what the turn committed, and these paths as they are, on the commit that the tree was prepared with.
 *
 * @returns `null` where nothing has changed
 */
export async function captureTree(tree: OpenTree, paths: readonly string[]): Promise<Captured | null> {
  const repository = requireRepository(tree.ralph);
  const { tip: base, ref } = tree.now.begun ?? { tip: "HEAD", ref: "" };
  const inTree = { ...tree.home, repository };
  const work = await captureOf(inTree, { base, ref, state: stateOf(tree), wanted: new Set(paths) });
  tree.now.begun = null;
  await mark(tree, null).catch(() => {}); // the work is kept; the next item says so if the disk is still full
  if (work === null || !await removesAll(repository, work)) return work;
  await deleteRefs(repository, [ref]); // a tree that was deleted is no work to continue with
  return null;
}

/** Nothing is worked on in it any more: all that the turn left is kept. @returns whether the tree may be removed */
export async function abandonTree(tree: OpenTree): Promise<boolean> {
  if (tree.now.begun === null) return true;
  const { tip: base, ref } = tree.now.begun;
  try {
    const inTree = { ...tree.home, repository: requireRepository(tree.ralph) };
    await captureOf(inTree, { base, ref, state: stateOf(tree), wanted: null });
    return true;
  } catch {
    return false; // the next run finds it by its marker
  }
}

/** The notes that the turn left in state files of which only a part is Ralph's, and has restored. */
export async function notesIn({ ralph, now }: OpenTree): Promise<readonly Note[]> {
  const notes: Note[] = [];
  for (const [path, before] of now.given) {
    const text = await ralph.state.read(path);
    if (text !== null && text !== before) notes.push({ path, before, text });
  }
  return notes;
}

async function mark({ home, path }: OpenTree, work: Marker["work"]): Promise<void> {
  await writeMarker(path, { v: 1, root: home.root, run: home.run.id, work });
}

/** State files, relative to the top level. */
function stateOf({ home, backlog }: OpenTree): ReadonlySet<string> {
  return new Set(topLevelPaths(home, backlog.stateFiles));
}

/** Nothing of what the work began with is left. */
async function removesAll(repository: Pick<Repository, "git">, { base, commit, paths }: Captured): Promise<boolean> {
  const filesOf = (tree: string): Promise<readonly string[]> => pathsFrom(repository, [...NAMES_AT, tree]);
  const { length: gone } = (await changesBetween(repository, base, commit)).filter(({ kind }) => kind === "D");
  if (gone === 0) return false; // as a rule, and shorter than a list of all files
  const changed = new Set(paths);
  if ((await filesOf(commit)).some((path) => !changed.has(path))) return false;
  return gone === (await filesOf(base)).length;
}

/** Makes the worktree where it is not there. */
async function ensureWorktree(ralph: RalphContext, path: string): Promise<void> {
  if (await isWorktreeOf(ralph, path)) return;
  await removeOwn(path, treesDirectory(ralph));
  const add = ["worktree", "add", "--quiet", "--force", "--detach", "--no-checkout", path, "HEAD"];
  await outputFrom(requireRepository(ralph), add);
}

/** A folder of this project's own: what is there without this project's marker is left alone. */
async function placeOf(ralph: RalphContext, lane: number): Promise<string> {
  const { topLevel } = requireRepository(ralph);
  const own = new Set((await findTrees(ralph)).map(({ path }) => path));
  const plain = join(treesDirectory(ralph), `${basename(topLevel)}-${lane}`);
  const isFree = own.has(plain) || (!await pathExists(plain) && !await pathExists(`${plain}.json`));
  return isFree ? plain : `${plain}-${hashText(ralph.root).slice(0, 8)}`;
}

/** The run's context, at work in the tree: events say in which, and so do the processes' environments. */
async function contextIn(
  ralph: RalphContext,
  { lane, path, root, now }: Pick<OpenTree, "lane" | "path" | "now"> & { readonly root: string },
): Promise<RalphContext> {
  const repository = await openRepository(ralph.host, path);
  if (repository === null) throw new RalphError("not-a-repository", { details: { root: path } });
  const { build$, CommandBuilder } = await import("dax");
  const variables = { RALPH_LANE: String(lane) };
  const { host, state: { parts } } = ralph;
  const run: typeof host.processes.run = (request) =>
    host.processes.run({ ...request, environment: { ...variables, ...request.environment } });
  return {
    ...ralph,
    root,
    lane,
    repository,
    $: build$({ commandBuilder: new CommandBuilder().cwd(root).env(variables) }),
    host: { ...host, processes: { ...host.processes, run } },
    state: createStateFiles({ root, directory: repository.ralphDirectory, host, parts }),
    events: { ...ralph.events, emit: (event) => ralph.events.emit(event, now.lane) },
  };
}

/** State as the run has it, whatever git has of it: prompts and commands of a turn read it. */
async function copyState({ home, ralph, backlog: { stateFiles }, now }: OpenTree): Promise<void> {
  const given = new Map<string, string>();
  ralph.state.release();
  for (const path of stateFiles) {
    const text = await home.state.read(path);
    if (text !== null) given.set(path, text);
    if (text === await ralph.state.read(path)) continue;
    if (text === null) await removeOwn(await resolveInside(ralph.root, path), ralph.root);
    else await writeAtomic(await resolveInside(ralph.root, path), text);
  }
  await ralph.state.adopt(stateFiles);
  await ralph.state.hold(stateFiles);
  now.given = given;
}

/** For the prompt: the files that conflict. */
export function conflictNote(paths: readonly string[]): string {
  return `Your earlier work at this is in the tree, and conflicts with what others have merged since: ${
    paths.join(", ")
  }. ` +
    "The markers say which side is which; a file that can have none has them in a file beside it (`.unresolved`). " +
    "Resolve each conflict so that both changes stay, and remove the markers; then continue.";
}
