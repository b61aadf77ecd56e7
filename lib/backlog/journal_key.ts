import type { JournalKey } from "./journal_types.ts";
import type { Backlog } from "./types.ts";

/** The key of a backlog's attempts in the journal: its name, and its scope or the branch that it asks for. */
export async function journalKeyOf<Data, Findings>(
  { name, scope, branch }: Pick<Backlog<Data, Findings>, "branch" | "name" | "scope">,
): Promise<JournalKey> {
  return { backlog: name, scope: scope ?? await branch?.() ?? "" };
}
