import { posix } from "node:path";
import picomatch from "picomatch";
import { mayChangeTests } from "../../backlog/changes_tests.ts";
import type { JudgingHistory } from "../../backlog/journal_types.ts";
import type { Item } from "../../backlog/types.ts";
import { withoutCommands } from "../../backlog/verify_commands.ts";
import type { Config } from "../../config/types.ts";
import type { RalphContext } from "../../context/context.ts";
import { type Commits, createCommits, differing, type Entries, oldEntries } from "./commits.ts";
import { type FileKind, type Files, kindOf, namesPath, publishedBy } from "./product.ts";

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
  const files = { ...await filesOf(ralph.config, commits, [old, now]), commands, isSubject };
  const mayChange = item === undefined ? () => false : picomatch([...mayChangeTests(item)], { dot: true });
  const changed = [...differing(old, now)].filter(([path]) => !isOwn(path) && !mayChange(path)).map(([path, is]) => ({
    path,
    how: !old.has(path) ? "added" : is === null ? "deleted" : "changed",
    kind: kindOf(path, files),
  } as const));
  const base = history.steps.length === 0 ? history.base : await commits.lay(history.base, differing(first, old));
  return { commits, head, base, old, now, changed, files };
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
  return { isTest: picomatch([...tests.globs], { dot: true }), published: new Set(published) };
}
