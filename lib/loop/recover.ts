import type { RalphContext } from "../context/context.ts";
import type { Restore } from "../backlog/state_files.ts";
import type { TreeSnapshot } from "../git/types.ts";
import { modifiedAt } from "../host/files.ts";
import type { JournalKey } from "../backlog/journal_types.ts";
import { ownFiles } from "../context/own_files.ts";
import { createOwnership, type Ownership } from "./ownership.ts";
import type { Attempt, Backlog, Item } from "../backlog/types.ts";
import { requireRepository } from "../context/require_repository.ts";
import { type Committer, settleAndCommit, unchangedWork } from "./settle.ts";

/**
 * Brings a run that was killed to a clean start: manual edits are put back, what was begun is settled (as `interrupted`
 * where nothing is known of it), its commit is made up for. Where nothing was open, what a person changed since is the
 * new baseline.
 *
 * @returns whose the uncommitted changes in the tree are
 */
export async function recover<Data, Findings>(
  ralph: RalphContext,
  committer: Committer,
  backlog: Backlog<Data, Findings>,
  key: JournalKey,
  now: TreeSnapshot,
): Promise<Ownership> {
  const open = ralph.journal.open(key);
  const start = { leftovers: ralph.journal.leftovers(key) };
  if (open.length === 0) {
    await ralph.state.adopt(backlog.stateFiles);
    return createOwnership({ ...start, killed: null }, now);
  }

  await putBackEdits(ralph, backlog);
  const last = open.at(-1);
  const killed = last === undefined ? null : { itemId: last.item.id, userPaths: last.userPaths };
  const ownership = createOwnership({ ...start, killed }, now);
  for (const { item, attemptId, number, attempt, work } of open) {
    const known = attempt ?? interrupted(attemptId, number);
    const settled = await settleAndCommit(ralph, committer, {
      backlog,
      key,
      item: item as Item<Data>,
      attempt: known as Attempt<Findings>,
      work: unchangedWork(now, work),
    });
    ownership.committed(settled.committed);
    await ralph.journal.settled(key, item, settled.attempt, settled.settlement, ownership.workOf(item.id));
    const message = attempt === null
      ? `${item.id} was interrupted in attempt ${number} and is taken up again`
      : `${item.id} was being settled when Ralph was stopped: ${settled.settlement.status}`;
    ralph.events.emit({ type: "note", level: "info", message });
  }
  return ownership;
}

/** What the agent of a killed run may have left in the way: locks of its git, a damaged store. Before anything is read. */
export async function repairAfterKill<Data, Findings>(
  ralph: RalphContext,
  backlog: Pick<Backlog<Data, Findings>, "restore" | "stateFiles">,
): Promise<void> {
  const repository = requireRepository(ralph);
  const lastWord = await modifiedAt(ownFiles(repository, ralph.root).journal);
  if (lastWord !== null) await repository.clearLeftLocks(lastWord);
  await putBackEdits(ralph, backlog);
}

/** Restores what an agent edited in state files before its run was killed. */
async function putBackEdits(
  ralph: RalphContext,
  { stateFiles, restore }: { readonly stateFiles: readonly string[]; readonly restore?: Restore },
): Promise<void> {
  const takenBack = await ralph.state.putBack(await ralph.state.edited(stateFiles), restore);
  if (takenBack.length > 0) ralph.events.emit({ type: "state-put-back", paths: takenBack });
}

function interrupted(id: string, number: number): Attempt {
  return { id, number, claim: null, turn: null, verification: null, status: "interrupted" };
}
