import { note, type RalphContext } from "../../../context/context.ts";
import { plain, textOf, tryJson } from "../../plain.ts";
import { isoNow, localTime } from "../../../host/local_date.ts";
import { join } from "node:path";
import { CODEBASE_MAP_FILE, EXEC_FOLDER, EXEC_RUNS, PLAN_STATE_FILE } from "../types.ts";
import { scaffoldExec } from "../scaffold.ts";
import { prdSummaryLines } from "../format.ts";
import { usage } from "../../../cli/command.ts";
import { optionInvalid, type RalphError } from "../../../errors/ralph_error.ts";
import { pathExists, writeAtomic } from "../../../host/files.ts";
import { answerEntry } from "./questions.ts";
import { enterBase, takenIds } from "./base.ts";
import { isApprovedAs, readPrd } from "./turn.ts";
import * as planning from "./state.ts";
import type { PlanState } from "./schema.ts";
import { onOneLine } from "../../../prompts/render.ts";

/**
 * Makes what is missing, loads or begins the state, and asks what only a person can say before the first turn.
 *
 * @param goal `null` to resume whatever was begun
 * @param base the branch that a new goal starts from
 */
export async function preflight(
  ralph: RalphContext,
  goal: string | null,
  base?: string,
): Promise<planning.PlanSession> {
  const saved = await readState(ralph);
  if (goal === null && saved === null) {
    const problem = `there is no plan to continue with: ${PLAN_STATE_FILE} does not exist`;
    throw usage(problem, 'give a goal: `ralph plan "add a health endpoint"`');
  }
  if (saved !== null && saved.openTurn !== null) {
    const folder = await ralph.run.folder(EXEC_RUNS);
    await planning.restoreState(ralph, folder, `plan-${saved.turns}`, saved.openTurn.missing);
  }
  const before = await readPrd(ralph); // a damaged PRD is reported before anything is made
  if (goal !== null && (saved === null || (saved.state === "done" && !sameGoal(goal, saved.goal)))) {
    await enterBase(ralph, before, base);
  }
  const taken = takenIds(before, await readPrd(ralph));

  const mapWasMissing = !await pathExists(join(ralph.root, CODEBASE_MAP_FILE));
  if (!await pathExists(join(ralph.root, EXEC_FOLDER))) await scaffoldExec(ralph.root);
  const missing = await planning.missingStateFiles(ralph);
  await ralph.state.adopt(planning.PLAN_STATE_FILES.filter((path) => !missing.includes(path)));
  const { host, root } = ralph;
  const state = await kept(ralph, goal, saved) ??
    planning.newPlanState(
      { goal: goal ?? saved!.goal, root, session: host.ids.random(6), mapWasMissing, taken },
      isoNow(host),
    );
  const session = await planning.openSession(ralph, state);
  if (state === saved && state.root !== ralph.root) await session.save({ root: ralph.root });
  if (state !== saved) await session.save({}, [{ heading: "Goal", body: [planning.quoted(state.goal)] }]);
  if (session.state.state === "preflight") await askAboutExisting(session);
  return session;
}

/**
 * The state as the file has it. After a kill within a turn Ralph's own copy replaces what the agent made of the
 * file; what a person changed between two runs is theirs.
 */
async function readState(ralph: RalphContext): Promise<PlanState | null> {
  const content = await ralph.state.read(PLAN_STATE_FILE);
  if (content === null) return null;
  const [edit] = await ralph.state.edited([PLAN_STATE_FILE]);
  const written = edit === undefined ? null : planning.parsePlanState(edit.written);
  if (written === null || written.openTurn === null) return planning.parsePlanState(content);
  // of the same planning; a file that its agent damaged says nothing else
  const isSame = (textOf(plain(tryJson(content))["session"]) ?? written.session) === written.session;
  return isSame ? written : planning.parsePlanState(content);
}

/** The state that planning continues with; `null`: it begins anew. */
async function kept(ralph: RalphContext, goal: string | null, saved: PlanState | null): Promise<PlanState | null> {
  if (saved === null) return null;
  if (goal !== null && !sameGoal(goal, saved.goal)) {
    if (saved.state !== "done" && !await startsOver(ralph, goal, saved)) return saved;
    const folder = await ralph.run.folder(EXEC_RUNS);
    await writeAtomic(join(folder, "plan_state.json.before"), planning.formatPlanState(saved));
    return null;
  }
  if (saved.state === "done") return await stillApproved(ralph, saved) ? saved : null;
  const answers = saved.qa.length === 1 ? "1 answer" : `${saved.qa.length} answers`;
  const message = `continuing with the plan begun ${localTime(saved.createdAt)} (${answers} so far): ${saved.goal}`;
  note(ralph, "info", message);
  return saved;
}

async function startsOver(ralph: RalphContext, goal: string, saved: PlanState): Promise<boolean> {
  const { value } = await ralph.prompter.ask({
    id: "plan.other-goal",
    kind: "select",
    message: "Another goal is being planned here. Which one?",
    details: [`begun ${localTime(saved.createdAt)}: ${saved.goal}`, `now: ${goal}`],
    initial: "new",
    choices: [
      { value: "new", label: "the new goal", hint: "the old plan's answers stay in the transcript" },
      { value: "old", label: "continue with the old one" },
    ],
  });
  return value === "new";
}

async function stillApproved(ralph: RalphContext, saved: PlanState): Promise<boolean> {
  const same = isApprovedAs(saved, await readPrd(ralph));
  const approved = `this goal's PRD was approved ${localTime(saved.approvedPrdAt ?? "")} and is unchanged`;
  note(ralph, "info", same ? approved : "the PRD is no longer the one that was approved for this goal: planning again");
  return same;
}

/** Stories that are in the PRD are updated or overwritten; an empty one asks for nothing. */
async function askAboutExisting(session: planning.PlanSession): Promise<void> {
  const prd = await readPrd(session.ralph);
  if (prd === null || prd.userStories.length === 0) {
    await session.save({ state: "collect_context" });
    return;
  }
  const { ralph } = session;
  const lines = prdSummaryLines(prd);
  ralph.events.emit({ type: "text", title: "The PRD that is there", lines });
  const message = "Update this PRD or overwrite it?";
  const { value, source } = await ralph.prompter.ask({
    id: "plan.existing-prd",
    kind: "select",
    message,
    initial: "update",
    choices: [
      { value: "update", label: "update", hint: "stories that stay the same keep their result and notes" },
      { value: "overwrite", label: "overwrite", hint: "the old file goes to the run's folder" },
    ],
  });
  const existing = value === "overwrite" ? "overwrite" : "update";
  await session.save({ state: "collect_context", existing }, [
    { heading: "The PRD that was there", body: planning.summaryBody(lines) },
    answerEntry(message, value, source),
  ]);
}

/** White space does not count. */
export function sameGoal(one: string, other: string): boolean {
  return onOneLine(one) === onOneLine(other);
}

/** A goal of nothing but white space is none. */
export function goalMissing(value = ""): RalphError {
  const expected = "a sentence that says what is to be built";
  return optionInvalid("the goal", expected, JSON.stringify(value), 'try `ralph plan "add a health endpoint"`');
}
