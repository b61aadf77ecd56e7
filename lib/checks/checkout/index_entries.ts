import { dirname, join } from "node:path";
import type { ListedEntry } from "../../git/tree_listing.ts";
import { unless } from "../../host/looks.ts";
import { mapPath } from "../../host/map_paths.ts";
import { deepestPath } from "../../host/resolve_inside.ts";

/** The paths of the symbolic links among these, relative to the top level. Pure. */
export function linksAmong(entries: readonly ListedEntry[]): readonly string[] {
  return entries.filter(({ mode }) => mode === "120000").map(({ path }) => path);
}

/** The submodules among these; `hash` is the commit of each. Pure. */
export function submodulesAmong(entries: readonly ListedEntry[]): readonly ListedEntry[] {
  return entries.filter(({ mode }) => mode === "160000");
}

/** Links that lead out of the repository, with where they lead: `path -> target`. The chain is followed to its end. */
export function outwardLinks(links: readonly string[], tree: string, topLevel: string): readonly string[] {
  return links.flatMap((path) => {
    const target = endOfLink(join(tree, path), tree, topLevel);
    if (target === null || mapPath(target, tree, "") !== target) return [];
    return [`${path} -> ${mapPath(target, dirname(tree), dirname(topLevel))}`];
  });
}

/** An absolute link back into the repository is the checkout's own file. `null` for links that lead to each other. */
function endOfLink(path: string, tree: string, topLevel: string): string | null {
  return unless(["ELOOP"], () => {
    let target = deepestPath(path);
    for (let round = 0; round < 8 && mapPath(target, topLevel, tree) !== target; round++) {
      target = deepestPath(mapPath(target, topLevel, tree));
    }
    return target;
  }, null);
}
