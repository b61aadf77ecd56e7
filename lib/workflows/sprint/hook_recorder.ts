import type { HookRecord } from "../../backlog/types.ts";
import type { RalphContext } from "../../context/context.ts";

/** Records hooks in PROGRESS.yaml. */
export interface HookRecorder {
  /** Resolves when it is written. */
  record(record: HookRecord): Promise<void>;
}

/** Long enough that what happens in one instant becomes one write. */
const GATHER_MS = 5;

/** Records of the same time are written together, one after the other. */
export function createHookRecorder(
  { host, state }: Pick<RalphContext, "host" | "state">,
  file: string,
  folder: string,
): HookRecorder {
  let waiting: HookRecord[] = [];
  let next: Promise<void> | null = null;
  let last: Promise<void> = Promise.resolve();

  async function write(after: Promise<void>): Promise<void> {
    const { changeYaml } = await import("./document.ts");
    const { recordHook } = await import("./changes.ts");
    await host.clock.sleep(GATHER_MS);
    await after.catch(() => {}); // those who waited for it get the error
    const records = waiting;
    waiting = [];
    next = null;
    await state.amend(file, (text) =>
      text === null ? null : changeYaml(text, file, (document) => {
        for (const record of records) recordHook(document, record, folder);
        return true;
      }));
  }

  return {
    record(record) {
      waiting.push(record);
      if (next === null) last = next = write(last);
      return next;
    },
  };
}
