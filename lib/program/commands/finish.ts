import { basename } from "node:path";
import { fetchArchives } from "../../git/archive.ts";
import { isAncestor } from "../../git/refs.ts";
import { type Invocation, printed, usage } from "../../cli/command.ts";
import { workText } from "../../cli/end_with.ts";
import { openSession, type Session } from "../../cli/session.ts";
import type { RalphContext } from "../../context/context.ts";
import { EXIT } from "../../errors/ralph_error.ts";
import { requireRepository, topLevelPaths } from "../../git/repository.ts";
import { maskOf } from "../../loop/settle/committer.ts";
import { askConsent } from "../../recipe/gate.ts";
import { requestBody, type RequestFacts, requestTitle } from "../../report/pull_request.ts";
import { conventionalTitle } from "../../report/title_convention.ts";
import { doubtedChecks, noticeTexts } from "../../report/texts.ts";
import { branchChange, branchRuns, openSince } from "../finish/branch_runs.ts";
import { type BranchFacts, cleanedCommits, type CleanHistory, cleanHistory } from "../finish/clean_history.ts";
import { commitsText, type FinishPlan, finishPlan, wayOut } from "../finish/finish_plan.ts";
import { mergeHere, pushBranch, refuseMerge } from "../finish/land_branch.ts";
import { makeRequest } from "../finish/make_request.ts";
import { type Known, noteLeaving, proofOf, prove, type Proved, unmovedHead } from "../finish/proof.ts";
import { secretsLeaving } from "../finish/secrets.ts";
import { setAside, type StateFile, stateToSetAside } from "../finish/set_aside.ts";
import { stateRow } from "../finish/state_paths.ts";

/** So many subjects are shown. */
const SHOWN_COMMITS = 20;
/** So many of the base show how the project writes them. */
const READ_SUBJECTS = 50;

/** `ralph finish`: the branch becomes a pull or merge request, or is merged. Nothing is pushed or merged without a yes. */
export async function run(invocation: Invocation): Promise<number> {
  const { flags, out } = invocation;
  refuseBoth(invocation);
  const draft = flags.has("draft");
  await using session = await openSession(invocation, { asks: !flags.has("dry-run"), gates: ["finish"] });
  const { ralph } = session;
  await using _lock = await ralph.lock.acquire("finish");
  const found = await lookAt(invocation, session);
  const { plan, state, reports, change, subjects, clean, files } = found;
  const { branch } = plan.work;
  const mask = maskOf(ralph);
  const formed = (goal: string): string => conventionalTitle(goal, { subjects, branch, files: change.files });
  const title = requestTitle(reports, branch, formed);
  const { lines, message } = shown(found, draft);
  const body = async (facts: Pick<RequestFacts, "change" | "more" | "proof">): Promise<string> =>
    requestBody(reports, { ...facts, instead: await cleanedCommits(ralph, branch, state) });
  if (flags.has("dry-run")) {
    const proof = found.proof && { ...found.proof, commit: plan.work.head };
    const left = found.open === null ? [] : [`open: ${found.open}`];
    const text = (await body({ change, more: [...left, ...unseenIn(plan)], proof })).trimEnd();
    for (const line of [...lines, `title     ${title}`, "", text]) out(mask(line));
    return EXIT.done;
  }
  ralph.events.emit({ type: "text", title, lines });
  if (plan.way === "merge") await refuseMerge(ralph, plan);
  const consent = await askConsent(ralph, { name: "finish", message });
  if (consent === null) return EXIT.interrupted;
  if (!consent.yes) {
    ralph.events.emit({ type: "text", title: "Next", lines: ["ralph finish --approve finish"] });
    return ralph.prompter.interactive ? EXIT.done : EXIT.blocked;
  }
  const proved = await prove(ralph, plan, { ...found, draft, source: consent.source });
  if (proved === null) return EXIT.interrupted;
  if (plan.withHistory) await fetchArchives(requireRepository(ralph), plan.remote!.name, branch);
  const cleaned = clean?.head ?? null;
  await setAside(ralph, plan.work, files, cleaned);
  const head = await unmovedHead(ralph, plan);
  const more = [...unseenIn(plan), ...proved.doubts];
  const proof = proved.proof && { ...proved.proof, commit: head };
  const text = await body({ change: { ...change, head }, more, proof });
  return await finish(invocation, ralph, plan, { title, body: text, head, proved });
}

/** The facts that are known before the question. */
interface Found extends BranchFacts, Known {
  readonly plan: FinishPlan;
  readonly files: readonly StateFile[];
  readonly clean: CleanHistory | null;
}

const ELSEWHERE = "had another address, or none, when the last run began";

async function lookAt(invocation: Invocation, { ralph, place }: Pick<Session, "place" | "ralph">): Promise<Found> {
  const { flags } = invocation;
  const row = stateRow(ralph.config, place.workflow.name);
  const choice = {
    base: flags.text("base"),
    merge: flags.has("merge"),
    squash: flags.has("squash"),
    withHistory: flags.has("with-history"),
  };
  const plan = await finishPlan(ralph, choice, row);
  const { work: { branch, from, head }, target: { onto } } = plan;
  const state = topLevelPaths(ralph, plan.state.files);
  const reports = await branchRuns(ralph, { branch, head, base: onto, isMeant: (id) => id !== ralph.run.id });
  const proof = await proofOf(ralph, plan, reports);
  const change = await branchChange(ralph, { from, head, state, globs: ralph.config.tests.globs, reports });
  const log = ["log", "--no-merges", `-${READ_SUBJECTS}`, "--format=%s", onto];
  const subjects = (await requireRepository(ralph).git(log)).stdout.split("\n").filter(Boolean);
  const known = { plan, state, reports, proof, change, subjects };
  const files = await stateToSetAside(ralph, plan.state.files, from);
  if (plan.isMerged) { // no commit is made, and the base gets no state that a later run laid in
    const laidIn = files.filter((file) => file.head === file.base);
    return { ...known, files: laidIn, clean: null, open: null, secrets: null };
  }
  const clean = flags.has("clean-history") ? await cleanHistory(ralph, plan, known) : null;
  const its = files.find(({ path }) => path === row.runState?.files[0]);
  // a finish has taken the branch's plan off: what is there is the base's
  const isOff = row.runState !== undefined && (its === undefined || its.here === its.base);
  return {
    ...known,
    files,
    clean,
    open: isOff ? null : await openSince(invocation, { ...place, repository: ralph.repository }, reports.at(-1)),
    secrets: await secretsLeaving(ralph, plan, { clean, files }),
  };
}

/** @throws {RalphError} usage */
function refuseBoth({ flags }: Invocation): void {
  if (flags.has("merge") && flags.has("draft")) {
    const hint = "--merge merges here: there is no request that could be a draft";
    throw usage("--merge and --draft exclude each other", hint);
  }
  if (flags.has("squash") && flags.has("clean-history")) {
    throw usage("--squash and --clean-history exclude each other", "one commit of all, or one an item");
  }
}

/** The changes that no check has seen, for the person who merges the request. */
function unseenIn({ work: { base }, behind, way, conflicts }: FinishPlan): readonly string[] {
  if (way === "merge" || behind === 0) return [];
  const more = `${base} had ${commitsText(behind)} more when this was made`;
  const both = conflicts.length === 0 ? "" : `; both have changed ${conflicts.join(", ")}`;
  return [`${more}: no check has seen both together${both}`];
}

async function finish(
  { flags, say }: Invocation,
  ralph: RalphContext,
  plan: FinishPlan,
  text: { readonly title: string; readonly body: string; readonly head: string; readonly proved: Proved },
): Promise<number> {
  const { work: { branch, base }, remote, forge, target } = plan;
  if (plan.way === "merge") {
    const commit = await mergeHere(ralph, plan, text);
    if (!plan.isMerged) await noteLeaving(ralph, text.proved, commit);
    say(
      plan.isMerged
        ? `${base} has all that ${branch} holds, and is checked out now`
        : `${branch} is merged into ${base} as ${commit.slice(0, 10)}, which is checked out now`,
    );
    // what was squashed looks unmerged to git
    const isHeld = !plan.squash && !plan.isMerged || await isAncestor(requireRepository(ralph), branch, "HEAD");
    const remove = isHeld ? "-d" : "-D";
    const shared = target.remote === null ? "" : `\`git push ${target.remote} ${base}\` publishes it; `;
    return printed(say, `next: ${shared}\`git branch ${remove} ${branch}\` removes the branch`);
  }
  await noteLeaving(ralph, text.proved, text.head);
  const answer = await pushBranch(ralph, plan, text.head);
  say(`pushed ${branch} to ${remote!.name}`);
  const squashing = forge?.program === "gh"
    ? "`gh pr merge --squash` merges it as one commit"
    : "merge it as one commit there (squash)";
  const address = /https?:\/\/\S+/.exec(answer)?.[0] ?? null;
  if (forge === null) {
    say(
      address === null
        ? `next: open a request from ${branch} to ${base} where ${target.remote} is`
        : `next: open ${address}`,
    );
    if (plan.squash) say(`next: ${squashing}`);
    return EXIT.done;
  }
  const { title, body } = text;
  const request = { title, body, head: plan.head, base, draft: flags.has("draft"), squash: plan.squash };
  const made = await makeRequest(ralph.host, requireRepository(ralph).topLevel, forge, request);
  if (made.state !== "failed") {
    const state = { made: "", renewed: ", open already, with its text renewed", kept: ", open already" }[made.state];
    say(`${forge.request}${state}: ${made.address ?? "made"}`);
    if (made.state === "kept") {
      say(
        "its text stays, since it may hold a person's words: `ralph report --for review` shows what Ralph would write",
      );
    }
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

/** A person reads this before the yes. */
function shown({ plan, proof, open, secrets, reports, files, clean }: Found, draft: boolean) {
  const { work: { branch, base }, conflicts, behind, target, isMerged, state: { linked } } = plan;
  const commits = clean?.subjects ?? plan.commits;
  const kept = plan.withHistory ? `, here and at ${plan.remote?.name}` : "";
  const names = [...new Set(files.map(({ path }) => basename(path)))].join(", ");
  const state = [
    ...files.length === 0 ? [] : [`state     ${names}: taken off the branch, kept in refs/ralph/archive${kept}`],
    ...linked.length === 0 ? [] : [`linked    ${linked.join(", ")}: below a symbolic link, left as it is`],
  ];
  if (isMerged) {
    return { lines: [`branch    ${branch}: ${base} has all that it holds`, ...state], message: `Check out ${base}?` };
  }
  const last = reports.at(-1);
  const moved = proof === null ? ", and the branch has moved since: it is checked before it leaves" : "";
  const verdict = last === undefined
    ? "no run on this branch has left its events: nothing says that it passed"
    : `${last.status ?? "no end recorded"} (run ${last.run})${last.status === "passed" ? moved : ""}`;
  const both = plan.way === "merge" ? "both together are checked before the merge" : "no check has seen both";
  const lines = [
    `branch    ${workText(plan.work)}`,
    ...commits.length > SHOWN_COMMITS ? [`  … ${commits.length - SHOWN_COMMITS} earlier commits`] : [],
    ...commits.slice(-SHOWN_COMMITS).map((subject) => `  ${subject}`),
    `verdict   ${verdict}`,
    ...open === null ? [] : [`open      ${open}`],
    ...(last === undefined ? [] : [...doubtedChecks(last), ...noticeTexts(last)]).map((text) => `to know   ${text}`),
    ...secrets === null ? [] : [`secret    in plain in ${secrets.places.join(", ")}: ${secrets.hint}`],
    ...behind === 0 ? [] : [`behind    ${base} has ${commitsText(behind)} that the branch has not: ${both}`],
    ...target.note === "" ? [] : [`base      ${target.note}`],
    ...conflicts.length === 0
      ? []
      : [`conflict  with ${base}: ${conflicts.join(", ")}`, `  to settle it first: ${wayOut(plan)}`],
    ...state,
    ...clean === null ? [] : ["history   written anew without state, as above; the archive keeps it as it was"],
    ...plan.remote?.isElsewhere !== true ? [] : [`to know   ${plan.remote.name} ${ELSEWHERE}`],
    wayLine(plan, draft),
  ];
  const question = plan.way === "merge"
    ? `Merge ${branch} into ${base}?`
    : plan.forge === null
    ? `Push ${branch} to ${placeText(plan)}?`
    : `Push ${branch} to ${placeText(plan)} and make a ${draft ? "draft " : ""}${plan.forge.request} to ${base}?`;
  const doubts = [
    ...proof !== null ? [] : ["It has not passed as it is now."],
    ...open === null ? [] : [`Open: ${open}.`],
    ...secrets === null ? [] : ["A secret leaves with it."],
    ...plan.remote?.isElsewhere !== true ? [] : [`${plan.remote.name} ${ELSEWHERE}.`],
    ...conflicts.length === 0 ? [] : [`It cannot be merged into ${base} as it is.`],
  ];
  return { lines, message: [...doubts, question].join(" ") };
}

/** `origin (https://git.example.com/a/b)`. */
function placeText({ remote }: Pick<FinishPlan, "remote">): string {
  return remote === null ? "" : `${remote.name} (${remote.address})`;
}

function wayLine(plan: FinishPlan, draft: boolean): string {
  const { work: { base }, way, squash, forge } = plan;
  const asOne = squash ? ", as one commit" : "";
  if (way === "merge") return `merge     into ${base} in this repository${asOne}; nothing is pushed`;
  if (forge === null) return `remote    ${placeText(plan)}: the branch is pushed, and you open the request`;
  const command = forge.program === "gh" ? "gh pr create" : "glab mr create";
  const squashed = forge.program === "glab" ? asOne : "";
  return `remote    ${placeText(plan)}, by ${command}${draft ? ", as a draft" : ""}${squashed}`;
}
