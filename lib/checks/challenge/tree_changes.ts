import { outputFrom } from "../../git/output_from.ts";
import { withOwnIndex } from "../../git/own_index.ts";
import type { Repository } from "../../git/types.ts";

/** One path that differs between two trees, with what it is in the second. */
export interface TreeEntry {
  /** Relative to the top level. */
  readonly path: string;
  /** All zeros where it is gone. */
  readonly mode: string;
  readonly hash: string;
}

type Indexed = Pick<Repository, "git" | "gitDirectory">;

/**
 * Runs something in a folder that a commit is checked out in, and says what it changed there. Nothing in the folder but
 * its files is believed: index and objects are the repository's.
 *
 * @throws {RalphError} git-failed
 */
export async function changesDuring<Value>(
  repository: Indexed,
  { folder, commit }: { readonly folder: string; readonly commit: string },
  run: () => Promise<Value>,
): Promise<{ readonly value: Value; readonly changes: readonly TreeEntry[] }> {
  return await withOwnIndex(repository, false, async (index) => {
    const environment = { ...index, GIT_DIR: repository.gitDirectory, GIT_WORK_TREE: folder };
    const treeNow = async (): Promise<string> => {
      await outputFrom(repository, ["add", "--all"], { environment });
      return (await outputFrom(repository, ["write-tree"], { environment })).trim();
    };
    await outputFrom(repository, ["read-tree", commit], { environment });
    const before = await treeNow();
    const value = await run();
    return { value, changes: await changesBetween(repository, before, await treeNow()) };
  });
}

/** Paths that differ between two commits or trees. @throws {RalphError} git-failed */
export async function changesBetween(
  repository: Pick<Repository, "git">,
  from: string,
  to: string,
): Promise<readonly TreeEntry[]> {
  const text = await outputFrom(repository, ["diff-tree", "-r", "-z", "--raw", "--no-renames", from, to]);
  const parts = text.split("\0");
  const entries: TreeEntry[] = [];
  for (let index = 0; index + 1 < parts.length; index += 2) {
    const [, mode = "", , hash = ""] = (parts[index] ?? "").split(" ");
    entries.push({ path: parts[index + 1] ?? "", mode, hash });
  }
  return entries;
}

/** A commit on top of another with these entries; no branch has it. @throws {RalphError} git-failed */
export async function commitWith(repository: Indexed, base: string, entries: readonly TreeEntry[]): Promise<string> {
  return await withOwnIndex(repository, false, async (environment) => {
    await outputFrom(repository, ["read-tree", base], { environment });
    const input = entries.map(({ path, mode, hash }) => `${mode} ${hash}\t${path}\0`).join("");
    await outputFrom(repository, ["update-index", "-z", "--index-info"], { environment, input });
    const tree = (await outputFrom(repository, ["write-tree"], { environment })).trim();
    return (await outputFrom(repository, ["commit-tree", tree, "-p", base, "-m", "challenge"])).trim();
  });
}
