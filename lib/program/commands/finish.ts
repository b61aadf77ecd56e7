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
import { changedTests, noticeTexts } from "../../report/texts.ts";
import type { RunReport } from "../../report/types.ts";
import { resumeCommand, runFolders, workflowRow, WORKFLOWS } from "../../workflows/table.ts";
import { type FinishPlan, finishPlan, wayOut } from "../finish/finish_plan.ts";
import { makeRequest } from "../finish/forge.ts";
import { checkTogether, mergeHere, pushBranch, refuseMerge } from "../finish/land_branch.ts";

/** So many subjects and runs are shown or read. */
const SHOWN_COMMITS = 20;
const READ_RUNS = 10;

/** `ralph finish`: the branch becomes a pull or merge request, or is merged. Nothing is pushed or merged without a yes. */
export async function run(invocation: Invocation): Promise<number> {
  const { flags, out } = invocation;
  if (flags.has("merge") && flags.has("draft")) {
    throw new RalphError("usage", {
      details: { problem: "--merge and --draft exclude each other" },
      hint: "--merge merges here: there is no request that could be a draft",
    });
  }
  await using session = await openSession(invocation, { asks: !flags.has("dry-run"), gates: ["finish"] });
  const { ralph, place } = session;
  await using _lock = await ralph.lock.acquire("finish");
  const choice = { base: flags.text("base"), merge: flags.has("merge"), squash: flags.has("squash") };
  const own = await ownPaths(ralph);
  const plan = await finishPlan(ralph, choice, own);
  const reports = await reportsOf(ralph, plan);
  const isChecked = await isAsChecked(ralph, plan, reports.at(-1), own);
  const text = { title: requestTitle(reports, plan.work.branch), body: requestBody(reports, doubtsOf(plan)) };
  const files = await archiveOf(ralph.root, place.workflow.name, plan);
  const { lines, message } = shown(plan, { isChecked, reports, files, draft: flags.has("draft") });
  if (flags.has("dry-run")) {
    for (const line of [...lines, "", text.body.trimEnd()]) out(line);
    return EXIT.done;
  }
  ralph.events.emit({ type: "text", title: text.title, lines });
  if (plan.way === "merge") await refuseMerge(ralph, plan);
  const decided = await gate(ralph, { name: "finish", message, next: ["ralph finish --approve finish"] });
  if (decided.status === "aborted") return EXIT.interrupted;
  if (decided.status !== "approved") return ralph.prompter.interactive ? EXIT.done : EXIT.blocked;
  if (plan.way === "merge" && plan.behind > 0 && isChecked && !plan.isMerged) {
    const { base } = plan.work;
    invocation.say(`${base} has ${commitsText(plan.behind)} that the branch has not: checking both together`);
    const folder = join(ralph.root, reports.at(-1)?.folder ?? ".ralph/runs");
    const known = await checkTogether(ralph, plan, folder);
    if (known === null) return EXIT.interrupted;
    for (const reason of known) invocation.say(`warning: ${reason}`);
  }
  if (!plan.isMerged) await archive(ralph, plan.work.branch, files);
  return await finish(invocation, ralph, plan, text);
}

/** A pass is a statement about a commit: what came after it may be Ralph's own state alone. */
async function isAsChecked(
  ralph: RalphContext,
  { work }: FinishPlan,
  last: RunReport | undefined,
  own: (path: string) => boolean,
): Promise<boolean> {
  const checked = last?.work?.head;
  if (last?.status !== "passed" || checked === undefined) return false;
  if (checked === work.head) return true;
  const { git } = requireRepository(ralph);
  if ((await git(["merge-base", "--is-ancestor", checked, work.head])).exitCode !== 0) return false;
  const changed = await git(["diff", "--name-only", "-z", "--no-renames", checked, work.head]);
  return changed.exitCode === 0 && changed.stdout.split("\0").every((path) => path === "" || own(path));
}

/** What no check has seen, for the person who merges the request. */
function doubtsOf({ work: { base }, behind, way, conflicts }: FinishPlan): readonly string[] {
  if (way === "merge" || behind === 0) return [];
  const more = `${base} had ${commitsText(behind)} more when this was made`;
  const both = conflicts.length === 0 ? "" : `; both have changed ${conflicts.join(", ")}`;
  return [`${more}: no check has seen both together${both}`];
}

function commitsText(count: number): string {
  return `${count} commit${count === 1 ? "" : "s"}`;
}

async function finish(
  { flags, say }: Invocation,
  ralph: RalphContext,
  plan: FinishPlan,
  text: { readonly title: string; readonly body: string },
): Promise<number> {
  const { work: { branch, base }, remote, forge } = plan;
  if (plan.way === "merge") {
    const commit = await mergeHere(ralph, plan, text);
    say(
      plan.isMerged
        ? `${base} has all that ${branch} holds, and is checked out now`
        : `${branch} is merged into ${base} as ${commit}, which is checked out now`,
    );
    const isAncestor = await requireRepository(ralph).git(["merge-base", "--is-ancestor", branch, "HEAD"]);
    const remove = isAncestor.exitCode === 0 ? "-d" : "-D"; // what was squashed looks unmerged to git
    const push = await requireRepository(ralph).git(["remote"]);
    const isShared = push.stdout.trim() !== "";
    say(`next: ${isShared ? "`git push` publishes it; " : ""}\`git branch ${remove} ${branch}\` removes the branch`);
    return EXIT.done;
  }
  const printed = await pushBranch(ralph, plan);
  say(`pushed ${branch} to ${remote!.name}`);
  const squashing = forge?.program === "gh"
    ? "`gh pr merge --squash` merges it as one commit"
    : "merge it as one commit there (squash)";
  const address = /https?:\/\/\S+/.exec(printed)?.[0] ?? null;
  if (forge === null) {
    say(
      address === null
        ? `next: open a request from ${branch} to ${base} where ${remote!.name} is`
        : `next: open ${address}`,
    );
    if (plan.squash) say(`next: ${squashing}`);
    return EXIT.done;
  }
  const request = { ...text, branch, base, draft: flags.has("draft"), squash: plan.squash };
  const made = await makeRequest(ralph.host, requireRepository(ralph).topLevel, forge, request);
  if (made.end.exitCode === 0 || made.isOpen) {
    say(`${forge.request}${made.isOpen ? ", open already" : ""}: ${made.address ?? "made"}`);
    if (plan.conflicts.length > 0) say(`next: ${wayOut(plan, "`ralph finish` pushes it")}`);
    if (plan.squash && forge.program === "gh") say(`next: ${squashing}`);
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
  { isChecked, reports, files, draft }: {
    readonly isChecked: boolean;
    readonly reports: readonly RunReport[];
    readonly files: Archive;
    readonly draft: boolean;
  },
): { readonly lines: readonly string[]; readonly message: string } {
  const { work: { branch, base }, commits, conflicts, behind, target, isMerged } = plan;
  if (isMerged) {
    return {
      lines: [`branch    ${branch}: ${base} has all that it holds`],
      message: `Check out ${base}?`,
    };
  }
  const last = reports.at(-1);
  const verdict = last === undefined
    ? "no run on this branch has left its events: nothing says that it passed"
    : `${last.status ?? "no end recorded"} (run ${last.run})${
      isChecked || last.status !== "passed" ? "" : ", and the branch has moved since"
    }`;
  const both = plan.way === "merge" && isChecked
    ? "both together are checked before the merge"
    : "no check has seen both";
  const lines = [
    `branch    ${workText(plan.work)}`,
    ...commits.length > SHOWN_COMMITS ? [`  … ${commits.length - SHOWN_COMMITS} earlier commits`] : [],
    ...commits.slice(-SHOWN_COMMITS).map((subject) => `  ${subject}`),
    `verdict   ${verdict}`,
    ...(last === undefined ? [] : [...changedTests(last), ...noticeTexts(last)]).map((text) => `to know   ${text}`),
    ...behind === 0 ? [] : [`behind    ${base} has ${commitsText(behind)} that the branch has not: ${both}`],
    ...target.note === "" ? [] : [`base      ${target.note}`],
    ...conflicts.length === 0
      ? []
      : [`conflict  with ${base}: ${conflicts.join(", ")}`, `  to settle it first: ${wayOut(plan)}`],
    ...files.files.length === 0
      ? []
      : [`archive   ${files.files.map((path) => basename(path)).join(", ")} to ${files.folder}`],
    wayLine(plan, draft),
  ];
  const question = plan.way === "merge"
    ? `Merge ${branch} into ${base}?`
    : plan.forge === null
    ? `Push ${branch} to ${plan.remote?.name}?`
    : `Push ${branch} and make a ${draft ? "draft " : ""}${plan.forge.request} to ${base}?`;
  const doubts = [
    ...isChecked ? [] : ["It has not passed as it is now."],
    ...conflicts.length === 0 ? [] : [`It cannot be merged into ${base} as it is.`],
  ];
  return { lines, message: [...doubts, question].join(" ") };
}

function wayLine({ work: { base }, way, squash, remote, forge }: FinishPlan, draft: boolean): string {
  const asOne = squash ? ", as one commit" : "";
  if (way === "merge") return `merge     into ${base} in this repository${asOne}; nothing is pushed`;
  if (forge === null) return `remote    ${remote?.name}: the branch is pushed, and you open the request`;
  const command = forge.program === "gh" ? "gh pr create" : "glab mr create";
  const squashed = forge.program === "glab" ? asOne : "";
  return `remote    ${remote?.name}, by ${command}${draft ? ", as a draft" : ""}${squashed}`;
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
  /** Those that are there. */
  readonly files: readonly string[];
  readonly all: readonly string[];
  readonly folder: string;
}

/** Into a folder that has none of these files: an earlier goal may have had a branch of the same name. */
async function archiveOf(root: string, workflow: string, { work: { branch }, isMerged }: FinishPlan): Promise<Archive> {
  const { archive } = workflowRow(workflow);
  const files: string[] = [];
  if (archive === undefined || isMerged) return { files, all: [], folder: "" };
  const all = archive.files;
  for (const path of archive.files) if (await pathExists(join(root, path))) files.push(path);
  const name = `${archive.folder}/${branch.replace(/^ralph\//, "").replaceAll(/[^\w.-]+/g, "-")}`;
  for (let number = 1;; number += 1) {
    const folder = number === 1 ? name : `${name}-${number}`;
    const taken = await Promise.all(files.map((path) => pathExists(join(root, folder, basename(path)))));
    if (!taken.includes(true)) return { files, all, folder };
  }
}

/** Moved and committed on the branch before it leaves: what is merged holds no open state. Done again it does nothing. */
async function archive(ralph: RalphContext, branch: string, { files, all, folder }: Archive): Promise<void> {
  const moved: string[] = [];
  for (const path of files) {
    const to = `${folder}/${basename(path)}`;
    await ensureDirectory(dirname(join(ralph.root, to)));
    await renamePath(join(ralph.root, path), join(ralph.root, to));
    moved.push(path, to);
  }
  await ralph.state.adopt(all);
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
