import { posix } from "node:path";
import { oldManifest } from "./old_manifest.ts";
import { isDocument, lostExamples, sharedLines, withOldTests, wordsOfInlineTests } from "./inline_tests.ts";
import { importedBy, isProduct, mentionedBy } from "./mentioned.ts";
import { disarms, isLoadedByName } from "./new_tests.ts";
import type { Reached } from "./reached.ts";
import {
  configuresBuild,
  configuresRunner,
  isManifest,
  mayBeWork,
  moduleOf,
  namedAfter,
  packagesOf,
  shadows,
  stemOf,
} from "./runner_files.ts";
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
  /** It may be the work itself as well: a change only where the checks fail with the old one. */
  readonly isUncertain: boolean;
  /** What is there for old tests: the old file, none, or the new one with its old parts. */
  readonly old: { readonly status: "entry"; readonly entry: TreeEntry } | { readonly status: "absent" } | {
    readonly status: "parts";
    readonly mode: string;
    readonly text: string;
  };
}

/** Of so many new tests the text is read; any further one may disarm the others. */
const MOST_NEW_TESTS = 200;

/** What decides which files judge. */
export interface Judges {
  /** Whether `tests.globs` names a path. */
  readonly isTest: (path: string) => boolean;
  /** What the checks run, in the old tree. */
  readonly reached: Reached;
  /** Whether a check names this file of the new tree by itself: without it there is nothing to run. */
  readonly named: (path: string) => boolean;
  /** Whether an item's own text names it: what is asked for is no judge. */
  readonly isSubject: (path: string) => boolean;
  /** Whether a turn changed it. */
  readonly isChanged: (path: string) => boolean;
  /** The checks have written files of the commit. */
  isWritten(): Promise<boolean>;
  /** Files of the old tree with one of these words in them. */
  containing(words: readonly string[]): Promise<readonly string[]>;
  /** Text of a file by the name of its content. */
  read(hash: string): Promise<string>;
}

/** The judging files that differ between the old tree and the new one. */
export async function judgingChanges(old: Entries, now: Entries, given: Judges): Promise<readonly JudgingChange[]> {
  const judges = { ...given, isTest: (path: string) => !isElsewhere(path) && given.isTest(path) };
  const { isTest, reached, isSubject } = judges;
  const configures = (path: string): boolean =>
    !isElsewhere(path) && (configuresRunner(path) || namedAfter(path, reached.programs));
  const packages = packagesOf(reached.files);
  // a program that writes files of the commit may have made the tests that judge it
  const run = reached.work.size > 0 && await given.isWritten()
    ? new Set([...reached.files, ...reached.work])
    : reached.files;
  const isJudge = (path: string): boolean =>
    isTest(path) ||
    ((configures(path) || run.has(path) || reached.data.has(path) ||
      packages.some((one) => path.startsWith(one))) && !isSubject(path));
  const inside = await inlineTests(old, now, judges);
  const changes: JudgingChange[] = [...inside.values()];
  const others: string[] = [];
  for (const [path, entry] of old) {
    const after = now.get(path);
    if (after?.hash === entry.hash && after.mode === entry.mode) continue;
    if (inside.has(path)) continue;
    const isReached = run.has(path);
    if (!isTest(path) && ((isManifest(path) && (isReached || !isElsewhere(path))) || (isMakefile(path) && isReached))) {
      const change = await manifestChange(path, entry, after, judges);
      if (change !== null) changes.push(change);
    } else if (isJudge(path)) {
      const mayJudge = isProduct(path) || (!isReached && (configuresBuild(path) || !configuresRunner(path)));
      const isUncertain = !isTest(path) && mayJudge;
      changes.push(oldFile(path, entry, isUncertain));
    } else if (judges.isChanged(path) && !isSubject(path)) others.push(path);
  }
  for (const path of await mentionedBy(others, mentionsIn(old, judges))) {
    changes.push(oldFile(path, old.get(path) as TreeEntry, true));
  }
  return [...changes, ...await newFiles(old, now, isJudge, judges)];
}

/** Beside the root in its repository: a judge only where a check reaches it. Above the root is none of it. Pure. */
function isElsewhere(path: string): boolean {
  return path.startsWith("../") && /^(?:\.\.\/)+.*\//.test(path);
}

/** Of so many changed files with tests inside the text is read. */
const MOST_INLINE = 400;
/** A new file with so much of an old one's code is that one by another name. */
const SAME_FILE = 0.5;

/** Files of the work that have tests inside, with these as they were; documents that lost examples, by the old path. */
async function inlineTests(
  old: Entries,
  now: Entries,
  { isTest, reached, isSubject, named, containing, read }: Judges,
): Promise<ReadonlyMap<string, JudgingChange>> {
  const isPlain = (entry: TreeEntry | undefined): entry is TreeEntry => entry?.mode.startsWith("100") === true;
  const changed = [...old].filter(([path, { hash, mode }]) =>
    mode.startsWith("100") && now.get(path)?.hash !== hash && !isTest(path) && !isElsewhere(path) &&
    (isProduct(path) || !reached.files.has(path))
  );
  const words = wordsOfInlineTests(changed.map(([path]) => path));
  const documents = changed.some(([path]) => isDocument(path)) ? [">>> "] : [];
  const candidates = new Set(await containing([...new Set([...words, ...documents])]));
  const found = new Map<string, JudgingChange>();
  for (const [path, { hash }] of changed.filter(([one]) => candidates.has(one)).slice(0, MOST_INLINE)) {
    const before = await read(hash);
    const after = now.get(path);
    const same = isPlain(after) ? [path, after] as const : await sameFile(path, before, { old, now, read });
    if (same === null) continue;
    const text = await read(same[1].hash);
    if (lostExamples(path, before, text) && !isSubject(path) && !named(path)) {
      found.set(path, oldFile(path, { mode: same[1].mode, hash }, true));
    }
    const laid = withOldTests(path, before, text);
    if (laid === null) continue;
    found.set(path, { path: same[0], isUncertain: true, old: { status: "parts", mode: same[1].mode, text: laid } });
  }
  return found;
}

/** Where the code of a file that is gone is now. */
async function sameFile(
  path: string,
  before: string,
  { old, now, read }: { readonly old: Entries; readonly now: Entries; readonly read: Judges["read"] },
): Promise<readonly [path: string, entry: TreeEntry] | null> {
  const added = [...now].filter(([one, { mode }]) =>
    mode.startsWith("100") && !old.has(one) && posix.extname(one) === posix.extname(path)
  ).slice(0, MOST_NEW_TESTS);
  for (const found of added) if (sharedLines(path, before, await read(found[1].hash)) >= SAME_FILE) return found;
  return null;
}

function oldFile(path: string, entry: TreeEntry, isUncertain: boolean): JudgingChange {
  return { path, isUncertain, old: { status: "entry", entry } };
}

/** New files that are taken in the place of what checks run, or that they would have read all along. */
async function newFiles(
  old: Entries,
  now: Entries,
  isJudge: (path: string) => boolean,
  judges: Judges,
): Promise<readonly JudgingChange[]> {
  const { isTest, reached, isSubject } = judges;
  const folders = new Set([...old.keys()].filter(isJudge).map((path) => posix.dirname(path)));
  if (folders.size === 0 && reached.files.size === 0) return []; // nothing judged yet that a new file could shadow
  for (const folder of reached.folders) folders.add(folder);
  const added = [...now].filter(([path]) => !old.has(path) && (!isElsewhere(path) || reached.absent.has(path)));
  const modules = added.flatMap(([path]) => moduleOf(path, folders) ?? []);
  const imported = await importedBy(modules, mentionsIn(old, judges));
  const vendored = [...old.keys()].some((path) => path.startsWith("vendor/"));
  const existing = {
    programs: reached.programs,
    folders,
    imported,
    stems: new Set([...old.keys()].filter(isJudge).flatMap((path) => stemOf(path) ?? [])),
    has: (path: string) => old.has(path) || (path === "vendor" && vendored),
  };
  const isTarget = (path: string): boolean =>
    [...reached.targets].some((one) => path === one || path.startsWith(`${one}/`));
  const isPackage = (path: string): boolean => path.endsWith("/__init__.py") && folders.has(posix.dirname(path)); // of tests: they may need it
  const disarming = await disarmingTests(added.filter(([path]) => isTest(path)), old, judges);
  const taken = added.filter(([path, { mode }]) =>
    (reached.absent.has(path) || shadows(path, mode, existing) || disarming.has(path) || isTarget(path)) &&
    !isSubject(path)
  );
  const absent = taken.map(([path]): JudgingChange => ({
    path,
    isUncertain: mayBeWork(path, reached.programs) || isPackage(path) || disarming.has(path) || isTarget(path) ||
      existing.stems.has(stemOf(path) ?? ""),
    old: { status: "absent" },
  }));
  const others = added.filter((one) => isManifest(one[0]) && !taken.includes(one));
  const manifests = await Promise.all(others.map(([path, entry]) => manifestChange(path, null, entry, judges)));
  return [...absent, ...manifests.filter((one) => one !== null)];
}

/** New tests by which the old ones beside them may pass: they count as absent where these fail without them. */
async function disarmingTests(
  added: readonly (readonly [path: string, entry: TreeEntry])[],
  old: Entries,
  { isTest, isWritten, named, read }: Judges,
): Promise<ReadonlySet<string>> {
  const endings = new Set([...old.keys()].filter(isTest).map((path) => posix.extname(path)));
  const found = new Set<string>();
  const tests = added.filter(([path, { mode }]) => mode.startsWith("100") && !named(path));
  const all = tests.length > 0 && await isWritten();
  for (const [index, [path, { hash }]] of tests.entries()) {
    const mayDisarm = async (): Promise<boolean> => index >= MOST_NEW_TESTS || disarms(path, await read(hash));
    if (all || isLoadedByName(path) || (endings.has(posix.extname(path)) && await mayDisarm())) found.add(path);
  }
  return found;
}

function mentionsIn(old: Entries, { isTest, reached, containing, read }: Judges): Parameters<typeof mentionedBy>[1] {
  return {
    isTest,
    isRun: (path) => reached.files.has(path),
    has: (path) => old.has(path),
    async read(path) {
      const entry = old.get(path);
      return entry?.mode.startsWith("100") === true ? await read(entry.hash) : null;
    },
    containing,
  };
}

async function manifestChange(
  path: string,
  entry: TreeEntry | null,
  after: TreeEntry | undefined,
  { isSubject, read, reached: { programs } }: Judges,
): Promise<JudgingChange | null> {
  if (after === undefined) return entry === null ? null : oldFile(path, entry, false);
  if (isSubject(path) || !after.mode.startsWith("100")) return null;
  const [before, now] = [entry === null ? "" : await read(entry.hash), await read(after.hash)];
  const decides = oldManifest(path, before, now);
  const mayDecide = oldManifest(path, before, now, { withOthers: true, programs });
  if (mayDecide === now) return null;
  return {
    path,
    isUncertain: entry === null || decides === now,
    old: { status: "parts", mode: after.mode, text: mayDecide },
  };
}

/** Whether text outside of commands names a path, or its last part. Pure. */
export function namesPath(text: string, path: string): boolean {
  const name = posix.basename(path);
  const named = [path, ...name.includes(".") ? [name] : []].map((one) => one.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`(?<![\\w/.-])(?:\\./)?(?:${named.join("|")})(?![\\w/-])`).test(text);
}
