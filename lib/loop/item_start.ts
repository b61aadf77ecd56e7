import type { Attempt, WorkDone } from "../backlog/types.ts";
import type { RalphContext } from "../context/context.ts";
import { rootPaths } from "../git/tree_paths.ts";
import type { TreeSnapshot } from "../git/types.ts";

/** How the tree was before the first attempt at an item. `left`: what attempts at it have left, in earlier runs as well. */
export function itemStart(
  ralph: Pick<RalphContext, "repository" | "root">,
  history: readonly Attempt[],
  before: TreeSnapshot,
  left: Readonly<Record<string, unknown>>,
): WorkDone {
  const turns = history.flatMap(({ turn }) => turn === null ? [] : [turn]);
  const [first] = turns;
  const changed = [...rootPaths(ralph, Object.keys(left)), ...turns.flatMap(({ changedFiles }) => changedFiles)];
  return { since: first === undefined ? before.head : first.base, changedFiles: [...new Set(changed)] };
}
