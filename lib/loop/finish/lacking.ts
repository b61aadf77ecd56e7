import type { Backlog, Check, CheckResult } from "../../backlog/types.ts";
import { isNamed } from "../../checks/checkout/classify.ts";
import { verify } from "../../checks/verify.ts";
import type { RalphContext } from "../../context/context.ts";
import { linksAtHead, nestedIn, nestedMessage } from "../../git/nested.ts";
import { requireRepository, rootPaths } from "../../git/repository.ts";
import type { CleanRun } from "./clean.ts";
import { ownPaths } from "../settle/committer.ts";

/** Paths that a message names at most. */
const MOST_PATHS = 20;

/** The paths that the tree has and HEAD has not, if that is why a check fails. */
export interface Lacking {
  /** For the next prompt and the last lines. */
  readonly message: string;
  /** No attempt can help: a person's uncommitted changes, or what was there, and not in git, before the first turn. */
  readonly hopeless: "uncommitted" | "absent" | null;
}

/**
 * Looks at checks that fail in the clean checkout: where one passes in the tree, what it found there is not committed.
 *
 * @returns `null` where the tree fails them as well, or where they ran there
 */
export async function lackingIn(
  ralph: RalphContext,
  failures: readonly CheckResult[],
  { backlog, checks, clean, userPaths, signal }: {
    readonly backlog: Pick<Backlog, "stateFiles" | "ownFiles">;
    /** The checks of the final check. */
    readonly checks: readonly Check[];
    readonly clean: CleanRun;
    readonly userPaths: ReadonlySet<string>;
    readonly signal: AbortSignal;
  },
): Promise<Lacking | null> {
  if (ralph.config.verify.final !== "clean") return null;
  const failing = checks.filter(({ name, command }) =>
    command !== undefined && failures.some((failure) => failure.name === name)
  );
  if (failing.length === 0) return null;
  const quiet: RalphContext = { ...ralph, events: { emit: () => {}, attach: () => {} } };
  const inTree = await verify(quiet, failing, { signal });
  const passing = inTree.results.filter(({ ok }) => ok).map(({ name }) => name);
  if (passing.length === 0) return null;
  const own = new Set(ownPaths(ralph, backlog));
  const changed = (await requireRepository(ralph).status()).changed.filter(({ path }) => !own.has(path));
  const now = await clean.absentNow();
  const isChanged = (path: string): boolean => changed.some((entry) => entry.path === path);
  const ignored = now.filter((path) => !clean.absentAtStart.includes(path) && !isChanged(path));
  const before = now.filter((path) => clean.absentAtStart.includes(path) && !isChanged(path));
  const isNeeded = (path: string): boolean =>
    failing.some(({ command = "" }) => isNamed(path, command)) || failures.some(({ tail }) => isNamed(path, tail));
  const all = passing.length === failures.length;
  const isNew = changed.length + ignored.length > 0;
  const linked = await linksAtHead(requireRepository(ralph));
  const nested = await nestedIn(requireRepository(ralph), [...linked, ...changed.map(({ path }) => path), ...ignored]);
  const paths = [
    ...changed.map(({ path, submodule }) => submodule === undefined ? path : `${path} (${SUBMODULE})`),
    ...ignored,
  ].filter((path) => !nested.includes(path.replace(/\/$/, "")));
  const has = [
    ...nested.length > 0 ? [nestedMessage(nested)] : [],
    ...paths.length > 0 ? [`the tree has, and HEAD has not: ${shown(ralph, paths)}`] : [],
    ...!isNew && before.length > 0
      ? [
        `the tree has since before the run, and git has not: ${shown(ralph, before)} ` +
        "(name in `workspace.copy` what the check needs)",
      ]
      : [],
  ].map((part) => `; ${part}`).join("");
  const isPersons = ignored.length === 0 &&
    changed.every(({ path, submodule }) => submodule === undefined && userPaths.has(path));
  return {
    message: `${passing.join(", ")} passes in the working tree and fails in a clean checkout of HEAD${has}`,
    hopeless: all ? hopeless() : null,
  };

  function hopeless(): Lacking["hopeless"] {
    if (isNew) return isPersons ? "uncommitted" : null;
    return before.some(isNeeded) ? "absent" : null;
  }
}

const SUBMODULE = "a submodule, which Ralph leaves to the turn to commit";

function shown(ralph: Pick<RalphContext, "repository" | "root">, paths: readonly string[]): string {
  const named = rootPaths(ralph, paths.slice(0, MOST_PATHS));
  return [...named, ...(paths.length > MOST_PATHS ? [`${paths.length - MOST_PATHS} more`] : [])].join(", ");
}
