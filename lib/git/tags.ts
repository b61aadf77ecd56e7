import { join, relative, resolve } from "node:path";
import { listFiles, readFileState } from "../host/file_state.ts";

/** What each tag points to, by its name. */
export type Tags = ReadonlyMap<string, string>;

/**
 * Reads all tags without a process. A repository with reftables, or what cannot be read, has none here.
 *
 * @param gitDirectory absolute path of a worktree's git directory
 */
export function readTags(gitDirectory: string): Tags {
  const common = resolve(gitDirectory, textOf(join(gitDirectory, "commondir")).trim() || ".");
  const tags = new Map<string, string>();
  for (const [, hash = "", name = ""] of textOf(join(common, "packed-refs")).matchAll(PACKED_REGEXP)) {
    tags.set(name, hash);
  }
  const folder = join(common, "refs", "tags");
  for (const file of listFiles(folder, () => true)) {
    const hash = textOf(file).trim();
    if (hash !== "") tags.set(relative(folder, file), hash);
  }
  return tags;
}

/** Of a larger file nothing is read. */
const LARGEST = 16 * 1024 * 1024;
const PACKED_REGEXP = /^([0-9a-f]{40,64}) refs\/tags\/(\S+)$/gm;

/** Tags that were there before and point elsewhere now, or are gone. Pure. */
export function movedTags(before: Tags, now: Tags): readonly string[] {
  return [...before].flatMap(([name, hash]) => now.get(name) === hash ? [] : [name]);
}

function textOf(path: string): string {
  const file = readFileState(path, LARGEST);
  return file.kind === "text" ? new TextDecoder().decode(file.bytes) : "";
}
