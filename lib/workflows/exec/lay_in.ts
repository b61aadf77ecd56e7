import { note, type RalphContext } from "../../context/context.ts";
import { join } from "node:path";
import { newestArchive } from "../../git/archive.ts";
import { pathExists } from "../../host/files.ts";
import { layInFiles } from "../lay_in_files.ts";
import { PLAN_STATE_FILE, PLAN_TRANSCRIPT_FILE, PRD_FILE, PROGRESS_FILE } from "./types.ts";

/** After `ralph finish` the branch has no PRD: the one that was taken off is laid in again, so that the work continues. */
export async function layIn(ralph: RalphContext): Promise<void> {
  const { repository, root } = ralph;
  if (repository === null || await pathExists(join(root, PRD_FILE))) return;
  const branch = await repository.currentBranch();
  const archived = branch === null ? null : await newestArchive(repository, branch);
  if (archived === null) return;
  const below = await repository.git(["merge-base", "--is-ancestor", archived.parent, "HEAD"]);
  if (below.exitCode !== 0) return; // a branch of the same name that began elsewhere is another goal's
  const laid = await layInFiles(ralph, archived, [PRD_FILE, PLAN_STATE_FILE, PLAN_TRANSCRIPT_FILE, PROGRESS_FILE]);
  if (laid.length === 0) return;
  note(ralph, "info", `the state of ${branch} is back: ${laid.join(", ")}`);
}
