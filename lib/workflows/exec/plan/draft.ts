import type { Prd, Story } from "../types.ts";
import { validatePrd } from "../validate.ts";

/** A draft that may be reviewed, or what is wrong with it. */
export type DraftResult =
  | { readonly status: "valid"; readonly prd: Prd }
  | { readonly status: "invalid"; readonly errors: readonly string[] };

/** Checks a draft: the strict schema first, and then what a plan needs beyond it. */
export function checkDraft(draft: unknown): DraftResult {
  const errors = validatePrd(draft);
  if (errors.length > 0) return { status: "invalid", errors };
  const prd = draft as Prd;
  const ids = prd.userStories.map((story) => story.id);
  const problems = [
    ...(ids.length === 0 ? ["userStories: a draft needs at least one story"] : []),
    ...ids.flatMap((id, index) => id.trim() === "" ? [`userStories[${index}].id: must not be empty`] : []),
    ...ids.flatMap((id, index) => ids.indexOf(id) === index ? [] : [`userStories[${index}].id: ${id} is used twice`]),
  ];
  return problems.length > 0 ? { status: "invalid", errors: problems } : { status: "valid", prd };
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
