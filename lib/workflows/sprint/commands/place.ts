import { onlySprint, sprintDirectory, type SprintPaths, sprintPaths } from "../paths.ts";
import { createStateFiles, type StateFiles } from "../../../backlog/state_files.ts";
import { openRepository } from "../../../git/open_repository.ts";
import type { Host } from "../../../host/types.ts";
import { type ClaimMode, claimMode } from "../../../context/claim_mode.ts";
import { ownFiles } from "../../../context/context.ts";
import type { Invocation } from "../../../cli/command.ts";
import { resolveRoot } from "../../../cli/root.ts";

/** One sprint and its state, for commands that start no agent. */
export interface SprintPlace {
  /** Absolute path. */
  readonly root: string;
  readonly paths: SprintPaths;
  readonly state: StateFiles;
  readonly host: Host;
  /** How a command that changes the steps is carried out. */
  readonly mode: ClaimMode;
}

/** Finds the sprint that was named, as seen from the current folder, or the only one. @throws {RalphError} sprint-missing, path-outside-root */
export async function findSprint(
  invocation: Pick<Invocation, "flags" | "host" | "program">,
  named: string | undefined,
): Promise<SprintPlace> {
  const { host } = invocation;
  const root = await resolveRoot(invocation);
  const repository = await openRepository(host, root);
  const own = ownFiles(repository, root);
  const state = createStateFiles({ root, directory: own.directory, host });
  const mode = await claimMode({ root, repository, host });
  return { root, host, state, mode, paths: sprintPaths(root, await directoryOf({ root, host }, named)) };
}

/** The sprint's folder, relative to the root. @throws {RalphError} sprint-missing, path-outside-root */
export async function directoryOf(
  { root, host }: { readonly root: string; readonly host: Pick<Host, "environment"> },
  named: string | undefined,
): Promise<string> {
  return named === undefined || named === ""
    ? await onlySprint(root)
    : await sprintDirectory(root, host.environment.cwd, named);
}
