import { usage } from "../../cli/parse.ts";
import { loadConfig } from "../../config/load.ts";
import type { Host } from "../../host/types.ts";
import { repositoryOf } from "../../report/commits.ts";
import { requestBody } from "../../report/pull_request.ts";
import type { RunReport } from "../../report/types.ts";
import { branchChange, branchRuns, stateRow } from "./branch_runs.ts";

/** The body of a request, as Markdown, for the run's branch as the run left it. @throws {RalphError} usage */
export async function reviewText(host: Host, report: RunReport): Promise<string> {
  const { root, work, branch, run, status, proved } = report;
  const repository = await repositoryOf(host, root);
  if (work === null || repository === null) {
    throw usage(`run ${run} has not ended on a branch: there is nothing to review`, "`ralph report` shows what it did");
  }
  const { head, from } = work;
  const place = { root, repository, host };
  const proof = status === "passed" ? { commit: head, results: new Map(proved.map((name) => [name, true])) } : null;
  const reports = await branchRuns(place, { branch, head, base: from, isMeant: (id) => id <= run });
  const { config } = await loadConfig(root);
  const row = stateRow(config, report.parts.findLast(({ kind }) => kind === "loop")?.name ?? "");
  const { globs } = config.tests;
  const change = await branchChange(place, row, { head, from, globs, proof });
  return requestBody(reports, { change, more: [], proof });
}
