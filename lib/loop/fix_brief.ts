import type { JournalKey } from "../backlog/journal_types.ts";
import type { Backlog } from "../backlog/types.ts";
import { createBrief } from "../checks/brief/create_brief.ts";
import { restoreBrief } from "../checks/brief/restore_brief.ts";
import { acceptChanges } from "../checks/brief/since_last_run.ts";
import type { Brief } from "../checks/brief/types.ts";
import type { RalphContext } from "../context/context.ts";
import type { Notice } from "./progress.ts";

const RESTORED = "changed during the run; `ralph restore` brings back what was found";

/** The brief of a run, from its start to its end. */
export interface FixedBrief {
  readonly brief: Brief;
  /** The first turn may follow. */
  begin(): Promise<void>;
  /** Restores once more: also after an error or a signal. */
  end(): Promise<void>;
}

/** What the run's last lines say of files that were changed while it lasted. */
export function restoredNotices({ restored, reported }: Brief): readonly Notice[] {
  return [
    ...restored.map((subject): Notice => ({ kind: "restored", subject, message: RESTORED })),
    ...reported.map((subject): Notice => ({ kind: "environment", subject, message: "changed during the run" })),
  ];
}

/** Reads the brief of a run, and has what differs from the last one agreed to. @throws {RalphError} brief-changed */
export async function fixBrief<Data, Findings>(
  ralph: RalphContext,
  backlog: Backlog<Data, Findings>,
  key: JournalKey,
): Promise<FixedBrief> {
  const { journal, state } = ralph;
  const brief = await createBrief(ralph, backlog);
  await acceptChanges(ralph, brief.record);
  return {
    brief,
    async begin() {
      await state.hold(backlog.stateFiles);
      await journal.briefRead(key, brief.record);
    },
    async end() {
      await restoreBrief(brief);
      state.release();
      await journal.briefRestored(key);
    },
  };
}
