import type { RalphContext } from "../../context/context.ts";
import { readIgnored, type WasIgnored } from "../../git/ignored.ts";
import { requireRepository } from "../../git/require_repository.ts";
import { NAMES_AT, outputFrom, pathsBetween, pathsFrom } from "../../git/run_git.ts";
import { takeOut } from "../../git/take_out.ts";
import { rootPaths } from "../../git/tree_paths.ts";
import type { ChangedPath, Repository, TreeSnapshot } from "../../git/types.ts";
import { pathsOfSides } from "./uncommitted.ts";

/** The files that git ignored, and that were there, before the first turn: a person's. */
export interface IgnoredBefore {
  /** Call before each turn. */
  look(): Promise<void>;
  /**
   * Takes them out of the turn's commits and of the index. The files stay.
   *
   * @returns the paths, relative to the top level; also those that are not ignored any more
   */
  takeOut(before: TreeSnapshot, after: TreeSnapshot): Promise<ReadonlySet<string>>;
}

/** @param stateFiles relative to the top level */
export function createIgnoredBefore(ralph: RalphContext, stateFiles: readonly string[]): IgnoredBefore {
  const repository = requireRepository(ralph);
  let wasIgnored: WasIgnored | null = null;
  return {
    async look() {
      wasIgnored ??= await readIgnored(repository, ralph.host.clock.now());
    },
    async takeOut(before, after) {
      const isPersons: WasIgnored = (path) =>
        !stateFiles.includes(path) && !before.contents.has(path) && wasIgnored?.(path) === true;
      const committed = await committedPaths(repository, before.head, after.head, isPersons);
      if (committed.length > 0) await takeOut(repository, before.head, committed);
      const isNew = ({ code }: ChangedPath): boolean => /^A|\?/.test(code);
      const shown = after.changed.filter((entry) => isNew(entry) && isPersons(entry.path));
      const input = shown.filter(({ untracked }) => !untracked).map(({ path }) => path).join("\0");
      const remove = ["update-index", "--force-remove", "-z", "--stdin"];
      if (input !== "") await outputFrom(repository, remove, { input });
      const paths = new Set([...committed, ...shown.map(({ path }) => path)]);
      if (paths.size === 0) return paths;
      const message = `ignored and there before the turn, so not committed: ${rootPaths(ralph, [...paths]).join(", ")}`;
      ralph.events.emit({ type: "note", level: "warn", message });
      return paths;
    },
  };
}

/** A person's paths in the turn's commits that the commit before them had not. */
async function committedPaths(
  repository: Repository,
  from: string | null,
  to: string | null,
  isPersons: WasIgnored,
): Promise<readonly string[]> {
  if (to === null || to === from) return [];
  if (from === null) return (await pathsFrom(repository, [...NAMES_AT, to])).filter(isPersons);
  const paths = (await pathsBetween(repository, from, to)).filter(isPersons);
  if (paths.length === 0) return [];
  const { fromTurn } = await pathsOfSides(repository, `${from}..${to}`);
  const known = new Set(await pathsFrom(repository, [...NAMES_AT, from]));
  return paths.filter((path) => fromTurn?.has(path) !== false && !known.has(path));
}
