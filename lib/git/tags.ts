import { join, relative, resolve } from "node:path";
import { listFiles, readFileState } from "../host/file_state.ts";

/** The commit of each tag or branch, by its name. */
export type Tags = ReadonlyMap<string, string>;

/** Entries of the stash, by their commit. */
export function readStash(gitDirectory: string): Tags {
  const entries = textOf(join(commonOf(gitDirectory), "logs/refs/stash")).matchAll(STASH_REGEXP);
  return new Map([...entries].map(([, hash = ""]) => [`stash-${hash.slice(0, 10)}`, hash]));
}

/** The moves of HEAD. */
export function readReflog(gitDirectory: string): string {
  return textOf(join(gitDirectory, "logs/HEAD"));
}

/**
 * Reads all refs below a folder such as `heads`, without a process. A repository with reftables, or what cannot be read, has none here.
 *
 * @param gitDirectory absolute path of a worktree's git directory
 */
export function readTags(gitDirectory: string, kind = "tags"): Tags {
  const common = commonOf(gitDirectory);
  const tags = new Map<string, string>();
  for (const [, hash = "", name = ""] of textOf(join(common, "packed-refs")).matchAll(PACKED_REGEXP)) {
    if (name.startsWith(`${kind}/`)) tags.set(name.slice(kind.length + 1), hash);
  }
  const folder = join(common, "refs", kind);
  for (const file of listFiles(folder, () => true)) {
    const hash = textOf(file).trim();
    if (hash !== "" && !file.endsWith(".lock")) tags.set(relative(folder, file), hash);
  }
  return tags;
}

/** Ralph reads nothing of a larger file. */
const LARGEST = 16 * 1024 * 1024;
const PACKED_REGEXP = /^([0-9a-f]{40,64}) refs\/(\S+)$/gm;
const STASH_REGEXP = /^[0-9a-f]+ ([0-9a-f]{40,64}) /gm;

/** Tags that were there before and point elsewhere now, or are gone. Pure. */
export function movedTags(before: Tags, now: Tags): readonly string[] {
  return [...before].flatMap(([name, hash]) => now.get(name) === hash ? [] : [name]);
}

/** The git directory that all worktrees share. Absolute path. */
export function commonOf(gitDirectory: string): string {
  return resolve(gitDirectory, textOf(join(gitDirectory, "commondir")).trim() || ".");
}

function textOf(path: string): string {
  const file = readFileState(path, LARGEST);
  return file.kind === "text" ? new TextDecoder().decode(file.bytes) : "";
}
