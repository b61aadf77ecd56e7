import { join } from "node:path";
import type { RalphContext } from "../context/context.ts";
import type { Archived } from "../git/archive.ts";
import { requireRepository, topLevelPaths } from "../git/repository.ts";
import { pathExists } from "../host/files.ts";

/** Lays state in that `ralph finish` took off a branch; what is there stays as it is. @returns what was laid in */
export async function layInFiles(
  ralph: RalphContext,
  { ref }: Pick<Archived, "ref">,
  files: readonly string[],
): Promise<readonly string[]> {
  const { git } = requireRepository(ralph);
  const laid: string[] = [];
  for (const path of files) {
    if (await pathExists(join(ralph.root, path))) continue;
    const words = ["restore", `--source=${ref}`, "--worktree", "--", ...topLevelPaths(ralph, [path])];
    const { exitCode } = await git(words, { environment: { GIT_LITERAL_PATHSPECS: "1" } });
    if (exitCode === 0) laid.push(path);
  }
  await ralph.state.adopt(laid);
  return laid;
}
