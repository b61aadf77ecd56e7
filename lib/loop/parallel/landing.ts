/**
 * Work from a worker's tree comes onto the branch: merged by git, checked once more where the branch has moved, committed
 * in the project's own tree with the user's hooks. Never by an agent; an item has passed only when its work is there.
 *
 * @module
 */
import { note, type RalphContext } from "../../context/context.ts";
import type { Attempt, Item } from "../../backlog/types.ts";
import { restoreBrief } from "../../checks/brief/create_brief.ts";
import { commitMerged, mergeTrees } from "../../git/land.ts";
import { mergedText } from "../../git/merge_change.ts";
import { type Repository, requireRepository, rootPaths, type TreeStatus } from "../../git/repository.ts";
import type { StoppedEarly } from "../run/outcome.ts";
import { type Committer, createCommitter, ownPaths } from "../settle/committer.ts";
import { type LandingSteps, leftOpen, settleAndCommit, type Settled, type ToSettle } from "../settle/settle.ts";
import {
  end,
  type Found,
  type Landed,
  type LandingParts,
  type Merged,
  type Ready,
  stepsOf,
  type ToLand,
} from "./to_land.ts";
import type { Note, WorkerTree } from "./worker_tree.ts";
import { LaneFault } from "./lane_fault.ts";
import { checkMerged } from "./check_merged.ts";
import { pathsBetween } from "../../git/run_git.ts";

/** The commits of a turn elsewhere that says that there was nothing to do: its checks run here all the same. */
const NOTHING = { subjects: [], trailers: [] } as const;

/**
 * The landings of a run. Items that are ready are merged in order and checked together, in the tree of one of them; the
 * other trees are free meanwhile. The coordinator's slot is held to merge and to commit, never for a check.
 */
export class Landings {
  readonly #parts: LandingParts;
  readonly #ralph: RalphContext;
  readonly #repository: Repository;
  readonly #committers = new Map<number, Committer>();
  readonly #conflicts = new Map<string, { readonly times: number; readonly paths: readonly string[] }>();
  /** Changes in the project's own tree that were there, or are named already. */
  readonly #reported: Set<string>;
  /** Files that Ralph itself writes, relative to the top level. */
  readonly #own: ReadonlySet<string>;
  /** In the order in which they came. */
  readonly #ready: Ready[] = [];
  #isLanding = false;

  constructor(parts: LandingParts) {
    const { ralph, backlog } = parts.loop;
    this.#parts = parts;
    this.#ralph = ralph;
    this.#repository = requireRepository(ralph);
    this.#reported = new Set(parts.uncommitted);
    this.#own = new Set(ownPaths(ralph, backlog));
  }

  /** It has conflicted so often that nothing else is to be worked on beside it. */
  wantsToBeAlone({ id }: Item): boolean {
    return this.#timesOf(id) >= this.#ralph.config.parallel.conflicts;
  }

  #timesOf(id: string): number {
    return this.#conflicts.get(id)?.times ?? 0;
  }

  /** Paths in which its last attempt conflicted with what had landed; relative to the root. */
  conflictOf({ id }: Item): readonly string[] {
    return this.#conflicts.get(id)?.paths ?? [];
  }

  /** Settles an attempt; what passed comes onto the branch. The tree goes back to `free()` when it is not needed. */
  async land(toLand: ToLand): Promise<Landed> {
    const { begun, worked, work, isForeign, isHeld, tree } = toLand;
    const { coordinator, iterations, free } = this.#parts;
    const attempt = iterations.limited(begun, worked.attempt);
    const passed = attempt.status === "verified" || attempt.status === "unverified";
    if (passed && (work !== null || isForeign)) {
      return await new Promise((resolve, reject) => {
        this.#ready.push({ toLand, attempt, resolve, reject, isBegun: false });
        if (!this.#isLanding) void this.#landReady(tree);
        else if (!isHeld) free(tree);
      });
    }
    try {
      return await coordinator.run(async () => {
        if (this.#isTooLate(toLand)) return this.#leaveOpen(toLand);
        await this.#arrive(toLand);
        await this.#guardProject();
        return await this.#settle(toLand, attempt);
      });
    } finally {
      free(tree);
    }
  }

  /** Lands until nothing is ready. @param first where it is checked, until another lands in its own */
  async #landReady(first: WorkerTree): Promise<void> {
    const { free } = this.#parts;
    this.#isLanding = true;
    let tree: WorkerTree | null = first;
    for (let batch = this.#next(); batch.length > 0; batch = this.#next()) {
      const held: ToLand | undefined = batch.map(({ toLand }) => toLand).find(({ isHeld }) => isHeld);
      if (held !== undefined && held.tree !== tree) {
        if (tree !== null) free(tree);
        tree = held.tree;
      }
      try {
        if (tree === null) { for (const { resolve } of batch) resolve("again"); }
        else await this.#together(batch, tree);
      } catch (error) {
        const isFault = error instanceof LaneFault;
        if (isFault) tree = null;
        const [lead, ...rest] = batch.filter((one) => one.isEnded !== true && !this.#ready.includes(one));
        lead?.reject(error);
        for (const { resolve, reject } of rest) {
          if (isFault) resolve("again");
          else reject(error);
        }
      }
    }
    this.#isLanding = false;
    if (tree !== null) free(tree);
  }

  /** One that keeps its tree lands alone, what came before it together. */
  #next(): readonly Ready[] {
    const held = this.#ready.findIndex(({ toLand }) => toLand.isHeld);
    return this.#ready.splice(0, held === -1 ? this.#ready.length : Math.max(1, held));
  }

  /** Lands all of them where they are green together; each half by itself where they are not. */
  async #together(batch: readonly Ready[], tree: WorkerTree): Promise<void> {
    const { coordinator } = this.#parts;
    const merged = await coordinator.run(() => this.#merge(batch));
    const [lead] = merged;
    if (lead === undefined) return;
    const attempts = await checkMerged(this.#parts, merged, tree);
    if (attempts === null) {
      const half = Math.ceil(merged.length / 2);
      const ready = merged.map((one) => one.ready);
      await this.#together(ready.slice(0, half), tree);
      return await this.#together(ready.slice(half), tree);
    }
    const { toLand } = lead.ready;
    if (attempts[0]?.status === "failed" && !toLand.isForeign && toLand.tree !== tree) {
      return void end(lead.ready, "again");
    }
    const ids = merged.map(({ ready }) => ready.toLand.begun.item.id);
    for (const [at, one] of merged.entries()) {
      const others = ids.filter((_, index) => index !== at);
      if (await coordinator.run(() => this.#bring(one, attempts[at]!, others))) continue;
      this.#ready.unshift(...merged.slice(at).map(({ ready }) => ready));
      return;
    }
  }

  /**
   * Merges them, each onto the one before. Conflicts are settled; an item that was checked as it would be there lands.
   *
   * @returns the others
   */
  async #merge(batch: readonly Ready[]): Promise<readonly Merged[]> {
    const merged: Merged[] = [];
    const later: Ready[] = [];
    for (const ready of batch) {
      const { toLand, attempt } = ready;
      const { begun: { named: { item } }, base, isForeign, home } = toLand;
      if (this.#isTooLate(toLand)) {
        end(ready, this.#leaveOpen(toLand));
        continue;
      }
      await this.#arrive(toLand);
      const last = merged.at(-1);
      const known = last === undefined ? await this.#guardProject() : null;
      const tip = last?.commit ?? known?.head ?? base;
      if (!ready.isBegun) {
        home.events.emit({ type: "landing-start", item, behind: await this.#commitsBetween(base, tip) });
        ready.isBegun = true;
      }
      const { commit, conflicts } = await this.#onto(tip, toLand);
      if (conflicts.length > 0) {
        if (last !== undefined) later.push(ready); // with what has not landed yet
        else end(ready, await this.#conflict(toLand, attempt, conflicts));
        continue;
      }
      const one: Merged = { ready, tip, commit };
      if (known === null || isForeign || await this.#differs(base, tip)) merged.push(one);
      else await this.#bring(one, attempt, null, known);
    }
    this.#ready.unshift(...later);
    return merged;
  }

  /** The work on a commit. */
  async #onto(
    tip: string,
    { work, base }: ToLand,
  ): Promise<{ readonly commit: string; readonly conflicts: readonly string[] }> {
    if (work === null || base === tip) return { commit: work?.commit ?? tip, conflicts: [] };
    const { tree, conflicts } = await mergeTrees(this.#repository, tip, work.commit);
    return { commit: conflicts.length > 0 ? tip : await commitMerged(this.#repository, tip, tree), conflicts };
  }

  /** In more than what Ralph itself writes. */
  async #differs(one: string, other: string): Promise<boolean> {
    return one !== other && (await pathsBetween(this.#repository, one, other)).some((path) => !this.#own.has(path));
  }

  /**
   * Settles what was checked, and brings it in.
   *
   * @param others checked in the same tree, and landing with it; `null`: nothing was to be checked
   * @returns false where that is not what would be on the branch now
   */
  async #bring(
    { ready, ...merged }: Merged,
    attempt: Attempt,
    others: readonly string[] | null,
    given: TreeStatus | null = null,
  ): Promise<boolean> {
    const { toLand } = ready;
    const { begun: { named: { item } }, base, work, home, isForeign } = toLand;
    const conflicts = this.#timesOf(item.id);
    const checkedAgain = others !== null;
    if (isForeign && attempt.status === "interrupted") return end(ready, this.#leaveOpen(toLand));
    const known = given ?? await this.#guardProject();
    let { tip, commit } = merged;
    const passed = attempt.status === "verified" || attempt.status === "unverified";
    if (passed && known.head !== null && known.head !== tip) {
      const now = await this.#onto(known.head, toLand);
      if (now.conflicts.length > 0 || await this.#differs(commit, now.commit)) return false;
      [tip, commit] = [known.head, now.commit];
    }
    const beside = others === null || others.length === 0 ? null : others;
    const together = beside === null ? {} : { with: beside };
    const landing = { base, tip, checkedAgain, conflicts, ...together };
    const own = work?.own ?? NOTHING;
    const trailers = beside === null ? own.trailers : [...own.trailers, `Checked-with: ${beside.join(", ")}`];
    const found = passed
      ? await stepsOf(this.#ralph, { ...attempt, landing }, { tip, commit, own: { ...own, trailers } })
      : this.#stays(toLand, attempt, landing);
    const { steps, result } = found;
    const toSettle = steps === null ? {} : { known, landing: steps };
    const ended = await this.#settle(toLand, found.attempt, toSettle, ({ committed }) => {
      const isRefused = steps !== null && committed.length === 0 && steps.paths.length > 0;
      const paths = rootPaths(this.#ralph, found.paths);
      const landed = isRefused || result !== "landed" ? {} : together;
      const how = { result: isRefused ? "refused" : result, checkedAgain, conflicts, paths, ...landed } as const;
      home.events.emit({ type: "landing-end", item, ...how });
    });
    return end(ready, ended);
  }

  /** It is red on the branch, or was not checked there to the end. */
  #stays({ begun }: ToLand, attempt: Attempt, landing: NonNullable<Attempt["landing"]>): Found {
    const none = { steps: null, paths: [] };
    if (attempt.status !== "failed") return { ...none, attempt, result: "interrupted" };
    return { ...none, attempt: this.#parts.iterations.limited(begun, { ...attempt, landing }), result: "failed" };
  }

  /** The run was stopped before a result from another machine had landed. */
  #isTooLate({ isForeign, worked }: ToLand): boolean {
    return isForeign && this.#parts.signal.aborted && worked.attempt.status !== "interrupted";
  }

  async #arrive({ notes }: ToLand): Promise<void> {
    await restoreBrief(this.#parts.loop.brief);
    await this.#take(notes);
  }

  /** Its turn is paid, and its result is on the remote: nothing of it is settled, so that the next run asks for it again. */
  #leaveOpen({ begun, home }: ToLand): "left-open" {
    note(home, "info", `${begun.item.id} was worked on, and has not landed: the next run lands it`);
    return "left-open";
  }

  /** Text that turns write beside Ralph's part of a state file stays, whatever became of them. */
  async #take(notes: readonly Note[]): Promise<void> {
    const { state } = this.#ralph;
    for (const { path, before, text } of notes) {
      await state.transact(path, async (written, write) => {
        const found = written === null
          ? null
          : await mergedText(this.#repository, [written, before, text], ["--union"]);
        if (written === null || found === null) return;
        const restored = state.parts.get(path)?.({ path, found, written }) ?? written;
        if (restored !== written) await write(restored);
      });
    }
  }

  /** A conflict is no failure: it is not settled, and comes again with both changes. */
  async #conflict(
    { begun, worked: { checks }, home }: ToLand,
    attempt: Attempt,
    conflicts: readonly string[],
  ): Promise<StoppedEarly | null> {
    const { item } = begun.named;
    const times = this.#timesOf(item.id) + 1;
    const paths = rootPaths(this.#ralph, conflicts);
    this.#conflicts.set(item.id, { times, paths });
    const end = { result: "conflict", checkedAgain: false, conflicts: times, paths } as const;
    home.events.emit({ type: "landing-end", item, ...end });
    const reason = `conflicts with what was merged since: ${paths.join(", ")}`;
    return await this.#parts.iterations.end(begun, { attempt, settled: leftOpen(attempt, reason), checks }, {});
  }

  async #settle(
    toLand: ToLand,
    attempt: Attempt,
    landing: Pick<ToSettle, "known" | "landing"> = {},
    report: (settled: Settled) => void = () => {},
  ): Promise<StoppedEarly | null> {
    const { begun, worked: { attempt: worked, checks }, ref, home, lane } = toLand;
    const { loop: { backlog, key, committer: { line } }, iterations, kept } = this.#parts;
    const committer = this.#committers.get(lane) ?? createCommitter(home, backlog, line);
    this.#committers.set(lane, committer);
    const settled = await settleAndCommit(home, committer, {
      backlog,
      key,
      item: begun.item,
      attempt,
      limited: (one) => iterations.limited(begun, one),
      checks,
      work: {},
      ...landing,
    }).catch((error: unknown) => {
      for (const path of landing.landing?.paths ?? []) this.#reported.add(path); // it stays: the next run settles it
      throw error;
    });
    await this.#parts.guard.settled("open", BY_WORKER); // turns of others are at work
    report(settled);
    if (settled.settlement.status === "passed") {
      if (landing.landing !== undefined) await this.#bringDependencies(toLand, landing.landing);
      await kept.drop(ref);
      this.#conflicts.delete(begun.item.id);
    }
    return await iterations.end(begun, { attempt: worked, settled, checks }, {});
  }

  /** Packages that it installed: the others and the project's tree need them as well. */
  async #bringDependencies({ tree, home }: ToLand, { tip, commit, paths }: LandingSteps): Promise<void> {
    const back = await tree.filled.bringBack(tip, commit, paths);
    if (back === null || back.length === 0) return;
    const message = `the lock file has changed: ${back.join(", ")} of the worker's tree is in the project's now ` +
      "(`workspace.setup` would install it); the one before is set aside (`ralph clean` lists it)";
    note(home, "info", message);
  }

  /**
   * The branch only grows, and what no landing has brought into the project's tree is named, and never committed.
   *
   * @returns the project's tree
   */
  async #guardProject(): Promise<TreeStatus> {
    const ralph = this.#ralph;
    await this.#parts.guard.look(BY_WORKER);
    const now = await this.#repository.status();
    const strange = now.changed.map(({ path }) => path).filter((path) =>
      !this.#own.has(path) && !this.#reported.has(path)
    );
    if (strange.length === 0) return now;
    for (const path of strange) this.#reported.add(path);
    const message = `changed in the project's own tree while items are worked on in others, by a person or by a turn ` +
      `outside of its tree; not committed: ${rootPaths(ralph, strange).join(", ")}`;
    note(ralph, "warn", message);
    return now;
  }

  async #commitsBetween(base: string, tip: string): Promise<number> {
    if (base === tip) return 0;
    const { stdout } = await this.#repository.git(["rev-list", "--count", `${base}..${tip}`]);
    return Number(stdout.trim()) || 0;
  }
}

/** Blamed for what happened to the project's own tree meanwhile. */
export const BY_WORKER = "a worker, or a person,";
