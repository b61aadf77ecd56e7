import { join } from "node:path";
import { mergeTrees } from "../../git/land.ts";
import { commitAt, isAncestor } from "../../git/refs.ts";
import { requireRepository, type RootedRepository } from "../../git/repository.ts";
import { pathsBetween } from "../../git/run_git.ts";
import type { Host } from "../../host/types.ts";
import { listRuns, makeReport } from "../../report/make_report.ts";
import { resumeCommand, runFolders } from "../../workflows/table.ts";

/** So many runs are read. */
const READ_RUNS = 10;

/** The branch of the newest run that holds what HEAD does not; `null`: there is none. */
export async function branchWithWork(place: RootedRepository & { readonly host: Host }): Promise<string | null> {
  const { root, host } = place;
  const repository = requireRepository(place);
  for (const found of (await runsOf(root)).toReversed()) {
    const { branch } = await makeReport(root, found, { host, resume: resumeCommand });
    const tip = branch === null ? null : await commitAt(repository, `refs/heads/${branch}`);
    if (tip === null || await isAncestor(repository, tip, "HEAD")) continue;
    const { tree } = await mergeTrees(repository, "HEAD", tip); // it may be there as one commit
    if ((await pathsBetween(repository, "HEAD", tree)).length > 0) return branch;
  }
  return null;
}

/** The newest runs, oldest first. @param isMeant whether the run of an id counts */
export async function runsOf(root: string, isMeant: (id: string) => boolean = () => true): ReturnType<typeof listRuns> {
  const folders = (await runFolders(root)).map((folder) => join(root, folder));
  return (await listRuns(folders)).filter(({ id }) => isMeant(id)).slice(-READ_RUNS);
}
