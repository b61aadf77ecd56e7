import type { RalphContext } from "../../context/context.ts";
import type { Attempt } from "../../backlog/types.ts";
import type { Beside } from "../../checks/beside.ts";
import type { Captured } from "../../git/fold.ts";
import { inTheWay, type Landing, moveTree } from "../../git/land.ts";
import { discardPaths } from "../../git/merge_change.ts";
import { requireRepository, rootPaths } from "../../git/repository.ts";
import { changesBetween } from "../../git/changes.ts";
import type { KeptWork } from "../../git/work_commit.ts";
import type { Slots } from "../../host/slots.ts";
import type { WorkedItem } from "../attempt/attempt_parts.ts";
import type { TurnGuard } from "../attempt/turn_guard.ts";
import type { Begun, Iterations, LoopParts } from "../iterations.ts";
import type { StoppedEarly } from "../run/outcome.ts";
import type { LandingSteps } from "../settle/settle.ts";
import type { Note, WorkerTree } from "./worker_tree.ts";

/** An attempt that ended in a tree of its own. All of it but the tree is plain data. */
export interface ToLand {
  readonly begun: Begun;
  readonly worked: WorkedItem;
  /** The work that it changed; `null`: nothing. */
  readonly work: Captured | null;
  /** The notes that it wrote beside Ralph's part of state files. */
  readonly notes: readonly Note[];
  /** The commit that it began on. */
  readonly base: string;
  /** The ref that keeps its work. */
  readonly ref: string;
  /** The tree that it was made in. */
  readonly tree: WorkerTree;
  /** It needs that one: it keeps it until it has landed, alone. */
  readonly isHeld: boolean;
  /** The run's own context, with events that say in which lane they happen. */
  readonly home: RalphContext;
  readonly lane: number;
  /** It was made on another machine: it is checked here whatever was said there. */
  readonly isForeign: boolean;
}

/** The parts of a run that landings need. */
export interface LandingParts {
  readonly loop: LoopParts;
  readonly iterations: Iterations;
  readonly signal: AbortSignal;
  readonly beside: Beside;
  readonly kept: KeptWork;
  /** Moments of state, one at a time. */
  readonly coordinator: Slots;
  /** Another item may begin in the tree. */
  readonly free: (tree: WorkerTree) => void;
  readonly guard: TurnGuard;
  /** In the project's own tree when the run began, relative to the top level. */
  readonly uncommitted: ReadonlySet<string>;
}

/** An attempt that passed alone. */
export interface Ready {
  readonly toLand: ToLand;
  readonly attempt: Attempt;
  readonly resolve: (landed: Landed) => void;
  readonly reject: (error: unknown) => void;
  /** Its landing has been announced. */
  isBegun: boolean;
  isEnded?: boolean;
}

/** Work on the commit that it is to land on. */
export interface Merged extends Landing {
  readonly ready: Ready;
}

/**
 * Why the run ends, or `null`. `left-open`: the run was stopped before a result from another machine had landed, and the
 * next run lands it. `again`: it is to be held, and to land once more: in its own tree where it is red in another's.
 */
export type Landed = StoppedEarly | "left-open" | "again" | null;

/** Always true. */
export function end(ready: Ready, landed: Landed): true {
  ready.isEnded = true;
  ready.resolve(landed);
  return true;
}

/** An attempt as it is settled, and how its work gets there. */
export interface Found {
  readonly attempt: Attempt;
  /** `null`: nothing is brought in. */
  readonly steps: LandingSteps | null;
  readonly paths: readonly string[];
  readonly result: "landed" | "failed" | "blocked" | "interrupted";
}

/** How work comes in that passed; `blocked`: nothing of a person's is overwritten. */
export async function stepsOf(
  ralph: RalphContext,
  attempt: Attempt,
  { tip, commit, own }: Landing & Pick<LandingSteps, "own">,
): Promise<Found> {
  const repository = requireRepository(ralph);
  const obstacles = await inTheWay(repository, { tip, commit });
  if (obstacles !== null) {
    const message = `cannot be brought into the tree: uncommitted changes are in the way; commit or stash ${
      rootPaths(ralph, obstacles).join(", ")
    }, then \`--retry-blocked\` (the work is kept as ${commit.slice(0, 10)})`;
    const { last: _, ...rest } = { last: undefined, ...attempt };
    return { attempt: { ...rest, status: "blocked", message }, steps: null, paths: obstacles, result: "blocked" };
  }
  const paths = (await changesBetween(repository, tip, commit)).map(({ path }) => path);
  const steps: LandingSteps = {
    tip,
    commit,
    paths,
    own,
    bring: () => moveTree(repository, tip, commit),
    takeBack: () => discardPaths(repository, paths, tip), // a hook may have left them as neither of both has them
  };
  return { attempt, steps, paths: [], result: "landed" };
}
