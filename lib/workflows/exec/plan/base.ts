import type { RalphContext } from "../../../context/context.ts";
import { optionInvalid } from "../../../errors/ralph_error.ts";
import { commitAt, defaultBranch } from "../../../git/refs.ts";
import { type Repository, requireRepository } from "../../../git/repository.ts";
import { enterBranch } from "../../../loop/run/branch.ts";
import type { Prd } from "../types.ts";

/**
 * Goes to the branch that a new goal starts from. On the branch of an earlier goal that is not merged, the person says
 * whether the new one starts from the default branch, which is the default, or on top of it.
 *
 * @param prd the PRD that is here
 * @param asked the branch that a flag names
 * @throws {RalphError} option-invalid for a branch that is not there, branch-failed
 */
export async function enterBase(ralph: RalphContext, prd: Prd | null, asked: string | undefined): Promise<void> {
  const repository = requireRepository(ralph);
  if (asked !== undefined) {
    await ensureBase(repository, asked);
    return await enterBranch(ralph, asked);
  }
  const stacked = await stackedBranch(repository, prd);
  if (stacked === null) return;
  const { current, usual, ahead } = stacked;
  const { value } = await ralph.prompter.ask({
    id: "plan.base",
    kind: "select",
    message: "Where does the new goal start?",
    details: [`${current} holds ${ahead === 1 ? "1 commit" : `${ahead} commits`} that ${usual} has not got.`],
    initial: usual,
    choices: [
      { value: usual, label: usual, hint: `without ${current}, which stays as it is` },
      { value: current, label: current, hint: "on top of it: merging the new work merges it too" },
    ],
  });
  if (value === usual) await enterBranch(ralph, usual);
}

/** @throws {RalphError} option-invalid for a branch that is not there */
export async function ensureBase(repository: Repository, asked: string): Promise<void> {
  if (await commitAt(repository, `refs/heads/${asked}`) !== null) return;
  throw optionInvalid("--base", "the name of a branch that is here", asked, "`git branch` lists them");
}

/** The branch of an earlier goal that is checked out and not merged; `null`: a new goal starts where it is. */
export async function stackedBranch(
  repository: Repository,
  prd: Prd | null,
): Promise<{ readonly current: string; readonly usual: string; readonly ahead: number } | null> {
  const current = await repository.currentBranch();
  if (current === null || prd?.branchName !== current) return null;
  const usual = await defaultBranch(repository);
  if (usual === null || usual === current) return null;
  const ahead = Number((await repository.git(["rev-list", "--count", `${usual}..HEAD`])).stdout.trim());
  return ahead === 0 ? null : { current, usual, ahead };
}

/** The ids that no new story gets: those of finished stories, and all of a PRD that stays on another branch. */
export function takenIds(before: Prd | null, here: Prd | null): readonly string[] {
  const left = before !== null && here?.branchName !== before.branchName ? before.userStories : [];
  const finished = (here?.userStories ?? []).filter(({ passes }) => passes);
  return [...new Set([...left, ...finished].map(({ id }) => id))];
}

/** `US-003`, the id after these; `null` where they end with no number. */
export function idAfter(ids: readonly string[]): string | null {
  const numbered = ids.flatMap((id) => {
    const [, name, digits] = /^(.*?)(\d+)$/.exec(id) ?? [];
    return name === undefined || digits === undefined ? [] : [{ name, digits }];
  }).toSorted((one, other) => Number(one.digits) - Number(other.digits)).at(-1);
  return numbered === undefined
    ? null
    : `${numbered.name}${String(Number(numbered.digits) + 1).padStart(numbered.digits.length, "0")}`;
}
