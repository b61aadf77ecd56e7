import { entriesAt } from "./index_entries.ts";
import { treeWith } from "./own_index.ts";
import { commitTree } from "./refs.ts";
import { pathsBetween } from "./run_git.ts";
import { commitsBetween } from "./take_out.ts";
import type { WithIndex } from "./repository.ts";

/** A commit that hooks have looked at. */
interface HookedCommit {
  readonly commit: string;
  /** The commit below it; `null`: there is none. */
  readonly tip: string | null;
  /** The ref that it is the tip of, and HEAD is at; `null`: somebody has gone on from there. */
  readonly ref: string | null;
  /** The commit that has the others' paths as they were; `null`: none has. */
  readonly base: string | null;
}

/** Paths that a hook has staged. */
interface HookStaged {
  readonly out: readonly string[];
  /** These are still in the commit: somebody has gone on from there. */
  readonly left: readonly string[];
}

/**
 * Makes a commit again without these paths, as far as a hook has staged them (`git add -A`). Tree and index stay as they
 * are, and so does a branch on which somebody has committed since.
 *
 * @throws {RalphError} git-failed
 */
export async function takeOutStaged(
  repository: WithIndex,
  { commit, tip, ref, base }: HookedCommit,
  paths: ReadonlySet<string>,
): Promise<HookStaged & { readonly commit: string }> {
  const staged = (await pathsBetween(repository, base, commit)).filter((path) => paths.has(path));
  if (staged.length === 0) return { commit, out: [], left: [] };
  const known = ref === null ? undefined : (await commitsBetween(repository, tip, commit)).at(-1);
  if (ref === null || known === undefined) return { commit, out: [], left: staged };
  const tree = await treeWith(repository, commit, await entriesAt(repository, base, staged));
  const signs = (await repository.git(["config", "--type=bool", "--get", "commit.gpgSign"])).stdout.trim() === "true";
  const made = await commitTree(repository, tree, { ...known, ...signs && { options: ["-S"] } });
  const end = await repository.git(["update-ref", "-m", "ralph: without what a hook staged", ref, made, commit]);
  return end.exitCode === 0 ? { commit: made, out: staged, left: [] } : { commit, out: [], left: staged };
}
