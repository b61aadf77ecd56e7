/**
 * Items worked on at once, each in a tree of its own. The coordinator's side (the backlog's store, the journal, the
 * branch) happens one thing at a time; turns and their checks run beside each other.
 *
 * @module
 */
import { note, type RalphContext } from "../../context/context.ts";
import { deleteRefs } from "../../git/refs.ts";
import { createBeside } from "../../checks/beside.ts";
import type { OpenItem } from "../../backlog/journal_types.ts";
import { interruptedAttempt } from "../../backlog/attempts.ts";
import type { Attempt, Item } from "../../backlog/types.ts";
import type { LimitsConfig } from "../../config/schema.ts";
import type { Elsewhere } from "../../context/elsewhere.ts";
import { requireRepository } from "../../git/repository.ts";
import { createKeptWork, keptWork, workRef } from "../../git/work_commit.ts";
import { asNamed } from "../../host/file_errors.ts";
import { createSlots } from "../../host/slots.ts";
import { keyOf } from "../journal/journal_record.ts";
import type { CleanRun } from "../finish/clean.ts";
import type { Begun, LoopParts, Picked } from "../iterations.ts";
import { leaveToWorker } from "../settle/committer.ts";
import { leftOpen, waitsInVain } from "../settle/settle.ts";
import { costSoon } from "../policy/progress.ts";
import type { Stopped, StoppedEarly } from "../run/outcome.ts";
import { tidied } from "../run/tidied.ts";
import { BY_WORKER, Landings } from "./landing.ts";
import type { LandingParts, ToLand } from "./to_land.ts";
import { inLane, LaneFault } from "./lane_fault.ts";
import { type Lanes, openLanes, TreePool } from "./lanes.ts";
import { removeTree } from "./leftover_trees.ts";
import { type Made, madeElsewhere, madeInTree, madeNothing } from "./made.ts";
import { lookBeforeWorkers } from "./possible.ts";
import { abandonTree, type TreeBegin, type WorkerTree } from "./worker_tree.ts";
import type { RalphEvent } from "../../events/types.ts";
import { mayChangeKey } from "../../workspace/dependency_key.ts";
import picomatch from "picomatch";

/** A free worker need not wait until all has landed that has ended: a start is short. */
const STARTING = { first: true } as const;

const UNSTEADY =
  "failed beside another worker's checks, and passed when it was run alone; `RALPH_LANE` tells workers apart";

export interface DispatchParts extends Pick<LandingParts, "guard" | "iterations" | "signal"> {
  readonly clean: CleanRun;
  readonly limits: LimitsConfig;
  /** @param inFlight ids of what is being worked on, or has to wait for that; `turns` have begun and not ended */
  readonly pick: (inFlight: readonly string[], turns: number) => Promise<Picked>;
  /** Waits while a person has paused the run. @returns why nothing starts any more */
  readonly rest: () => Promise<StoppedEarly | null>;
  /** Once, before the first turn. @returns why there is none */
  readonly baseline: () => Promise<StoppedEarly | null>;
  /** An attempt in the project's own tree. */
  readonly attempt: (item: Item) => Promise<StoppedEarly | null>;
}

/** Nothing is left to do: work that was kept is let go of, also where no worker has opened a tree. */
export async function letGo({ ralph, key }: LoopParts): Promise<void> {
  const repository = requireRepository(ralph);
  await tidied(ralph, async () => deleteRefs(repository, [...(await keptWork(repository, keyOf(key))).keys()]));
}

/**
 * Opens the workers' trees.
 *
 * @returns `null` where there is no commit yet that they could begin with
 * @throws {RalphError} parallel-impossible, git-failed, setup-failed
 */
export async function openWorkers(parts: LoopParts, rest: DispatchParts): Promise<Dispatcher | null> {
  const { ralph, backlog } = parts;
  const uncommitted = await lookBeforeWorkers(parts);
  if (uncommitted === null) return null;
  const scope = { key: parts.key, scope: backlog.scope ?? "" };
  const elsewhere = await ralph.loop.elsewhere?.(ralph, scope) ?? null;
  let lanes: Lanes;
  try {
    lanes = await openLanes(parts, elsewhere === null ? parts.workers : 1); // one, to check what comes from elsewhere
  } catch (error) {
    await elsewhere?.[Symbol.asyncDispose]();
    throw error;
  }
  return new Dispatcher(parts, rest, { lanes, elsewhere, uncommitted });
}

/** The places that items are worked on in. */
interface Places {
  readonly lanes: Lanes;
  /** `null`: in the lanes' own trees. */
  readonly elsewhere: Elsewhere | null;
  readonly uncommitted: ReadonlySet<string>;
}

/** An item that has begun in a tree. */
type InTree = Pick<ToLand, "begun" | "home" | "lane" | "tree"> & Pick<TreeBegin, "tip" | "left" | "ref">;

/** Why nothing was started, or that something was. */
type Started = Exclude<Picked, { readonly status: "item" }> | { readonly status: "started" };

/** The workers of a run. */
export class Dispatcher implements AsyncDisposable {
  readonly #loop: LoopParts;
  readonly #parts: DispatchParts & LandingParts;
  readonly #lanes: Lanes;
  readonly #trees: TreePool;
  readonly #elsewhere: Elsewhere | null;
  /** The items that an earlier coordinator has handed out: they continue. */
  readonly #handedOut: OpenItem[];
  /** The coordinator's side, one thing at a time. */
  readonly #coordinator = createSlots(1);
  /** The run's checkout is one. */
  readonly #looking = createSlots(1);
  /** An item that is out is being made elsewhere, and not waited for here. */
  readonly #inFlight = new Map<string, { readonly item: Item; isOut: boolean }>();
  /** The lanes of events: an item keeps its own until it has landed, also after its tree has been given on. */
  readonly #lanesTaken = new Set<number>();
  /** Counts what may let another item start. */
  #changes = 0;
  #wake = (): void => {};
  readonly #landings: Landings;
  readonly #stopper = new AbortController();
  #stopped: Stopped | null = null;
  /** Nothing starts beside it. */
  #isAlone = false;
  /** Ids of items whose tree was removed while they were worked on. */
  readonly #removed = new Set<string>();
  #failure: { readonly error: unknown } | null = null;

  constructor(loop: LoopParts, rest: DispatchParts, { lanes, elsewhere, uncommitted }: Places) {
    const { ralph, key } = loop;
    this.#loop = loop;
    this.#lanes = lanes;
    this.#trees = new TreePool(lanes, () => this.#changed());
    this.#elsewhere = elsewhere;
    this.#handedOut = elsewhere === null ? [] : [...ralph.journal.open(key)];
    // trees keep the work of their turns themselves
    const kept = createKeptWork(requireRepository(ralph), keyOf(key), { alone: elsewhere !== null });
    const beside = createBeside((subject) => rest.iterations.notice({ kind: "unsteady", subject, message: UNSTEADY }));
    const signal = AbortSignal.any([rest.signal, this.#stopper.signal]);
    const clean: typeof rest.clean = {
      ...rest.clean,
      look: (...look) => this.#looking.run(() => rest.clean.look(...look)),
    };
    const coordinator = this.#coordinator;
    const free = (tree: WorkerTree): void => this.#trees.give(tree);
    this.#parts = { ...rest, loop, signal, beside, kept, uncommitted, clean, coordinator, free };
    this.#landings = new Landings(this.#parts);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lanes[Symbol.asyncDispose]();
    await tidied(this.#loop.ralph, async () => await this.#elsewhere?.[Symbol.asyncDispose]());
  }

  /** Works until nothing may start any more and nothing is in flight. */
  async run(): Promise<Stopped> {
    this.#stopped = null;
    for (;;) {
      const seen = this.#changes;
      while (this.#mayStart()) if (!await this.#startOne()) break;
      if (this.#mayOpen() || [...this.#inFlight.values()].some(({ isOut }) => !isOut)) {
        if (seen === this.#changes) await new Promise<void>((resolve) => (this.#wake = resolve));
        continue;
      }
      await this.#parts.guard.look(BY_WORKER);
      if (this.#failure !== null) throw this.#failure.error;
      if (this.#stopped !== null) return this.#stopped;
      if (this.#inFlight.size > 0) return { status: this.#parts.signal.aborted ? "aborted" : "handed-out" };
    }
  }

  #mayStart(): boolean {
    return this.#stopped === null && this.#failure === null && !this.#isAlone && this.#trees.hasFree;
  }

  /** An item could start in one more tree, which is made ready: the others work meanwhile. */
  #mayOpen(): boolean {
    if (this.#stopped !== null || this.#failure !== null) return false;
    return this.#trees.openMore((error) => this.#failed(error));
  }

  #changed(): void {
    this.#changes += 1;
    this.#wake();
  }

  #failed(error: unknown): void {
    this.#failure ??= { error };
    this.#stopper.abort();
    this.#trees.end();
  }

  /** Picks and begins one item, in one step. @returns false where nothing may start before something has ended */
  async #startOne(): Promise<boolean> {
    const handedOut = this.#handedOut.shift() ?? null;
    const resting = handedOut === null ? await this.#parts.rest() : null;
    let wasIdle = true;
    try {
      const picked = resting ?? await this.#coordinator.run(async () => {
        wasIdle = this.#inFlight.size === 0;
        const picked: Picked = handedOut === null ? await this.#pick() : { status: "item", item: handedOut.item };
        return picked.status === "item" ? await this.#start(picked.item, handedOut) : picked;
      }, STARTING);
      if (picked.status === "started") return true;
      // what was in flight may bring more: asked again when it has ended, as it may have by now
      if (!wasIdle && picked.status !== "aborted" && picked.status !== "handed-out") return this.#inFlight.size === 0;
      if (picked.status === "waiting") throw waitsInVain(this.#loop.backlog);
      this.#stopped = picked;
    } catch (error) {
      this.#failed(error);
    }
    return false;
  }

  /** @param handedOut the attempt that an earlier coordinator has begun */
  async #start(item: Item, handedOut: OpenItem | null): Promise<Started> {
    if (handedOut === null && this.#elsewhere?.takesMore === false) return { status: "handed-out" };
    const own = item.exclusive === true || item.checksOnly === true;
    const alone = own || this.#landings.wantsToBeAlone(item);
    if (alone && this.#inFlight.size > 0) return { status: "waiting" };
    const tree = own ? null : this.#trees.next();
    if (tree === undefined) return { status: "waiting" };
    this.#isAlone = alone;
    const inTree = tree === null ? null : await this.#begin(item, tree, handedOut);
    this.#inFlight.set(item.id, { item, isOut: false });
    void this.#fly(item, inTree);
    return { status: "started" };
  }

  async #begin(item: Item, tree: WorkerTree, handedOut: OpenItem | null): Promise<InTree> {
    const { ralph, key } = this.#loop;
    const { iterations, kept, guard } = this.#parts;
    let { lane } = tree;
    if (this.#lanesTaken.has(lane)) { for (lane = this.#loop.workers; this.#lanesTaken.has(lane);) lane += 1; }
    this.#lanesTaken.add(tree.now.lane = lane);
    const home = { ...ralph, events: { ...ralph.events, emit: (event: RalphEvent) => ralph.events.emit(event, lane) } };
    const ref = workRef(keyOf(key), item);
    await guard.look(BY_WORKER);
    const known = await kept.of(ref);
    const fresh = known === null ? await leaveToWorker(this.#loop, item, ref) : null;
    if (fresh !== null) await kept.keep(ref, fresh);
    const begun = await iterations.begin(item, home, handedOut);
    if (begun.before !== null) await guard.keep(item.id, begun.before, false);
    const { head } = await requireRepository(ralph).head();
    return { begun, tree, home, lane, ref, tip: head ?? "", left: known ?? fresh };
  }

  /** Ends when the item is settled, or out for a later run: then its place stays taken. */
  async #fly(item: Item, inTree: InTree | null): Promise<void> {
    try {
      const isOut = inTree === null ? await this.#inProject(item) : await this.#inTree(item, inTree);
      const flight = this.#inFlight.get(item.id);
      if (isOut && flight !== undefined) {
        flight.isOut = true;
        return this.#changed();
      }
    } catch (error) {
      this.#failed(error);
    }
    this.#inFlight.delete(item.id);
    this.#isAlone = false;
    if (inTree !== null) this.#lanesTaken.delete(inTree.lane);
    this.#changed();
  }

  /** The next item that touches nothing of what is in flight. */
  async #pick(): Promise<Picked> {
    const flying = [...this.#inFlight.values()].map(({ item }) => item);
    const waiting = flying.map(({ id }) => id);
    if (flying.length > 0 && costSoon(this.#parts.iterations.progress, this.#parts.limits, flying.length)) {
      return { status: "waiting" };
    }
    for (;;) {
      const picked = await this.#parts.pick(waiting, flying.length);
      if (picked.status !== "item" || !flying.some((one) => overlap(one, picked.item))) {
        if (picked.status !== "item") return picked;
        if (waiting.includes(picked.item.id)) return { status: "waiting" };
        return picked.item.checksOnly === true ? picked : await this.#parts.baseline() ?? picked;
      }
      waiting.push(picked.item.id);
    }
  }

  async #inProject(item: Item): Promise<boolean> {
    if (this.#elsewhere !== null && item.checksOnly !== true) await this.#loop.ralph.agent.ensureUsable();
    this.#stopped ??= await this.#coordinator.run(() => this.#parts.attempt(item));
    return false;
  }

  /** @returns whether it is out for a later run */
  async #inTree(item: Item, { begun, tree, home, lane, ...begin }: InTree): Promise<boolean> {
    const { ref, tip } = begin;
    const isForeign = this.#elsewhere !== null;
    const conflicts = this.#landings.conflictOf(item);
    const toMake = { parts: this.#parts, begun, begin: { ...begin, item, attemptId: begun.id }, conflicts };
    let attempt: Attempt = interruptedAttempt(begun);
    try {
      const made = this.#elsewhere === null
        ? await this.#madeIn(tree, toMake)
        : await madeElsewhere(toMake, this.#elsewhere, lane);
      if (made === null) return true;
      attempt = made.worked.attempt;
      const toLand = { ...made, begun, base: made.work?.base ?? tip, ref, home, lane, isForeign };
      const isHeld = this.#loop.ralph.config.trust === "strict" || mayChangeKey(made.work?.paths ?? []);
      let landed = await this.#landings.land({ ...toLand, tree, isHeld });
      while (landed === "again") {
        const taken = await this.#trees.take(tree);
        if (taken === null) return false;
        landed = await this.#landings.land({ ...toLand, tree: taken, isHeld: true });
      }
      if (landed === "left-open") return true;
      this.#stopped ??= landed;
      await this.#elsewhere?.settled(begun.id);
    } catch (error) {
      if (!(error instanceof LaneFault)) throw error;
      await this.#close(error, begun, attempt, home);
    }
    return false;
  }

  /** Nobody knows which turn has removed a tree: it counts where it comes about again at the same item. */
  async #madeIn(tree: WorkerTree, toMake: Parameters<typeof madeInTree>[0]): Promise<Made> {
    const { begun } = toMake;
    try {
      return await inLane(tree, () => madeInTree(toMake, tree));
    } catch (error) {
      if (error instanceof LaneFault && error.isGone && this.#removed.has(begun.item.id)) return madeNothing(begun);
      throw error;
    }
  }

  /** The tree was removed: the item is tried again in a new one, and nothing is counted. */
  async #anew(tree: WorkerTree, begun: Begun, home: RalphContext): Promise<void> {
    const { id } = begun.item;
    const reason = `the tree of worker ${tree.lane + 1} was removed, by the turn at ${id} in it or by another one`;
    note(home, "warn", `${reason}: ${id} is tried again in a new tree`);
    this.#removed.add(id);
    tree.filled.forget();
    tree.now.begun = null;
    const attempt = interruptedAttempt(begun);
    const ended = { attempt, settled: leftOpen(attempt, reason), checks: [] };
    await this.#coordinator.run(() => this.#parts.iterations.end(begun, ended, {}));
    this.#parts.free(tree);
  }

  /**
   * Nothing more starts in a lane that has failed: its item comes again in another one, with what its turn left.
   *
   * @throws what has failed, where no other lane is left
   */
  async #close(
    { tree, isGone, cause: fault }: LaneFault,
    begun: Begun,
    attempt: Attempt,
    home: RalphContext,
  ): Promise<void> {
    if (isGone && this.#elsewhere === null && !this.#parts.signal.aborted) return await this.#anew(tree, begun, home);
    const isLast = this.#trees.close(tree);
    const isKept = await abandonTree(tree);
    if (!isKept) this.#lanes.keep(tree);
    if (isLast || this.#elsewhere !== null || this.#parts.signal.aborted) throw fault;
    const { message, hint } = asNamed(fault);
    const left = isKept ? "" : `; the next run takes what its turn left in ${tree.path}`;
    const reason = `worker ${tree.lane + 1} has stopped: ${message}`;
    note(home, "warn", `${reason}; ${begun.item.id} goes to another worker${left}; ${hint}`);
    this.#parts.iterations.notice({ kind: "environment", subject: reason, message: "" });
    const settled = leftOpen(attempt, reason);
    await this.#coordinator.run(async () => {
      if (isKept) await tidied(tree.home, () => removeTree(tree.home, tree.path)); // the others may share the disk
      await this.#parts.iterations.end(begun, { attempt, settled, checks: [] }, {});
    });
  }
}

/** Two items say that they change the same paths. Pure. */
export function overlap(
  { touches: one = [] }: Pick<Item, "touches">,
  { touches: other = [] }: Pick<Item, "touches">,
): boolean {
  return one.some((glob) => other.some((second) => meet(glob, second)));
}

function meet(one: string, other: string): boolean {
  if (one === other || picomatch(one, { dot: true })(other) || picomatch(other, { dot: true })(one)) return true;
  const [left, right] = [picomatch.scan(one), picomatch.scan(other)];
  if (!left.isGlob || !right.isGlob) return false;
  // two globs: whether one's fixed beginning is the other's
  const [a, b] = [`${left.base}/`, `${right.base}/`];
  return a.startsWith(b) || b.startsWith(a);
}
