import picomatch from "picomatch";
import type { JudgedItem, JudgingHistory } from "../../backlog/journal_types.ts";
import { withoutCommands } from "../../backlog/verify_commands.ts";
import type { RalphContext } from "../../context/context.ts";
import { type Entries, type JudgingChange, judgingChanges, namesPath, type TreeEntry } from "./judging_changes.ts";
import { movedPackages, pinsPackages } from "./lock_files.ts";
import { movedDependencies } from "./old_manifest.ts";
import { type Commits, createCommits, type LineCount, oldEntries } from "./old_tree.ts";
import { type FileTree, reachedBy } from "./reached.ts";

/** A judging file that the work changed. */
export interface ChangedTest extends LineCount {
  /** Relative to the root. */
  readonly path: string;
  /** Ids of the items whose turns changed it. */
  readonly items: readonly string[];
  /** It may be the work itself as well. */
  readonly isUncertain: boolean;
}

/** The judging files that the work changed, and a commit in which they are old. */
export interface OldJudges {
  /** HEAD with the old files laid over it; `null` where none changed. */
  readonly commit: string | null;
  readonly changes: readonly ChangedTest[];
  /** Dependencies that were there and now come from a folder, a link or git. */
  readonly moved: readonly string[];
}

/** What is compared. */
export interface OldJudgesOptions {
  readonly history: JudgingHistory;
  /** Commit whose files are new. */
  readonly head: string;
  /** Commands of the checks. */
  readonly commands: readonly string[];
  /** Files of the commit that the checks have written: new tests may have made the code that old ones judge. @default none */
  readonly touched?: () => Promise<readonly string[]>;
  /** Globs of tests that the item under way may change. @default none */
  readonly granted?: readonly string[];
  /** Its id and text, where it is not in the history yet. */
  readonly item?: JudgedItem;
}

type Context = Pick<RalphContext, "config" | "host" | "repository" | "root">;

/** Lays old judging files over a commit. Nothing is old where the work began without a commit. */
export async function oldJudges(ralph: Context, options: OldJudgesOptions): Promise<OldJudges> {
  const { history, head, commands, touched, granted = [] } = options;
  if (history.base === null) return { commit: null, changes: [], moved: [] };
  const commits = createCommits(ralph);
  const [old, now] = [await oldEntries(commits, history.base, history), await commits.entries(head)];
  const items = [
    ...history.items.filter(({ id }) => id !== options.item?.id),
    ...options.item === undefined ? [] : [options.item],
  ];
  const texts = new Map(items.map((item) => [item, withoutCommands(item.text)]));
  const mayChange = picomatch([...granted], { dot: true });
  const isTest = picomatch([...ralph.config.tests.globs], { dot: true });
  const changed = new Set(items.flatMap((item) => item.changed));
  const sources = [history.base, ...history.steps.map(({ to }) => to)];
  const found = await judgingChanges(old, now, {
    isTest,
    reached: await reachedBy(commands, fileTree(commits, old), isTest),
    named: await namedBy(commands, fileTree(commits, now)),
    isSubject: (path) => [...texts].some(([{ changed }, text]) => changed.includes(path) && namesPath(text, path)),
    isChanged: (path) => changed.has(path),
    isWritten: async () => (await touched?.() ?? []).length > 0,
    containing: (words) => commits.containing(sources, words),
    read: (hash) => commits.read(hash),
  });
  const changes = found.filter(({ path }) => !mayChange(path));
  const moved = await movedFrom(commits, old, now);
  if (changes.length === 0) return { commit: null, changes: [], moved };
  const commit = await commits.lay(head, await laidFiles(commits, changes));
  const counts = await commits.lines(commit, head);
  return {
    commit,
    moved,
    changes: changes.map(({ path, isUncertain }) => ({
      path,
      isUncertain,
      ...counts.get(path) ?? { added: null, removed: null },
      items: items.filter(({ changed }) => changed.includes(path)).map(({ id }) => id),
    })),
  };
}

/** Whether commands name a file of a tree by itself, and not by a folder or a pattern. */
async function namedBy(commands: readonly string[], tree: FileTree): Promise<(path: string) => boolean> {
  const { files, listed } = await reachedBy(commands, tree);
  return (path) => files.has(path) && !listed.has(path);
}

/** Whether all tests that an item's commands run are newer than the work's begin. */
export async function ownTests(
  ralph: Context,
  { history, head }: Pick<OldJudgesOptions, "history" | "head">,
): Promise<(commands: readonly string[]) => Promise<boolean>> {
  const commits = createCommits(ralph);
  const old = history.base === null ? new Map<string, TreeEntry>() : await oldEntries(commits, history.base, history);
  const now = await commits.entries(head);
  const tree = fileTree(commits, now);
  const isTest = picomatch([...ralph.config.tests.globs], { dot: true });
  let tests: readonly string[] | null = null; // asked for by each item: of many files once for all of them
  return async (own) => {
    const { files, folders } = await reachedBy(own, tree, isTest);
    tests ??= [...now.keys()].filter((path) => isTest(path));
    const inside = tests.filter((path) => [...folders].some((one) => path.startsWith(`${one}/`)));
    const run = [...[...files].filter((path) => isTest(path)), ...inside];
    return run.length > 0 && run.every((path) => !old.has(path));
  };
}

export function fileTree(commits: Commits, entries: Entries): FileTree {
  const folders = new Set([...entries.keys()].flatMap((path) => {
    const parts = path.split("/");
    return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
  }));
  return {
    has: (path) => entries.has(path),
    isFolder: (path) => folders.has(path),
    paths: () => entries.keys(),
    isRepository: (path) => entries.get(path)?.mode === "160000",
    async linkAt(path) {
      const entry = entries.get(path);
      return entry?.mode === "120000" ? await commits.read(entry.hash) : null;
    },
    async read(path) {
      const entry = entries.get(path);
      return entry === undefined || !entry.mode.startsWith("100") ? null : await commits.read(entry.hash);
    },
  };
}

async function laidFiles(
  commits: Commits,
  changes: readonly JudgingChange[],
): Promise<ReadonlyMap<string, TreeEntry | null>> {
  const files = new Map<string, TreeEntry | null>();
  for (const { path, old } of changes) {
    if (old.status === "absent") files.set(path, null);
    else if (old.status === "entry") files.set(path, old.entry);
    else files.set(path, { mode: old.mode, hash: await commits.write(old.text) });
  }
  return files;
}

async function movedFrom(commits: Commits, old: Entries, now: Entries): Promise<readonly string[]> {
  const moved: string[] = [];
  for (const [path, { hash }] of old) {
    const after = now.get(path);
    if (after === undefined || after.hash === hash) continue;
    const isManifest = /(?:^|\/)(?:package|deno)\.jsonc?$/.test(path);
    if (!isManifest && !pinsPackages(path)) continue;
    const [before, text] = [await commits.read(hash), await commits.read(after.hash)];
    moved.push(...isManifest ? movedDependencies(path, before, text) : movedPackages(path, before, text));
  }
  return moved;
}
