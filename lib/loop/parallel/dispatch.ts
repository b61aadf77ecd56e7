/**
 * Items worked on at once, each in a tree of its own. The coordinator's side (the backlog's store, the journal, the
 * branch) happens one thing at a time; turns and their checks run beside each other.
 *
 * @module
 */
import { withFindings } from "../../backlog/findings.ts";
import { type Beside, createBeside } from "../../checks/beside.ts";
import type { OpenItem } from "../../backlog/journal_types.ts";
import { interruptedAttempt } from "../../backlog/attempts.ts";
import type { Attempt, Item } from "../../backlog/types.ts";
import type { LimitsConfig } from "../../config/schema.ts";
import type { AttemptJob, Elsewhere } from "../../context/elsewhere.ts";
import { requireRepository } from "../../git/require_repository.ts";
import { rootPaths, topLevelPaths } from "../../git/tree_paths.ts";
import { deleteRefs } from "../../git/run_git.ts";
import { createKeptWork, type KeptWork, keptWork, workRef } from "../../git/work_commit.ts";
import { asNamed } from "../../host/file_errors.ts";
import { createSlots } from "../../host/slots.ts";
import { keyOf } from "../journal/journal_record.ts";
import type { CleanRun } from "../finish/clean.ts";
import type { Begun, Iterations } from "../iterations.ts";
import type { LoopParts, Picked } from "../run/loop_parts.ts";
import { type Settled, waitsInVain } from "../settle/settle.ts";
import { costSoon } from "../policy/limits.ts";
import type { Stopped, StoppedEarly } from "../run/outcome.ts";
import { createTurnGuard } from "../attempt/turn_guard.ts";
import { tidied } from "../run/tidied.ts";
import { workItem } from "../attempt/work_item.ts";
import { previousWith } from "../policy/attempts.ts";
import { createLandings, type Landings } from "./landing.ts";
import { inLane, LaneFault } from "./lane_fault.ts";
import { type Lanes, openLanes } from "./lanes.ts";
import { type Made, unusable } from "./made.ts";
import { removeTree } from "./leftover_trees.ts";
import { overlap } from "./overlap.ts";
import { ensurePossible } from "./possible.ts";
import { conflictNote, type TreeBegin, type WorkerTree } from "./worker_tree.ts";

/** A free worker need not wait until all has landed that has ended: a start is short. */
const STARTING = { first: true } as const;

const UNSTEADY =
  "failed beside another worker's checks, and passed when it was run alone; `RALPH_LANE` tells workers apart";

export interface DispatchParts<Data, Findings> {
  readonly iterations: Iterations<Data, Findings>;
  readonly clean: CleanRun;
  readonly limits: LimitsConfig;
  readonly signal: AbortSignal;
  /** @param inFlight ids of what is being worked on, or has to wait for that; `turns` have begun and not ended */
  readonly pick: (inFlight: readonly string[], turns: number) => Promise<Picked<Data>>;
  /** Waits while a person has paused the run. @returns why nothing starts any more */
  readonly rest: () => Promise<StoppedEarly | null>;
  /** Once, before the first turn. @returns why there is none */
  readonly baseline: () => Promise<StoppedEarly | null>;
  /** An attempt in the project's own tree. */
  readonly attempt: (item: Item<Data>) => Promise<StoppedEarly | null>;
}

/** The workers of a run. */
export interface Dispatched extends AsyncDisposable {
  /** Works until nothing may start any more and nothing is in flight. */
  run(): Promise<Stopped>;
}

/** Nothing is left to do: work that was kept is let go of, also where no worker has opened a tree. */
export async function letGo<Data, Findings>({ ralph, key }: LoopParts<Data, Findings>): Promise<void> {
  const repository = requireRepository(ralph);
  await tidied(ralph, async () => deleteRefs(repository, [...(await keptWork(repository, keyOf(key))).keys()]));
}

/**
 * Opens the workers' trees.
 *
 * @returns `null` where there is no commit yet that they could begin with
 * @throws {RalphError} parallel-impossible, git-failed, setup-failed
 */
export async function openWorkers<Data, Findings>(
  parts: LoopParts<Data, Findings>,
  rest: DispatchParts<Data, Findings>,
): Promise<Dispatched | null> {
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
  const dispatcher = new Dispatcher(parts, rest, { lanes, elsewhere, uncommitted });
  return {
    run: () => dispatcher.run(),
    async [Symbol.asyncDispose]() {
      await lanes[Symbol.asyncDispose]();
      await tidied(ralph, async () => await elsewhere?.[Symbol.asyncDispose]());
    },
  };
}

/** The places that items are worked on in. */
interface Places {
  readonly lanes: Lanes;
  /** `null`: in the lanes' own trees. */
  readonly elsewhere: Elsewhere | null;
  readonly uncommitted: ReadonlySet<string>;
}

/** Something in flight. */
interface Flight<Data> {
  readonly item: Item<Data>;
  readonly ended: Promise<void>;
  /** It is being made elsewhere, and not waited for here. */
  isOut: boolean;
}

class Dispatcher<Data, Findings> {
  readonly #parts: LoopParts<Data, Findings>;
  readonly #rest: DispatchParts<Data, Findings>;
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
  readonly #inFlight = new Map<string, Flight<Data>>();
  readonly #beside: Beside;
  readonly #kept: KeptWork;
  readonly #landings: Landings<Data, Findings>;
  readonly #stopper = new AbortController();
  readonly #signal: AbortSignal;
  #stopped: Stopped | null = null;
  /** Nothing starts beside it. */
  #isAlone = false;
  #failure: { readonly error: unknown } | null = null;

  constructor(
    parts: LoopParts<Data, Findings>,
    rest: DispatchParts<Data, Findings>,
    { lanes, elsewhere, uncommitted }: Places,
  ) {
    this.#parts = parts;
    this.#rest = rest;
    this.#lanes = lanes;
    this.#free = [...lanes.all];
    this.#elsewhere = elsewhere;
    this.#handedOut = elsewhere === null ? [] : [...parts.ralph.journal.open(parts.key)];
    this.#signal = AbortSignal.any([rest.signal, this.#stopper.signal]);
    // trees keep the work of their turns themselves
    this.#kept = createKeptWork(requireRepository(parts.ralph), keyOf(parts.key), { alone: elsewhere !== null });
    this.#beside = createBeside((subject) => rest.iterations.notice({ kind: "unsteady", subject, message: UNSTEADY }));
    const known = { signal: this.#signal, beside: this.#beside, kept: this.#kept, uncommitted };
    this.#landings = createLandings(parts, { ...rest, ...known });
  }

  async run(): Promise<Stopped> {
    this.#stopped = null;
    for (;;) {
      while (this.#mayStart()) if (!await this.#startOne()) break;
      const waitedFor = [...this.#inFlight.values()].filter(({ isOut }) => !isOut);
      if (waitedFor.length > 0) {
        await Promise.race(waitedFor.map(({ ended }) => ended));
        continue;
      }
      if (this.#failure !== null) throw this.#failure.error;
      if (this.#stopped !== null) return this.#stopped;
      if (this.#inFlight.size > 0) return { status: this.#rest.signal.aborted ? "aborted" : "handed-out" };
    }
  }

  #mayStart(): boolean {
    return this.#stopped === null && this.#failure === null && !this.#isAlone && this.#free.length > 0;
  }

  /** Starts one item. @returns false where nothing may start before something has ended */
  async #startOne(): Promise<boolean> {
    const handedOut = this.#handedOut.shift();
    if (handedOut !== undefined) return this.#start(handedOut.item as Item<Data>, handedOut, false);
    const resting = await this.#rest.rest();
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
      if (picked.status === "waiting") throw waitsInVain(this.#parts.backlog);
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
  #start(item: Item<Data>, handedOut: OpenItem | null, isIdle: boolean): boolean {
    const own = item.exclusive === true || item.checksOnly === true;
    const alone = own || this.#landings.wantsToBeAlone(item);
    if (alone && !isIdle) return false;
    this.#isAlone = alone;
    const tree = own ? null : this.#free.shift() ?? null;
    this.#inFlight.set(item.id, { item, ended: this.#fly(item, tree, handedOut), isOut: false });
    return true;
  }

  /** Ends when the item is settled, or out for a later run: then its place stays taken. */
  async #fly(item: Item<Data>, tree: WorkerTree | null, handedOut: OpenItem | null): Promise<void> {
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
  async #pick(): Promise<Picked<Data>> {
    const flying = [...this.#inFlight.values()].map(({ item }) => item);
    const waiting = flying.map(({ id }) => id);
    if (flying.length > 0 && costSoon(this.#rest.iterations.progress, this.#rest.limits, flying.length)) {
      return { status: "waiting" };
    }
    for (;;) {
      const picked = await this.#rest.pick(waiting, flying.length);
      if (picked.status !== "item" || !flying.some((one) => overlap(one, picked.item))) {
        if (picked.status !== "item") return picked;
        if (waiting.includes(picked.item.id)) return { status: "waiting" };
        return picked.item.checksOnly === true ? picked : await this.#rest.baseline() ?? picked;
      }
      waiting.push(picked.item.id);
    }
  }

  async #inProject(item: Item<Data>): Promise<boolean> {
    if (this.#elsewhere !== null && item.checksOnly !== true) await this.#parts.ralph.agent.ensureUsable();
    this.#stopped ??= await this.#coordinator.run(() => this.#rest.attempt(item));
    return false;
  }

  /** @returns whether it is out for a later run */
  async #inTree(item: Item<Data>, tree: WorkerTree, handedOut: OpenItem | null): Promise<boolean> {
    const { ralph, key } = this.#parts;
    const { iterations } = this.#rest;
    const repository = requireRepository(ralph);
    const ref = workRef(keyOf(key), item);
    const { begun, tip, left } = await this.#coordinator.run(async () => {
      const begun = await iterations.begin(item, tree.home, handedOut);
      return { begun, tip: (await repository.head()).head ?? "", left: await this.#kept.of(ref) };
    }, STARTING);
    const begin = { tip, left, ref, item, attemptId: begun.id };
    let attempt: Attempt<Findings> = interruptedAttempt(begun);
    try {
      const made = this.#elsewhere === null
        ? await inLane(tree, () => this.#work(begun, begin, tree))
        : await this.#workElsewhere(begun, begin, this.#elsewhere, tree.lane);
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
  async #close(
    tree: WorkerTree,
    begun: Begun<Data, Findings>,
    attempt: Attempt<Findings>,
    fault: unknown,
  ): Promise<void> {
    this.#closed.add(tree);
    const isKept = await tree.abandon();
    if (!isKept) this.#lanes.keep(tree);
    const isLast = this.#closed.size === this.#lanes.all.length;
    if (isLast || this.#elsewhere !== null || this.#signal.aborted) throw fault;
    const { message, hint } = asNamed(fault);
    const left = isKept ? "" : `; the next run takes what its turn left in ${tree.path}`;
    const reason = `worker ${tree.lane + 1} has stopped: ${message}`;
    const said = `${reason}; ${begun.item.id} goes to another worker${left}; ${hint}`;
    tree.home.events.emit({ type: "note", level: "warn", message: said });
    this.#rest.iterations.notice({ kind: "environment", subject: reason, message: "" });
    const settled: Settled = { settlement: { status: "open", reason }, attempt, committed: [], passed: null };
    await this.#coordinator.run(async () => {
      if (isKept) await tidied(tree.home, () => removeTree(tree.home, tree.path)); // the others may share the disk
      await this.#rest.iterations.end(begun, { attempt, settled, checks: [] }, {});
    });
  }

  /** On another machine. */
  async #workElsewhere(
    begun: Begun<Data, Findings>,
    { tip, left, ref }: TreeBegin,
    elsewhere: Elsewhere,
    lane: number,
  ): Promise<Made<Findings> | null> {
    const { id, number, item } = begun;
    const options = this.#rest.iterations.workOptions(begun, null, left === null ? {} : { [ref]: null });
    const landed = this.#landings.conflictOf(item);
    const job: AttemptJob = {
      attempt: { id, number },
      item,
      base: tip,
      left,
      previous: previousWith(id, landed.length > 0 ? null : options.previous ?? null, landed),
      last: options.last ?? null,
      judging: options.judging,
      failedBefore: [...options.failedBefore ?? []],
      greenBefore: options.greenBefore ?? null,
      unseenFailed: options.unseenFailed ?? false,
      told: this.#parts.ralph.steering.told(item.id),
      budget: options.budget ?? null,
    };
    const made = await elsewhere.attempt(job, this.#signal, lane);
    if (made === null) return null;
    if (job.greenBefore === null && made.attempt.turn !== null) {
      await options.baselineTaken?.(made.attempt.greenBefore === true);
    }
    const read = await withFindings<Findings>(this.#parts.backlog, made.attempt);
    const work = read.status === "read" ? made.work : null;
    const attempt = read.status === "read" ? read.attempt : unusable<Findings>(begun, read.problem);
    if (work !== null) await this.#kept.keep(ref, work.commit);
    const checks = await this.#landings.checksOf(item, number);
    return { worked: { attempt, checks, before: null, after: null }, work, notes: [] };
  }

  /** Beside others: the turn and its checks in the worker's tree, and what came of it as a commit. */
  async #work(
    begun: Begun<Data, Findings>,
    begin: TreeBegin,
    tree: WorkerTree,
  ): Promise<Made<Findings>> {
    const { ralph, backlog } = this.#parts;
    const { iterations, clean } = this.#rest;
    const { item } = begun;
    try {
      const prepared = await tree.prepare(begin);
      const before = await requireRepository(tree.ralph).snapshot();
      const kept = Object.fromEntries(prepared.left.map((path) => [path, null]));
      const conflicts = rootPaths(ralph, prepared.conflicts);
      const options = iterations.workOptions(begun, before, kept);
      const landed = this.#landings.conflictOf(item);
      const worked = await workItem(tree.ralph, backlog, item, {
        ...options,
        previous: previousWith(begun.id, landed.length > 0 ? null : options.previous ?? null, [
          ...landed,
          ...conflicts,
        ]),
        green: new Set(), // of another tree
        ...(conflicts.length === 0 ? {} : { note: conflictNote(conflicts) }),
        signal: this.#signal,
        brief: tree.brief,
        beside: this.#beside,
        guard: createTurnGuard(tree.ralph, { userPaths: new Set(), stateFiles: backlog.stateFiles }),
        clean: { look: (...look) => this.#looking.run(() => clean.look(...look)) },
      });
      const changed = topLevelPaths(tree.ralph, worked.attempt.turn?.changedFiles ?? []);
      const notes = await tree.notes();
      return { worked, work: await tree.capture([...prepared.left, ...changed]), notes };
    } catch (error) {
      if (await tree.isThere()) throw error;
      const message = "the turn removed the working tree that it was given";
      const attempt = { ...interruptedAttempt(begun), status: "failed", reason: "agent-failed", message } as const;
      return { worked: { attempt, checks: [], before: null, after: null }, work: null, notes: [] };
    }
  }
}
