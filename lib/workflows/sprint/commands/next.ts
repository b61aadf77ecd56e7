import { sprintBacklog } from "../backlog.ts";
import { EXIT } from "../../../errors/exit_codes.ts";
import { openRepository } from "../../../git/open_repository.ts";
import { journalKeyOf } from "../../../backlog/journal_key.ts";
import { openJournal } from "../../../loop/journal.ts";
import { ownFiles } from "../../../context/own_files.ts";
import { printable, printableLine } from "../../../ui/printable.ts";
import type { Invocation } from "../../../cli/command.ts";
import type { Place } from "../../../cli/workspace.ts";
import { styleFor, toJson } from "../../../cli/show.ts";
import { findSprint } from "./place.ts";

/** `ralph next` in the sprint workflow: the mode and the step of the next iteration. */
export async function nextOfSprint(invocation: Invocation, { config }: Place): Promise<number> {
  const { flags, out, say } = invocation;
  const { root, paths, state, host } = await findSprint(invocation, undefined);
  const backlog = sprintBacklog({ root, state, host, config }, { directory: paths.directory });
  const repository = await openRepository(host, root);
  const journal = await openJournal(repository === null ? null : ownFiles(repository, root).journal);
  const next = await backlog.next({ inFlight: [], parked: journal.parked(await journalKeyOf(backlog)) });
  if (flags.has("json")) {
    out(toJson(next.status === "item" ? { status: next.status, ...next.item.data } : next));
  } else if (next.status === "item") {
    const { mode, iteration } = next.item.data;
    const { bold } = styleFor(invocation, "stdout");
    out(`${bold(mode)} ${printableLine(next.item.title)}`);
    out(`iteration ${iteration}`);
  } else if (next.status === "done") out(`the goal is reached: ${printable(next.summary ?? "")}`);
  else if (next.status === "blocked") { for (const reason of next.reasons) say(`blocked: ${printable(reason)}`); }
  return next.status === "blocked" ? EXIT.blocked : EXIT.done;
}
