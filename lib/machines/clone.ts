import { dirname, join } from "node:path";
import { RalphError } from "../errors/ralph_error.ts";
import { openRepository } from "../git/open_repository.ts";
import { createGit, outputOfGit } from "../git/run_git.ts";
import type { Repository } from "../git/repository.ts";
import { cacheFolder } from "../host/cache_folder.ts";
import { ensureDirectory, hashText, listDirectory, pathExists } from "../host/files.ts";
import type { Host } from "../host/types.ts";
import { repositoryName } from "./job.ts";
import { remoteUrl } from "./remote.ts";

/** Between tries to reach the remote. */
const PAUSES_MS: readonly number[] = [2_000, 10_000];
/** A clone may be large, a line slow. */
const CLONE_MS = 60 * 60_000;

/** The path of a worker's clone of a repository, if no other is given. Absolute. */
export async function clonePath(host: Pick<Host, "environment">, repository: string): Promise<string> {
  return join(await cacheFolder(host), "ralph", "clones", hashText(repository).slice(0, 16));
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
    const clone = ["clone", "--quiet", "--no-checkout", "--", url, path];
    for (const pause of PAUSES_MS) { // git takes away what a broken line left
      if ((await git(clone, { timeoutMs: CLONE_MS })).exitCode === 0) break;
      await host.clock.sleep(pause);
    }
    if (!await pathExists(join(path, ".git"))) await outputOfGit(git, clone, { timeoutMs: CLONE_MS });
  }
  const repository = await openRepository(host, path);
  const theirs = repository === null ? null : await remoteUrl(repository);
  if (repository === null || repository.topLevel !== path || repositoryName(theirs ?? "") !== repositoryName(url)) {
    throw new RalphError("clone-taken", { details: { path, repository: repositoryName(url) } });
  }
  return repository;
}
