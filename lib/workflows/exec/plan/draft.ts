import { storyCommands } from "../../../backlog/verify_commands.ts";
import type { Config } from "../../../config/types.ts";
import type { RalphContext } from "../../../context/context.ts";
import { defaultBranch } from "../../../git/default_branch.ts";
import { requireRepository } from "../../../git/repository.ts";
import { holdsOtherWork, isBranchName } from "../../../git/switch_branch.ts";
import { sameCriteria } from "../../stories.ts";
import type { Prd, Story } from "../types.ts";
import { validatePrd } from "../validate.ts";
import { idAfter } from "./base.ts";
import { readPrd } from "./turn.ts";
import type { PlanSession, PlanState } from "./state.ts";

/** The faults of a draft, all at once: of its form first, and then what a plan needs beyond it. */
export async function draftProblems({ ralph, state }: PlanSession, draft: unknown): Promise<readonly string[]> {
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
