import type { RalphEvent } from "../../events/types.ts";
import type { LoopParts } from "../loop_parts.ts";
import { openWorkerTree, type WorkerTree } from "./worker_tree.ts";

/** Where the items of a run are worked on, or checked before they land. */
export interface Lanes extends AsyncDisposable {
  /** One for each item that may be in flight: its events say so. */
  readonly all: readonly WorkerTree[];
}

/**
 * Opens the lanes of a run.
 *
 * @param trees so many have a tree of their own; with one, all others share it
 * @throws {RalphError} git-failed, setup-failed, file-unwritable
 */
export async function openLanes<Data, Findings>(
  { ralph, backlog, workers }: LoopParts<Data, Findings>,
  trees: number,
): Promise<Lanes> {
  const opened: WorkerTree[] = [];
  const dispose = async (): Promise<void> => {
    for (const tree of opened) await tree[Symbol.asyncDispose]();
  };
  try {
    for (let lane = 0; lane < trees; lane++) { // git takes no lock around the list of worktrees
      opened.push(await openWorkerTree(ralph, backlog, lane));
    }
  } catch (error) {
    await dispose();
    throw error;
  }
  const [first] = opened;
  const all = first === undefined || trees === workers ? opened : Array.from({ length: workers }, (_, lane) => {
    const events = { ...ralph.events, emit: (event: RalphEvent) => ralph.events.emit(event, lane) };
    return { ...first, lane, home: { ...ralph, events } };
  });
  return { all, [Symbol.asyncDispose]: dispose };
}
