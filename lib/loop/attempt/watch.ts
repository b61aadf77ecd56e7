import { join } from "node:path";
import { note, type RalphContext } from "../../context/context.ts";
import { holdStash, keepGone, readWork } from "../../git/history.ts";
import { requireRepository, type TreeSnapshot } from "../../git/repository.ts";
import { pathsBetween } from "../../git/run_git.ts";
import type { Tags } from "../../git/tags.ts";
import { factsOf } from "../../host/path_facts.ts";
import type { Uncommitted } from "./uncommitted.ts";

/** Watches what a person has not committed, and their branches and stashes, while something runs that is no turn. */
export interface Watch {
  /** Keeps the work. `held`: a turn follows, which may have git forget a stash; `null`: no branches are watched */
  begin(
    itemId: string | null,
    before: TreeSnapshot,
    how: { readonly isSaid: boolean; readonly held: boolean | null },
  ): Promise<void>;
  /** The files are as they may be: what a turn has left. */
  again(): void;
  /** Keeps branches and stashes that are gone. @returns a sentence for each */
  gone(name: string): Promise<readonly string[]>;
  /** Restores what is gone or reverted. No process is started if nothing was touched. */
  look(by: string): Promise<void>;
}

export function createWatch(ralph: RalphContext, uncommitted: Uncommitted): Watch {
  const repository = requireRepository(ralph);
  let kept: TreeSnapshot | null = null;
  let stamps: ReadonlyMap<string, string | undefined> = new Map();
  let work: Tags = new Map();
  let count = 0;
  const stampOf = (path: string): string | undefined => factsOf(join(repository.topLevel, path))?.stamp;
  const again = (): void => void (stamps = new Map(uncommitted.paths().map((path) => [path, stampOf(path)])));

  async function gone(name: string): Promise<readonly string[]> {
    const now = readWork(repository, null);
    const said = await keepGone(repository, { before: work, head: kept?.head ?? null }, now, name);
    work = still(work, now);
    return said;
  }

  async function restore(before: TreeSnapshot, by: string): Promise<void> {
    const now = await repository.snapshot();
    const isMoved = before.head !== null && now.head !== null && before.head !== now.head;
    const committed = isMoved ? await pathsBetween(repository, before.head, now.head) : [];
    // what was committed since is its committer's
    const contents = new Map([...committed.map((path) => [path, "committed"] as const), ...now.contents]);
    await uncommitted.restore({ ...before, head: now.head }, { ...now, contents }, false, by);
    again();
  }

  return {
    async begin(itemId, before, { isSaid, held }) {
      await uncommitted.keep(itemId, before, isSaid);
      kept = before;
      again();
      if (held !== null) work = readWork(repository, before.branch);
      if (held === true) await holdStash(repository, work, true);
    },
    again,
    gone,
    async look(by) {
      if (kept !== null && [...stamps].some(([path, stamp]) => stampOf(path) !== stamp)) await restore(kept, by);
      if (work.size === 0) return;
      const now = readWork(repository, null);
      const lost = new Map([...work].filter(([name]) => !now.has(name)));
      if (lost.size === 0) return;
      work = still(work, now);
      const name = `${ralph.run.id}.look-${++count}`;
      for (const said of await keepGone(repository, { before: lost, head: null }, new Map(), name)) {
        const message = said.replace("while the turn ran", `while ${by} ran`);
        note(ralph, "warn", message);
      }
    },
  };
}

function still(work: Tags, now: Tags): Tags {
  return new Map([...work].filter(([name]) => now.has(name)));
}
