/**
 * State files: read, changed under the store lock, written atomically, each write with a shadow copy by which a hand
 * edit is told from a write through Ralph.
 *
 * @module
 */
import { join } from "node:path";
import { RalphError } from "../errors/ralph_error.ts";
import { hashText, readText, removePath, resolveInside, writeAtomic } from "../host/files.ts";
import { takeLock } from "../host/lock.ts";
import type { Host } from "../host/types.ts";

/** A state file that differs from what Ralph last wrote. */
export interface ManualEdit {
  /** Relative to the root. */
  readonly path: string;
  /** What stands there now, or `null` when the file is gone. */
  readonly found: string | null;
  /** What Ralph last wrote. */
  readonly written: string;
}

/** What of a manual edit may stay: the text that is put in the file's place. */
export type Restore = (edit: { readonly path: string; readonly found: string; readonly written: string }) => string;

/** The state files of one root. Paths are relative to it. */
export interface StateFiles {
  /** Text of the file, or `null` when there is none. */
  read(path: string): Promise<string | null>;
  /**
   * Read, change and write under the store lock. Returning the text that was given, or `null` for a missing file, writes nothing.
   * @returns what stands in the file afterwards
   */
  update(path: string, change: (text: string | null) => string | null): Promise<string | null>;
  /**
   * As `update`, for a change that comes while an agent may be editing the file: what was edited manually stays a hand
   * edit. The change is made to Ralph's version and to what stands in the file; where it cannot be made to one of them,
   * that one stays as it is.
   */
  amend(path: string, change: (text: string | null) => string | null): Promise<string | null>;
  /**
   * The same with more in it: reads the file and lets `work` write it as it likes, and commit it, before anybody else
   * may change it.
   */
  transact<Result>(
    path: string,
    work: (text: string | null, write: (text: string) => Promise<void>) => Promise<Result>,
  ): Promise<Result>;
  /**
   * From here on the text in memory is what Ralph last wrote, whatever the shadow copies say: an agent can write these
   * too. Until `release()`.
   */
  hold(paths: readonly string[]): Promise<void>;
  /** Shadow copies count again. */
  release(): void;
  /** What stands there now is Ralph's own from here on: what a person changed between runs. */
  adopt(paths: readonly string[]): Promise<void>;
  /** Those of the files that were edited manually since Ralph last wrote them; one that it never wrote is none. */
  edited(paths: readonly string[]): Promise<readonly ManualEdit[]>;
  /**
   * Puts Ralph's version back, or what `restore` makes of both.
   * @returns the files in which something was taken back
   */
  putBack(edits: readonly ManualEdit[], restore?: Restore): Promise<readonly string[]>;
}

/** What `createStateFiles` needs. */
export interface StateFilesOptions {
  /** Absolute path of the root. */
  readonly root: string;
  /** Absolute path of the folder for shadow copies and the store lock. */
  readonly directory: string;
  readonly host: Host;
}

/** How long a change waits for another process's change of the same root. */
const STORE_WAIT_MS = 30_000;

/** An agent that never stops writing is left alone: the change stands in Ralph's version, which is merged after the turn. */
const AMEND_TRIES = 20;

/** The state files of one root, with their shadow copies below `directory`. */
export function createStateFiles({ root, directory, host }: StateFilesOptions): StateFiles {
  const shadowOf = (path: string): string => join(directory, "shadow", hashText(`${root}\0${path}`).slice(0, 32));

  const held = new Map<string, string | null>();

  async function lastWritten(path: string): Promise<string | null> {
    const shadow = await readText(shadowOf(path));
    const text = held.get(path);
    if (text === undefined) return shadow;
    if (text !== null && text !== shadow) await writeAtomic(shadowOf(path), text);
    return text;
  }

  /** First the shadow: after a kill between the two, the file is restored to it. */
  async function writeShadow(path: string, text: string): Promise<void> {
    if (held.has(path)) held.set(path, text);
    await writeAtomic(shadowOf(path), text);
  }

  async function locked<Result>(path: string, run: () => Promise<Result>): Promise<Result> {
    const lock = await takeLock(join(directory, "store.lock"), { purpose: "store", host, waitMs: STORE_WAIT_MS });
    if (lock.status === "busy") throw new RalphError("store-locked", { details: { path, pid: lock.holder.pid } });
    try {
      return await run();
    } finally {
      await lock.release();
    }
  }

  async function write(path: string, text: string): Promise<void> {
    await writeShadow(path, text);
    await writeAtomic(await resolveInside(root, path), text);
  }

  async function read(path: string): Promise<string | null> {
    const file = await resolveInside(root, path);
    try {
      return await readText(file);
    } catch (error) {
      const cause = RalphError.isInstance(error) ? error.cause : error;
      if ((cause as NodeJS.ErrnoException).code === "EISDIR") return null; // a write says what stands there
      throw error;
    }
  }

  const transact: StateFiles["transact"] = (path, work) =>
    locked(path, async () => await work(await read(path), (text) => write(path, text)));

  return {
    read,
    transact,
    update: (path, change) =>
      transact(path, async (before, writeText) => {
        const after = change(before);
        if (after === null || after === before) return before;
        await writeText(after);
        return after;
      }),
    amend: (path, change) =>
      locked(path, async () => {
        const written = await lastWritten(path);
        let found = await read(path);
        const own = attempted(change, written ?? found);
        let edited = found === written ? own : attempted(change, found);
        if (own.status === "failed" && edited.status === "failed") throw edited.error;
        if (own.status === "changed") await writeShadow(path, own.text);
        for (let tries = 0; edited.status === "changed" && tries < AMEND_TRIES; tries++) {
          const expected = found === null ? {} : { expected: found };
          if (await writeAtomic(await resolveInside(root, path), edited.text, expected)) return edited.text;
          found = await read(path); // the agent has written in between: its edit is kept, and gets the change too
          edited = attempted(change, found);
        }
        return found;
      }),
    async hold(paths) {
      for (const path of paths) held.set(path, await readText(shadowOf(path)));
    },
    release: () => held.clear(),
    async adopt(paths) {
      for (const path of paths) {
        const text = await read(path);
        if (text === null) await removePath(shadowOf(path));
        else if (text !== await readText(shadowOf(path))) await writeShadow(path, text);
      }
    },
    async edited(paths) {
      const edits: ManualEdit[] = [];
      for (const path of paths) {
        const written = await lastWritten(path);
        if (written === null) continue;
        const found = await read(path);
        if (found !== written) edits.push({ path, found, written });
      }
      return edits;
    },
    async putBack(edits, restore = ({ written }) => written) {
      const takenBack: string[] = [];
      for (const { path, written, found } of edits) {
        await locked(path, async () => {
          const current = await lastWritten(path) ?? written; // the CLI may have written since
          const text = found === null ? current : restore({ path, found, written: current });
          if (text !== current) await writeShadow(path, text);
          if (text === found) return;
          takenBack.push(path);
          await writeAtomic(await resolveInside(root, path), text);
        });
      }
      return takenBack;
    },
  };
}

type Attempted = { readonly status: "changed"; readonly text: string } | { readonly status: "same" } | {
  readonly status: "failed";
  readonly error: unknown;
};

function attempted(change: (text: string | null) => string | null, before: string | null): Attempted {
  try {
    const text = change(before);
    return text === null || text === before ? { status: "same" } : { status: "changed", text };
  } catch (error) {
    return { status: "failed", error };
  }
}
