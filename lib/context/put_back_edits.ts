import type { Restore } from "../backlog/state_files.ts";
import type { RalphContext } from "./context.ts";

/** Puts back what an agent did to state files by hand before its run was killed. */
export async function putBackEdits(
  ralph: RalphContext,
  { stateFiles, restore }: { readonly stateFiles: readonly string[]; readonly restore?: Restore },
): Promise<void> {
  const takenBack = await ralph.state.putBack(await ralph.state.edited(stateFiles), restore);
  if (takenBack.length > 0) ralph.events.emit({ type: "state-put-back", paths: takenBack });
}
