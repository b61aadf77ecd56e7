import { join } from "node:path";
import { faultBelow } from "../../host/file_errors.ts";
import { factsOf, holdFolder } from "../../host/path_facts.ts";
import type { WorkerTree } from "./worker_tree.ts";

/** A fault in a lane's own tree (a full disk, files that cannot be written): no other lane has it. */
export class LaneFault extends Error {
  override readonly name = "LaneFault";
  readonly tree: WorkerTree;
  readonly isGone: boolean;

  constructor(tree: WorkerTree, isGone: boolean, options: ErrorOptions) {
    super("a lane has failed", options);
    this.tree = tree;
    this.isGone = isGone;
  }
}

/**
 * Work in a lane's tree.
 *
 * @throws {LaneFault} with the named error as its cause; `isGone`: the tree was removed meanwhile, by a turn in it or in
 * another one, whatever came of the work
 */
export async function inLane<Value>(tree: WorkerTree, work: () => Promise<Value>): Promise<Value> {
  using held = holdFolder(tree.path);
  const isGone = (): boolean => !held.isThere() || factsOf(join(tree.path, ".git")) === null;
  try {
    const value = await work();
    if (!isGone()) return value;
  } catch (error) {
    throw new LaneFault(tree, isGone(), { cause: faultBelow(tree.path, error) });
  }
  throw new LaneFault(tree, true, {});
}
