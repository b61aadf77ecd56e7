import type { TreeSnapshot } from "../../git/repository.ts";
import type { Item } from "../../backlog/types.ts";
import type { Leftover } from "../../backlog/journal_types.ts";

/** The owner of an uncommitted change: the user, or an item whose turn made it. Paths are relative to the top level. */
export interface Ownership {
  /** Dirty before any turn: never committed by Ralph. */
  readonly userPaths: ReadonlySet<string>;
  /** Call before each turn: what is dirty and not an item's is the user's; what items left that this one continues is its own. */
  beforeTurn(before: TreeSnapshot, item: Pick<Item, "id" | "continues">): void;
  /**
   * Call after each turn with what it changed.
   * @returns paths that were the user's and that the turn changed all the same
   */
  afterTurn(itemId: string, changed: readonly string[], after: TreeSnapshot): readonly string[];
  /** The files that turns at this item left uncommitted, with content hashes. */
  workOf(itemId: string): Readonly<Record<string, string | null>>;
  committed(paths: readonly string[]): void;
  /**
   * Paths of the user's that turns at these items have changed, so that their work is not committed whole. Sorted.
   *
   * @param itemIds default all
   */
  uncommitted(itemIds?: Iterable<string>): readonly string[];
}

export interface OwnershipStart {
  /** The changes of earlier runs that the journal remembers: still theirs if the content is the same. */
  readonly leftovers: ReadonlyMap<string, Leftover>;
  /** The paths that Ralph itself writes: no one's. @default nothing */
  readonly own?: ReadonlySet<string>;
  /** A run was killed in this item's turn: what is dirty now and was not the user's then is the item's. */
  readonly killed: { readonly itemId: string; readonly userPaths: readonly string[] } | null;
}

/** Pure but for its own memory. */
export function createOwnership(start: OwnershipStart, now: TreeSnapshot): Ownership {
  const left = new Map<string, Leftover>();
  const userPaths = new Set<string>(start.killed?.userPaths ?? []);
  const mixed = new Map<string, Set<string>>();
  const { own = new Set() } = start;
  let were = now.contents;
  for (const [path, content] of now.contents) {
    if (own.has(path)) continue;
    const known = start.leftovers.get(path);
    if (start.killed !== null && !userPaths.has(path)) left.set(path, { itemId: start.killed.itemId, content });
    else if (known !== undefined && known.content === content) left.set(path, known);
  }
  return {
    userPaths,
    beforeTurn(before, { id, continues = [] }) {
      were = before.contents;
      for (const [path, { itemId, content }] of left) {
        if (continues.includes(itemId)) left.set(path, { itemId: id, content });
      }
      for (const { path } of before.changed) if (!left.has(path) && !own.has(path)) userPaths.add(path);
    },
    afterTurn(itemId, changed, after) {
      for (const path of left.keys()) if (!after.contents.has(path)) left.delete(path);
      for (const path of changed) {
        const content = after.contents.get(path);
        if (content !== undefined && !userPaths.has(path)) left.set(path, { itemId, content });
      }
      for (const paths of mixed.values()) for (const path of paths) if (!after.contents.has(path)) paths.delete(path);
      const isBoth = (path: string): boolean =>
        userPaths.has(path) && after.contents.has(path) && after.contents.get(path) !== were.get(path);
      const both = changed.filter(isBoth); // a person may have committed a part of the file
      if (both.length > 0) mixed.set(itemId, new Set([...mixed.get(itemId) ?? [], ...both]));
      return both;
    },
    workOf: (itemId) =>
      Object.fromEntries(
        [...left].filter(([, owner]) => owner.itemId === itemId).map(([path, { content }]) => [path, content]),
      ),
    committed(paths) {
      for (const path of paths) left.delete(path);
    },
    uncommitted: (itemIds = mixed.keys()) =>
      [...new Set([...itemIds].flatMap((id) => [...mixed.get(id) ?? []]))].sort(),
  };
}
