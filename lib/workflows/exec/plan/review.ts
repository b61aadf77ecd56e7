import { join } from "node:path";
import { storyCommands } from "../../../backlog/verify_commands.ts";
import { uncheckedLine } from "../../../checks/unchecked_items.ts";
import { localDate } from "../../../host/local_date.ts";
import { MOST_REOPENINGS } from "../../../loop/policy/progress.ts";
import type { Consent } from "../../../recipe/gate.ts";
import { CODEBASE_MAP_FILE, type Prd, PRD_FILE } from "../types.ts";
import { understandTriggers } from "../understand/gate.ts";
import { formatPrd } from "../format.ts";
import { prdSummaryLines } from "../summary.ts";
import type { RalphContext } from "../../../context/context.ts";
import { requireRepository } from "../../../git/repository.ts";
import { enterBranch } from "../../../loop/run/branch.ts";
import { writeAtomic } from "../../../host/files.ts";
import { saveAnswer } from "./questions.ts";
import { readPrd, withOwnFields } from "./turn.ts";
import { type PlanSession, summaryBody } from "./state.ts";

const CHANGE_QUESTION = "What should change?";

/** The decisions that a person made with the plan's key; absent: the gate asks for its own. */
export interface PlanConsents {
  readonly understand?: Consent;
  readonly run?: Consent;
}

/**
 * Shows the draft and asks what is to become of it: written, written and run, changed, or none of it now. A change goes
 * back to collecting; what it is is asked first.
 *
 * @param asked when understanding is asked for, where the run follows; `null`: only the plan is asked about
 */
export async function reviewDraft(
  session: PlanSession,
  asked: "auto" | "always" | "never" | null,
): Promise<PlanConsents | "change" | "declined"> {
  const { ralph } = session;
  // lines of a pipe were written before anyone read what a yes means: each consent has its own
  const andRun = ralph.host.terminal.interactive ? asked : null;
  const existing = await readPrd(ralph);
  const updated = session.state.existing === "update" ? existing : null;
  const prd = withOwnFields(session.state.lastPrdDraft!, updated);
  let consents: PlanConsents = {};
  if (session.state.approvedPrdAt === null) {
    const lines = [
      ...await baseLines(ralph, prd),
      ...prdSummaryLines(prd, ralph.config.verify.default),
      ...leftOutLines(existing, prd, session.state.existing),
      ...andRun === null ? [] : runLines(ralph, prd),
    ];
    await session.save({ lastPrdDraft: prd }, [{ heading: "PRD summary", body: summaryBody(lines) }]);
    ralph.events.emit({ type: "text", title: "PRD", lines });
    const offersMap = andRun !== null && await recommendsMap(session, andRun);
    const message = `Write this PRD to \`${PRD_FILE}\`?`;
    const choices = [
      { value: "yes", label: andRun === null ? "write it" : "write it and start the run" },
      ...offersMap ? [{ value: "understand", label: "explore the code before the run" }] : [],
      ...andRun === null ? [] : [{ value: "write", label: "write it only" }],
      { value: "change", label: "change it" },
      { value: "no", label: "not now" },
    ];
    const { value, source } = await ralph.prompter.ask({
      id: "plan.write-prd",
      kind: "select",
      keys: true,
      message,
      initial: "no",
      choices,
      gate: "prd",
    });
    const isWritten = value !== "no" && value !== "change";
    const decision = {
      heading: isWritten ? "PRD approved" : "PRD not approved",
      body: [`${message} ${value} (${source})`],
    };
    if (value === "no") await session.save({}, [decision]);
    if (value === "no") return "declined";
    if (value === "change") await session.save({ state: "collect_context", changing: true }, [decision]);
    if (value === "change") return "change";
    await session.save({ approvedPrdAt: session.now() }, [decision]);
    const isForAll = andRun !== null && source !== "approve" && source !== "answers";
    if (isForAll) {
      consents = {
        run: { yes: value !== "write", source },
        ...offersMap || value === "write" ? { understand: { yes: value === "understand", source } } : {},
      };
    }
  }
  await writePrd(session, existing, prd);
  return consents;
}

/** A run of this plan may take as many turns; a story that nothing checks is named before it is agreed to. */
function runLines({ config }: RalphContext, { userStories }: Prd): readonly string[] {
  const open = userStories.filter(({ passes }) => !passes);
  const unchecked = open.filter((story) => storyCommands(story).length === 0).map(({ id }) => id);
  const isBlocked = unchecked.length > 0 && config.verify.default.length === 0 && !config.verify.allowUnverified;
  return [
    `A run takes ${open.length} to ${open.length * (config.maxRetries + MOST_REOPENINGS)} agent turns`,
    ...isBlocked ? [uncheckedLine(unchecked)] : [],
  ];
}

/** Something speaks for understanding the code first, and no consent was given for it beforehand. */
async function recommendsMap({ ralph, state }: PlanSession, mode: "auto" | "always" | "never"): Promise<boolean> {
  if (mode === "never" || ralph.approvals.has("understand") || ralph.approvals.has("all")) return false;
  if (mode === "always") return true;
  const map = await ralph.state.read(CODEBASE_MAP_FILE);
  return understandTriggers({ ...state, map, today: localDate(ralph.host.clock.now()) }).reasons.length > 0;
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
