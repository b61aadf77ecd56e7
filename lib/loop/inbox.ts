import { createInbox } from "../backlog/claims.ts";
import type { Backlog } from "../backlog/types.ts";
import type { RalphContext } from "../context/context.ts";
import { ownFiles } from "../context/own_files.ts";

/** Between two turns: hands the backlog what commands outside of a turn added meanwhile. */
export async function receiveInbox<Data, Findings>(
  ralph: Pick<RalphContext, "host" | "repository" | "root">,
  backlog: Pick<Backlog<Data, Findings>, "receive" | "stateFiles">,
): Promise<void> {
  if (backlog.receive === undefined) return;
  const { directory } = ownFiles(ralph.repository, ralph.root);
  const inbox = createInbox({ root: ralph.root, directory, host: ralph.host });
  for (const file of backlog.stateFiles) await inbox.take(file, async (claims) => await backlog.receive?.(claims));
}
