import { note, type RalphContext } from "../../context/context.ts";
import { asNamed } from "../../host/file_errors.ts";
import type { LoopParts } from "../iterations.ts";
import { tidied } from "../run/tidied.ts";
import { findTrees, removeTree } from "./leftover_trees.ts";
import { closeTree, openWorkerTree, type WorkerTree } from "./worker_tree.ts";

/** The lanes in which items of a run are worked on, or checked before they land. */
export interface Lanes extends AsyncDisposable {
  /** One for each item that may be in flight: its events say so. */
  readonly all: readonly WorkerTree[];
  /** The tree holds work that could not be kept: the next run is to find it. */
  keep(tree: WorkerTree): void;
}

/**
 * Opens the lanes of a run: as many as can be opened, and one at least.
 *
 * @param trees so many have a tree of their own; with one, all others share it
 * @throws {RalphError} git-failed, setup-failed, file-unwritable
 */
export async function openLanes({ ralph, backlog, workers }: LoopParts, trees: number): Promise<Lanes> {
  const opened: WorkerTree[] = [];
  for (let lane = 0; lane < trees; lane++) { // git takes no lock around the list of worktrees
    try {
      opened.push(await openWorkerTree(ralph, backlog, lane));
    } catch (error) {
      if (lane === 0 || ralph.signal.aborted) {
        await removeLater(ralph, opened);
        throw error;
      }
      const { message, hint } = asNamed(error);
      note(ralph, "warn", `works with ${lane} of ${trees} workers: ${message}; ${hint}`);
      break;
    }
  }
  const [first] = opened;
  const all = first === undefined || trees === workers ? opened : Array.from({ length: workers }, (_, lane) => {
    return { ...first, lane };
  });
  const left = new Set<string>();
  return {
    all,
    keep: ({ path }) => void left.add(path),
    [Symbol.asyncDispose]: () => removeLater(ralph, opened, left),
  };
}

/** After the verdict, and not where another run has them by then. */
async function removeLater(
  ralph: RalphContext,
  trees: readonly WorkerTree[],
  left: ReadonlySet<string> = new Set(),
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
  readonly #count: number;
  readonly #free: WorkerTree[];
  /** Nothing more starts in them. */
  readonly #closed = new Set<WorkerTree>();
  /** The landing of an item waits for a tree: its own one, or any where that has failed. */
  readonly #wanted: { readonly own: WorkerTree; readonly resolve: (tree: WorkerTree | null) => void }[] = [];
  #isOver = false;

  constructor({ all }: Lanes) {
    this.#count = all.length;
    this.#free = [...all];
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
    return this.#closed.size === this.#count;
  }

  /** The run has failed: nothing waits any more. */
  end(): void {
    this.#isOver = true;
    this.#serve();
  }

  #serve(): void {
    for (const want of this.#wanted.slice()) {
      const at = this.#free.findIndex((tree) => tree === want.own || this.#closed.has(want.own));
      if (at === -1 && !this.#isOver) continue;
      this.#wanted.splice(this.#wanted.indexOf(want), 1);
      want.resolve(at === -1 ? null : this.#free.splice(at, 1)[0] ?? null);
    }
  }
}
