import { join } from "node:path";
import { LARGEST_LOG, readBytes } from "../host/files.ts";
import { factsOf } from "../host/path_facts.ts";
import { namesOfTrees, objectOf } from "./laid.ts";
import { looseCommit, treeIn } from "./read_commit.ts";
import type { Repository, WithIndex } from "./repository.ts";
import { keepListing, knownListing, type ListedEntry } from "./tree_listing.ts";

/** A file of the index, and whether a flag hides its changes. */
export interface IndexEntry extends ListedEntry {
  readonly isAssumed: boolean;
  readonly isSkipped: boolean;
}

const [ASSUMED, EXTENDED, STAGES, LENGTH, SKIPPED] = [0x8000, 0x4000, 0x3000, 0xfff, 0x4000];
const VERSIONS: readonly number[] = [2, 3];

/**
 * Reads the index without a process.
 *
 * @param like a name of the repository: its index has names of that length
 * @returns `null` where git has to be asked: a conflict, a split or a sparse index, another version, or none
 */
export async function readIndex({ gitDirectory }: WithIndex, like: string): Promise<readonly IndexEntry[] | null> {
  const bytes = await readBytes(join(gitDirectory, "index"), LARGEST_LOG).catch(() => null); // git says what it is
  if (bytes === null || bytes.length < 12 || bytes.toString("latin1", 0, 4) !== "DIRC") return null;
  if (!VERSIONS.includes(bytes.readUInt32BE(4))) return null;
  const [count, digits] = [bytes.readUInt32BE(8), like.length / 2];
  const entries: IndexEntry[] = [];
  let at = 12;
  while (entries.length < count) {
    const hash = at + 40;
    if (hash + digits + 4 > bytes.length) return null;
    const flags = bytes.readUInt16BE(hash + digits);
    const name = hash + digits + ((flags & EXTENDED) === 0 ? 2 : 4);
    const end = bytes.indexOf(0, name);
    const isOdd = (flags & LENGTH) !== Math.min(end - name, LENGTH); // git takes its word for it
    if ((flags & STAGES) !== 0 || end < 0 || isOdd) return null;
    entries.push({
      mode: bytes.readUInt32BE(at + 24).toString(8),
      hash: bytes.toString("hex", hash, hash + digits),
      path: bytes.toString("utf8", name, end),
      isAssumed: (flags & ASSUMED) !== 0,
      isSkipped: (flags & EXTENDED) !== 0 && (bytes.readUInt16BE(name - 2) & SKIPPED) !== 0,
    });
    at += (end - at + 8) & ~7;
  }
  for (; at + 8 + digits <= bytes.length; at += 8 + bytes.readUInt32BE(at + 4)) {
    if (bytes[at]! >= 0x61) return null; // without the extension, which has a small letter, it says something else
  }
  return entries;
}

/** Remembers the files of a commit, where the index has just these: the names of its trees prove it. */
export async function listFromIndex(repository: WithIndex, commit: string): Promise<void> {
  const tree = knownListing(commit) !== null ? null : treeIn(await looseCommit(repository, commit));
  const entries = tree === null ? null : await readIndex(repository, commit);
  if (entries !== null && namesOfTrees(entries, commit).root === tree) keepListing(commit, entries);
}

/** Tells, without a process, that files are as HEAD and the index have them; false where only git can say so. */
export async function areAsCommitted(repository: Repository, paths: readonly string[]): Promise<boolean> {
  const { head } = await repository.head();
  if (head !== null) await listFromIndex(repository, head);
  const [listed, staged] = head === null ? [] : [knownListing(head), await readIndex(repository, head)];
  if (head === null || !listed || !staged) return false;
  const named = new Set(paths);
  const entriesIn = (all: readonly ListedEntry[]): ReadonlyMap<string, string> =>
    new Map(all.flatMap(({ path, mode, hash }) => named.has(path) ? [[path, `${mode} ${hash}`]] : []));
  const [committed, index] = [entriesIn(listed), entriesIn(staged)];
  for (const path of named) {
    const file = join(repository.topLevel, path);
    const facts = factsOf(file);
    const bytes = facts?.kind === "file" ? await readBytes(file, LARGEST_LOG) : null;
    const mode = ((facts?.mode ?? 0) & 0o100) === 0 ? "100644" : "100755";
    const now = bytes === null ? facts?.kind : `${mode} ${objectOf("blob", bytes, head)[0]}`;
    if (committed.get(path) !== now || index.get(path) !== now) return false;
  }
  return true;
}
