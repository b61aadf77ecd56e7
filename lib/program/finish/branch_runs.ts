import { join } from "node:path";
import { usage } from "../../cli/command.ts";
import { type Config, loadConfig } from "../../config/load.ts";
import { isAncestor } from "../../git/refs.ts";
import { requireRepository, type RootedRepository, topLevelPaths } from "../../git/repository.ts";
import type { Host } from "../../host/types.ts";
import { type Change, changeOf } from "../../report/changed_files.ts";
import { listRuns, makeReport, repositoryOf } from "../../report/make_report.ts";
import { type Proof, requestBody } from "../../report/pull_request.ts";
import type { RunReport } from "../../report/types.ts";
import { resumeCommand, runFolders, workflowRow, WORKFLOWS } from "../../workflows/table.ts";
import type { WorkflowRow } from "../../workflows/workflow.ts";

/** So many runs are read. */
const READ_RUNS = 10;

/**
 * The runs whose work a commit holds, oldest first: those on its branch, and on a branch that it began on. Work that the
 * base has already is another goal's.
 *
 * @param isMeant whether the run of an id counts
 */
export async function branchRuns(
  place: RootedRepository & { readonly host: Host },
  { branch, head, base, isMeant }: {
    readonly branch: string | null;
    readonly head: string;
    /** A commit. */
    readonly base: string;
    readonly isMeant: (id: string) => boolean;
  },
): Promise<readonly RunReport[]> {
  const { root, host } = place;
  const folders = (await runFolders(root)).map((folder) => join(root, folder));
  const runs = (await listRuns(folders)).filter(({ id }) => isMeant(id)).slice(-READ_RUNS);
  const repository = requireRepository(place);
  const holds = async (commit: string, { work: done }: RunReport): Promise<boolean> =>
    done !== null && await isAncestor(repository, done.head, commit);
  const reports: RunReport[] = [];
  for (const found of runs) {
    const report = await makeReport(root, found, { host, resume: resumeCommand });
    const isOwn = report.branch === branch || (await holds(head, report) && !await holds(base, report));
    if (isOwn && report.parts.some(({ kind }) => kind === "loop")) reports.push(report);
  }
  const merged = await Promise.all(reports.map((report) => holds(base, report)));
  return reports.filter((_, index) => merged[index] !== true || index === reports.length - 1);
}

/** The change between two commits, but for the state that a workflow takes off the branch. */
export async function branchChange(
  place: RootedRepository,
  row: Pick<WorkflowRow, "runState">,
  { from, head, globs, proof }: {
    readonly from: string;
    readonly head: string;
    /** `tests.globs`. */
    readonly globs: readonly string[];
    readonly proof: Proof | null;
  },
): Promise<Change> {
  const apart = await statePaths(place, row);
  const commands = [...proof?.results.keys() ?? []];
  return await changeOf(requireRepository(place), { from, head, apart, isState: ownPaths(place), globs, commands });
}

/** A workflow's row; without its state where that stays in the request. */
export function stateRow({ finish }: Pick<Config, "finish">, workflow: string): Pick<WorkflowRow, "runState"> {
  return finish.state === "keep" ? {} : workflowRow(workflow);
}

/** State that a workflow takes off the branch, relative to the top level. */
export async function statePaths(
  place: RootedRepository,
  { runState }: Pick<WorkflowRow, "runState">,
): Promise<readonly string[]> {
  return runState === undefined ? [] : topLevelPaths(place, [...runState.files, ...await runState.unused(place.root)]);
}

/** Folders and files of all workflows' state: their changes are Ralph's. */
export function ownPaths(place: RootedRepository): (path: string) => boolean {
  const states = WORKFLOWS.flatMap(({ state }) => state === undefined || state.includes("<") ? [] : [state]);
  const own = topLevelPaths(place, [...states, ".ralph"]);
  return (path) => own.some((one) => path === one || path.startsWith(`${one}/`));
}

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
