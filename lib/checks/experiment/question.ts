import { posix } from "node:path";
import picomatch from "picomatch";
import { mayChangeTests } from "../../backlog/changes_tests.ts";
import type { JudgingHistory } from "../../backlog/journal_types.ts";
import type { Item } from "../../backlog/types.ts";
import { withoutCommands } from "../../backlog/verify_commands.ts";
import type { RalphContext } from "../../context/context.ts";
import { type Commits, createCommits, type Entries, oldEntries } from "./commits.ts";
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

type Context = Pick<RalphContext, "config" | "host" | "repository" | "root">;

/** Compares the work with what was there before it; `null` if there was no commit before it. */
export async function questionOf(ralph: Context, options: QuestionOptions): Promise<Question | null> {
  const { history, head, commands, isOwn, item } = options;
  if (history.base === null) return null;
  const commits = createCommits(ralph);
  const first = await commits.entries(history.base);
  const [old, now] = [await oldEntries(commits, first, history), await commits.entries(head)];
  const texts = history.items.map((one) => ({ ...one, text: withoutCommands(one.text) }));
  const files: Files = {
    commands,
    isTest: picomatch([...ralph.config.tests.globs], { dot: true }),
    published: new Set([...await publishedFiles(commits, old), ...await publishedFiles(commits, now)]),
    isSubject: (path) => texts.some(({ changed, text }) => changed.includes(path) && namesPath(text, path)),
  };
  const mayChange = item === undefined ? () => false : picomatch([...mayChangeTests(item)], { dot: true });
  const changed = changedFiles(old, now).filter(({ path }) => !isOwn(path) && !mayChange(path))
    .map((one) => ({ ...one, kind: kindOf(one.path, files) }));
  const base = history.steps.length === 0 ? history.base : await commits.lay(history.base, laidOver(first, old));
  return { commits, head, base, old, now, changed, files };
}

/** The changes to lay over some entries so that they become the others. Pure. */
export function laidOver(from: Entries, to: Entries): ReadonlyMap<string, { mode: string; hash: string } | null> {
  return new Map(changedFiles(from, to).map(({ path }) => [path, to.get(path) ?? null]));
}

function changedFiles(old: Entries, now: Entries): readonly Omit<ChangedFile, "kind">[] {
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((path) => {
    const [was, is] = [old.get(path), now.get(path)];
    if (was?.hash === is?.hash && was?.mode === is?.mode) return [];
    return [{ path, how: was === undefined ? "added" : is === undefined ? "deleted" : "changed" } as const];
  });
}

/** Files that a `package.json` names as what others run or import, relative to the root. */
export async function publishedFiles(commits: Commits, entries: Entries): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [path, { hash, mode }] of entries) {
    if (posix.basename(path) !== "package.json" || !mode.startsWith("100")) continue;
    try {
      const { bin, main, exports } = JSON.parse(await commits.read(hash)) as Record<string, unknown>;
      found.push(...publishedBy([bin, main, exports]).map((one) => posix.join(posix.dirname(path), one)));
    } catch {
      // A manifest that does not parse names nothing.
    }
  }
  return found;
}
