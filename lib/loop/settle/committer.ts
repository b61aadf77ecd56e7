import { join } from "node:path";
import type { Backlog, SettleCommit } from "../../backlog/types.ts";
import type { RalphContext } from "../../context/context.ts";
import {
  type CommitResult,
  type Fold,
  requireRepository,
  rootPaths,
  topLevelPaths,
  type TreeStatus,
} from "../../git/repository.ts";
import { RalphError } from "../../errors/ralph_error.ts";
import { pathExists } from "../../host/files.ts";

/** Makes the loop's commits. */
export interface Committer {
  /** State and work together, in one commit; work runs the user's hooks, state alone does not. */
  commit(
    commit: SettleCommit,
    workPaths: readonly string[],
    options?: {
      readonly known?: TreeStatus | undefined;
      /** Commits that become part of this one. */
      readonly fold?: Fold | null;
      /** It records an attempt that has not passed: made where the configuration or the backlog wants it. @default false */
      readonly isOfAttempt?: boolean;
    },
  ): Promise<CommitResult>;
  /** Tells whether git has these files, as far as commits of this run show. Paths are relative to the root. */
  knows(paths: readonly string[]): boolean;
}

/**
 * A committer for one run: it remembers which state files git knows, so that a later commit need not ask again; where an
 * agent has taken one out of git since, it asks after all.
 */
export function createCommitter(ralph: RalphContext, backlog: Pick<Backlog, "policy">): Committer {
  const withAttempts = ralph.config.commits.attempts ?? backlog.policy?.attempts ?? false;
  const tracked = new Set<string>();
  let toldIgnored = false;
  return {
    async commit(commit, workPaths, { known, fold = null, isOfAttempt = false } = {}) {
      if (isOfAttempt && !withAttempts) return { status: "nothing", ignored: [] };
      const statePaths = ralph.config.commits.prdChanges ? topLevelPaths(ralph, commit.paths) : [];
      const paths = [...new Set([...workPaths, ...statePaths])];
      if (paths.length === 0 && fold === null) return { status: "nothing", ignored: [] };
      const withWork = workPaths.length > 0 || fold !== null;
      const subject = withWork ? commit.subject : commit.stateSubject ?? commit.subject;
      const repository = requireRepository(ralph);
      const { body } = commit;
      const folded = fold === null ? {} : { fold };
      const { signal } = ralph;
      const onSlowHooks = (names: readonly string[]): void =>
        ralph.events.emit({
          type: "note",
          level: "warn",
          message: `the commit waits for the repository's hooks (${names.join(", ")}); Ctrl-C ends them`,
        });
      const own = { ...(body === undefined ? {} : { body }), ...folded };
      const request = { paths, subject, hooks: withWork, signal, onSlowHooks, ...own };
      const isNew = new Set(known?.changed.filter(({ untracked }) => untracked).map(({ path }) => path));
      const sure = known !== undefined && statePaths.every((path) => tracked.has(path) || isNew.has(path));
      const result = sure
        ? await repository.commit({ ...request, known: withState(known, statePaths) }).catch((error: unknown) => {
          if (isLate(error)) throw error;
          return repository.commit(request);
        })
        : await repository.commit(request);
      if (result.status === "committed") {
        // a file that was taken away is committed as such, and untracked when it is made anew
        for (const path of statePaths) {
          if (await pathExists(join(repository.topLevel, path))) tracked.add(path);
          else tracked.delete(path);
        }
        ralph.events.emit({ type: "commit", commit: result.commit, subject });
        if (result.without !== undefined) {
          const message = `a hook of the repository staged uncommitted changes, which are not in the commit: ${
            rootPaths(ralph, result.without).join(", ")
          }`;
          ralph.events.emit({ type: "note", level: "warn", message });
        }
      } else if (result.status === "nothing" && result.ignored.length > 0 && !toldIgnored) {
        toldIgnored = true;
        const message = `ignored by git and therefore not committed: ${result.ignored.join(", ")}`;
        ralph.events.emit({ type: "note", level: "warn", message });
      }
      return result;
    },
    knows: (paths) => topLevelPaths(ralph, paths).every((path) => tracked.has(path)),
  };
}

/** The status that was known after the turn, and the state that Ralph has written since. */
function withState(known: TreeStatus, statePaths: readonly string[]): TreeStatus {
  const others = known.changed.filter(({ path, untracked }) => untracked || !statePaths.includes(path));
  const isNew = new Set(others.map(({ path }) => path));
  const written = statePaths.filter((path) => !isNew.has(path));
  return { ...known, changed: [...others, ...written.map((path) => ({ path, code: " M", untracked: false }))] };
}

/** Hooks of the repository had to be ended: the settlement is open, and is made again when the run continues. */
export function isLate(error: unknown): boolean {
  return RalphError.isInstance(error) && error.details["late"] === 1;
}
