/**
 * A worker's own tree: a git worktree beside the project that lives as long as the run, so that what is installed in it
 * is installed once. It is reset between items. Nothing that is to last is in it alone.
 *
 * @module
 */
import { basename, join, relative } from "node:path";
import { createStateFiles } from "../../backlog/state_files.ts";
import type { Backlog, Item } from "../../backlog/types.ts";
import { createBrief } from "../../checks/brief/create_brief.ts";
import type { Brief } from "../../checks/brief/types.ts";
import type { RalphContext } from "../../context/context.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { openRepository } from "../../git/open_repository.ts";
import { labelConflicts } from "../../git/conflict_markers.ts";
import { mergeTrees } from "../../git/land.ts";
import { endOperations } from "../../git/operations.ts";
import { requireRepository } from "../../git/require_repository.ts";
import { deleteRefs, outputFrom, pathsBetween } from "../../git/run_git.ts";
import { topLevelPaths, treesDirectory } from "../../git/tree_paths.ts";
import type { Captured } from "../../git/fold.ts";
import { ensureDirectory, hashText, pathExists, removeOwn, resolveInside, writeAtomic } from "../../host/files.ts";
import type { Repository } from "../../git/types.ts";
import type { Host } from "../../host/types.ts";
import { tidied } from "../run/tidied.ts";
import { createFilledTree, type FilledTree } from "./filled_tree.ts";
import { captureOf, findTrees, isWorktreeOf, type Marker, removeTree, writeMarker } from "./leftover_trees.ts";

/** One worker's place. Disposing of it removes the tree. */
export interface WorkerTree extends AsyncDisposable {
  /** Absolute path of its top level. */
  readonly path: string;
  /** From 0. Also `RALPH_LANE` of every process in it, so that ports can be told apart. */
  readonly lane: number;
  /** A context whose root is this tree. */
  readonly ralph: RalphContext;
  /** The run's own context, with events that say in which lane they happen. */
  readonly home: RalphContext;
  /** The brief that judges here, as it was before the first turn. */
  readonly brief: Brief;
  readonly filled: FilledTree;
  /**
   * Brings the tree to a commit, with what earlier attempts left (a commit) merged over it, uncommitted.
   *
   * @returns the files in which conflict markers are, and all that the merge changed; relative to the top level
   */
  prepare(begin: TreeBegin): Promise<{ readonly conflicts: readonly string[]; readonly left: readonly string[] }>;
  /**
   * Commits what the turn committed, and these paths as they are, on the commit that the tree was prepared with.
   *
   * @returns `null` where nothing has changed
   */
  capture(paths: readonly string[]): Promise<Captured | null>;
  /** Nothing is worked on in it any more: all that the turn left is kept. @returns whether the tree may be removed */
  abandon(): Promise<boolean>;
  /** The notes that the turn left in state files of which only a part is Ralph's, and has restored. */
  notes(): Promise<readonly Note[]>;
  /** A turn may have removed it: it is made anew for the next item. */
  isThere(): Promise<boolean>;
  /** Brings the tree to a commit as it is, for its checks. */
  checkOut(commit: string): Promise<void>;
  /** Lets go of what it holds in memory; the tree stays. */
  close(): Promise<void>;
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
export async function openWorkerTree<Data, Findings>(
  ralph: RalphContext,
  backlog: Backlog<Data, Findings>,
  lane: number,
): Promise<WorkerTree> {
  const path = await placeOf(ralph, lane);
  try {
    return await openAt(ralph, backlog, { lane, path });
  } catch (error) {
    await tidied(ralph, () => removeTree(ralph, path)); // half of it may fill the disk
    throw error;
  }
}

async function openAt<Data, Findings>(
  ralph: RalphContext,
  backlog: Backlog<Data, Findings>,
  { lane, path }: { readonly lane: number; readonly path: string },
): Promise<WorkerTree> {
  const main = requireRepository(ralph);
  await ensureDirectory(treesDirectory(ralph));
  await writeMarker(path, { v: 1, root: ralph.root, run: ralph.run.id, work: null });
  await ensureWorktree(ralph, path);
  const root = join(path, relative(main.topLevel, ralph.root));
  const derived = await contextIn(ralph, { lane, path, root });
  const { workspace } = ralph.config;
  const { host, signal } = derived;
  const aside = join(main.ralphDirectory, "aside");
  const filled = createFilledTree({ host, from: main.topLevel, to: path, root, aside, workspace, signal });
  const own = new OpenTree({
    ralph,
    derived,
    path,
    filled,
    stateFiles: backlog.stateFiles,
    backlog: backlog as Backlog,
  });
  await requireRepository(derived).ensureReady();
  await own.checkOut((await main.status()).head ?? "HEAD");
  const brief = await createBrief(derived, backlog);
  const close = async (): Promise<void> => {
    await brief.release();
    derived.state.release();
  };
  return {
    lane,
    path,
    ralph: derived,
    home: { ...ralph, events: derived.events },
    brief,
    filled,
    isThere: () => pathExists(join(path, ".git")),
    checkOut: (commit) => own.checkOut(commit),
    prepare: (begin) => own.prepare(begin),
    capture: (paths) => own.capture(paths),
    abandon: () => own.abandon(),
    notes: () => own.notes(),
    close,
    async [Symbol.asyncDispose]() {
      await close();
      if (!ralph.config.parallel.keep) await removeTree(ralph, path);
    },
  };
}

interface OpenTreeParts {
  readonly ralph: RalphContext;
  readonly derived: RalphContext;
  /** Absolute path of its top level. */
  readonly path: string;
  readonly filled: FilledTree;
  /** Relative to the root. */
  readonly stateFiles: readonly string[];
  readonly backlog: Pick<Backlog, "record">;
}

class OpenTree {
  readonly #parts: OpenTreeParts;
  readonly #repository: Repository;
  readonly #state: ReadonlySet<string>;
  /** The item at work in it. */
  #begun: Pick<TreeBegin, "tip" | "ref"> | null = null;
  #given: ReadonlyMap<string, string> = new Map();

  constructor(parts: OpenTreeParts) {
    this.#parts = parts;
    this.#repository = requireRepository(parts.derived);
    this.#state = new Set(topLevelPaths(parts.ralph, parts.stateFiles));
  }

  async checkOut(commit: string): Promise<void> {
    const { ralph, derived, path, filled, stateFiles } = this.#parts;
    if (!await pathExists(join(path, ".git"))) { // a turn may have removed it
      await ensureWorktree(ralph, path);
      filled.forget();
    }
    await endOperations(this.#repository);
    await outputFrom(this.#repository, ["checkout", "--quiet", "--force", "--detach", commit]);
    const keep = filled.links.flatMap((link) => ["-e", `/${link}`]);
    await outputFrom(this.#repository, ["clean", "-ffdq", ...keep]); // what git ignores stays: packages, caches
    await filled.bringUp(commit);
    this.#given = await copyState(ralph, derived, stateFiles);
  }

  async prepare(begin: TreeBegin): ReturnType<WorkerTree["prepare"]> {
    const { ralph, derived, stateFiles } = this.#parts;
    const { tip, left, ref, item, attemptId } = begin;
    await this.checkOut(tip);
    await this.#mark({ base: tip, ref });
    this.#begun = begin;
    if (left === null) return { conflicts: [], left: [] };
    const { tree, conflicts } = await mergeTrees(this.#repository, tip, left);
    await outputFrom(this.#repository, ["read-tree", "-m", "-u", tip, tree]);
    await outputFrom(this.#repository, ["reset", "--quiet", tip]);
    const inWork = this.#withoutState(conflicts);
    const made = await labelConflicts(this.#repository, { tip, left, itemId: item.id }, inWork);
    this.#given = await copyState(ralph, derived, stateFiles);
    // what conflicts had passed its checks: only the merge is left to do
    const gone = conflicts.length > 0 ? [] : await this.#withdrawn(item, attemptId);
    const merged = (await pathsBetween(this.#repository, tip, tree)).filter((path) => !gone.includes(path));
    return { conflicts: inWork, left: [...this.#withoutState(merged), ...made] };
  }

  async #withdrawn(item: Item, attemptId: string): Promise<readonly string[]> {
    const { derived, backlog } = this.#parts;
    const done = await backlog.record?.({ type: "work-returned", item, root: derived.root, attemptId });
    return topLevelPaths(derived, done?.paths ?? []);
  }

  async capture(paths: readonly string[]): Promise<Captured | null> {
    const { tip: base, ref } = this.#begun ?? { tip: "HEAD", ref: "" };
    const work = await captureOf(this.#repository, { base, ref, state: this.#state, wanted: new Set(paths) });
    this.#begun = null;
    await this.#mark(null).catch(() => {}); // the work is kept; the next item says so if the disk is still full
    if (work === null || !await removesAll(this.#repository, work)) return work;
    await deleteRefs(this.#repository, [ref]); // a tree that was deleted is no work to continue with
    return null;
  }

  async abandon(): Promise<boolean> {
    if (this.#begun === null) return true;
    const { tip: base, ref } = this.#begun;
    try {
      await captureOf(this.#repository, { base, ref, state: this.#state, wanted: null });
      return true;
    } catch {
      return false; // the next run finds it by its marker
    }
  }

  async notes(): Promise<readonly Note[]> {
    const notes: Note[] = [];
    for (const [path, before] of this.#given) {
      const text = await this.#parts.derived.state.read(path);
      if (text !== null && text !== before) notes.push({ path, before, text });
    }
    return notes;
  }

  async #mark(work: Marker["work"]): Promise<void> {
    const { ralph, path } = this.#parts;
    await writeMarker(path, { v: 1, root: ralph.root, run: ralph.run.id, work });
  }

  #withoutState(paths: readonly string[]): readonly string[] {
    return paths.filter((path) => !this.#state.has(path));
  }
}

/** Nothing of what the work began with is left. */
async function removesAll(repository: Pick<Repository, "git">, { base, commit, paths }: Captured): Promise<boolean> {
  const namesOf = async (...command: readonly string[]): Promise<readonly string[]> =>
    (await outputFrom(repository, command)).split("\0").filter((name) => name !== "");
  const filesOf = (tree: string): Promise<readonly string[]> =>
    namesOf("ls-tree", "-r", "-z", "--name-only", "--full-tree", tree);
  const removed = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=D", base, commit];
  const { length: gone } = await namesOf(...removed);
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
  const name = `${basename(topLevel)}-${lane}`;
  const plain = join(treesDirectory(ralph), name);
  const isTaken = (path: string): Promise<boolean> => pathExists(path).then((there) => there && !own.has(path));
  if (!await isTaken(plain) && !await isTaken(`${plain}.json`)) return plain;
  if (own.has(plain)) return plain;
  return `${plain}-${hashText(ralph.root).slice(0, 8)}`;
}

/** The run's context, at work in the tree: events say in which, and so do the processes' environments. */
async function contextIn(
  ralph: RalphContext,
  { lane, path, root }: { readonly lane: number; readonly path: string; readonly root: string },
): Promise<RalphContext> {
  const repository = await openRepository(ralph.host, path);
  if (repository === null) throw new RalphError("not-a-repository", { details: { root: path } });
  const { build$, CommandBuilder } = await import("dax");
  const variables = { RALPH_LANE: String(lane) };
  return {
    ...ralph,
    root,
    lane,
    repository,
    $: build$({ commandBuilder: new CommandBuilder().cwd(root).env(variables) }),
    host: hostWith(ralph.host, variables),
    state: createStateFiles({ root, directory: repository.ralphDirectory, host: ralph.host, parts: ralph.state.parts }),
    events: { ...ralph.events, emit: (event) => ralph.events.emit(event, lane) },
  };
}

function hostWith(host: Host, variables: Readonly<Record<string, string>>): Host {
  const run: Host["processes"]["run"] = (request) =>
    host.processes.run({ ...request, environment: { ...variables, ...request.environment } });
  return { ...host, processes: { ...host.processes, run } };
}

/** State as the run has it, whatever git has of it: prompts and commands of a turn read it. @returns the texts */
async function copyState(
  ralph: RalphContext,
  derived: RalphContext,
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const given = new Map<string, string>();
  derived.state.release();
  for (const path of paths) {
    const text = await ralph.state.read(path);
    if (text !== null) given.set(path, text);
    if (text === await derived.state.read(path)) continue;
    if (text === null) await removeOwn(await resolveInside(derived.root, path), derived.root);
    else await writeAtomic(await resolveInside(derived.root, path), text);
  }
  await derived.state.adopt(paths);
  await derived.state.hold(paths);
  return given;
}

/** For the prompt: the files that conflict. */
export function conflictNote(paths: readonly string[]): string {
  return `Your earlier work at this is in the tree, and conflicts with what others have merged since: ${
    paths.join(", ")
  }. ` +
    "The markers say which side is which; a file that can have none has them in a file beside it (`.unresolved`). " +
    "Resolve each conflict so that both changes stay, and remove the markers; then continue.";
}
