import { join } from "node:path";
import type { RalphContext } from "../../context/context.ts";
import type { HookRecord, HookStore } from "../../hooks/hook.ts";
import { readSprint } from "./backlog.ts";
import { type SprintPaths, transcriptOf } from "./paths.ts";

/** Long enough that what happens in one instant becomes one write. */
const GATHER_MS = 5;

/** Records hooks in PROGRESS.yaml: those of the same time together, one after the other. */
export function createHookRecorder(
  { host, root, state }: Pick<RalphContext, "host" | "root" | "state">,
  { directory, logs, progress: file, transcripts }: SprintPaths,
): HookStore {
  const folder = join(root, directory);
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
    await state.update(file, (text) =>
      text === null ? null : changeYaml(text, file, (document) => {
        for (const record of records) recordHook(document, record, folder);
        return true;
      }));
  }

  return {
    directory: logs,
    async left() {
      const { hookTasks } = await readSprint({ state }, file);
      return hookTasks.filter(({ status }) => status === "interrupted").map(({ hookId, iteration }) => ({
        hookId,
        iteration,
        transcript: join(root, transcriptOf(transcripts, iteration)),
      }));
    },
    record(record) {
      waiting.push(record);
      if (next === null) last = next = write(last);
      return next;
    },
  };
}
