import { faultBelow } from "../../host/file_errors.ts";
import type { WorkerTree } from "./worker_tree.ts";

/** A fault in a lane's own tree (a full disk, files that cannot be written): no other lane has it. */
export class LaneFault extends Error {
  override readonly name = "LaneFault";
  readonly tree: WorkerTree;

  constructor(tree: WorkerTree, options: ErrorOptions) {
    super("a lane has failed", options);
    this.tree = tree;
  }
}

/** Work in a lane's tree. @throws {LaneFault} with the named error as its cause */
export async function inLane<Value>(tree: WorkerTree, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    throw new LaneFault(tree, { cause: faultBelow(tree.path, error) });
  }
}
