import { posix } from "node:path";
import { oldManifest } from "./old_manifest.ts";
import type { Reached } from "./reached.ts";
import { configuresRunner, isManifest, shadows } from "./runner_files.ts";
import { isMakefile } from "./scripts.ts";

/** A file of a commit: its mode and the name of its content. */
export interface TreeEntry {
  readonly mode: string;
  readonly hash: string;
}

/** The files of a commit by their path from the root. */
export type Entries = ReadonlyMap<string, TreeEntry>;

/** A judging file that is not what it was. */
export interface JudgingChange {
  readonly path: string;
  /** What lies there for old tests: the old file, none, or the old parts of a manifest in the new one. */
  readonly old: { readonly status: "entry"; readonly entry: TreeEntry } | { readonly status: "absent" } | {
    readonly status: "manifest";
    readonly mode: string;
    readonly text: string;
  };
}

/** What decides which files judge. */
export interface Judges {
  /** Whether `tests.globs` names a path. */
  readonly isTest: (path: string) => boolean;
  /** What the checks run, in the old tree. */
  readonly reached: Reached;
  /** Whether an item's own text names it: what is asked for is no judge. */
  readonly isSubject: (path: string) => boolean;
  /** Text of a file by the name of its content. */
  read(hash: string): Promise<string>;
}

/** The judging files that differ between the old tree and the new one. */
export async function judgingChanges(old: Entries, now: Entries, judges: Judges): Promise<readonly JudgingChange[]> {
  const { isTest, reached, isSubject } = judges;
  const isJudge = (path: string): boolean =>
    isTest(path) || ((configuresRunner(path) || reached.files.has(path)) && !isSubject(path));
  const changes: JudgingChange[] = [];
  for (const [path, entry] of old) {
    const after = now.get(path);
    if (after?.hash === entry.hash && after.mode === entry.mode) continue;
    if (!isTest(path) && (isManifest(path) || (isMakefile(path) && reached.files.has(path)))) {
      const change = await manifestChange(path, entry, after, judges);
      if (change !== null) changes.push(change);
    } else if (isJudge(path)) changes.push({ path, old: { status: "entry", entry } });
  }
  const folders = new Set([...old.keys()].filter(isJudge).map((path) => posix.dirname(path)));
  if (folders.size === 0 && reached.files.size === 0) return changes; // nothing judged yet that a new file could shadow
  for (const folder of reached.folders) folders.add(folder);
  const existing = { programs: reached.programs, folders, has: (path: string) => old.has(path) };
  for (const [path, { mode }] of now) {
    if (!old.has(path) && shadows(path, mode, existing) && !isSubject(path)) {
      changes.push({ path, old: { status: "absent" } });
    }
  }
  return changes;
}

async function manifestChange(
  path: string,
  entry: TreeEntry,
  after: TreeEntry | undefined,
  { isSubject, read }: Judges,
): Promise<JudgingChange | null> {
  if (after === undefined) return { path, old: { status: "entry", entry } };
  const now = await read(after.hash);
  const text = oldManifest(path, await read(entry.hash), now);
  return text === now || isSubject(path) ? null : { path, old: { status: "manifest", mode: after.mode, text } };
}

/** Whether text outside of commands names a path, or its last part. Pure. */
export function namesPath(text: string, path: string): boolean {
  const name = posix.basename(path);
  const named = [path, ...name.includes(".") ? [name] : []].map((one) => one.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`(?<![\\w/.-])(?:\\./)?(?:${named.join("|")})(?![\\w/-])`).test(text);
}
