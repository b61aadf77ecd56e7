import { note, type RalphContext } from "../../context/context.ts";
import { asNamed } from "../../host/file_errors.ts";
import type { LoopParts } from "../iterations.ts";
import { tidied } from "../run/tidied.ts";
import { findTrees, removeTree } from "./leftover_trees.ts";
import { closeTree, openWorkerTree, type WorkerTree } from "./worker_tree.ts";

/** The lanes in which items of a run are worked on, or checked before they land. */
export interface Lanes extends AsyncDisposable {
  /** The trees that are ready. With one that others share, there is one for each item that may be in flight: its events say so. */
  readonly ready: readonly WorkerTree[];
  /** More can be opened. */
  readonly hasMore: boolean;
  /**
   * Opens one more lane, while items are worked on in the others. Call when the last call has ended.
   *
   * @throws if it cannot be opened: no other will be
   */
  openNext(): Promise<WorkerTree>;
  /** The tree holds work that could not be kept: the next run is to find it. */
  keep(tree: WorkerTree): void;
}

/**
 * Opens the first lane of a run; the others are opened as they are needed: a tree may have thousands of files to copy.
 *
 * @param trees so many have a tree of their own; with one, all others share it
 * @throws {RalphError} git-failed, setup-failed, file-unwritable
 */
export async function openLanes({ ralph, backlog, workers }: LoopParts, trees: number): Promise<Lanes> {
  const stopper = new AbortController();
  const signal = AbortSignal.any([ralph.signal, stopper.signal]);
  const left = new Set<string>();
  const first = await openWorkerTree(ralph, backlog, 0).catch(async (error: unknown) => {
    await removeLater(ralph, [], left);
    throw error;
  });
  const opened = [first];
  let opening: Promise<unknown> = Promise.resolve();
  let most = trees;

  async function open(lane: number): Promise<WorkerTree> {
    try {
      const tree = await openWorkerTree({ ...ralph, signal }, backlog, lane);
      opened.push(tree);
      return tree;
    } catch (error) {
      most = lane;
      const { message, hint } = asNamed(error);
      if (!signal.aborted) note(ralph, "warn", `works with ${lane} of ${trees} workers: ${message}; ${hint}`);
      throw error;
    }
  }

  return {
    ready: trees === workers ? opened : Array.from({ length: workers }, (_, lane) => ({ ...first, lane })),
    get hasMore() {
      return opened.length < most;
    },
    openNext() {
      const next = open(opened.length);
      opening = next.catch(() => {}); // who has asked is told
      return next;
    },
    keep: ({ path }) => void left.add(path),
    async [Symbol.asyncDispose]() {
      stopper.abort();
      await opening;
      await removeLater(ralph, opened, left);
    },
  };
}

/** After the verdict, and not where another run has them by then. */
async function removeLater(
  ralph: RalphContext,
  trees: readonly WorkerTree[],
  left: ReadonlySet<string>,
): Promise<void> {
  for (const tree of trees) await tidied(ralph, () => closeTree(tree));
  if (ralph.config.parallel.keep) return;
  ralph.run.tidyLater(async () => {
    await using lock = await ralph.lock.acquire("run").catch(() => null);
    if (lock === null) return;
    const own = new Set(trees.map(({ path }) => path));
    for (const { path, marker } of await findTrees(ralph)) {
      // a killed run's tree that could not be opened again holds nothing where its marker names no work
      if (!left.has(path) && (own.has(path) || marker.work === null)) await removeTree(ralph, path);
    }
  });
}

/** The trees of a run's lanes: free, in use, or closed. */
export class TreePool {
  readonly #lanes: Lanes;
  readonly #changed: () => void;
  readonly #free: WorkerTree[];
  /** Nothing more starts in them. */
  readonly #closed = new Set<WorkerTree>();
  /** The landing of an item waits for a tree: its own one, or any where that has failed. */
  readonly #wanted: { readonly own: WorkerTree; readonly resolve: (tree: WorkerTree | null) => void }[] = [];
  #isOpening = false;
  #hasEnded = false;

  /** @param changed called where a tree is free again, or will not come */
  constructor(lanes: Lanes, changed: () => void) {
    this.#lanes = lanes;
    this.#changed = changed;
    this.#free = [...lanes.ready];
  }

  get hasFree(): boolean {
    return this.#free.length > 0;
  }

  /** One that is free. */
  next(): WorkerTree | undefined {
    return this.#free.shift();
  }

  give(tree: WorkerTree): void {
    if (!this.#closed.has(tree)) this.#free.push(tree);
    this.#serve();
    this.#changed();
  }

  /** The tree, when it is free. @returns another one where it has failed; `null`: the run ends */
  take(own: WorkerTree): Promise<WorkerTree | null> {
    return new Promise((resolve) => {
      this.#wanted.push({ own, resolve });
      this.#serve();
    });
  }

  /** @returns whether no other is left */
  close(tree: WorkerTree): boolean {
    this.#closed.add(tree);
    this.#serve();
    return this.#isLost();
  }

  /**
   * Opens one more tree where none is free, and one at a time.
   *
   * @param failed called where it cannot be opened, and no other tree is left
   * @returns whether one will come
   */
  openMore(failed: (error: unknown) => void): boolean {
    if (this.hasFree || !(this.#isOpening || this.#lanes.hasMore)) return false;
    if (!this.#isOpening) void this.#open(failed);
    return true;
  }

  async #open(failed: (error: unknown) => void): Promise<void> {
    this.#isOpening = true;
    try {
      const tree = await this.#lanes.openNext();
      this.#isOpening = false;
      this.give(tree);
    } catch (error) {
      this.#isOpening = false;
      if (this.#isLost()) failed(error);
      this.#changed();
    }
  }

  #isLost(): boolean {
    return !this.#lanes.hasMore && this.#closed.size === this.#lanes.ready.length;
  }

  /** The run has failed: nothing waits any more. */
  end(): void {
    this.#hasEnded = true;
    this.#serve();
  }

  #serve(): void {
    for (const want of this.#wanted.slice()) {
      const at = this.#free.findIndex((tree) => tree === want.own || this.#closed.has(want.own));
      if (at === -1 && !this.#hasEnded) continue;
      this.#wanted.splice(this.#wanted.indexOf(want), 1);
      want.resolve(at === -1 ? null : this.#free.splice(at, 1)[0] ?? null);
    }
  }
}
