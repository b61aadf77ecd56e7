import { join } from "node:path";
import { PRD_FILE } from "../paths.ts";
import { formatPrd } from "../format.ts";
import { prdSummaryLines } from "../summary.ts";
import type { Prd } from "../types.ts";
import type { RalphContext } from "../../../context/context.ts";
import { requireRepository } from "../../../git/require_repository.ts";
import { enterBranch } from "../../../loop/run/branch.ts";
import { writeAtomic } from "../../../host/files.ts";
import { answerEntry } from "./questions.ts";
import { withOwnFields } from "./draft.ts";
import { readPrd } from "./prompt_values.ts";
import type { PlanSession } from "./session.ts";
import { summaryBody } from "./transcript.ts";

const CHANGE_QUESTION = "What should change?";

/**
 * Shows the draft and asks whether to write it. Yes writes it; no goes back to collecting, what to change first.
 *
 * @param folder absolute path of the run's folder, where a PRD that is overwritten goes
 */
export async function reviewDraft(session: PlanSession, folder: string): Promise<void> {
  const { ralph } = session;
  const existing = await readPrd(session);
  const updated = session.state.existing === "update" ? existing : null;
  const prd = withOwnFields(session.state.lastPrdDraft!, updated);
  if (session.state.approvedPrdAt === null) {
    const lines = [
      ...await baseLines(ralph, prd),
      ...prdSummaryLines(prd, ralph.config.verify.default),
      ...leftOutLines(existing, prd, session.state.existing),
    ];
    await session.save({ lastPrdDraft: prd }, [{ heading: "PRD summary", body: summaryBody(lines) }]);
    ralph.events.emit({ type: "text", title: "PRD", lines });
    const message = `Write this PRD to \`${PRD_FILE}\`?`;
    const { value, source } = await ralph.prompter.ask({
      id: "plan.write-prd",
      kind: "confirm",
      message,
      initial: false,
      gate: "prd",
    });
    const decision = {
      heading: value === "yes" ? "PRD approved" : "PRD not approved",
      body: [`${message} ${value} (${source})`],
    };
    if (value !== "yes") {
      await session.save({ state: "collect_context", changing: true }, [decision]);
      return;
    }
    await session.save({ approvedPrdAt: session.now() }, [decision]);
  }
  await writePrd(session, folder, existing, prd);
}

/** Asks what to change after a no. Nothing to change means that the person is done for now: the draft stays. */
export async function askForChange(session: PlanSession): Promise<"changes" | "declined"> {
  const askedAt = session.now();
  const { value, source } = await session.ralph.prompter.ask({
    id: "plan.change",
    kind: "text",
    message: CHANGE_QUESTION,
    placeholder: "nothing: stop here",
  });
  if (value.trim() === "") {
    await session.save({ state: "review_prd", changing: false });
    return "declined";
  }
  const { qa } = session.state;
  const answer = { id: `q-${qa.length + 1}`, question: CHANGE_QUESTION, answer: value, askedAt };
  await session.save({ changing: false, qa: [...qa, answer], rounds: 0, attempts: 0 }, [
    answerEntry(CHANGE_QUESTION, value, source),
  ]);
  return "changes";
}

/** Safe to be done again after a kill: the decision is saved already. */
async function writePrd(session: PlanSession, folder: string, existing: Prd | null, prd: Prd): Promise<void> {
  const { ralph } = session;
  const text = formatPrd(prd);
  await enterWorkBranch(ralph, prd.branchName);
  if (session.state.existing === "overwrite" && existing !== null && formatPrd(existing) !== text) {
    await writeAtomic(join(folder, "prd.json.before"), formatPrd(existing));
  }
  await ralph.state.update(PRD_FILE, () => text);
  await session.save({ state: "done" });
}

/** The plan is committed where the work will be, so that the branch that the person is on stays as it is. */
async function enterWorkBranch(ralph: RalphContext, named: string): Promise<void> {
  const branch = ralph.loop.branch ?? named;
  if (branch === "" || !ralph.config.commits.prdChanges) return;
  await enterBranch(ralph, branch);
}

/** Says where the work branch will begin, so that no one has to guess. */
async function baseLines(ralph: RalphContext, { branchName }: Prd): Promise<readonly string[]> {
  const current = await requireRepository(ralph).currentBranch();
  const wanted = ralph.loop.branch ?? branchName;
  return current === null || wanted === "" || current === wanted ? [] : [`Starts from: ${current}`];
}

/** A person should see what an approval takes away. */
function leftOutLines(existing: Prd | null, prd: Prd, mode: "update" | "overwrite" | null): readonly string[] {
  const gone = (existing?.userStories ?? []).filter((story) => !prd.userStories.some((other) => other.id === story.id));
  if (gone.length === 0) return [];
  const ids = gone.map(({ id, passes }) => passes ? `${id} (passes)` : id).join(", ");
  return [`${mode === "overwrite" ? "Overwrites" : "Leaves out"}: ${ids}`];
}
