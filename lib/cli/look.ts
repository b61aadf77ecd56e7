import type { Backlog, ParkedItem } from "../backlog/types.ts";
import { journalKeyOf } from "../backlog/attempts.ts";
import { createStateFiles, type StateFiles } from "../backlog/state_files.ts";
import { type OwnFiles, ownFiles } from "../context/context.ts";
import { openRepository } from "../git/open_repository.ts";
import type { Repository } from "../git/repository.ts";
import type { Host } from "../host/types.ts";
import { pathExists } from "../host/path_facts.ts";
import type { Journal } from "../backlog/journal_types.ts";
import type { Style } from "../ui/printable.ts";
import type { Invocation } from "./command.ts";
import { styleFor } from "./show.ts";
import type { Place } from "./workspace.ts";

/** A project as commands see it that only look: no agent, no lock, no shell. */
export interface Look extends Place {
  readonly host: Host;
  readonly repository: Repository | null;
  readonly own: OwnFiles;
  readonly state: StateFiles;
  /** The argument of the command, which says what of the workflow is meant; "" where there was none. */
  readonly scope: string;
  /** How text is drawn on standard output. */
  readonly style: Style;
  readonly say: (text: string) => void;
}

/** Opens a project for reading. @throws {RalphError} git-missing, git-failed */
export async function openLook(
  invocation: Pick<Invocation, "flags" | "host" | "say">,
  place: Place,
  scope: string = "",
): Promise<Look> {
  const { host, say } = invocation;
  const repository = await openRepository(host, place.root);
  const own = ownFiles(repository, place.root);
  const state = createStateFiles({ root: place.root, directory: own.directory, host });
  return { ...place, host, repository, own, state, scope, style: styleFor(invocation, "stdout"), say };
}

/** The journal of the project's runs, or `null` before the first one: what reads it is loaded where there is one. */
export async function journalIn({ own, repository }: Pick<Look, "own" | "repository">): Promise<Journal | null> {
  if (repository === null || !await pathExists(own.journal)) return null;
  return await (await import("../loop/journal/journal.ts")).openJournal(own.journal);
}

/** The items that the loop gave up on. */
export async function parkedIn<Data, Findings>(
  look: Pick<Look, "own" | "repository">,
  backlog: Pick<Backlog<Data, Findings>, "brief" | "name" | "scope">,
): Promise<readonly ParkedItem[]> {
  const journal = await journalIn(look);
  return journal === null ? [] : journal.parked(await journalKeyOf(backlog));
}
