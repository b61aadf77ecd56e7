import { doubtOf } from "../../backlog/attempts.ts";
import type { RecordedCheck } from "../../backlog/types.ts";
import type { RalphContext } from "../../context/context.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import type { AnswerSource } from "../../events/types.ts";
import { archiveRefspec, archivesOf } from "../../git/archive.ts";
import { addsNothing } from "../../git/branch_work.ts";
import { inTheWay, mergeTrees } from "../../git/land.ts";
import { isAncestor, ownCommit } from "../../git/refs.ts";
import { type Repository, requireRepository, type RootedRepository, topLevelPaths } from "../../git/repository.ts";
import { outputFrom } from "../../git/run_git.ts";
import { carryVerdict, noteVerdict, verdictSince } from "../../loop/finish/note_verdict.ts";
import { beforeFold, type Proof } from "../../report/pull_request.ts";
import type { RunReport } from "../../report/types.ts";
import { WORKFLOWS } from "../../workflows/table.ts";
import { type FinishPlan, wayOut } from "./finish_plan.ts";

const PUSH_TIMEOUT_MS = 300_000;

/**
 * Pushes the branch under its own name, with the person's own hooks; with what is kept of it both or none. Never by
 * force.
 *
 * @param head the commit that was checked, or one that only adds Ralph's own state to it
 * @returns what git printed
 * @throws {RalphError} finish-failed
 */
export async function pushBranch(
  ralph: RalphContext,
  { work: { branch }, remote, withHistory }: FinishPlan,
  head: string,
): Promise<string> {
  const [isAtomic, history] = withHistory ? [["--atomic"], [archiveRefspec(branch)]] : [[], []];
  const end = await ralph.host.processes.run({
    file: "git",
    arguments: ["push", ...isAtomic, remote!.name, `${head}:refs/heads/${branch}`, ...history],
    cwd: requireRepository(ralph).topLevel,
    environment: { GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" },
    timeoutMs: PUSH_TIMEOUT_MS,
    signal: ralph.signal,
  });
  if (end.exitCode === 0) {
    // a commit was pushed, and git follows only what is pushed by its branch
    const { git } = requireRepository(ralph);
    const [tip, upstream] = await Promise.all([
      git(["rev-parse", `refs/heads/${branch}`]),
      git(["rev-parse", "--verify", "--quiet", `${branch}@{upstream}`]),
    ]);
    const follow = ["branch", "--quiet", `--set-upstream-to=${remote!.name}/${branch}`, branch];
    if (tip.stdout.trim() === head && upstream.exitCode !== 0) await git(follow);
    return end.stderr;
  }
  const lines = end.tail.trim().split("\n").map((line) => line.trim());
  const reason = lines.filter((line) => line !== "" && !line.startsWith("hint:")).join("; ") || end.reason;
  throw failed(
    `${remote!.name} did not take ${branch}: ${reason}`,
    "nothing is lost: fix what git names, then the same command again",
  );
}

/**
 * Merges the branch into its base in this repository and checks that out. The merge is made beside the working tree, and
 * the base is moved in one step: stopped anywhere, the same command does what is left. No hook of the repository runs.
 *
 * @throws {RalphError} finish-failed, branch-failed, git-failed
 */
export async function mergeHere(
  ralph: RalphContext,
  plan: FinishPlan,
  { title, body, head }: { readonly title: string; readonly body: string; readonly head: string },
): Promise<string> {
  const { work: { branch, base }, squash, target: { onto, here } } = plan;
  const repository = requireRepository(ralph);
  if (!plan.isMerged) {
    await refuseOtherWorktree(repository, base);
    const tree = await mergedTree(repository, plan, head);
    const parents = squash ? [onto] : [onto, head];
    const commit = await commitTree(repository, tree, parents, `${title}\n\n${beforeFold(body)}\n`);
    const obstacles = await inTheWay(repository, { tip: head, commit });
    if (obstacles !== null) {
      throw failed(`${base} has ${obstacles.join(", ")}, which is here and not committed`, "move it away, then again");
    }
    const before = here ?? "0".repeat(commit.length);
    await outputFrom(repository, ["update-ref", "-m", `ralph finish: ${branch}`, `refs/heads/${base}`, commit, before]);
  }
  await repository.switchTo(base);
  return (await outputFrom(repository, ["rev-parse", "--short", "HEAD"])).trim();
}

/** The tree of both together. @throws {RalphError} finish-failed where they conflict */
async function mergedTree(
  repository: Repository,
  plan: FinishPlan,
  head: string,
): Promise<string> {
  const { tree, conflicts } = await mergeTrees(repository, plan.target.onto, head);
  refuseConflicts({ ...plan, conflicts });
  return tree;
}

/** A merge here is not even asked about, and no state is archived, where it cannot be made. @throws {RalphError} finish-failed */
export async function refuseMerge(ralph: RalphContext, plan: FinishPlan): Promise<void> {
  refuseConflicts(plan);
  await refuseOtherWorktree(requireRepository(ralph), plan.work.base);
}

function refuseConflicts(plan: FinishPlan): void {
  const { work: { branch, base }, conflicts } = plan;
  if (conflicts.length === 0) return;
  throw failed(
    `${branch} cannot be merged into ${base} by itself: both have changed ${conflicts.join(", ")}`,
    wayOut(plan),
  );
}

async function commitTree(
  repository: Repository,
  tree: string,
  parents: readonly string[],
  message: string,
): Promise<string> {
  const signs = (await repository.git(["config", "--type=bool", "--get", "commit.gpgSign"])).stdout.trim() === "true";
  const arguments_ = ["commit-tree", ...signs ? ["-S"] : [], tree, ...parents.flatMap((parent) => ["-p", parent])];
  return (await outputFrom(repository, arguments_, { input: message })).trim();
}

/** A branch that is checked out elsewhere is not moved under that tree. @throws {RalphError} finish-failed */
async function refuseOtherWorktree(repository: Repository, base: string): Promise<void> {
  const listed = await outputFrom(repository, ["worktree", "list", "--porcelain"]);
  const other = listed.split("\n\n").find((entry) => entry.split("\n").includes(`branch refs/heads/${base}`));
  if (other === undefined) return;
  const path = /^worktree (.*)$/m.exec(other)?.[1] ?? "another worktree";
  throw failed(`${base} is checked out in ${path}`, `switch that one to another branch, or merge there`);
}

/** The error that ends `finish` with nothing merged and nothing pushed. */
export function failed(problem: string, hint: string): RalphError {
  return new RalphError("finish-failed", { details: { problem, hint } });
}

/**
 * The proof that a run has of the branch as it is; `null`: its newest run did not pass or did not check all that passed on the
 * branch, or the branch has moved since.
 */
export async function proofOf(
  ralph: RalphContext,
  plan: FinishPlan,
  reports: readonly RunReport[],
): Promise<Proof | null> {
  const last = reports.at(-1);
  const checked = last?.checked ?? null;
  if (last?.status !== "passed" || checked === null) return null;
  if (!await addsOnlyState(ralph, checked, plan.work.head)) return null;
  const results = new Map(last.proved.map((name) => [name, true]));
  const wanted = await provedBy(ralph, plan, reports);
  return wanted.every(({ name }) => results.has(name)) ? { commit: checked, results } : null;
}

/**
 * Runs the final check where what leaves was not checked: the branch as it is, or for a merge here the branch together
 * with what its base has beside it. Nothing is moved.
 *
 * @returns `null`: aborted
 * @throws {RalphError} finish-failed where it does not pass; a draft request may say so instead
 */
export async function prove(
  ralph: RalphContext,
  plan: FinishPlan,
  { reports, proof, draft, source }: {
    readonly reports: readonly RunReport[];
    readonly proof: Proof | null;
    readonly draft: boolean;
    /** Who said yes. */
    readonly source: AnswerSource;
  },
): Promise<{ readonly proof: Proof | null; readonly doubts: readonly string[] } | null> {
  const isTogether = plan.way === "merge" && plan.behind > 0;
  if (source === "approve" && !draft && !plan.isMerged) refuseOpen(plan, reports.at(-1));
  if (plan.isMerged || (proof !== null && !isTogether)) return { proof, doubts: [] };
  const { work: { branch, base, head, from }, target: { onto } } = plan;
  const message = isTogether
    ? `${base} has ${commitsText(plan.behind)} that the branch has not: checking both together`
    : `no run has passed at ${head.slice(0, 10)}: checking it`;
  ralph.events.emit({ type: "note", level: "info", message });
  const verdict = await verdictSince(ralph, {
    base: isTogether ? onto : from,
    head: isTogether ? await together(ralph, plan) : head,
    checks: [...ralph.config.verify.default, ...(await provedBy(ralph, plan, reports)).map(({ command }) => command)],
  });
  const unseen = await doubtedItems(ralph, plan);
  const status = verdict.status === "passed" && unseen.length > 0 ? "unverified" : verdict.status;
  const { notices } = verdict;
  if (status === "aborted") return null;
  for (const { subject, message: found } of notices) {
    ralph.events.emit({ type: "note", level: "warn", message: `the checks cannot be believed: ${subject}: ${found}` });
  }
  const results = new Map(verdict.checks.map(({ name, ok }) => [name, ok]));
  const found = isTogether ? proof : { commit: head, results };
  if (status === "passed" && !isTogether) {
    await noteVerdict(ralph, { commit: head, base: verdict.base, checks: verdict.checks, notices });
  }
  if (status === "passed") return { proof: found, doubts: [] };
  const isAllowed = status === "unverified" && (ralph.config.verify.allowUnverified || source !== "approve");
  if (isAllowed) return { proof: found, doubts: unseen.length > 0 ? unseen : [`no check covers ${head.slice(0, 10)}`] };
  const what = isTogether
    ? `${branch} and what ${base} has beside it do not pass together`
    : `${branch} ${status === "failed" ? "does not pass" : "is not checked"} at ${head.slice(0, 10)}`;
  const doubt = `${what}: ${[...verdict.reasons, ...unseen].join("; ")}`;
  if (draft) return { proof: found, doubts: [doubt] };
  throw failed(doubt, hintOf(plan, isTogether));
}

/** Checks that pass say nothing of items that a run has left open. @throws {RalphError} finish-failed */
function refuseOpen({ work: { branch } }: FinishPlan, last: RunReport | undefined): void {
  if (last === undefined || ["passed", "unverified"].includes(last.status ?? "")) return;
  const open = last.items.filter(({ state }) => state !== "verified").map(({ id, state }) => `${id}: ${state}`);
  throw failed(
    `the newest run on ${branch} ended as ${last.status ?? "cut off"}${
      open.length === 0 ? "" : ` (${open.join(", ")})`
    }`,
    "nothing was merged or pushed: `ralph run` continues it; `ralph finish` in a terminal asks, `--draft` makes a request",
  );
}

function hintOf(plan: FinishPlan, isTogether: boolean): string {
  if (plan.way === "merge") {
    return `nothing was merged: ${isTogether ? wayOut(plan) : "fix it and commit, then `ralph finish` again"}`;
  }
  return `nothing was pushed: fix it and commit, then \`ralph finish\` again; \`ralph finish --draft\` asks for a ${
    plan.forge?.request ?? "request"
  } that says so`;
}

/** Both as one commit that no branch has. */
async function together(ralph: RalphContext, plan: FinishPlan): Promise<string> {
  const { work: { head }, target: { onto } } = plan;
  const repository = requireRepository(ralph);
  const tree = await mergedTree(repository, plan, head);
  return await ownCommit(repository, tree, { parents: [onto, head], message: "ralph: both together\n" });
}

/** The checks by which the work on the branch passed, also where its commits were written anew since. */
async function provedBy(
  ralph: RalphContext,
  plan: FinishPlan,
  reports: readonly RunReport[],
): Promise<readonly RecordedCheck[]> {
  const commits = await commitsOf(ralph, plan);
  const items = new Set(reports.flatMap((report) => report.items.map(({ id, kind }) => `${kind} ${id}`)));
  return ralph.journal.allPassed()
    .filter(({ commit, kind, id }) => (commit !== null && commits.has(commit)) || items.has(`${kind} ${id}`))
    .flatMap(({ checks }) => checks.filter(({ expect }) => expect === undefined));
}

/** The commits of the branch, and those that a clean history has taken the place of. */
async function commitsOf(ralph: RalphContext, { work, target }: FinishPlan): Promise<ReadonlySet<string>> {
  const repository = requireRepository(ralph);
  const before: string[] = [];
  for (const { parent, from } of await archivesOf(repository, work.branch)) {
    if (parent !== from && await isAncestor(repository, parent, work.head)) before.push(from);
  }
  const range = await outputFrom(repository, ["rev-list", work.head, ...before, `^${target.onto}`]);
  return new Set(range.split("\n"));
}

const DOUBTS = {
  challenge: "a check that its author had not seen fails",
  "not-claimed": "its agent did not say that it was done",
};

/** Items of the branch that passed their checks and are unverified all the same, and why. */
async function doubtedItems(ralph: RalphContext, plan: FinishPlan): Promise<readonly string[]> {
  const doubted = ralph.journal.allPassed().flatMap((record) => {
    const doubt = doubtOf(record, ralph.config.provider);
    return doubt === null ? [] : [{ ...record, doubt }];
  });
  if (doubted.length === 0) return [];
  const commits = await commitsOf(ralph, plan);
  return doubted.filter(({ commit }) => commit !== null && commits.has(commit))
    .map(({ id, doubt }) => `${id} is unverified: ${DOUBTS[doubt]}`);
}

/**
 * The branch's newest commit, where it adds nothing but Ralph's own state to what was looked at.
 *
 * @throws {RalphError} finish-failed where the branch has moved meanwhile
 */
async function unmovedHead(
  ralph: RalphContext,
  { work: { branch, head }, isMerged }: FinishPlan,
  cleaned: string | null,
): Promise<string> {
  const now = (await outputFrom(requireRepository(ralph), ["rev-parse", `refs/heads/${branch}`])).trim();
  if (isMerged || await addsOnlyState(ralph, cleaned ?? head, now)) return now;
  throw failed(
    `${branch} has moved from ${head.slice(0, 10)} to ${now.slice(0, 10)} meanwhile, which is not checked`,
    "nothing was merged or pushed: `ralph finish` again looks at it as it is now",
  );
}

/** The commit that leaves, with the proof of what was checked: both differ by state alone. */
export async function leaving(
  ralph: RalphContext,
  plan: FinishPlan,
  { proof, cleaned }: {
    readonly proof: Proof | null;
    /** The newest commit of a clean history; `null`: the branch is as it was. */
    readonly cleaned: string | null;
  },
): Promise<{ readonly head: string; readonly proof: Proof | null }> {
  const head = await unmovedHead(ralph, plan, cleaned);
  if (proof === null) return { head, proof };
  await carryVerdict(ralph, proof.commit, head);
  return { head, proof: { ...proof, commit: head } };
}

/** A pass is a statement about a commit: what came after it may be Ralph's own state alone. */
async function addsOnlyState(ralph: RalphContext, checked: string, head: string): Promise<boolean> {
  return await addsNothing(requireRepository(ralph), { from: checked, to: head }, ownState(ralph));
}

/** True for what the workflows keep as their state, relative to the top level. */
export function ownState(ralph: RootedRepository): (path: string) => boolean {
  const own = topLevelPaths(ralph, WORKFLOWS.flatMap(stateOf));
  return (path) => own.some((one) => path === one || path.startsWith(`${one}/`));
}

/** A person's script in a folder of state is no state: where a workflow lists its files, these alone are. */
function stateOf({ state, runState }: (typeof WORKFLOWS)[number]): readonly string[] {
  if (runState !== undefined) return [...runState.files, ...runState.kept];
  return state === undefined || state.includes("<") ? [] : [state];
}

/** `2 commits`. */
export function commitsText(count: number): string {
  return `${count} commit${count === 1 ? "" : "s"}`;
}
