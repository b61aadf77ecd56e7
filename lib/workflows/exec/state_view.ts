import type { StateFiles } from "../../backlog/state_files.ts";
import { createStateFiles } from "../../backlog/state_files.ts";
import { prdBacklog, type PrdItemData } from "./backlog.ts";
import type { Repository } from "../../git/types.ts";
import { openRepository } from "../../git/open_repository.ts";
import { journalKeyOf } from "../../backlog/journal_key.ts";
import { openJournal } from "../../loop/journal.ts";
import type { Backlog, ParkedItem } from "../../backlog/types.ts";
import { ownFiles } from "../../context/own_files.ts";
import type { Invocation } from "../../cli/command.ts";
import type { Place } from "../../cli/workspace.ts";

/** Where a workflow stands, for commands that only look: no agent, no lock, no shell. */
export interface StateView extends Place {
  readonly repository: Repository | null;
  readonly state: StateFiles;
  readonly backlog: Backlog<PrdItemData>;
  /** What was given up on. @throws {RalphError} state-missing, state-invalid: it is kept by the branch that the PRD names */
  readonly parked: () => Promise<readonly ParkedItem[]>;
}

/** Opens the state of the chosen workflow for reading. @throws {RalphError} git-missing, git-failed */
export async function viewState({ host }: Pick<Invocation, "host">, place: Place): Promise<StateView> {
  const repository = await openRepository(host, place.root);
  const own = ownFiles(repository, place.root);
  const state = createStateFiles({ root: place.root, directory: own.directory, host });
  const backlog = prdBacklog({ root: place.root, config: place.config, state, repository, host });
  const journal = await openJournal(repository === null ? null : own.journal);
  return { ...place, repository, state, backlog, parked: async () => journal.parked(await journalKeyOf(backlog)) };
}
