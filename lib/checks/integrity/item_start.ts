import { join } from "node:path";
import picomatch from "picomatch";
import type { RalphContext } from "../../context/context.ts";
import type { TreeSnapshot } from "../../git/types.ts";
import { readStart } from "../../host/files.ts";
import type { Attempt, WorkDone } from "../../backlog/types.ts";
import { rootPaths, topLevelPaths } from "../../git/tree_paths.ts";

/** As much of a file as is compared. */
const BYTES = 1024 * 1024;

/** How things stood before the first attempt at an item, and what attempts have changed since. Paths are the root's. */
export interface ItemStart extends WorkDone {
  /** Test files with uncommitted changes that are the user's: their text then, `null` where one was taken away. */
  readonly own: ReadonlyMap<string, string | null>;
  /** Whether a path is a test by `tests.globs`. */
  readonly isTest: (path: string) => boolean;
}

/** Whose uncommitted changes are whose, by the top level's paths. */
export interface DirtyPaths {
  readonly user: ReadonlySet<string>;
  /** What attempts at the item have left, in earlier runs as well. */
  readonly item: readonly string[];
}

/** Remembers, for one run, how the items began. */
export interface ItemStarts {
  /** Call before each turn. */
  of(history: readonly Attempt[], before: TreeSnapshot, paths: DirtyPaths): Promise<ItemStart>;
}

/** What git does not keep of the start is kept here: the user's own uncommitted test files. */
export function createItemStarts(ralph: Pick<RalphContext, "config" | "repository" | "root">): ItemStarts {
  const { globs, integrity } = ralph.config.tests;
  let matcher: ((path: string) => boolean) | undefined; // made of many globs: only where a path is to be matched
  const isTest = (path: string): boolean => (matcher ??= picomatch([...globs], { dot: true }))(path);
  const own = new Map<string, string | null>();
  return {
    async of(history, before, paths) {
      if (integrity !== "off") {
        const dirty = before.changed.map(({ path }) => path).filter((path) => paths.user.has(path));
        for (const path of rootPaths(ralph, dirty)) {
          if (!isTest(path) || (history.length > 0 && own.has(path))) continue;
          own.set(path, await readFileStart(join(ralph.root, path)));
        }
      }
      const turns = history.flatMap(({ turn }) => turn === null ? [] : [turn]);
      const [first] = turns;
      return {
        since: first === undefined ? before.head : first.base,
        changedFiles: [
          ...new Set([...rootPaths(ralph, paths.item), ...turns.flatMap(({ changedFiles }) => changedFiles)]),
        ],
        own,
        isTest,
      };
    },
  };
}

/** The start of a first attempt without a loop: whatever is dirty is the user's. */
export async function freshStart(
  ralph: Pick<RalphContext, "config" | "repository" | "root">,
  before: TreeSnapshot,
): Promise<ItemStart> {
  const user = new Set(before.changed.map(({ path }) => path));
  return await createItemStarts(ralph).of([], before, { user, item: [] });
}

/** The start with what one more turn changed. Pure. */
export function withTurn(start: ItemStart, changedFiles: readonly string[]): ItemStart {
  return { ...start, changedFiles: [...new Set([...start.changedFiles, ...changedFiles])] };
}

/** Paths of the root by their name in git. */
export function byTopLevelPath(
  ralph: Pick<RalphContext, "repository" | "root">,
  paths: readonly string[],
): ReadonlyMap<string, string> {
  const names = topLevelPaths(ralph, paths);
  return new Map(paths.map((path, index) => [path, names[index] ?? path]));
}

/** The text of a file, as much as is compared; `null` for one that is missing. */
export async function readFileStart(path: string): Promise<string | null> {
  const bytes = await readStart(path, BYTES);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}
