import type { RalphContext } from "../../../context/context.ts";
import { LIST_BYTES, onOneLine, type PromptValuesOf, quoted, renderPrompt, windowed } from "../../../prompts/render.ts";
import { requireRepository } from "../../../git/repository.ts";
import { type PlannerTurn, plannerTurn } from "../../planner_turn.ts";
import * as planning from "./state.ts";
import type { PlanState } from "./schema.ts";
import { CODEBASE_MAP_FILE, EXEC_FOLDER, type Prd, PRD_FILE, type Story, validatePrd } from "../types.ts";
import { parseCodebaseMap } from "../understand/codebase_map.ts";
import { formatPrd, parsePrd } from "../format.ts";
import { suggestChecks } from "../../../backlog/suggest_checks.ts";
import { idAfter } from "./base.ts";
import { storyCommands } from "../../../backlog/verify_commands.ts";
import type { Config } from "../../../config/load.ts";
import { defaultBranch } from "../../../git/refs.ts";
import { holdsOtherWork, isBranchName } from "../../../git/switch_branch.ts";
import { sameCriteria } from "../../stories.ts";

/** Gives the planner's agent one turn. State files are restored after it. */
export async function planTurn(session: planning.PlanSession, signal: AbortSignal): Promise<PlannerTurn> {
  const { folder, ralph } = session;
  const number = session.state.turns + 1;
  const name = `plan-${number}`;
  const missing = await planning.missingStateFiles(ralph);
  return await plannerTurn(ralph, {
    prompt: async () => await renderPrompt("exec_plan", await plannerValues(session), { root: ralph.root }),
    name,
    folder,
    allow: [`${EXEC_FOLDER}/**`],
    stateFiles: planning.PLAN_STATE_FILES,
    signal,
    begun: () => session.save({ turns: number, openTurn: { missing } }),
    async ended() {
      await planning.restoreState(ralph, folder, name, missing);
      await session.save({ openTurn: null });
    },
  });
}

/** Rounds of questions after which the agent has to draft. */
export const MAX_ROUNDS = 10;

/** Characters of the codebase map that the prompt carries. */
const MAP_CHARACTERS = 24_000;

/** The values that fill the planner's prompt. */
async function plannerValues({ ralph, state }: planning.PlanSession): Promise<PromptValuesOf<"exec_plan">> {
  return {
    goal: quoted(state.goal),
    answers: answersValue(state),
    existing: [
      state.existing === "update" ? prdValue(await readPrd(ralph)) : "None: this is a new PRD.",
      ...takenLines(state),
    ].join("\n\n"),
    draft: state.lastPrdDraft === null ? "None yet." : quoted(formatPrd(state.lastPrdDraft)),
    map: mapValue(await ralph.state.read(CODEBASE_MAP_FILE)),
    commands: await commandsValue(ralph.root, ralph.config.verify.default),
    round: roundValue(state),
    errors: errorsValue(state),
  };
}

/** The PRD in the file, or `null`. @throws {RalphError} state-invalid */
export async function readPrd({ state }: Pick<RalphContext, "state">): Promise<Prd | null> {
  const text = await state.read(PRD_FILE);
  return text === null ? null : parsePrd(text, PRD_FILE);
}

function takenLines({ taken }: PlanState): readonly string[] {
  if (taken.length === 0) return [];
  const next = idAfter(taken);
  return [
    `These ids are taken: ${taken.join(", ")}. New stories get others${next === null ? "" : `, from ${next} on`}.`,
  ];
}

function answersValue({ qa }: PlanState): string {
  if (qa.length === 0) return "None yet.";
  return quoted(
    qa.map(({ question, answer }) => `Q: ${question}\nA: ${answer === "" ? "(no answer)" : answer}`).join("\n\n"),
  );
}

function prdValue(prd: Prd | null): string {
  if (prd === null) return "None.";
  const whole = formatPrd(prd).trimEnd();
  if (Buffer.byteLength(whole) <= LIST_BYTES) return quoted(whole);
  const lines = prd.userStories.map(({ id, title, passes }) =>
    `- ${id} (${passes ? "passed" : "open"}): ${onOneLine(title)}`
  );
  const open = prd.userStories.findIndex(({ passes }) => !passes);
  return quoted(windowed(lines, { at: open === -1 ? lines.length - 1 : open, rest: `\`${PRD_FILE}\`` }));
}

function mapValue(map: string | null): string {
  if (map === null || parseCodebaseMap(map).entries.length === 0) return "It holds no notes yet.";
  if (map.length <= MAP_CHARACTERS) return map.trim();
  return `${map.slice(0, MAP_CHARACTERS).trim()}\n\n(The rest is in ${CODEBASE_MAP_FILE}.)`;
}

async function commandsValue(root: string, always: readonly string[]): Promise<string> {
  const lines = [
    ...(await suggestChecks(root)).map(({ command, from }) => `- \`${command}\` (${from})`),
    ...always.map((command) => `- \`${command}\` runs for every story anyway (ralph.config.json)`),
  ];
  return lines.length === 0 ? "None." : lines.join("\n");
}

function roundValue({ rounds }: PlanState): string {
  if (rounds < MAX_ROUNDS) return "";
  return `You have asked ${rounds} rounds of questions. Ask nothing more: give a draft now, and name what is still open in \`uncertainties\`.`;
}

function errorsValue({ refused }: PlanState): string {
  if (refused === null) return "";
  return [
    "## Your last answer was refused",
    refused.errors.map((error) => `- ${error}`).join("\n"),
    ...(refused.reply === "" ? [] : ["It was:", refused.reply]),
    "Answer again, with valid JSON only, and with these errors fixed.",
  ].join("\n\n");
}

/** The faults of a draft, all at once: of its form first, and then what a plan needs beyond it. */
export async function draftProblems(
  { ralph, state }: planning.PlanSession,
  draft: unknown,
): Promise<readonly string[]> {
  const errors = validatePrd(draft);
  if (errors.length > 0) return errors;
  const { branchName, userStories } = draft as Prd;
  const here = await readPrd(ralph);
  const stories = here?.userStories ?? [];
  const ids = userStories.map(({ id }) => id);
  const branch = await branchProblem(ralph, branchName, here);
  const free = idAfter([...state.taken, ...stories.map(({ id }) => id)]);
  const next = free === null ? "" : `, from ${free} on`;
  return [
    ...(branch === null ? [] : [`branchName: ${branch}`]),
    ...(ids.length === 0 ? ["userStories: a draft needs at least one story"] : []),
    ...ids.flatMap((id, index) => id.trim() === "" ? [`userStories[${index}].id: must not be empty`] : []),
    ...ids.flatMap((id, index) => ids.indexOf(id) === index ? [] : [`userStories[${index}].id: ${id} is used twice`]),
    ...userStories.flatMap((story, index) =>
      isTaken(story, stories, state.taken)
        ? [`userStories[${index}].id: ${story.id} is the id of a finished story: give new stories other ids${next}`]
        : []
    ),
    ...userStories.flatMap((story, index) =>
      criteriaProblems(story, ralph.config.verify).map((problem) =>
        `userStories[${index}].acceptanceCriteria: ${problem}`
      )
    ),
  ];
}

async function branchProblem(ralph: RalphContext, branch: string, here: Prd | null): Promise<string | null> {
  const repository = requireRepository(ralph);
  if (!await isBranchName(repository.git, branch)) return `git refuses the branch name ${branch}`;
  if (ralph.loop.branch !== undefined) return null;
  if (branch !== here?.branchName && branch === await defaultBranch(repository)) {
    return `${branch} takes finished work: name another branch`;
  }
  if (!await holdsOtherWork(repository, branch)) return null;
  return `the branch ${branch} exists and holds commits that are not here: name another branch`;
}

/** Another story does not take the place of one that is finished; the same one, changed perhaps, does. */
function isTaken(story: Story, stories: readonly Story[], taken: readonly string[]): boolean {
  const before = stories.find(({ id }) => id === story.id);
  if (before === undefined) return taken.includes(story.id);
  return before.passes && before.title !== story.title && !sameCriteria(before, story);
}

/** A story that names nothing to be checked can never pass. */
function criteriaProblems(story: Story, { default: shared, allowUnverified }: Config["verify"]): readonly string[] {
  if (story.acceptanceCriteria.length === 0) return ["must not be empty"];
  const isEnough = allowUnverified || shared.length > 0 || storyCommands(story).length > 0;
  return isEnough ? [] : ["no criterion names a check in the form Verify: `command`"];
}

/**
 * The draft with Ralph's own fields: a story of the PRD that is being updated keeps `passes` and `notes` where id and
 * criteria are the same; no other story passes, whatever the agent wrote.
 */
export function withOwnFields(draft: Prd, kept: Prd | null): Prd {
  return {
    branchName: draft.branchName,
    userStories: draft.userStories.map((story) => {
      const before = kept?.userStories.find((other) => other.id === story.id && sameCriteria(other, story));
      return before === undefined
        ? { ...story, passes: false }
        : { ...story, passes: before.passes, notes: before.notes };
    }),
  };
}

/** The PRD asks for what was approved: Ralph's own fields do not count. */
export function isApprovedAs({ approvedPrdAt, lastPrdDraft }: PlanState, prd: Prd | null): boolean {
  if (approvedPrdAt === null || lastPrdDraft === null || prd === null) return false;
  const [approved, now] = [lastPrdDraft, prd].map(({ branchName, userStories }) =>
    JSON.stringify([
      branchName,
      userStories.map(({ id, title, acceptanceCriteria, priority }) => [id, title, acceptanceCriteria, priority]),
    ])
  );
  return approved === now;
}
