import type { Check, CheckResult } from "../backlog/types.ts";
import { verify } from "../checks/verify.ts";
import type { RalphContext } from "../context/context.ts";
import { requireRepository } from "../git/require_repository.ts";
import { rootPaths } from "../git/tree_paths.ts";
import type { CleanRun } from "./clean.ts";

/** Paths that a message names at most. */
const MOST_PATHS = 20;

/** What the tree has and HEAD has not, where that is why a check fails. */
export interface Lacking {
  /** For the next prompt and the last lines; begins on a line of its own. */
  readonly message: string;
  /** All of it are a person's uncommitted changes: no attempt can help. */
  readonly isPersons: boolean;
}

/**
 * Looks at checks that fail in the clean checkout: where one passes in the tree, what it found there is not committed.
 *
 * @returns `null` where the tree fails them as well, or where they ran there
 */
export async function lackingIn(
  ralph: RalphContext,
  failures: readonly CheckResult[],
  { checks, clean, userPaths, signal }: {
    /** Of the final check. */
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
  const status = await requireRepository(ralph).status();
  const changed = status.changed.map(({ path }) => path);
  const ignored = (await clean.absentNow()).filter((path) =>
    !clean.absentAtStart.includes(path) && !changed.includes(path)
  );
  const paths = rootPaths(ralph, [...changed, ...ignored]);
  const shown = paths.length > MOST_PATHS
    ? [...paths.slice(0, MOST_PATHS), `${paths.length - MOST_PATHS} more`]
    : paths;
  const has = shown.length === 0 ? "" : `; the tree has, and HEAD has not: ${shown.join(", ")}`;
  return {
    message: `\n${passing.join(", ")} passes in the working tree and fails in a clean checkout of HEAD${has}`,
    isPersons: passing.length === failures.length && changed.length > 0 && ignored.length === 0 &&
      changed.every((path) => userPaths.has(path)),
  };
}
