import { note, type RalphContext } from "../../context/context.ts";
import { asideText, guardHistory, type SetAside } from "../../git/history.ts";
import { givenUp, isAncestor } from "../../git/refs.ts";
import { requireRepository, rootPaths } from "../../git/repository.ts";
import { isRenamed } from "../../git/switch_branch.ts";
import type { Notice } from "../policy/progress.ts";

/**
 * The branch that a run works on, in the project's own tree. Hooks, checks and people move HEAD at any moment: it is
 * looked at before whatever depends on it, and brought back.
 */
export interface RunLine {
  /** `null`: HEAD is detached. */
  readonly branch: string | null;
  /**
   * Brings HEAD back onto the branch, and the branch to where it holds Ralph's newest commit, and says so. Commits of
   * others on top stay.
   *
   * @param by blamed for it, as "the hook lint"
   * @returns whether HEAD was elsewhere
   * @throws {RalphError} git-failed
   */
  hold(by: string): Promise<boolean>;
  /** Ralph has made a commit on the branch: no one may take it off again. */
  made(commit: string): void;
  /** Ralph has taken turns' commits off the branch. */
  moved(): Promise<void>;
  /** Tells whether the branch has a commit. */
  holds(commit: string): Promise<boolean>;
  /** Names what was in the way when HEAD went back: a person may have written it. */
  nameAside(aside: SetAside): void;
}

/** Blamed for what happened between a turn and a commit. */
export const BETWEEN = "a check or a hook";

/** The commit that was checked is gone from the branch. */
export function notHeld({ branch }: RunLine, commit: string): string {
  const where = branch === null ? "HEAD" : `the branch ${branch}`;
  return `${where} does not hold ${commit.slice(0, 10)}, which the final check saw: run the same command again`;
}

/** Names changes that were in the way. @param notice told of them for the last lines of the run */
export function nameAsideIn(ralph: RalphContext, notice?: (notice: Notice) => void): RunLine["nameAside"] {
  return ({ ref, paths }) => {
    const message = asideText({ ref, paths: rootPaths(ralph, paths) });
    note(ralph, "warn", `${ref} ${message}`);
    notice?.({ kind: "not-committed", subject: ref, message });
  };
}

/** @param notice told of what the last lines of the run are to name */
export async function createRunLine(ralph: RalphContext, notice: (notice: Notice) => void): Promise<RunLine> {
  const repository = requireRepository(ralph);
  let { branch, head } = await repository.head();
  let floor = head;
  let count = 0;
  const self: RunLine = {
    get branch() {
      return branch;
    },
    async hold(by) {
      const now = await repository.head();
      if (now.branch === branch && head !== null && givenUp.has(head)) head = floor = now.head;
      if (now.branch === branch && now.head === head) return false;
      if (
        branch !== null && now.branch !== null && now.branch !== branch &&
        await isRenamed(repository.git, branch, now.branch)
      ) {
        branch = now.branch;
      }
      const name = `${ralph.run.id}.head-${++count}`;
      const who = by.includes("a person") ? by : `${by}, or a person meanwhile,`;
      const back = await guardHistory(repository, { branch, head, floor, by: who }, now, name);
      head = back === null ? now.head : (await repository.head()).head;
      if (back === null) return false;
      note(ralph, "warn", back.message);
      notice({ kind: "restored", subject: "HEAD", message: back.message });
      if (back.aside !== null) self.nameAside(back.aside);
      return true;
    },
    made(commit) {
      head = floor = commit;
    },
    async moved() {
      const now = await repository.head();
      if (now.branch === branch) head = floor = now.head;
    },
    async holds(commit) {
      const now = await repository.head();
      if (now.branch === branch && now.head === commit) return true;
      return await isAncestor(repository, commit, branch === null ? "HEAD" : `refs/heads/${branch}`);
    },
    nameAside: nameAsideIn(ralph, notice),
  };
  return self;
}
