/**
 * State of runs whose branch has left: one ref each time, below the name of the branch.
 *
 * @module
 */
import type { WithGit, WithIndex } from "./repository.ts";
import { mayHaveRefs, outputFrom } from "./run_git.ts";

/** The folder of the refs. */
export const ARCHIVE_REFS = "refs/ralph/archive";

/** State that `ralph finish` took off a branch. */
export interface Archived {
  readonly ref: string;
  readonly number: number;
  /** The commit that the branch went on from: the one that it was taken from, or the last one of a clean history. */
  readonly parent: string;
  /** The commit of the branch that it was taken from. */
  readonly from: string;
  readonly tree: string;
}

/** The subject of the commit that takes the state off a branch. */
export function removalSubject(branch: string): string {
  return `chore: remove the state of ${branch}`;
}

/** All that is kept of a branch, the newest first. */
export async function archivesOf({ git, gitDirectory }: WithIndex, branch: string): Promise<readonly Archived[]> {
  const prefix = `${ARCHIVE_REFS}/${branch}/`;
  if (!await mayHaveRefs(gitDirectory, prefix)) return [];
  const { stdout } = await git(["for-each-ref", "--format=%(refname) %(tree) %(parent)", prefix]);
  const all = stdout.split("\n").flatMap((line): readonly Archived[] => {
    const [ref = "", tree = "", parent = "", from = parent] = line.split(" ");
    const number = Number(ref.slice(prefix.length));
    return ref !== "" && Number.isInteger(number) ? [{ ref, number, parent, from, tree }] : [];
  });
  return all.sort((one, other) => other.number - one.number);
}

/** The newest one of a branch; `null`: there is none. */
export async function newestArchive(repository: WithIndex, branch: string): Promise<Archived | null> {
  return (await archivesOf(repository, branch))[0] ?? null;
}

/** The name for one more. */
export function nextArchive(branch: string, newest: Archived | null): string {
  return `${ARCHIVE_REFS}/${branch}/${(newest?.number ?? 0) + 1}`;
}

/** All that is kept of a branch, as git fetches and pushes it: never by force. */
export function archiveRefspec(branch: string): string {
  const all = `${ARCHIVE_REFS}/${branch}/*`;
  return `${all}:${all}`;
}

/** Fetches all that a remote keeps of a branch. @throws {RalphError} git-failed, also where it has another one of the same number */
export async function fetchArchives({ git }: WithGit, remote: string, branch: string): Promise<void> {
  await outputFrom({ git }, ["fetch", "--quiet", "--no-tags", "--end-of-options", remote, archiveRefspec(branch)]);
}
