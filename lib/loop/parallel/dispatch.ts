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
import type { TurnGuard } from "../attempt/turn_guard.ts";
import type { Begun, Iterations, LoopParts, Picked } from "../iterations.ts";
import { leftOpen, waitsInVain } from "../settle/settle.ts";
import { costSoon } from "../policy/progress.ts";
import type { Stopped, StoppedEarly } from "../run/outcome.ts";
import { tidied } from "../run/tidied.ts";
import { BY_WORKER, type LandingParts, Landings } from "./landing.ts";
import { inLane, LaneFault } from "./lane_fault.ts";
import { findTrees, removeTree } from "./leftover_trees.ts";
import { madeElsewhere, madeInTree } from "./made.ts";
import { ensurePossible } from "./possible.ts";
import { abandonTree, closeTree, openWorkerTree, type WorkerTree } from "./worker_tree.ts";
import type { RalphEvent } from "../../events/types.ts";
import picomatch from "picomatch";

/** A free worker need not wait until all has landed that has ended: a start is short. */
const STARTING = { first: true } as const;

const UNSTEADY =
  "failed beside another worker's checks, and passed when it was run alone; `RALPH_LANE` tells workers apart";

export interface DispatchParts {
  readonly iterations: Iterations;
  readonly clean: CleanRun;
  readonly limits: LimitsConfig;
  readonly signal: AbortSignal;
  /** @param inFlight ids of what is being worked on, or has to wait for that; `turns` have begun and not ended */
  readonly pick: (inFlight: readonly string[], turns: number) => Promise<Picked>;
  /** Waits while a person has paused the run. @returns why nothing starts any more */
  readonly rest: () => Promise<StoppedEarly | null>;
  /** Once, before the first turn. @returns why there is none */
  readonly baseline: () => Promise<StoppedEarly | null>;
  /** Looks after a person's work in the project's own tree. */
  readonly guard: TurnGuard;
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
  const uncommitted = await ensurePossible(parts);
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

/** Something in flight. */
interface Flight {
  readonly item: Item;
  readonly ended: Promise<void>;
  /** It is being made elsewhere, and not waited for here. */
  isOut: boolean;
}

/** The workers of a run. */
export class Dispatcher implements AsyncDisposable {
  readonly #loop: LoopParts;
  readonly #parts: DispatchParts & LandingParts;
  readonly #lanes: Lanes;
  readonly #free: WorkerTree[];
  /** Lanes that have failed: nothing more starts in them. */
  readonly #closed = new Set<WorkerTree>();
  readonly #elsewhere: Elsewhere | null;
  /** The items that an earlier coordinator has handed out: they continue. */
  readonly #handedOut: OpenItem[];
  /** The coordinator's side, one thing at a time. */
  readonly #coordinator = createSlots(1);
  /** The run's checkout is one. */
  readonly #looking = createSlots(1);
  readonly #inFlight = new Map<string, Flight>();
  readonly #landings: Landings;
  readonly #stopper = new AbortController();
  #stopped: Stopped | null = null;
  /** Nothing starts beside it. */
  #isAlone = false;
  #failure: { readonly error: unknown } | null = null;

  constructor(loop: LoopParts, rest: DispatchParts, { lanes, elsewhere, uncommitted }: Places) {
    const { ralph, key } = loop;
    this.#loop = loop;
    this.#lanes = lanes;
    this.#free = [...lanes.all];
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
    this.#parts = { ...rest, loop, signal, beside, kept, uncommitted, clean };
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
      while (this.#mayStart()) if (!await this.#startOne()) break;
      const waitedFor = [...this.#inFlight.values()].filter(({ isOut }) => !isOut);
      if (waitedFor.length > 0) {
        await Promise.race(waitedFor.map(({ ended }) => ended));
        continue;
      }
      await this.#parts.guard.look(BY_WORKER);
      if (this.#failure !== null) throw this.#failure.error;
      if (this.#stopped !== null) return this.#stopped;
      if (this.#inFlight.size > 0) return { status: this.#parts.signal.aborted ? "aborted" : "handed-out" };
    }
  }

  #mayStart(): boolean {
    return this.#stopped === null && this.#failure === null && !this.#isAlone && this.#free.length > 0;
  }

  /** Starts one item. @returns false where nothing may start before something has ended */
  async #startOne(): Promise<boolean> {
    const handedOut = this.#handedOut.shift();
    if (handedOut !== undefined) return this.#start(handedOut.item, handedOut, false);
    const resting = await this.#parts.rest();
    let wasIdle = true;
    const picked = resting ?? await this.#coordinator.run(() => {
      wasIdle = this.#inFlight.size === 0;
      return this.#pick();
    }, STARTING);
    if (this.#failure !== null) return false;
    const isIdle = this.#inFlight.size === 0;
    if (picked.status !== "item") {
      // what was in flight may bring more: asked again when it has ended, as it may have by now
      if (!wasIdle && picked.status !== "aborted") return isIdle;
      if (picked.status === "waiting") throw waitsInVain(this.#loop.backlog);
      this.#stopped = picked;
      return false;
    }
    if (this.#elsewhere?.takesMore === false) {
      this.#stopped = { status: "handed-out" };
      return false;
    }
    return this.#start(picked.item, null, isIdle);
  }

  /** @param handedOut the attempt that an earlier coordinator has begun */
  #start(item: Item, handedOut: OpenItem | null, isIdle: boolean): boolean {
    const own = item.exclusive === true || item.checksOnly === true;
    const alone = own || this.#landings.wantsToBeAlone(item);
    if (alone && !isIdle) return false;
    this.#isAlone = alone;
    const tree = own ? null : this.#free.shift() ?? null;
    this.#inFlight.set(item.id, { item, ended: this.#fly(item, tree, handedOut), isOut: false });
    return true;
  }

  /** Ends when the item is settled, or out for a later run: then its place stays taken. */
  async #fly(item: Item, tree: WorkerTree | null, handedOut: OpenItem | null): Promise<void> {
    try {
      const isOut = tree === null ? await this.#inProject(item) : await this.#inTree(item, tree, handedOut);
      const flight = this.#inFlight.get(item.id);
      if (isOut && flight !== undefined) return void (flight.isOut = true);
    } catch (error) {
      this.#failure ??= { error };
      this.#stopper.abort();
    }
    this.#inFlight.delete(item.id);
    this.#isAlone = false;
    if (tree !== null && !this.#closed.has(tree)) this.#free.push(tree);
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
  async #inTree(item: Item, tree: WorkerTree, handedOut: OpenItem | null): Promise<boolean> {
    const { ralph, key } = this.#loop;
    const { iterations, kept, guard } = this.#parts;
    const repository = requireRepository(ralph);
    const ref = workRef(keyOf(key), item);
    const { begun, tip, left } = await this.#coordinator.run(async () => {
      await guard.look(BY_WORKER);
      const begun = await iterations.begin(item, tree.home, handedOut);
      if (begun.before !== null) await guard.keep(item.id, begun.before, false);
      return { begun, tip: (await repository.head()).head ?? "", left: await kept.of(ref) };
    }, STARTING);
    const conflicts = this.#landings.conflictOf(item);
    const toMake = { parts: this.#parts, begun, begin: { tip, left, ref, item, attemptId: begun.id }, conflicts };
    let attempt: Attempt = interruptedAttempt(begun);
    try {
      const made = this.#elsewhere === null
        ? await inLane(tree, () => madeInTree(toMake, tree))
        : await madeElsewhere(toMake, this.#elsewhere, tree.lane);
      if (made === null) return true;
      const { worked, work, notes } = made;
      attempt = worked.attempt;
      const isForeign = this.#elsewhere !== null;
      const landed = await this.#coordinator.run(() =>
        this.#landings.land({ begun, worked, work, notes, base: work?.base ?? tip, ref, tree, isForeign })
      );
      if (landed === "left-open") return true;
      this.#stopped ??= landed;
      await this.#elsewhere?.settled(begun.id);
    } catch (error) {
      if (!(error instanceof LaneFault)) throw error;
      await this.#close(tree, begun, attempt, error.cause);
    }
    return false;
  }

  /**
   * Nothing more starts in a lane that has failed: its item comes again in another one, with what its turn left.
   *
   * @throws what has failed, where no other lane is left
   */
  async #close(tree: WorkerTree, begun: Begun, attempt: Attempt, fault: unknown): Promise<void> {
    this.#closed.add(tree);
    const isKept = await abandonTree(tree);
    if (!isKept) this.#lanes.keep(tree);
    const isLast = this.#closed.size === this.#lanes.all.length;
    if (isLast || this.#elsewhere !== null || this.#parts.signal.aborted) throw fault;
    const { message, hint } = asNamed(fault);
    const left = isKept ? "" : `; the next run takes what its turn left in ${tree.path}`;
    const reason = `worker ${tree.lane + 1} has stopped: ${message}`;
    note(tree.home, "warn", `${reason}; ${begun.item.id} goes to another worker${left}; ${hint}`);
    this.#parts.iterations.notice({ kind: "environment", subject: reason, message: "" });
    const settled = leftOpen(attempt, reason);
    await this.#coordinator.run(async () => {
      if (isKept) await tidied(tree.home, () => removeTree(tree.home, tree.path)); // the others may share the disk
      await this.#parts.iterations.end(begun, { attempt, settled, checks: [] }, {});
    });
  }
}

/** The lanes in which items of a run are worked on, or checked before they land. */
export interface Lanes extends AsyncDisposable {
  /** One for each item that may be in flight: its events say so. */
  readonly all: readonly WorkerTree[];
  /** The tree holds work that could not be kept: the next run is to find it. */
  keep(tree: WorkerTree): void;
}

/**
 * Opens the lanes of a run: as many as can be opened, and one at least.
 *
 * @param trees so many have a tree of their own; with one, all others share it
 * @throws {RalphError} git-failed, setup-failed, file-unwritable
 */
export async function openLanes({ ralph, backlog, workers }: LoopParts, trees: number): Promise<Lanes> {
  const opened: WorkerTree[] = [];
  for (let lane = 0; lane < trees; lane++) { // git takes no lock around the list of worktrees
    try {
      opened.push(await openWorkerTree(ralph, backlog, lane));
    } catch (error) {
      if (lane === 0 || ralph.signal.aborted) {
        await removeLater(ralph, opened);
        throw error;
      }
      const { message, hint } = asNamed(error);
      note(ralph, "warn", `works with ${lane} of ${trees} workers: ${message}; ${hint}`);
      break;
    }
  }
  const [first] = opened;
  const all = first === undefined || trees === workers ? opened : Array.from({ length: workers }, (_, lane) => {
    const events = { ...ralph.events, emit: (event: RalphEvent) => ralph.events.emit(event, lane) };
    return { ...first, lane, home: { ...ralph, events } };
  });
  const left = new Set<string>();
  return {
    all,
    keep: ({ path }) => void left.add(path),
    [Symbol.asyncDispose]: () => removeLater(ralph, opened, left),
  };
}

/** After the verdict, and not where another run has them by then. */
async function removeLater(
  ralph: RalphContext,
  trees: readonly WorkerTree[],
  left: ReadonlySet<string> = new Set(),
): Promise<void> {
  for (const tree of trees) await tidied(ralph, () => closeTree(tree));
  if (ralph.config.parallel.keep) return;
  ralph.run.tidyLater(async () => {
    await using lock = await ralph.lock.acquire("run").catch(() => null);
    if (lock === null) return;
    const own = new Set(trees.map(({ path }) => path));
    for (const { path, marker } of await findTrees(ralph)) {
      // a killed run's tree that could not be opened again holds nothing where its marker names no work
      if (!left.has(path) && (own.has(path) || marker.work === null)) await removeTree(ralph, path);
    }
  });
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
