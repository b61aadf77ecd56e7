import { doubtOf } from "../../backlog/attempts.ts";
import type { RecordedCheck } from "../../backlog/types.ts";
import { checkId } from "../../backlog/verify_commands.ts";
import type { RalphContext } from "../../context/context.ts";
import type { AnswerSource } from "../../events/types.ts";
import { archivesOf } from "../../git/archive.ts";
import { addsNothing } from "../../git/branch_work.ts";
import { treeAt } from "../../git/read_commit.ts";
import { isAncestor, ownCommit } from "../../git/refs.ts";
import { requireRepository } from "../../git/repository.ts";
import { outputFrom } from "../../git/run_git.ts";
import { carryVerdict, noteVerdict, type Passed, verdictSince } from "../../loop/finish/note_verdict.ts";
import type { Proof } from "../../report/pull_request.ts";
import type { RunReport } from "../../report/types.ts";
import { PASSED } from "./branch_runs.ts";
import { commitsText, type FinishPlan, wayOut } from "./finish_plan.ts";
import { failed } from "./land_branch.ts";
import type { LeavingSecrets } from "./secrets.ts";
import { ownState } from "./state_paths.ts";

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
  const results = new Map(last.proved.map((id) => [id, true]));
  const { checks } = await passedOn(ralph, plan, reports);
  return checks.every((check) => results.has(checkId(check))) ? { commit: checked, results } : null;
}

/** The facts that the proof depends on. */
export interface Known {
  readonly reports: readonly RunReport[];
  readonly proof: Proof | null;
  /** Work that came since the newest run. */
  readonly open: string | null;
  readonly secrets: LeavingSecrets | null;
}

/** The answer to whether what leaves passes. */
export interface Proved {
  /** `commit`: the one that was checked; its tree is the one that leaves. */
  readonly proof: Proof | null;
  readonly doubts: readonly string[];
  /** The verdict of this command; absent where the run has attested its own, or nothing passed. */
  readonly verdict?: Omit<Passed, "commit">;
}

/**
 * Runs the final check if no run has checked the very tree that leaves: without the state that stays here, and for a
 * merge together with what its base has beside it. Nothing is moved. `source` is who said yes.
 *
 * @returns `null`: aborted
 * @throws {RalphError} finish-failed where it does not pass; a draft request may say so instead
 */
export async function prove(
  ralph: RalphContext,
  plan: FinishPlan,
  { reports, open, secrets, proof, draft, source }: Known & { readonly draft: boolean; readonly source: AnswerSource },
): Promise<Proved | null> {
  const repository = requireRepository(ralph);
  const isTogether = plan.way === "merge" && plan.behind > 0;
  if (source === "approve" && secrets !== null) {
    throw failed(`what would leave holds a secret in plain: ${secrets.places.join(", ")}`, secrets.hint);
  }
  if (source === "approve" && !draft && !plan.isMerged) refuseOpen(plan, reports.at(-1), open);
  const isChecked = proof !== null && await treeAt(repository, proof.commit) === plan.tree;
  const left = open === null ? [] : [`open: ${open}`];
  if (plan.isMerged || isChecked) return { proof, doubts: left };
  const { work: { branch, base, head, from }, target: { onto } } = plan;
  ralph.events.emit({ type: "note", level: "info", message: checkedNow(plan, { isTogether, proof }) });
  const commit = await leavingCommit(ralph, plan, isTogether ? [onto, plan.leaves] : [head]);
  const { checks, verified } = await passedOn(ralph, plan, reports);
  const verdict = await verdictSince(ralph, {
    base: isTogether ? onto : from,
    head: commit,
    checks: [...ralph.config.verify.default, ...checks.map(({ command }) => command)],
    verified,
  });
  const unseen = await doubtedItems(ralph, plan);
  const status = verdict.status === "passed" && unseen.length > 0 ? "unverified" : verdict.status;
  const { notices } = verdict;
  if (status === "aborted") return null;
  for (const { kind, subject, message: found } of notices) {
    const what = kind === "not-tried" ? "not tried" : "the checks cannot be believed";
    ralph.events.emit({ type: "note", level: "warn", message: `${what}: ${subject}: ${found}` });
  }
  const results = new Map(verdict.checks.map((check) => [checkId(check), check.ok]));
  const found = { commit, results };
  if (status === "passed") return { proof: found, doubts: left, verdict };
  const isAllowed = status === "unverified" && (ralph.config.verify.allowUnverified || source !== "approve");
  const unsure = unseen.length > 0 ? unseen : [`no check covers ${head.slice(0, 10)}`];
  if (isAllowed) return { proof: found, doubts: [...left, ...unsure] };
  const what = isTogether
    ? `${branch} and what ${base} has beside it do not pass together`
    : `${branch} ${status === "failed" ? "does not pass" : "is not checked"} at ${head.slice(0, 10)}`;
  const reasons = verdict.checks.length === 0 ? [NO_CHECK] : verdict.reasons;
  const doubt = `${what}: ${[...reasons, ...unseen].join("; ")}`;
  if (draft) return { proof: found, doubts: [...left, doubt] };
  throw failed(doubt, hintOf(plan, isTogether));
}

const NO_CHECK =
  "no check is known: `verify.default` names some, and a run's own are known in the working tree where it ran";

/** Checks that pass say nothing of items that are open. @throws {RalphError} finish-failed */
function refuseOpen({ work: { branch } }: FinishPlan, last: RunReport | undefined, open: string | null): void {
  const hint =
    "nothing was merged or pushed: `ralph run` continues it; `ralph finish` in a terminal asks, `--draft` makes a request";
  if (last === undefined) return;
  if (PASSED.has(last.status ?? "")) {
    if (open !== null) throw failed(`something is open on ${branch} that no run has done: ${open}`, hint);
    return;
  }
  const left = last.items.filter(({ state }) => state !== "verified").map(({ id, state }) => `${id}: ${state}`);
  const which = left.length === 0 ? "" : ` (${left.join(", ")})`;
  throw failed(`the newest run on ${branch} ended as ${last.status ?? "cut off"}${which}`, hint);
}

function hintOf(plan: FinishPlan, isTogether: boolean): string {
  if (plan.way === "merge") {
    return `nothing was merged: ${isTogether ? wayOut(plan) : "fix it and commit, then `ralph finish` again"}`;
  }
  return `nothing was pushed: fix it and commit, then \`ralph finish\` again; \`ralph finish --draft\` asks for a ${
    plan.forge?.request ?? "request"
  } that says so`;
}

function checkedNow(
  { work: { base, head }, behind }: FinishPlan,
  { isTogether, proof }: { readonly isTogether: boolean; readonly proof: Proof | null },
): string {
  if (isTogether) return `${base} has ${commitsText(behind)} that the branch has not: checking both together`;
  return proof === null
    ? `no run has passed at ${head.slice(0, 10)}: checking it`
    : "the run checked the branch with its state: checking it as it leaves, without";
}

/** The tree that leaves, as a commit that no branch has. */
async function leavingCommit(ralph: RalphContext, { tree }: FinishPlan, parents: readonly string[]): Promise<string> {
  return await ownCommit(requireRepository(ralph), tree, { parents, message: "ralph: as it leaves\n" });
}

/** The work on the branch that passed. */
interface PassedWork {
  /** Also of work whose commits were written anew since. */
  readonly checks: readonly RecordedCheck[];
  /** The commits at which items passed, oldest first. */
  readonly verified: readonly string[];
}

async function passedOn(ralph: RalphContext, plan: FinishPlan, reports: readonly RunReport[]): Promise<PassedWork> {
  const commits = await commitsOf(ralph, plan);
  const items = new Set(reports.flatMap((report) => report.items.map(({ id, kind }) => `${kind} ${id}`)));
  const all = ralph.journal.allPassed();
  const own = all.filter(({ commit, kind, id }) => commits.has(commit ?? "") || items.has(`${kind} ${id}`));
  const passed = new Set(all.map(({ commit }) => commit));
  return {
    checks: own.flatMap(({ checks }) => checks.filter(({ expect }) => expect === undefined)),
    verified: [...commits].filter((commit) => passed.has(commit)).toReversed(),
  };
}

/** The commits of the branch, newest first, and those that a clean history has taken the place of. */
async function commitsOf(ralph: RalphContext, { work, target }: FinishPlan): Promise<ReadonlySet<string>> {
  const repository = requireRepository(ralph);
  const before: string[] = [];
  for (const { parent, from } of await archivesOf(repository, work.branch)) {
    if (parent !== from && await isAncestor(repository, parent, work.head)) before.push(from);
  }
  const range = await outputFrom(repository, ["rev-list", work.head, ...before, `^${target.onto}`]);
  return new Set(range.trim().split("\n"));
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
 * The branch's newest commit, if it has the tree that was looked at.
 *
 * @throws {RalphError} finish-failed where the branch has moved meanwhile
 */
export async function unmovedHead(
  ralph: RalphContext,
  { work: { branch, head }, leaves, isMerged }: FinishPlan,
): Promise<string> {
  const repository = requireRepository(ralph);
  const now = (await outputFrom(repository, ["rev-parse", `refs/heads/${branch}`])).trim();
  if (isMerged || await treeAt(repository, now) === await treeAt(repository, leaves)) return now;
  throw failed(
    `${branch} has moved from ${head.slice(0, 10)} to ${now.slice(0, 10)} meanwhile, which is not checked`,
    "nothing was merged or pushed: `ralph finish` again looks at it as it is now",
  );
}

/** Attests the verdict on what leaves to a commit that has its tree; a doubt that a person agreed to is none. */
export async function noteLeaving(
  ralph: RalphContext,
  { proof, verdict, doubts }: Proved,
  commit: string,
): Promise<void> {
  if (doubts.length > 0) return;
  if (verdict !== undefined) await noteVerdict(ralph, { ...verdict, commit });
  else if (proof !== null) await carryVerdict(ralph, proof.commit, commit);
}

/** A run's pass is a statement about its commit: what came after it may be Ralph's own state alone. */
async function addsOnlyState(ralph: RalphContext, checked: string, head: string): Promise<boolean> {
  return await addsNothing(requireRepository(ralph), { from: checked, to: head }, ownState(ralph));
}
