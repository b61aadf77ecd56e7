import { storyCommands } from "../../../backlog/verify_commands.ts";
import type { Prd, Story } from "../types.ts";
import { validatePrd } from "../validate.ts";

/** A draft that may be reviewed, or what is wrong with it. */
export type DraftResult =
  | { readonly status: "valid"; readonly prd: Prd }
  | { readonly status: "invalid"; readonly errors: readonly string[] };

/** Ralph checks a draft against these facts, beside its form. */
export interface DraftSurroundings {
  /** Items need no check of their own: there are shared ones, or the agent's word counts. */
  readonly checked: boolean;
  /** Stories that are there and finished, by id: another one does not take the place of such a story. */
  readonly finished: ReadonlyMap<string, Story | null>;
  /** The first id that is free, or `null`. */
  readonly free: string | null;
  /** The problem with a branch of this name, or `null`. */
  branchProblem(branch: string): Promise<string | null>;
}

/** Checks a draft: the strict schema first, and then what a plan needs beyond it. All problems are reported at once. */
export async function checkDraft(draft: unknown, around: DraftSurroundings): Promise<DraftResult> {
  const errors = validatePrd(draft);
  if (errors.length > 0) return { status: "invalid", errors };
  const prd = draft as Prd;
  const ids = prd.userStories.map((story) => story.id);
  const branch = await around.branchProblem(prd.branchName);
  const problems = [
    ...(branch === null ? [] : [`branchName: ${branch}`]),
    ...(ids.length === 0 ? ["userStories: a draft needs at least one story"] : []),
    ...ids.flatMap((id, index) => id.trim() === "" ? [`userStories[${index}].id: must not be empty`] : []),
    ...ids.flatMap((id, index) => ids.indexOf(id) === index ? [] : [`userStories[${index}].id: ${id} is used twice`]),
    ...prd.userStories.flatMap((story, index) => takenProblems(story, `userStories[${index}]`, around)),
    ...prd.userStories.flatMap((story, index) => criteriaProblems(story, `userStories[${index}]`, around)),
  ];
  return problems.length > 0 ? { status: "invalid", errors: problems } : { status: "valid", prd };
}

function takenProblems(story: Story, place: string, { finished, free }: DraftSurroundings): readonly string[] {
  const before = finished.get(story.id);
  if (before === undefined) return [];
  if (before !== null && (before.title === story.title || sameCriteria(before, story))) return []; // it, changed perhaps
  const next = free === null ? "" : `, from ${free} on`;
  return [`${place}.id: ${story.id} is the id of a finished story: give new stories other ids${next}`];
}

/** A story that names nothing to be checked can never pass. */
function criteriaProblems(story: Story, place: string, { checked }: DraftSurroundings): readonly string[] {
  if (story.acceptanceCriteria.length === 0) return [`${place}.acceptanceCriteria: must not be empty`];
  if (checked || storyCommands(story).length > 0) return [];
  return [`${place}.acceptanceCriteria: no criterion names a check in the form Verify: \`command\``];
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

/** True when two PRDs ask for the same: Ralph's own fields do not count. */
export function asksTheSame(one: Prd, other: Prd): boolean {
  const asked = ({ branchName, userStories }: Prd): string =>
    JSON.stringify([
      branchName,
      userStories.map(({ id, title, acceptanceCriteria, priority }) => [id, title, acceptanceCriteria, priority]),
    ]);
  return asked(one) === asked(other);
}

function sameCriteria(one: Story, other: Story): boolean {
  return JSON.stringify(one.acceptanceCriteria) === JSON.stringify(other.acceptanceCriteria);
}
