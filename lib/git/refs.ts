import { outputFrom } from "./run_git.ts";
import type { WithGit } from "./repository.ts";

/** The commit of a name; `null` where there is none. */
export async function commitAt({ git }: WithGit, name: string): Promise<string | null> {
  const found = await git(["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`]);
  return found.exitCode === 0 ? found.stdout.trim() : null;
}

/** True where one commit is another, or is part of its history. */
export async function isAncestor({ git }: WithGit, one: string, other: string): Promise<boolean> {
  return (await git(["merge-base", "--is-ancestor", one, other])).exitCode === 0;
}

/** Names of the refs below folders such as `refs/ralph/jobs/`. @throws {RalphError} git-failed */
export async function refsBelow(repository: WithGit, ...folders: readonly string[]): Promise<readonly string[]> {
  const listed = await outputFrom(repository, ["for-each-ref", "--format=%(refname)", ...folders]);
  return listed.split("\n").filter((ref) => ref !== "");
}

/** Deletes refs, all of them or none. @throws {RalphError} git-failed */
export async function deleteRefs(repository: WithGit, refs: readonly string[]): Promise<void> {
  if (refs.length === 0) return;
  await outputFrom(repository, ["update-ref", "--stdin"], { input: refs.map((ref) => `delete ${ref}\n`).join("") });
}
