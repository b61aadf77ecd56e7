/**
 * State files: read, changed under the store lock, written atomically, each write with a shadow copy by which a hand
 * edit is distinguished from a write through Ralph.
 *
 * @module
 */
import { basename, dirname, join } from "node:path";
import { RalphError } from "../errors/ralph_error.ts";
import { appendText, hashText, readBytes, removePath, replaceText, resolveInside, writeAtomic } from "../host/files.ts";
import { type JsonFile, jsonFile, type JsonSchema } from "./state_json.ts";
import { takeLock } from "../host/lock.ts";
import { writeOwn } from "../host/write_atomic.ts";
import type { Host } from "../host/types.ts";
import { codeOf } from "../host/looks.ts";

/** A state file that differs from what Ralph last wrote. */
export interface ManualEdit {
  /** Relative to the root. */
  readonly path: string;
  /** The content of the file now, or `null` when it is gone. */
  readonly found: string | null;
  /** The text that Ralph last wrote. */
  readonly written: string;
}

/** Keeps the part of a manual edit that may stay, if only a part of the file is state: answers the text for its place. Pure. */
export type Restore = (edit: { readonly path: string; readonly found: string; readonly written: string }) => string;

/** The state files of one root. Paths are relative to it. */
export interface StateFiles {
  /** By path, for files of which only a part is state. A backlog adds its own when it is made. */
  readonly parts: Map<string, Restore>;
  /**
   * A JSON file that only Ralph writes. `empty`: what a missing file counts as.
   *
   * @default a missing file is an error
   */
  json<Value>(path: string, schema: JsonSchema<Value>, empty?: Value): JsonFile<Value>;
  /** Text of the file, or `null` when there is none. One that an editor seems to be writing is read again a moment later. */
  read(path: string): Promise<string | null>;
  /**
   * Reads, changes and writes under the store lock. Returning the text that was given, or `null` for a missing file,
   * writes nothing. If the file changes before it is written, it is read and changed again.
   *
   * While the files are held, an edit that Ralph did not make stays one: the change is made to Ralph's version and to
   * what the file holds; if it cannot be made to one of them, that one stays as it is.
   * @returns what the file holds afterwards
   */
  update(path: string, change: (text: string | null) => string | null): Promise<string | null>;
  /**
   * The same with more in it: reads the file and lets `work` write it once, and commit it, before another command may
   * change it. If the file has changed when it is written, `work` begins again.
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
  /** Takes the present content of the files as Ralph's own: a person changed it between runs. */
  adopt(paths: readonly string[]): Promise<void>;
  /** Lists the files that hold Ralph's last write. */
  written(paths: readonly string[]): Promise<readonly string[]>;
  /** The files that were edited manually since Ralph last wrote them; one that it never wrote is none. */
  edited(paths: readonly string[]): Promise<readonly ManualEdit[]>;
  /**
   * Restores Ralph's version, or writes what `parts` makes of both.
   * @param keep called with each edit before it is reverted
   * @returns the files in which something was reverted
   */
  restore(
    edits: readonly ManualEdit[],
    keep?: (edit: ManualEdit) => Promise<void>,
  ): Promise<readonly string[]>;
}

/** The needs of `createStateFiles`. */
export interface StateFilesOptions {
  /** Absolute path of the root. */
  readonly root: string;
  /** Absolute path of the folder for shadow copies and the store lock. */
  readonly directory: string;
  readonly host: Host;
  /** @default none */
  readonly parts?: Map<string, Restore>;
}

/** How long a change waits for another process's change of the same root. */
const STORE_WAIT_MS = 30_000;

/** How long a file that seems to be cut short is given, and how often at most. */
const TORN_WAIT_MS = 100;
const TORN_TRIES = 5;

/** Codes of a pipe, a device, a link to itself, a file that may not be read or is too large. */
const UNFIT: ReadonlySet<string> = new Set(["EFTYPE", "ELOOP", "EACCES", "EPERM", "EFBIG"]);

/** A program that never stops writing is left alone after that. */
const TRIES = 50;

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
  return new ShadowedFiles(options);
}

/** Its public functions are members of the object itself, so that a context can be derived from it by spread. */
class ShadowedFiles implements StateFiles {
  readonly parts: Map<string, Restore>;
  readonly #root: string;
  readonly #directory: string;
  readonly #host: Host;
  /** The texts that Ralph last wrote, while they are held. */
  readonly #held = new Map<string, string | null>();
  /** The content of each file at its last reading: a large text that is the same again is not decoded again. */
  readonly #known = new Map<string, { readonly bytes: Buffer; readonly text: string }>();

  constructor({ root, directory, host, parts = new Map() }: StateFilesOptions) {
    this.parts = parts;
    this.#root = root;
    this.#directory = directory;
    this.#host = host;
  }

  json: StateFiles["json"] = (path, schema, empty) => jsonFile(this, path, { schema, empty });

  read: StateFiles["read"] = async (path) => {
    const file = await resolveInside(this.#root, path);
    const known = this.#known.get(path)?.text;
    try {
      let text = await this.#textOf(path, file);
      for (let tries = 0; tries < TORN_TRIES && isTorn(text, known); tries += 1) {
        await this.#host.clock.sleep(TORN_WAIT_MS);
        text = await this.#textOf(path, file);
      }
      if (text === null) this.#known.delete(path);
      return text;
    } catch (error) {
      if (codeOf((error as RalphError).cause) === "EISDIR") return null; // a write reports what is there
      throw error;
    }
  };

  transact: StateFiles["transact"] = (path, work) =>
    this.#locked(path, async () => {
      for (let tries = 1;; tries += 1) {
        const before = await this.read(path);
        try {
          return await work(before, async (text) => {
            await this.#writeShadow(path, text);
            if (!await this.#replace(path, text, before)) throw new Changed();
          });
        } catch (error) {
          if (!(error instanceof Changed)) throw error;
          if (tries === TRIES) throw new RalphError("state-busy", { details: { path } });
        }
      }
    });

  update: StateFiles["update"] = (path, change) =>
    this.#locked(path, async () => {
      const isHeld = this.#held.has(path);
      let found = await this.read(path);
      const written = isHeld ? await this.#lastWritten(path) ?? found : found;
      const own = attempted(change, written);
      let edited = found === written ? own : attempted(change, found);
      if (own.status === "failed" && edited.status === "failed") throw own.error;
      if (own.status === "changed") await this.#writeShadow(path, own.text);
      for (let tries = 1; edited.status === "changed"; tries += 1) {
        if (!isHeld && edited !== own) await this.#writeShadow(path, edited.text);
        if (await this.#replace(path, edited.text, found)) return edited.text;
        if (tries === TRIES) throw new RalphError("state-busy", { details: { path } });
        found = await this.read(path);
        edited = attempted(change, found);
      }
      if (edited.status === "failed" && !isHeld) throw edited.error;
      return found;
    });

  hold: StateFiles["hold"] = async (paths) => {
    for (const path of paths) this.#held.set(path, await this.#shadow(path));
  };

  release: StateFiles["release"] = () => this.#held.clear();

  adopt: StateFiles["adopt"] = async (paths) => {
    for (const path of paths) {
      const text = await this.read(path);
      if (text === null) await removePath(this.#shadowOf(path));
      else if (text !== await this.#shadow(path)) await this.#writeShadow(path, text);
    }
  };

  written: StateFiles["written"] = async (paths) => {
    const own: string[] = [];
    for (const path of paths) {
      const text = await this.#lastWritten(path);
      if (text !== null && text === await this.#found(path)) own.push(path);
    }
    return own;
  };

  edited: StateFiles["edited"] = async (paths) => {
    const edits: ManualEdit[] = [];
    for (const path of paths) {
      const edit = await this.#editOf(path);
      // Ralph's own write is shadow first, file second: between the two they differ, and no one has edited anything
      const sure = edit === null ? null : await this.#sureEditOf(path);
      if (sure !== null) edits.push(sure);
    }
    return edits;
  };

  /** While no one writes. In a sandbox the lock cannot be taken: its turn sees the files as they are. */
  async #sureEditOf(path: string): Promise<ManualEdit | null> {
    try {
      return await this.#locked(path, () => this.#editOf(path));
    } catch (error) {
      if (codeOf((error as RalphError).cause) !== "EROFS") throw error;
      return await this.#editOf(path);
    }
  }

  async #editOf(path: string): Promise<ManualEdit | null> {
    const written = await this.#lastWritten(path);
    const found = written === null ? null : await this.#found(path);
    return written === null || found === written ? null : { path, found, written };
  }

  restore: StateFiles["restore"] = async (edits, keep = () => Promise.resolve()) => {
    const reverted: string[] = [];
    for (const edit of edits) {
      if (await this.#locked(edit.path, () => this.#restoreOne(edit, keep))) reverted.push(edit.path);
    }
    return reverted;
  };

  /** @returns whether something was reverted */
  async #restoreOne(edit: ManualEdit, keep: (edit: ManualEdit) => Promise<void>): Promise<boolean> {
    const { path } = edit;
    let isReverted = false;
    for (let tries = 1;; tries += 1) {
      const written = await this.#lastWritten(path) ?? edit.written; // a command may have written since
      const found = await this.#found(path);
      if (found === written) return isReverted;
      const text = found === null ? written : this.parts.get(path)?.({ path, found, written }) ?? written;
      if (text === found) {
        await this.#writeShadow(path, text);
        return isReverted;
      }
      await keep({ path, found, written });
      isReverted = true;
      if (text !== written) await this.#writeShadow(path, text);
      if (found === null) {
        await writeAtomic(await this.#cleared(path), text);
        return true;
      }
      if (await this.#replace(path, text, found)) return true;
      if (tries === TRIES) throw new RalphError("state-busy", { details: { path } });
    }
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

  /** The content of now. A link that leads out of the root is no state file, nor is what cannot be read as one. */
  async #found(path: string): Promise<string | null> {
    try {
      return await this.read(path);
    } catch (error) {
      const { code, cause } = error as RalphError;
      if (code === "path-outside-root" || UNFIT.has(codeOf(cause))) return null;
      throw error;
    }
  }

  /** The place of a state file, without the link or folder that was left there; a folder is kept beside the shadow. */
  async #cleared(path: string): Promise<string> {
    const file = join(await resolveInside(this.#root, dirname(path)), basename(path));
    await removePath(file, `${this.#shadowOf(path)}.found-${this.#host.ids.random(8)}`);
    return file;
  }

  async #lastWritten(path: string): Promise<string | null> {
    const shadow = await this.#shadow(path);
    const text = this.#held.get(path);
    if (text === undefined) return shadow;
    if (text !== null && text !== shadow) await writeOwn(this.#shadowOf(path), text);
    return text;
  }

  /** First the shadow: after a kill between the two, the file is restored to it. */
  async #writeShadow(path: string, text: string): Promise<void> {
    if (this.#held.has(path)) this.#held.set(path, text);
    this.#known.set(path, { bytes: Buffer.from(text), text });
    await writeOwn(this.#shadowOf(path), text);
  }

  #shadowOf(path: string): string {
    return join(this.#directory, "shadow", hashText(`${this.#root}\0${path}`).slice(0, 32));
  }

  #locked<Result>(path: string, run: () => Promise<Result>): Promise<Result> {
    return whileLocked(path, join(this.#directory, "store.lock"), { purpose: "store", host: this.#host }, run);
  }

  /**
   * Writes the file where it still holds `before`. Another program may have written into the old file meanwhile: what it
   * added is added again, and where it wrote something else that is put back.
   *
   * @returns `false` where the file holds something else now
   */
  async #replace(path: string, text: string, before: string | null): Promise<boolean> {
    const file = await resolveInside(this.#root, path);
    const done = await replaceText(file, text, before);
    if (done.status !== "overtaken") return done.status === "written";
    const { found } = done;
    if (before !== null && found.startsWith(before)) {
      await appendText(file, found.slice(before.length));
      return true;
    }
    if ((await replaceText(file, found, text)).status === "written") return false;
    await writeOwn(`${this.#shadowOf(path)}.found-${this.#host.ids.random(8)}`, found);
    return true;
  }
}

/** Does what no other process may do meanwhile. @param path for messages @throws {RalphError} store-locked */
export async function whileLocked<Result>(
  path: string,
  file: string,
  options: { readonly purpose: string; readonly host: Host },
  run: () => Promise<Result>,
): Promise<Result> {
  const lock = await takeLock(file, { ...options, waitMs: STORE_WAIT_MS });
  if (lock.status === "busy") throw new RalphError("store-locked", { details: { path, pid: lock.holder.pid } });
  try {
    return await run();
  } finally {
    await lock.release();
  }
}

/** An editor that is about to write a file empties it, or moves it away: gone, or a part of what it held. */
function isTorn(text: string | null, known: string | undefined): boolean {
  if (known === undefined || text === null) return known !== undefined || text === "";
  return text.length < known.length && known.startsWith(text);
}

/** The file has changed since it was read. */
class Changed extends Error {}

function attempted(change: (text: string | null) => string | null, before: string | null) {
  try {
    const text = change(before);
    return text === null || text === before ? { status: "same" } as const : { status: "changed", text } as const;
  } catch (error) {
    return { status: "failed", error } as const;
  }
}
