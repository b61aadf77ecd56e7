import { EXEC_FOLDER } from "../paths.ts";
import type { RalphContext } from "../../../context/context.ts";
import type { TreeSnapshot } from "../../../git/types.ts";
import { requireRepository } from "../../../git/require_repository.ts";
import { rootPaths } from "../../../git/tree_paths.ts";
import type { TreeBefore } from "./state.ts";

/** A snapshot as `plan_state.json` keeps it while a turn is open. Pure. */
export function treeBefore({ head, contents }: TreeSnapshot): TreeBefore {
  return { head, contents: Object.fromEntries(contents) };
}

/** Those of the paths, relative to the root, that the planner's agent may not write. Pure. */
export function outsideOf(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => !path.startsWith(`${EXEC_FOLDER}/`));
}

/**
 * Says what changed outside the workflow's folder since a turn that a kill interrupted: it was never judged. What the agent
 * did and what a person did since look the same, so it is only reported.
 */
export async function tellUnjudged(ralph: RalphContext, before: TreeBefore): Promise<void> {
  const { head, contents } = before;
  const snapshot = { head, branch: null, changed: [], contents: new Map(Object.entries(contents)) };
  const { paths } = await requireRepository(ralph).changedSince(snapshot);
  const outside = outsideOf(rootPaths(ralph, paths));
  if (outside.length === 0) return;
  const message =
    `planning was interrupted in a turn, and these files have changed since it began, by the agent or by you: ${
      outside.join(", ")
    }`;
  ralph.events.emit({ type: "note", level: "warn", message });
}
