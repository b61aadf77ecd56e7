import { commitFiles } from "../../commit_files.ts";
import { presentPaths } from "../../present_paths.ts";
import { basename, join } from "node:path";
import * as exec from "../types.ts";
import type { RalphContext } from "../../../context/context.ts";
import { listDirectory, removePath, writeAtomic } from "../../../host/files.ts";
import { requireRepository, topLevelPaths } from "../../../git/repository.ts";

/** Only Ralph writes these files while it plans. */
export const PLAN_STATE_FILES: readonly string[] = [
  exec.PRD_FILE,
  exec.PLAN_STATE_FILE,
  exec.PLAN_TRANSCRIPT_FILE,
  exec.CODEBASE_MAP_FILE,
];

/** The state files that do not exist. */
export async function missingStateFiles(ralph: RalphContext): Promise<readonly string[]> {
  const present = await presentPaths(ralph.root, PLAN_STATE_FILES);
  return PLAN_STATE_FILES.filter((path) => !present.includes(path));
}

/**
 * Reverts what an agent wrote into state files. The run's folder keeps the agent's text.
 *
 * @param missing files that did not exist before its turn
 */
export async function restoreState(
  ralph: RalphContext,
  folder: string,
  turn: string,
  missing: readonly string[],
): Promise<void> {
  const edits = await ralph.state.edited(PLAN_STATE_FILES.filter((path) => !missing.includes(path)));
  const read = await Promise.all(missing.map(async (path) => ({ path, found: await ralph.state.read(path) })));
  const made = read.filter(({ found }) => found !== null);
  for (const { path, found } of [...edits, ...made]) {
    if (found !== null) await writeAtomic(join(folder, `${turn}-${basename(path)}`), found);
  }
  await ralph.state.restore(edits);
  for (const { path } of made) await removePath(join(ralph.root, path));
  const paths = [...edits, ...made].map(({ path }) => path);
  if (paths.length > 0) ralph.events.emit({ type: "state-restored", paths });
}

/** Commits the workflow's folder without its runs, unless the state of this plan is committed already. */
export async function commitPlan(ralph: RalphContext): Promise<void> {
  if (!ralph.config.commits.prdChanges) return;
  const [statePath] = topLevelPaths(ralph, [exec.PLAN_STATE_FILE]);
  const tracked = await requireRepository(ralph).git(["status", "--porcelain", "--ignored", "--", statePath!]);
  if (tracked.stdout.trim() === "") return;
  const names = await listDirectory(join(ralph.root, exec.EXEC_FOLDER));
  const paths = names.map((name) => `${exec.EXEC_FOLDER}/${name}`).filter((path) => path !== exec.EXEC_RUNS);
  const result = await commitFiles(ralph, { paths, subject: "ralph: plan approved" });
  if (result.status === "nothing" && result.ignored.length > 0) {
    const message = `git ignores ${result.ignored.join(", ")}: the plan is not committed`;
    ralph.events.emit({ type: "note", level: "info", message });
  }
  if (result.status === "refused") {
    ralph.events.emit({ type: "note", level: "warn", message: `the plan could not be committed: ${result.output}` });
  }
}
