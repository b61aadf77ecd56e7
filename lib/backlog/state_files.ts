/**
 * State files: read, changed under the store lock, written atomically, each write with a shadow copy by which a hand
 * edit is distinguished from a write through Ralph.
 *
 * @module
 */
import { basename, dirname, join } from "node:path";
import { RalphError } from "../errors/ralph_error.ts";
import { copyPath, hashText, isDirectory, readBytes, removePath, resolveInside, writeAtomic } from "../host/files.ts";
import { takeLock } from "../host/lock.ts";
import type { Host } from "../host/types.ts";

/** A state file that differs from what Ralph last wrote. */
export interface ManualEdit {
  /** Relative to the root. */
  readonly path: string;
  /** What the file holds now, or `null` when it is gone. */
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
   * @returns what the file holds afterwards
   */
  update(path: string, change: (text: string | null) => string | null): Promise<string | null>;
  /**
   * As `update`, for a change that comes while an agent may be editing the file: what was edited manually stays a hand
   * edit. The change is made to Ralph's version and to what the file holds; where it cannot be made to one of them,
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
  /** What the files hold now is Ralph's own from here on: what a person changed between runs. */
  adopt(paths: readonly string[]): Promise<void>;
  /** Those of the files that were edited manually since Ralph last wrote them; one that it never wrote is none. */
  edited(paths: readonly string[]): Promise<readonly ManualEdit[]>;
  /**
   * Restores Ralph's version, or writes what `textOf` makes of both.
   * @returns the files in which something was reverted
   */
  restore(edits: readonly ManualEdit[], textOf?: Restore): Promise<readonly string[]>;
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

/** An agent that never stops writing is left alone: the change is in Ralph's version, which is merged after the turn. */
const AMEND_TRIES = 20;

/**
 * The state files of one root, with their shadow copies below `directory`.
 *
 * @example Change a file that agents may edit, too
 * ```ts
 * import { createStateFiles } from "ralph/backlog";
 * import { testContext } from "ralph/testing";
 *
 * await using ralph = await testContext({ files: { "list.txt": "one\n" } });
 * const state = createStateFiles({ root: ralph.root, directory: `${ralph.root}/.git/ralph`, host: ralph.host });
 * await state.update("list.txt", (text) => `${text}two\n`);
 * console.log(await state.read("list.txt")); // one, two
 * ```
 */
export function createStateFiles(options: StateFilesOptions): StateFiles {
  const files = new ShadowedFiles(options);
  // A plain object, so that a context can be derived from it by spread.
  return {
    read: (path) => files.read(path),
    update: (path, change) => files.update(path, change),
    amend: (path, change) => files.amend(path, change),
    transact: (path, work) => files.transact(path, work),
    hold: (paths) => files.hold(paths),
    release: () => files.release(),
    adopt: (paths) => files.adopt(paths),
    edited: (paths) => files.edited(paths),
    restore: (edits, textOf) => files.restore(edits, textOf),
  };
}

class ShadowedFiles implements StateFiles {
  readonly #root: string;
  readonly #directory: string;
  readonly #host: Host;
  /** What Ralph last wrote, while it is held. */
  readonly #held = new Map<string, string | null>();
  /** What each file held when it was last read: a large text that is read again and is the same is not decoded again. */
  readonly #known = new Map<string, { readonly bytes: Buffer; readonly text: string }>();

  constructor({ root, directory, host }: StateFilesOptions) {
    this.#root = root;
    this.#directory = directory;
    this.#host = host;
  }

  async read(path: string): Promise<string | null> {
    const file = await resolveInside(this.#root, path);
    try {
      return await this.#textOf(path, file);
    } catch (error) {
      const cause = RalphError.isInstance(error) ? error.cause : error;
      if ((cause as NodeJS.ErrnoException).code === "EISDIR") return null; // a write reports what is there
      throw error;
    }
  }

  transact<Result>(
    path: string,
    work: (text: string | null, write: (text: string) => Promise<void>) => Promise<Result>,
  ): Promise<Result> {
    return this.#locked(path, async () => await work(await this.read(path), (text) => this.#write(path, text)));
  }

  update(path: string, change: (text: string | null) => string | null): Promise<string | null> {
    return this.transact(path, async (before, write) => {
      const after = change(before);
      if (after === null || after === before) return before;
      await write(after);
      return after;
    });
  }

  amend(path: string, change: (text: string | null) => string | null): Promise<string | null> {
    return this.#locked(path, async () => {
      const written = await this.#lastWritten(path);
      let found = await this.read(path);
      const own = attempted(change, written ?? found);
      let edited = found === written ? own : attempted(change, found);
      if (own.status === "failed" && edited.status === "failed") throw edited.error;
      if (own.status === "changed") await this.#writeShadow(path, own.text);
      for (let tries = 0; edited.status === "changed" && tries < AMEND_TRIES; tries++) {
        const expected = found === null ? {} : { expected: found };
        if (await writeAtomic(await resolveInside(this.#root, path), edited.text, expected)) return edited.text;
        found = await this.read(path); // the agent has written in between: its edit is kept, and gets the change too
        edited = attempted(change, found);
      }
      return found;
    });
  }

  async hold(paths: readonly string[]): Promise<void> {
    for (const path of paths) this.#held.set(path, await this.#shadow(path));
  }

  release(): void {
    this.#held.clear();
  }

  async adopt(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      const shadow = this.#shadowOf(path);
      const text = await this.read(path);
      if (text === null) await removePath(shadow);
      else if (text !== await this.#shadow(path)) await this.#writeShadow(path, text);
    }
  }

  async edited(paths: readonly string[]): Promise<readonly ManualEdit[]> {
    const edits: ManualEdit[] = [];
    for (const path of paths) {
      const edit = await this.#editOf(path);
      // Ralph's own write is shadow first, file second: between the two they differ, and no one has edited anything
      const sure = edit === null ? null : await this.#locked(path, () => this.#editOf(path));
      if (sure !== null) edits.push(sure);
    }
    return edits;
  }

  async #editOf(path: string): Promise<ManualEdit | null> {
    const written = await this.#lastWritten(path);
    const found = written === null ? null : await this.#found(path);
    return written === null || found === written ? null : { path, found, written };
  }

  async restore(
    edits: readonly ManualEdit[],
    textOf: Restore = ({ written }) => written,
  ): Promise<readonly string[]> {
    const reverted: string[] = [];
    for (const { path, written, found } of edits) {
      await this.#locked(path, async () => {
        const current = await this.#lastWritten(path) ?? written; // the CLI may have written since
        if (await this.#found(path) === current) return;
        const text = found === null ? current : textOf({ path, found, written: current });
        if (text !== current) await this.#writeShadow(path, text);
        if (text === found) return;
        reverted.push(path);
        await writeAtomic(found === null ? await this.#cleared(path) : await resolveInside(this.#root, path), text);
      });
    }
    return reverted;
  }

  /** The text of a state file or of its shadow copy, by the bytes that are there now. */
  async #textOf(path: string, file: string): Promise<string | null> {
    const known = this.#known.get(path);
    const bytes = await readBytes(file, undefined, known?.bytes);
    if (bytes === null) return null;
    if (known?.bytes === bytes) return known.text;
    const text = bytes.toString("utf8");
    this.#known.set(path, { bytes, text });
    return text;
  }

  #shadow(path: string): Promise<string | null> {
    return this.#textOf(path, this.#shadowOf(path));
  }

  /** What is there now. A link that leads out of the root is no state file, as a folder is none. */
  async #found(path: string): Promise<string | null> {
    try {
      return await this.read(path);
    } catch (error) {
      if (RalphError.isInstance(error) && error.code === "path-outside-root") return null;
      throw error;
    }
  }

  /** The place of a state file, without the link or folder that was left there; a folder is kept beside the shadow. */
  async #cleared(path: string): Promise<string> {
    const file = join(await resolveInside(this.#root, dirname(path)), basename(path));
    if (await isDirectory(file)) await copyPath(file, `${this.#shadowOf(path)}.found-${this.#host.ids.random(8)}`);
    await removePath(file);
    return file;
  }

  async #lastWritten(path: string): Promise<string | null> {
    const shadow = await this.#shadow(path);
    const text = this.#held.get(path);
    if (text === undefined) return shadow;
    if (text !== null && text !== shadow) await writeAtomic(this.#shadowOf(path), text);
    return text;
  }

  /** First the shadow: after a kill between the two, the file is restored to it. */
  async #writeShadow(path: string, text: string): Promise<void> {
    if (this.#held.has(path)) this.#held.set(path, text);
    await writeAtomic(this.#shadowOf(path), text);
  }

  #shadowOf(path: string): string {
    return join(this.#directory, "shadow", hashText(`${this.#root}\0${path}`).slice(0, 32));
  }

  async #locked<Result>(path: string, run: () => Promise<Result>): Promise<Result> {
    const options = { purpose: "store", host: this.#host, waitMs: STORE_WAIT_MS } as const;
    const lock = await takeLock(join(this.#directory, "store.lock"), options);
    if (lock.status === "busy") throw new RalphError("store-locked", { details: { path, pid: lock.holder.pid } });
    try {
      return await run();
    } finally {
      await lock.release();
    }
  }

  async #write(path: string, text: string): Promise<void> {
    await this.#writeShadow(path, text);
    await writeAtomic(await resolveInside(this.#root, path), text);
  }
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
