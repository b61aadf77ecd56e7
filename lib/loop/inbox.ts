import { createInbox } from "../backlog/claims.ts";
import type { Backlog } from "../backlog/types.ts";
import type { RalphContext } from "../context/context.ts";
import { ownFiles } from "../context/own_files.ts";

/**
 * Between two turns: hands the backlog what commands outside of a turn added meanwhile.
 *
 * @returns how many lines there were
 */
export async function receiveInbox<Data, Findings>(
  ralph: Pick<RalphContext, "host" | "repository" | "root">,
  backlog: Pick<Backlog<Data, Findings>, "receive" | "stateFiles">,
): Promise<number> {
  if (backlog.receive === undefined) return 0;
  const { directory } = ownFiles(ralph.repository, ralph.root);
  const inbox = createInbox({ root: ralph.root, directory, host: ralph.host });
  let received = 0;
  for (const file of backlog.stateFiles) {
    await inbox.take(file, async (claims) => {
      received += claims.length;
      await backlog.receive?.(claims);
    });
  }
  return received;
}
