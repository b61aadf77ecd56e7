import { basename } from "node:path";
import { fetchArchives } from "../../git/archive.ts";
import { isAncestor } from "../../git/refs.ts";
import { type Invocation, usage } from "../../cli/command.ts";
import { workText } from "../../cli/end_with.ts";
import { openSession } from "../../cli/session.ts";
import type { RalphContext } from "../../context/context.ts";
import { EXIT } from "../../errors/ralph_error.ts";
import { requireRepository } from "../../git/repository.ts";
import { askConsent } from "../../recipe/gate.ts";
import { type Proof, requestBody, requestTitle } from "../../report/pull_request.ts";
import { conventionalTitle } from "../../report/title_convention.ts";
import { doubtedChecks, noticeTexts } from "../../report/texts.ts";
import type { RunReport } from "../../report/types.ts";
import { branchChange, branchRuns, ownPaths, statePaths, stateRow } from "../finish/branch_runs.ts";
import { type FinishPlan, finishPlan, makeRequest, wayOut } from "../finish/finish_plan.ts";
import { commitsText, leaving, mergeHere, proofOf, prove, pushBranch, refuseMerge } from "../finish/land_branch.ts";
import { type CleanHistory, cleanHistory, setAside, stateToSetAside } from "../finish/set_aside.ts";

/** So many subjects are shown. */
const SHOWN_COMMITS = 20;
/** So many of the base show how the project writes them. */
const READ_SUBJECTS = 50;

/** `ralph finish`: the branch becomes a pull or merge request, or is merged. Nothing is pushed or merged without a yes. */
export async function run(invocation: Invocation): Promise<number> {
  const { flags, out } = invocation;
  refuseBoth(invocation);
  await using session = await openSession(invocation, { asks: !flags.has("dry-run"), gates: ["finish"] });
  const { ralph, place } = session;
  await using _lock = await ralph.lock.acquire("finish");
  const row = stateRow(ralph.config, place.workflow.name);
  const choice = {
    base: flags.text("base"),
    merge: flags.has("merge"),
    squash: flags.has("squash"),
    withHistory: flags.has("with-history"),
  };
  const state = await statePaths(ralph, row);
  const plan = await finishPlan(ralph, choice, ownPaths(ralph), state);
  const { work: { branch, from, head }, target } = plan;
  const isMeant = (id: string): boolean => id !== ralph.run.id;
  const reports = await branchRuns(ralph, { branch, head, base: target.onto, isMeant });
  const proof = await proofOf(ralph, plan, reports);
  const globs = ralph.config.tests.globs;
  const change = await branchChange(ralph, row, { from, head, globs, proof });
  const isChecked = proof !== null;
  const files = plan.isMerged ? [] : await stateToSetAside(ralph, row);
  const subjects =
    (await requireRepository(ralph).git(["log", "--no-merges", `-${READ_SUBJECTS}`, "--format=%s", target.onto]))
      .stdout.split("\n").filter(Boolean);
  const clean = flags.has("clean-history") && !plan.isMerged
    ? await cleanHistory(ralph, plan, { state, reports, change, subjects })
    : null;
  const { lines, message } = shown(plan, { isChecked, reports, files, clean, draft: flags.has("draft") });
  if (flags.has("dry-run")) {
    for (const line of [...lines, "", requestBody(reports, { change, more: doubtsOf(plan), proof }).trimEnd()]) {
      out(line);
    }
    return EXIT.done;
  }
  const formed = (goal: string): string => conventionalTitle(goal, { subjects, branch, files: change.files });
  const title = requestTitle(reports, branch, formed);
  ralph.events.emit({ type: "text", title, lines });
  if (plan.way === "merge") await refuseMerge(ralph, plan);
  const next = ["ralph finish --approve finish"];
  const consent = await askConsent(ralph, { name: "finish", message });
  if (consent === null) return EXIT.interrupted;
  if (!consent.yes) {
    ralph.events.emit({ type: "text", title: "Next", lines: next });
    return ralph.prompter.interactive ? EXIT.done : EXIT.blocked;
  }
  const proved = await prove(ralph, plan, { reports, proof, draft: flags.has("draft"), source: consent.source });
  if (proved === null) return EXIT.interrupted;
  const left = await leave(ralph, plan, { files, clean, proof: proved.proof });
  const more = [...doubtsOf(plan), ...proved.doubts];
  const facts = { change: { ...change, head: left.head }, more, proof: left.proof, instead: left.instead };
  return await finish(invocation, ralph, plan, { title, body: requestBody(reports, facts), head: left.head });
}

/** @throws {RalphError} usage */
function refuseBoth({ flags }: Invocation): void {
  if (flags.has("merge") && flags.has("draft")) {
    throw usage(
      "--merge and --draft exclude each other",
      "--merge merges here: there is no request that could be a draft",
    );
  }
  if (flags.has("squash") && flags.has("clean-history")) {
    throw usage("--squash and --clean-history exclude each other", "one commit of all, or one an item");
  }
}

/** Takes the state off the branch. @returns the commit that leaves, and what is proved of it */
async function leave(
  ralph: RalphContext,
  plan: FinishPlan,
  { files, clean, proof }: {
    readonly files: readonly string[];
    readonly clean: CleanHistory | null;
    readonly proof: Proof | null;
  },
): Promise<Awaited<ReturnType<typeof leaving>> & { readonly instead: ReadonlyMap<string, string> }> {
  const { work: { branch }, withHistory, remote } = plan;
  const cleaned = clean?.head ?? null;
  if (withHistory) await fetchArchives(requireRepository(ralph), remote!.name, branch);
  await setAside(ralph, branch, files, cleaned);
  return { ...await leaving(ralph, plan, { proof, cleaned }), instead: clean?.instead ?? new Map() };
}

/** The changes that no check has seen, for the person who merges the request. */
function doubtsOf({ work: { base }, behind, way, conflicts }: FinishPlan): readonly string[] {
  if (way === "merge" || behind === 0) return [];
  const more = `${base} had ${commitsText(behind)} more when this was made`;
  const both = conflicts.length === 0 ? "" : `; both have changed ${conflicts.join(", ")}`;
  return [`${more}: no check has seen both together${both}`];
}

async function finish(
  { flags, say }: Invocation,
  ralph: RalphContext,
  plan: FinishPlan,
  text: { readonly title: string; readonly body: string; readonly head: string },
): Promise<number> {
  const { work: { branch, base }, remote, forge } = plan;
  if (plan.way === "merge") {
    const commit = await mergeHere(ralph, plan, text);
    say(
      plan.isMerged
        ? `${base} has all that ${branch} holds, and is checked out now`
        : `${branch} is merged into ${base} as ${commit}, which is checked out now`,
    );
    const repository = requireRepository(ralph);
    const remove = await isAncestor(repository, branch, "HEAD") ? "-d" : "-D"; // what was squashed looks unmerged to git
    const isShared = (await repository.git(["remote"])).stdout.trim() !== "";
    say(`next: ${isShared ? "`git push` publishes it; " : ""}\`git branch ${remove} ${branch}\` removes the branch`);
    return EXIT.done;
  }
  const printed = await pushBranch(ralph, plan, text.head);
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
function shown(
  plan: FinishPlan,
  { isChecked, reports, files, clean, draft }: {
    readonly isChecked: boolean;
    readonly reports: readonly RunReport[];
    readonly files: readonly string[];
    readonly clean: CleanHistory | null;
    readonly draft: boolean;
  },
): { readonly lines: readonly string[]; readonly message: string } {
  const { work: { branch, base }, conflicts, behind, target, isMerged } = plan;
  const commits = clean?.subjects ?? plan.commits;
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
      isChecked || last.status !== "passed" ? "" : ", and the branch has moved since: it is checked before it leaves"
    }`;
  const both = plan.way === "merge" ? "both together are checked before the merge" : "no check has seen both";
  const lines = [
    `branch    ${workText(plan.work)}`,
    ...commits.length > SHOWN_COMMITS ? [`  … ${commits.length - SHOWN_COMMITS} earlier commits`] : [],
    ...commits.slice(-SHOWN_COMMITS).map((subject) => `  ${subject}`),
    `verdict   ${verdict}`,
    ...(last === undefined ? [] : [...doubtedChecks(last), ...noticeTexts(last)]).map((text) => `to know   ${text}`),
    ...behind === 0 ? [] : [`behind    ${base} has ${commitsText(behind)} that the branch has not: ${both}`],
    ...target.note === "" ? [] : [`base      ${target.note}`],
    ...conflicts.length === 0
      ? []
      : [`conflict  with ${base}: ${conflicts.join(", ")}`, `  to settle it first: ${wayOut(plan)}`],
    ...files.length === 0 ? [] : [
      `state     ${files.map((path) => basename(path)).join(", ")}: taken off the branch, kept in refs/ralph/archive${
        plan.withHistory ? `, here and at ${plan.remote?.name}` : ""
      }`,
    ],
    ...clean === null ? [] : ["history   written anew without state, as above; the archive keeps it as it was"],
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
