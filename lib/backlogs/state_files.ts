/**
 * State files: read, changed under the store lock, written atomically, each write with a shadow copy by which a hand
 * edit is told from a write through Ralph.
 *
 * @module
 */

/** A state file that differs from what Ralph last wrote. */
export interface HandEdit {
  /** Relative to the root. */
  readonly path: string;
  /** What stands there now, or `null` when the file is gone. */
  readonly found: string | null;
  /** What Ralph last wrote, or `null` when it had taken the file away. */
  readonly written: string | null;
}

/** The state files of one root. Paths are relative to it. */
export interface StateFiles {
  /** Text of the file, or `null` when there is none. */
  read(path: string): Promise<string | null>;
  /**
   * Read, change and write under the store lock. Returning the text that was given, or `null` for a missing file, writes nothing.
   * @returns what stands in the file afterwards
   */
  update(path: string, change: (text: string | null) => string | null): Promise<string | null>;
  /** What stands there now is Ralph's own from here on: what a person changed between runs. */
  adopt(paths: readonly string[]): Promise<void>;
  /** Those of the files that were edited by hand since Ralph last wrote them; one that it never wrote is none. */
  edited(paths: readonly string[]): Promise<readonly HandEdit[]>;
  /** Puts Ralph's version back. */
  putBack(edits: readonly HandEdit[]): Promise<void>;
}
