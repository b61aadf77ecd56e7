import { outputFrom } from "../../git/run_git.ts";
import { withOwnIndex } from "../../git/own_index.ts";
import type { Repository } from "../../git/types.ts";
import type { Entries, TreeEntry } from "../experiment/commits.ts";
import { laidOver } from "../experiment/question.ts";

/** Paths that differ, with what they are now; `null` for one that is gone. */
export type Changes = ReadonlyMap<string, TreeEntry | null>;

/**
 * Runs something in a folder that a commit is checked out in. Nothing in the folder but its files is believed: index and
 * objects are the repository's.
 *
 * @returns what it gave, and git's names of the trees before and after it
 * @throws {RalphError} git-failed
 */
export async function treesAround<Value>(
  repository: Pick<Repository, "git" | "gitDirectory">,
  { folder, commit }: { readonly folder: string; readonly commit: string },
  run: () => Promise<Value>,
): Promise<{ readonly value: Value; readonly before: string; readonly after: string }> {
  return await withOwnIndex(repository, "empty", async (index) => {
    const environment = { ...index, GIT_DIR: repository.gitDirectory, GIT_WORK_TREE: folder };
    const treeNow = async (): Promise<string> => {
      await outputFrom(repository, ["add", "--all"], { environment });
      return (await outputFrom(repository, ["write-tree"], { environment })).trim();
    };
    await outputFrom(repository, ["read-tree", commit], { environment });
    const before = await treeNow();
    const value = await run();
    return { value, before, after: await treeNow() };
  });
}

/** The differences between two trees, of the paths that count. Pure. */
export function changesOf(before: Entries, after: Entries, counts: (path: string) => boolean): Changes {
  return new Map([...laidOver(before, after)].filter(([path]) => counts(path)));
}
