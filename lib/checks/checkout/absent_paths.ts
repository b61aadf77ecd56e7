import type { RalphContext } from "../../context/context.ts";
import { requireRepository } from "../../git/require_repository.ts";
import { createGit, outputOfGit, READING } from "../../git/run_git.ts";

/** Ralph's own folders: no check needs them. */
const OWN_REGEXP = /(^|\/)(\.ralph|runs|logs|transcripts)$/;

/** What the tree has and its commit has not, but what was copied; a folder is one path. Longer paths come first. */
export async function absentPaths(
  { host, ...place }: Pick<RalphContext, "host" | "repository" | "root">,
  copied: readonly string[],
): Promise<readonly string[]> {
  const git = createGit(host, requireRepository(place).topLevel);
  const text = await outputOfGit(git, ["ls-files", "-z", "--others", "--directory"], { environment: READING });
  const paths = text.split("\0").map((path) => path.replace(/\/$/, "")).filter((path) => path !== "");
  return paths.filter((path) => !copied.includes(path) && !OWN_REGEXP.test(path))
    .sort((one, other) => other.length - one.length);
}
