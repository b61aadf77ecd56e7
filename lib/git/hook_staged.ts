import { entriesAt, layEntries } from "./index_entries.ts";
import { withOwnIndex } from "./own_index.ts";
import { outputFrom, pathsBetween } from "./run_git.ts";
import type { WithIndex } from "./repository.ts";

/** Without hooks: these have run. */
const AMEND = ["-c", "core.hooksPath=/dev/null", "commit", "--amend", "--no-edit", "--quiet", "--cleanup=verbatim"];

/**
 * Makes the last commit again without these paths, as far as a hook has staged them (`git add -A`). Tree and index stay
 * as they are.
 *
 * @param base the commit that has them as they were; `null`: none has
 * @returns the paths that were taken out
 * @throws {RalphError} git-failed
 */
export async function takeOutStaged(
  repository: WithIndex,
  base: string | null,
  paths: ReadonlySet<string>,
): Promise<readonly string[]> {
  const staged = (await pathsBetween(repository, base, "HEAD")).filter((path) => paths.has(path));
  if (staged.length === 0) return [];
  const entries = await entriesAt(repository, base, staged);
  await withOwnIndex(repository, "empty", async (environment) => {
    await outputFrom(repository, ["read-tree", "HEAD"], { environment });
    await layEntries(repository, entries, environment);
    await outputFrom(repository, [...AMEND, "--allow-empty"], { environment });
  });
  return staged;
}
