import { dirname, join } from "node:path";
import { RalphError } from "../errors/ralph_error.ts";
import { openRepository } from "../git/open_repository.ts";
import { createGit, outputOfGit } from "../git/run_git.ts";
import type { Repository } from "../git/types.ts";
import { ensureDirectory, hashText, listDirectory } from "../host/files.ts";
import type { Host } from "../host/types.ts";
import { repositoryName } from "./job.ts";
import { remoteUrl } from "./remote.ts";

/** A clone may be large, a line slow. */
const CLONE_MS = 60 * 60_000;

/** Where a worker's clone of a repository is, where nothing else is said. Absolute. */
export function clonePath({ environment: { home, variables } }: Pick<Host, "environment">, repository: string): string {
  const cache = variables["XDG_CACHE_HOME"] || join(home, ".cache");
  return join(cache, "ralph", "clones", hashText(repository).slice(0, 16));
}

/**
 * Clones a repository, or opens the clone that is there.
 *
 * @param path absolute
 * @throws {RalphError} clone-taken, git-failed
 */
export async function openClone(host: Host, url: string, path: string): Promise<Repository> {
  const found = await listDirectory(path);
  if (found.length === 0) {
    await ensureDirectory(dirname(path));
    const git = createGit(host, dirname(path));
    await outputOfGit(git, ["clone", "--quiet", "--no-checkout", "--", url, path], { timeoutMs: CLONE_MS });
  }
  const repository = await openRepository(host, path);
  const theirs = repository === null ? null : await remoteUrl(repository);
  if (repository === null || repository.topLevel !== path || repositoryName(theirs ?? "") !== repositoryName(url)) {
    throw new RalphError("clone-taken", { details: { path, repository: repositoryName(url) } });
  }
  return repository;
}
