import { readText, removePath, writeOwn } from "../host/files.ts";
import { endLeftOver, type LeftOver } from "../host/end_tree.ts";

/** A service that runs, as the next Ralph finds it after a crash. */
export interface ServiceRecord extends LeftOver {
  readonly name: string;
}

/** The services that run now, in a file of Ralph's own. */
export interface ServiceRecords {
  add(record: ServiceRecord): Promise<void>;
  remove(name: string): Promise<void>;
  /** Ends what an earlier run left running, recognised by pid and start time. @returns the names of what was ended */
  endLeftOvers(): Promise<readonly string[]>;
}

/** @param file absolute path */
export function createServiceRecords(file: string): ServiceRecords {
  const running = new Map<string, ServiceRecord>();

  async function save(): Promise<void> {
    if (running.size === 0) return await removePath(file);
    await writeOwn(file, `${JSON.stringify([...running.values()])}\n`);
  }

  return {
    async add(record) {
      running.set(record.name, record);
      await save();
    },
    async remove(name) {
      if (running.delete(name)) await save();
    },
    async endLeftOvers() {
      const ended: string[] = [];
      for (const record of parse(await readText(file))) {
        if (await endLeftOver(record)) ended.push(record.name);
      }
      await save();
      return ended;
    },
  };
}

function parse(text: string | null): readonly ServiceRecord[] {
  try {
    return text === null ? [] : JSON.parse(text) as readonly ServiceRecord[];
  } catch {
    return []; // torn: what it named carries the run's mark too, and was swept
  }
}
