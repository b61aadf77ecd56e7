import { type Invocation, usage } from "../../cli/command.ts";
import { openLook } from "../../cli/look.ts";
import type { Place } from "../../cli/workspace.ts";
import { loadConfig } from "../../config/load.ts";
import { asRalphError, RalphError } from "../../errors/ralph_error.ts";
import { redactorFor } from "../../events/redact.ts";
import { addsNothing } from "../../git/branch_work.ts";
import { commitAt, isAncestor } from "../../git/refs.ts";
import { requireRepository, type RootedRepository, rootPaths } from "../../git/repository.ts";
import { pathsBetween } from "../../git/run_git.ts";
import type { Host } from "../../host/types.ts";
import { type Change, changeOf } from "../../report/changed_files.ts";
import { makeReport, repositoryOf } from "../../report/make_report.ts";
import { requestBody } from "../../report/pull_request.ts";
import type { RunReport } from "../../report/types.ts";
import { resumeCommand, WORKFLOWS } from "../../workflows/table.ts";
import type { WorkflowRow } from "../../workflows/workflow.ts";
import { runsOf } from "./branch_with_work.ts";
import { cleanedCommits } from "./clean_history.ts";
import { ownPaths, ownState, statePaths, stateRow } from "./state_paths.ts";

/** The ends of a run that leaves nothing open. */
export const PASSED: ReadonlySet<string> = new Set(["passed", "unverified"]);

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
  const repository = requireRepository(place);
  const holds = async (commit: string, { work: done }: RunReport): Promise<boolean> =>
    done !== null && await isAncestor(repository, done.head, commit);
  const reports: RunReport[] = [];
  for (const found of await runsOf(root, isMeant)) {
    const report = await makeReport(root, found, { host, resume: resumeCommand });
    const isOwn = report.branch === branch || (await holds(head, report) && !await holds(base, report));
    if (isOwn && report.parts.some(({ kind }) => kind === "loop")) reports.push(report);
  }
  const merged = await Promise.all(reports.map((report) => holds(base, report)));
  return reports.filter((_, index) => merged[index] !== true || index === reports.length - 1);
}

/** The work that came into the plan since its newest run passed: an item, or another text of it. `null`: there is none. */
export async function openSince(
  { flags, host, say }: Pick<Invocation, "flags" | "host" | "say">,
  place: Place & RootedRepository,
  last: RunReport | undefined,
): Promise<string | null> {
  const part = last?.parts.findLast(({ kind }) => kind === "loop");
  const row = WORKFLOWS.find(({ name }) => name === part?.name);
  if (row === undefined || !PASSED.has(last?.status ?? "")) return null;
  const { work = null } = last ?? {};
  const atRoot = { ...host, environment: { ...host.environment, cwd: place.root } };
  const look = openLook({ flags, host: atRoot, say }, place, part?.scope ?? "");
  const next = await look.then((opened) => row.workflow.next(opened)).catch(asRalphError);
  const asks = RalphError.isInstance(next) ? [] : next.asks ?? [];
  const edits = work === null ? [] : await planEdits(place, work, { row, more: [part?.scope ?? "", ...asks] });
  if (work !== null && edits.length === 0) return null;
  if (RalphError.isInstance(next)) return next.code.endsWith("-missing") ? null : next.message; // a finish took it off
  if (next.open !== undefined) return next.open;
  // what Ralph has laid in, or committed itself, is no edit
  const { state } = await look;
  const found = row.runState === undefined ? edits.map(({ path }) => path) : [
    ...edits.filter(({ isCommitted }) => isCommitted).map(({ path }) => path),
    ...(await state.edited(edits.map(({ path }) => path))).map(({ path }) => path),
  ];
  const paths = [...new Set(found)].join(", ");
  return paths === "" ? null : `an edit of ${paths} since the run: \`ralph run\` judges the work by it`;
}

/**
 * Files of the plan that may differ from what a run left, relative to the root. A run may pass with work left, such as
 * gsd's next plan. `isCommitted`: the branch's newest commit has a version that neither the run nor its base has.
 */
async function planEdits(
  place: RootedRepository,
  { head, from }: NonNullable<RunReport["work"]>,
  { row: { state, runState }, more }: { readonly row: WorkflowRow; readonly more: readonly string[] },
): Promise<readonly { readonly path: string; readonly isCommitted: boolean }[]> {
  const repository = requireRepository(place);
  const own = runState?.files ?? [state.split("/<")[0]!, ...more.filter((path) => path !== "")];
  const isState = (path: string): boolean => own.some((one) => path === one || path.startsWith(`${one}/`));
  const stateOf = (paths: readonly string[]): readonly string[] => rootPaths(place, paths).filter(isState);
  const since = stateOf(await pathsBetween(repository, head, "HEAD"));
  const other = new Set(stateOf(await pathsBetween(repository, from, "HEAD")));
  const { changed } = await repository.status();
  const committed = new Set(since.filter((path) => other.has(path)));
  // git may have been told not to look at a file
  const all = [...since, ...stateOf(changed.map(({ path }) => path)), ...runState?.files ?? []];
  return [...new Set(all)].map((path) => ({ path, isCommitted: committed.has(path) }));
}

/** The change between two commits, but for the workflows' state. */
export async function branchChange(
  place: RootedRepository,
  { from, head, state, globs, reports }: {
    readonly from: string;
    readonly head: string;
    /** Paths that are taken off the branch. */
    readonly state: readonly string[];
    /** `tests.globs`. */
    readonly globs: readonly string[];
    readonly reports: readonly RunReport[];
  },
): Promise<Change> {
  const attempts = reports.flatMap(({ items }) => items.flatMap((item) => item.attempts));
  const commands = [...new Set(attempts.flatMap(({ checks }) => checks.map(({ command }) => command)))];
  const [isApart, isOwn] = [ownState(place), ownPaths(place)];
  const isLeft = (path: string): boolean => state.includes(path);
  return await changeOf(requireRepository(place), { from, head, isApart, isLeft, isOwn, globs, commands });
}

/** The body of a request, as Markdown and without secrets, for the run's branch as the run left it. @throws {RalphError} usage */
export async function reviewText(host: Host, report: RunReport): Promise<string> {
  const { root, work, branch, run, checked, proved } = report;
  const repository = await repositoryOf(host, root);
  if (work === null || repository === null) {
    throw usage(`run ${run} has not ended on a branch: there is nothing to review`, "`ralph report` shows what it did");
  }
  const { from } = work;
  const place = { root, repository, host };
  const { config } = await loadConfig(root);
  const row = stateRow(config, report.parts.findLast(({ kind }) => kind === "loop")?.name ?? "");
  const state = await statePaths(place, row, { branch, base: from });
  const instead = branch === null ? new Map() : await cleanedCommits(place, branch, state);
  const tip = branch === null ? null : await commitAt(repository, `refs/heads/${branch}`);
  let head = instead.get(work.head) ?? work.head;
  if (tip !== null && await addsNothing(repository, { from: work.head, to: tip }, ownState(place))) head = tip;
  const results = new Map(proved.map((id) => [id, true]));
  const proof = checked === null ? null : { commit: instead.get(checked) ?? checked, results };
  const reports = await branchRuns(place, { branch, head: work.head, base: from, isMeant: (id) => id <= run });
  const change = await branchChange(place, { head, from, state, globs: config.tests.globs, reports });
  return redactorFor(host.environment.variables).text(requestBody(reports, { change, more: [], proof, instead }));
}
