import { basename, dirname, join } from "node:path";
import type { Invocation } from "../../cli/command.ts";
import { workText } from "../../cli/end_with.ts";
import { openSession } from "../../cli/session.ts";
import type { RalphContext } from "../../context/context.ts";
import { EXIT } from "../../errors/exit_codes.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { requireRepository } from "../../git/require_repository.ts";
import { topLevelPaths } from "../../git/tree_paths.ts";
import { ensureDirectory, pathExists, renamePath } from "../../host/files.ts";
import { gate } from "../../recipe/gate.ts";
import { listRuns } from "../../report/find_run.ts";
import { makeReport } from "../../report/make_report.ts";
import { requestBody, requestTitle } from "../../report/pull_request.ts";
import type { RunReport } from "../../report/types.ts";
import { resumeCommand, runFolders, workflowRow, WORKFLOWS } from "../../workflows/table.ts";
import { type FinishPlan, finishPlan } from "../finish/finish_plan.ts";
import { makeRequest, requestArguments } from "../finish/forge.ts";
import { mergeHere, pushBranch } from "../finish/land_branch.ts";

/** So many subjects and runs are shown or read. */
const SHOWN_COMMITS = 20;
const READ_RUNS = 10;

/** `ralph finish`: the branch becomes a pull or merge request, or is merged. Nothing is pushed or merged without a yes. */
export async function run(invocation: Invocation): Promise<number> {
  const { flags, out } = invocation;
  if (flags.has("merge") && flags.has("squash")) {
    throw new RalphError("usage", {
      details: { problem: "--merge and --squash exclude each other" },
      hint: "take one",
    });
  }
  await using session = await openSession(invocation, { asks: !flags.has("dry-run"), gates: ["finish"] });
  const { ralph, place } = session;
  await using _lock = await ralph.lock.acquire("finish");
  const choice = { base: flags.text("base"), merge: flags.has("merge"), squash: flags.has("squash") };
  const plan = await finishPlan(ralph, choice, await ownPaths(ralph));
  const reports = await reportsOf(ralph, plan);
  const text = { title: requestTitle(reports, plan.work.branch), body: requestBody(reports) };
  const files = await archiveOf(ralph.root, place.workflow.name, plan.work.branch);
  const { lines, message } = shown(plan, { text, reports, files, draft: flags.has("draft") });
  if (flags.has("dry-run")) {
    for (const line of [...lines, "", text.body.trimEnd()]) out(line);
    return EXIT.done;
  }
  ralph.events.emit({ type: "text", title: text.title, lines });
  const decided = await gate(ralph, { name: "finish", message, next: ["ralph finish --approve finish"] });
  if (decided.status === "aborted") return EXIT.interrupted;
  if (decided.status !== "approved") return ralph.prompter.interactive ? EXIT.done : EXIT.blocked;
  await archive(ralph, plan.work.branch, files);
  return await finish(invocation, ralph, plan, text);
}

async function finish(
  { flags, say }: Invocation,
  ralph: RalphContext,
  plan: FinishPlan,
  text: { readonly title: string; readonly body: string },
): Promise<number> {
  const { work: { branch, base }, remote, forge } = plan;
  if (plan.way === "merge" || plan.way === "squash") {
    const commit = await mergeHere(ralph, plan, text);
    say(`${branch} is merged into ${base} as ${commit}, which is checked out now`);
    const remove = plan.way === "squash" ? "-D" : "-d"; // what was squashed looks unmerged to git
    const push = await requireRepository(ralph).git(["remote"]);
    const isShared = push.stdout.trim() !== "";
    say(`next: ${isShared ? "`git push` publishes it; " : ""}\`git branch ${remove} ${branch}\` removes the branch`);
    return EXIT.done;
  }
  const printed = await pushBranch(ralph, plan);
  say(`pushed ${branch} to ${remote!.name}`);
  const address = /https?:\/\/\S+/.exec(printed)?.[0] ?? null;
  if (forge === null) {
    say(
      address === null
        ? `next: open a request from ${branch} to ${base} where ${remote!.name} is`
        : `next: open ${address}`,
    );
    return EXIT.done;
  }
  const request = { ...text, branch, base, draft: flags.has("draft"), squash: flags.has("squash") };
  const made = await makeRequest(ralph.host, requireRepository(ralph).topLevel, forge, request);
  if (made.end.exitCode === 0 || made.isOpen) {
    say(`${forge.request}${made.isOpen ? ", open already" : ""}: ${made.address ?? "made"}`);
    return EXIT.done;
  }
  say(
    `error: ${forge.program} made no ${forge.request}: ${made.end.tail.trim().split("\n").at(-1) || made.end.reason}`,
  );
  say(`hint: ${branch} is pushed; \`ralph finish\` tries again${address === null ? "" : `, or open ${address}`}`);
  return EXIT.failed;
}

/** What a person reads before the yes. */
function shown(
  plan: FinishPlan,
  { text, reports, files, draft }: {
    readonly text: { readonly title: string; readonly body: string };
    readonly reports: readonly RunReport[];
    readonly files: Archive;
    readonly draft: boolean;
  },
): { readonly lines: readonly string[]; readonly message: string } {
  const { work, remote, forge, commits, conflicts, behind, way } = plan;
  const last = reports.at(-1);
  const isChecked = last?.work?.head === work.head;
  const verdict = last === undefined
    ? "no run on this branch has left its events: nothing says that it passed"
    : `${last.status ?? "no end recorded"} (run ${last.run})${isChecked ? "" : ", and the branch has moved since"}`;
  const subjects = commits.slice(-SHOWN_COMMITS).map((subject) => `  ${subject}`);
  const target = forge === null ? `push ${work.branch} to ${remote?.name}` : `${draft ? "draft " : ""}${forge.request}`;
  const lines = [
    `branch    ${workText(work)}`,
    ...commits.length > SHOWN_COMMITS ? [`  … ${commits.length - SHOWN_COMMITS} earlier commits`] : [],
    ...subjects,
    `verdict   ${verdict}`,
    ...behind === 0
      ? []
      : [`behind    ${work.base} has ${behind} commit${behind === 1 ? "" : "s"} that the branch has not`],
    ...conflicts.length === 0 ? [] : [`conflict  with ${work.base}: ${conflicts.join(", ")}`],
    ...files.files.length === 0 ? [] : [`archive   ${files.files.join(", ")} to ${files.folder}`],
    way === "merge" || way === "squash"
      ? `merge     into ${work.base} in this repository${way === "squash" ? ", as one commit" : ""}; nothing is pushed`
      : `remote    ${remote?.name}${
        forge === null ? "" : `, by ${forge.program} ${
          requestArguments(forge, {
            ...text,
            branch: work.branch,
            base: work.base,
            draft,
            squash: false,
          }).slice(0, 2).join(" ")
        }`
      }`,
  ];
  const isPassed = last?.status === "passed" && isChecked;
  const question = way === "merge" || way === "squash"
    ? `Merge ${work.branch} into ${work.base}?`
    : forge === null
    ? `${target[0]!.toUpperCase()}${target.slice(1)}?`
    : `Push ${work.branch} and make a ${target} to ${work.base}?`;
  return { lines, message: isPassed ? question : `It has not passed as it is now. ${question}` };
}

/** The runs that worked on this branch, oldest first. */
async function reportsOf(ralph: RalphContext, { work }: FinishPlan): Promise<readonly RunReport[]> {
  const folders = (await runFolders(ralph.root)).map((folder) => join(ralph.root, folder));
  const runs = (await listRuns(folders)).filter(({ id }) => id !== ralph.run.id).slice(-READ_RUNS);
  const reports: RunReport[] = [];
  for (const found of runs) {
    const report = await makeReport(ralph.root, found, { host: ralph.host, resume: resumeCommand });
    if (report.branch === work.branch && report.parts.some(({ kind }) => kind === "loop")) reports.push(report);
  }
  return reports;
}

/** State that is put aside, so that the next goal begins clean. Paths relative to the root. */
interface Archive {
  readonly files: readonly string[];
  readonly folder: string;
}

async function archiveOf(root: string, workflow: string, branch: string): Promise<Archive> {
  const { archive } = workflowRow(workflow);
  if (archive === undefined) return { files: [], folder: "" };
  const files: string[] = [];
  for (const path of archive.files) if (await pathExists(join(root, path))) files.push(path);
  return { files, folder: `${archive.folder}/${branch.replace(/^ralph\//, "").replaceAll(/[^\w.-]+/g, "-")}` };
}

/** Moved and committed on the branch before it leaves: what is merged holds no open state. Done again it does nothing. */
async function archive(ralph: RalphContext, branch: string, { files, folder }: Archive): Promise<void> {
  const moved: string[] = [];
  for (const path of files) {
    const to = `${folder}/${basename(path)}`;
    await ensureDirectory(dirname(join(ralph.root, to)));
    await renamePath(join(ralph.root, path), join(ralph.root, to));
    moved.push(path, to);
  }
  await ralph.state.adopt(files);
  if (!ralph.config.commits.prdChanges) return;
  const paths = topLevelPaths(ralph, [...moved, ...await ownFilesOf(ralph)]);
  const result = paths.length === 0
    ? null
    : await requireRepository(ralph).commit({ paths, subject: `ralph: archive ${branch}` });
  if (result?.status === "committed") {
    ralph.events.emit({ type: "commit", commit: result.commit, subject: `ralph: archive ${branch}` });
  }
}

/** Folders and files of all workflows' state: their changes are Ralph's. */
async function ownFilesOf(ralph: RalphContext): Promise<readonly string[]> {
  const states = WORKFLOWS.flatMap(({ state }) => state === undefined || state.includes("<") ? [] : [state]);
  const found: string[] = [];
  for (const path of [...states, ".ralph"]) if (await pathExists(join(ralph.root, path))) found.push(path);
  return found;
}

async function ownPaths(ralph: RalphContext): Promise<(path: string) => boolean> {
  const own = topLevelPaths(ralph, await ownFilesOf(ralph));
  return (path) => own.some((one) => path === one || path.startsWith(`${one}/`));
}
