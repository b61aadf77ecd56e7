import { jsonIn } from "../host/data.ts";
import { readText, removePath, writeOwn } from "../host/files.ts";
import { endLeftOver, type LeftOver } from "../host/end_tree.ts";

/** A service that runs, as the next Ralph finds it after a crash. */
export interface ServiceRecord extends LeftOver {
  readonly name: string;
}

/** The services that run now, in a file of Ralph's own. */
export class ServiceRecords {
  readonly #file: string;
  readonly #running = new Map<string, ServiceRecord>();

  /** @param file absolute path */
  constructor(file: string) {
    this.#file = file;
  }

  async add(record: ServiceRecord): Promise<void> {
    this.#running.set(record.name, record);
    await this.#save();
  }

  async remove(name: string): Promise<void> {
    if (this.#running.delete(name)) await this.#save();
  }

  /** Ends what an earlier run left running, recognised by pid and start time. @returns the names of what was ended */
  async endLeftOvers(): Promise<readonly string[]> {
    const ended: string[] = [];
    for (const record of (jsonIn(await readText(this.#file)) ?? []) as readonly ServiceRecord[]) {
      if (await endLeftOver(record)) ended.push(record.name);
    }
    await this.#save();
    return ended;
  }

  async #save(): Promise<void> {
    if (this.#running.size === 0) return await removePath(this.#file);
    await writeOwn(this.#file, `${JSON.stringify([...this.#running.values()])}\n`);
  }
}
