import { posix, relative, sep } from "node:path";
import picomatch from "picomatch";
import type { JudgedItem, JudgingHistory } from "../../backlog/journal_types.ts";
import type { RalphContext } from "../../context/context.ts";
import { laidCommit, layCommit, objectOf, withLaid } from "../../git/laid.ts";
import { foldersAbove } from "../../host/programs.ts";
import { requireRepository } from "../../git/repository.ts";
import { requireCommit } from "../../git/read_commit.ts";
import { commonDirectoryOf, createGit, gitFailed, outputFrom, partsOf, reasonOf } from "../../git/run_git.ts";
import { type ListedEntry, treeListing } from "../../git/tree_listing.ts";
import { mayChangeTests } from "../../backlog/changes_tests.ts";
import type { Item } from "../../backlog/types.ts";
import { withoutCommands } from "../../backlog/verify_commands.ts";
import type { Config } from "../../config/load.ts";
import { type FileKind, type Files, importsPath, kindOf, namesPath, publishedBy, testsBy } from "./product.ts";

/** A file of a commit: its mode and the name of its content. */
export type TreeEntry = Pick<ListedEntry, "hash" | "mode">;

/** The files of a commit by their path from the root. */
export type Entries = ReadonlyMap<string, TreeEntry>;

/** Files to lay over a commit; `null` takes one away. */
export type Layers = ReadonlyMap<string, TreeEntry | null>;

/** Reads commits, and makes one that no branch has. Paths are relative to the root: `../` leads to what is beside it. */
export interface Commits {
  entries(commit: string): Promise<Entries>;
  read(hash: string): Promise<string>;
  /** Text files of a commit with one of the words in them. */
  containing(commit: string, words: readonly string[]): Promise<readonly string[]>;
  /** The commit `base` with these files laid over it: nothing else in it tells that it is another one. */
  lay(base: string, files: Layers): Promise<string>;
  /** A file for `lay()`. @param like a name of the repository @returns its name */
  write(text: string, like: string): string;
}

/** An argument list is not endless. */
const MOST_WORDS = 1000;

/** Reads commits. */
export function createCommits(ralph: Pick<RalphContext, "host" | "repository" | "root">): Commits {
  const repository = requireRepository(ralph);
  const inside = relative(repository.topLevel, ralph.root).replaceAll(sep, "/");
  const fromRoot = (path: string): string => inside === "" ? path : posix.relative(inside, path);
  const git = createGit(ralph.host, repository.topLevel);
  const commonDirectory = (): Promise<string> => commonDirectoryOf(repository.gitDirectory);
  const listing = async (commit: string): Promise<readonly ListedEntry[]> =>
    laidCommit(await commonDirectory(), commit)?.entries ?? await treeListing(git, commit);
  const written = new Map<string, Buffer>();
  const texts = new Map<string, string>();
  return {
    async entries(commit) {
      return new Map((await listing(commit)).map(({ mode, hash, path }) => [fromRoot(path), { mode, hash }]));
    },
    async read(hash) {
      const bytes = written.get(hash);
      return bytes?.toString("utf8", bytes.indexOf(0) + 1) ?? await outputFrom(repository, ["cat-file", "blob", hash]);
    },
    async containing(commit, words) {
      if (words.length === 0) return [];
      const patterns = words.slice(0, MOST_WORDS).flatMap((word) => ["-e", word]);
      const listed = ["grep", "-lzIF", "--full-name", "--no-color", ...patterns, commit];
      const end = await withLaid(repository, commit, (environment) => repository.git(listed, { environment }));
      const { exitCode, stdout, stderr } = end;
      if (exitCode !== 0 && exitCode !== 1) throw gitFailed(listed, reasonOf({ stderr, tail: stderr }));
      return partsOf(stdout).map((line) => fromRoot(line.slice(commit.length + 1)));
    },
    write(text, like) {
      const [hash, bytes] = objectOf("blob", text, like);
      written.set(hash, bytes);
      return hash;
    },
    async lay(base, files) {
      const layers = new Map([...files].map(([path, entry]) => [posix.join(inside, path), entry]));
      const entries = await listing(base);
      const common = await commonDirectory();
      const text = laidCommit(common, base)?.text ?? texts.get(base) ?? await requireCommit(repository, base);
      texts.set(base, text);
      return layCommit(base, { text, entries, common }, laidOver(entries, layers), written);
    },
  };
}

/** The files of a commit with others laid over them: a file takes the place of a folder, and a folder that of a file. Pure. */
function laidOver(base: readonly ListedEntry[], layers: Layers): readonly ListedEntry[] {
  const added = [...layers].flatMap(([path, entry]) => entry === null ? [] : [{ ...entry, path }]);
  const files = new Set(added.map(({ path }) => path));
  const folders = new Set(added.flatMap(({ path }) => foldersAbove(posix.dirname(path))));
  const isBelow = (path: string): boolean => foldersAbove(posix.dirname(path)).some((folder) => files.has(folder));
  return [...base.filter(({ path }) => !layers.has(path) && !folders.has(path) && !isBelow(path)), ...added];
}

/** The paths in which two sets of files differ, with what the second one has. Pure. */
export function differing(from: Entries, to: Entries): Layers {
  const paths = [...new Set([...from.keys(), ...to.keys()])].filter((path) => {
    const [was, is] = [from.get(path), to.get(path)];
    return was?.hash !== is?.hash || was?.mode !== is?.mode;
  });
  return new Map(paths.map((path) => [path, to.get(path) ?? null]));
}

/**
 * The files as they were before the work: those of the base, with what a person changed between two runs and what items
 * were allowed to change.
 */
export async function oldEntries(
  commits: Pick<Commits, "entries">,
  base: Entries,
  { steps }: JudgingHistory,
): Promise<Entries> {
  const old = new Map(base);
  for (const { from, to, globs } of steps) {
    const counts = globs === undefined ? () => true : picomatch([...globs], { dot: true });
    for (const [path, entry] of differing(await commits.entries(from), await commits.entries(to))) {
      if (!counts(path)) continue;
      if (entry === null) old.delete(path);
      else old.set(path, entry);
    }
  }
  return old;
}

/** Such files by the items: the first that passed with a file has it. Most files are one item's, and need no look. */
async function verifiedEntries(
  commits: Pick<Commits, "entries">,
  items: readonly JudgedItem[],
  { old, now, isJudge, without }: Pick<Question, "now" | "old"> & {
    isJudge(path: string): boolean;
    readonly without: string | undefined;
  },
): Promise<Entries> {
  const found = new Map<string, TreeEntry>();
  const seen = new Set<string>();
  const shared = new Set(items.flatMap(({ changed }) => changed.filter((path) => seen.has(path) || !seen.add(path))));
  for (const { id, changed, passed } of items) {
    const paths = changed.filter((path) => shared.has(path) && !old.has(path) && !found.has(path) && isJudge(path));
    if (passed === undefined || id === without || paths.length === 0) continue;
    const entries = await commits.entries(passed);
    for (const path of paths) {
      const entry = entries.get(path);
      if (entry !== undefined && entry.hash !== now.get(path)?.hash) found.set(path, entry);
    }
  }
  return found;
}

/** A file that differs between the commit before the work and the one after it. */
export interface ChangedFile {
  /** Relative to the root. */
  readonly path: string;
  readonly kind: FileKind;
  readonly how: "added" | "changed" | "deleted";
}

/** The subject of the experiments. */
export interface Question {
  readonly commits: Commits;
  /** The commit with the work. */
  readonly head: string;
  /** A commit with all files as they were before it. */
  readonly base: string;
  readonly old: Entries;
  /** Judging files that items which passed brought, as they were then, where they were changed since. */
  readonly verified: Entries;
  readonly now: Entries;
  readonly changed: readonly ChangedFile[];
  readonly files: Files;
}

export interface QuestionOptions {
  readonly history: JudgingHistory;
  readonly head: string;
  readonly commands: readonly string[];
  /** Ralph's own files: state files, its configuration. */
  readonly isOwn: (path: string) => boolean;
  /** The item under way; the tests that it may change are nobody's judges. @default none */
  readonly item?: Item;
}

/** Compares the work with what was there before it; `null` if there was no commit before it. */
export async function questionOf(
  ralph: Pick<RalphContext, "config" | "host" | "repository" | "root">,
  options: QuestionOptions,
): Promise<Question | null> {
  const { history, head, commands, isOwn, item } = options;
  if (history.base === null) return null;
  const commits = createCommits(ralph);
  const first = await commits.entries(history.base);
  const [old, now] = [await oldEntries(commits, first, history), await commits.entries(head)];
  const texts = history.items.map((one) => ({ ...one, text: withoutCommands(one.text) }));
  const isSubject = (path: string): boolean =>
    texts.some(({ changed, text }) => changed.includes(path) && namesPath(text, path));
  const known = { ...await filesOf(ralph.config, commits, [old, now]), commands, isSubject };
  const odd = [...differing(old, now).keys()].filter((path) => kindOf(path, known) === "judge");
  const imported = await importedByTests(commits, { base: history.base, old, isTest: known.isTest }, odd);
  const files = { ...known, published: new Set([...known.published, ...imported]) };
  const isJudge = (path: string): boolean => !isOwn(path) && !["product", "lock"].includes(kindOf(path, files));
  const verified = await verifiedEntries(commits, history.items, { old, now, isJudge, without: item?.id });
  const mayChange = item === undefined ? () => false : picomatch([...mayChangeTests(item)], { dot: true });
  const gone = [...verified.keys()].filter((path) => !now.has(path)).map((path) => [path, null] as const);
  const changed = [...differing(old, now), ...gone].filter(([path]) => !isOwn(path) && !mayChange(path)).map((
    [path, is],
  ) => ({
    path,
    how: !old.has(path) && !verified.has(path) ? "added" : is === null ? "deleted" : "changed",
    kind: kindOf(path, files),
  } as const));
  const base = history.steps.length === 0 ? history.base : await commits.lay(history.base, differing(first, old));
  return { commits, head, base, old, verified, now, changed, files };
}

/** The files that one of the old tests imports: it is about them, whatever they are called. */
async function importedByTests(
  commits: Pick<Commits, "containing" | "read">,
  { base, old, isTest }: Pick<Question, "base" | "old"> & Pick<Files, "isTest">,
  paths: readonly string[],
): Promise<readonly string[]> {
  if (![...old.keys()].some(isTest)) return [];
  const stems = paths.map((path) => posix.parse(path).name);
  const entries = (await commits.containing(base, stems)).filter(isTest).flatMap((path) => old.get(path) ?? []);
  const texts = await Promise.all(entries.map(({ hash }) => commits.read(hash)));
  return paths.filter((path) => texts.some((text) => importsPath(text, path)));
}

/** The facts about a project's files that its configuration and its manifests say. */
export async function filesOf(
  { tests }: Pick<Config, "tests">,
  commits: Pick<Commits, "read">,
  all: readonly Entries[],
): Promise<Pick<Files, "isTest" | "published">> {
  const published: string[] = [];
  for (const [path, { hash, mode }] of all.flatMap((entries) => [...entries])) {
    if (posix.basename(path) !== "package.json" || !mode.startsWith("100")) continue;
    try {
      const { bin, main, exports } = JSON.parse(await commits.read(hash)) as Record<string, unknown>;
      published.push(...publishedBy([bin, main, exports]).map((one) => posix.join(posix.dirname(path), one)));
    } catch {
      // A manifest that does not parse names nothing.
    }
  }
  return { isTest: testsBy(tests.globs), published: new Set(published) };
}
