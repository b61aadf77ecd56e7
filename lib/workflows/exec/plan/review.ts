import { join } from "node:path";
import { PRD_FILE } from "../paths.ts";
import { formatPrd } from "../format.ts";
import { prdSummaryLines } from "../summary.ts";
import type { Prd } from "../types.ts";
import type { RalphContext } from "../../../context/context.ts";
import { requireRepository } from "../../../git/require_repository.ts";
import { enterBranch } from "../../../loop/run/branch.ts";
import { writeAtomic } from "../../../host/files.ts";
import { saveAnswer } from "./questions.ts";
import { withOwnFields } from "./draft.ts";
import { readPrd } from "./prompt_values.ts";
import type { PlanSession } from "./session.ts";
import { summaryBody } from "./transcript.ts";

const CHANGE_QUESTION = "What should change?";

/** Shows the draft and asks whether to write it. Yes writes it; no goes back to collecting, what to change first. */
export async function reviewDraft(session: PlanSession): Promise<void> {
  const { ralph } = session;
  const existing = await readPrd(ralph);
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
    const question = { id: "plan.write-prd", kind: "confirm", message, initial: false, gate: "prd" } as const;
    const { value, source } = await ralph.prompter.ask(question);
    const heading = value === "yes" ? "PRD approved" : "PRD not approved";
    const decision = { heading, body: [`${message} ${value} (${source})`] };
    if (value !== "yes") {
      await session.save({ state: "collect_context", changing: true }, [decision]);
      return;
    }
    await session.save({ approvedPrdAt: session.now() }, [decision]);
  }
  await writePrd(session, existing, prd);
}

/** Asks what to change after a no. Nothing to change means that the person is done for now: the draft stays. */
export async function askForChange(session: PlanSession): Promise<"changes" | "declined"> {
  const askedAt = session.now();
  const answer = await session.ralph.prompter.ask({
    id: "plan.change",
    kind: "text",
    message: CHANGE_QUESTION,
    placeholder: "nothing: stop here",
  });
  if (answer.value.trim() === "") {
    await session.save({ state: "review_prd", changing: false });
    return "declined";
  }
  const said = { question: CHANGE_QUESTION, askedAt, ...answer };
  await saveAnswer(session, said, { changing: false, rounds: 0, attempts: 0 });
  return "changes";
}

/** Safe to be done again after a kill: the decision is saved already. */
async function writePrd(session: PlanSession, existing: Prd | null, prd: Prd): Promise<void> {
  const { folder, ralph } = session;
  const text = formatPrd(prd);
  // the plan is committed where the work will be, so that the branch that the person is on stays as it is
  const branch = ralph.loop.branch ?? prd.branchName;
  if (branch !== "" && ralph.config.commits.prdChanges) await enterBranch(ralph, branch);
  if (session.state.existing === "overwrite" && existing !== null && formatPrd(existing) !== text) {
    await writeAtomic(join(folder, "prd.json.before"), formatPrd(existing));
  }
  await ralph.state.update(PRD_FILE, () => text);
  await session.save({ state: "done" });
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
