import type { JournalKey } from "./journal_types.ts";
import type { Backlog } from "./types.ts";

/** Under which key a backlog's attempts stand: its name, and its scope or the branch that it asks for. */
export async function journalKeyOf<Data, Findings>(
  { name, scope, branch }: Pick<Backlog<Data, Findings>, "branch" | "name" | "scope">,
): Promise<JournalKey> {
  return { backlog: name, scope: scope ?? await branch?.() ?? "" };
}
