import { note, type RalphContext } from "../../context/context.ts";
import type { RalphEvent } from "../../events/types.ts";
import { asNamed } from "../../host/file_errors.ts";
import type { LoopParts } from "../iterations.ts";
import { findTrees, removeTree } from "./leftover_trees.ts";
import { tidied } from "../run/tidied.ts";
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
    const events = { ...ralph.events, emit: (event: RalphEvent) => ralph.events.emit(event, lane) };
    return { ...first, lane, home: { ...ralph, events } };
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
