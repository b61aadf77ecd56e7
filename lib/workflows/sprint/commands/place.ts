import { onlySprint, sprintDirectory, type SprintPaths, sprintPaths } from "../paths.ts";
import { createStateFiles, type StateFiles } from "../../../backlog/state_files.ts";
import { openRepository } from "../../../git/open_repository.ts";
import type { Host } from "../../../host/types.ts";
import { type ClaimMode, claimMode } from "../../../context/claim_mode.ts";
import { ownFiles } from "../../../context/own_files.ts";
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
  { flags, host }: Pick<Invocation, "flags" | "host">,
  named: string | undefined,
): Promise<SprintPlace> {
  const root = await resolveRoot(host.environment, flags.text("root"));
  const directory = named === undefined
    ? await onlySprint(root)
    : await sprintDirectory(root, host.environment.cwd, named);
  const repository = await openRepository(host, root);
  const own = ownFiles(repository, root);
  return {
    root,
    host,
    mode: await claimMode({ root, repository, host }),
    paths: sprintPaths(root, directory),
    state: createStateFiles({ root, directory: own.directory, host }),
  };
}
