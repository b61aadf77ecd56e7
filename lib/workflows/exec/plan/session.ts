import { EXEC_RUNS, PLAN_STATE_FILE, PLAN_TRANSCRIPT_FILE } from "../paths.ts";
import type { RalphContext } from "../../../context/context.ts";
import { isoNow } from "../../../host/local_date.ts";
import { formatPlanState, type PlanState } from "./state.ts";
import { entryText, withEntries } from "./transcript.ts";

/** A change adds this to the transcript. */
export interface Said {
  readonly heading: string;
  readonly body: readonly string[];
}

/** Planning under way: its state, saved with every change. */
export interface PlanSession {
  readonly ralph: RalphContext;
  /** Absolute path of the run's folder. */
  readonly folder: string;
  readonly state: PlanState;
  /**
   * Saves the state first and the transcript after it. The entries travel in the state, so that a kill between the two
   * loses none, and carry a name, so that none is written twice.
   */
  save(changes: Partial<PlanState>, said?: readonly Said[]): Promise<void>;
  /** ISO time. */
  now(): string;
}

/** Continues from a state; entries that a kill kept from the transcript are written now. */
export async function openSession(ralph: RalphContext, start: PlanState): Promise<PlanSession> {
  let state = start;
  const folder = await ralph.run.folder(EXEC_RUNS);
  const now = (): string => isoNow(ralph.host);
  const flush = async (): Promise<void> => {
    if (state.outbox.length === 0) return;
    await ralph.state.update(PLAN_TRANSCRIPT_FILE, (before) => withEntries(before, state.outbox));
  };
  await flush();
  return {
    ralph,
    folder,
    now,
    get state() {
      return state;
    },
    async save(changes, said = []) {
      const outbox = said.map(({ heading, body }, index) => ({
        id: `${state.session}.${state.entries + index + 1}`,
        text: entryText(heading, now(), body),
      }));
      state = { ...state, ...changes, updatedAt: now(), entries: state.entries + said.length, outbox };
      await ralph.state.update(PLAN_STATE_FILE, () => formatPlanState(state));
      await flush();
    },
  };
}
