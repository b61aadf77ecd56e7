/**
 * Work from a worker's tree comes onto the branch: merged by git, checked once more where the branch has moved, committed
 * in the project's own tree with the user's hooks. Never by an agent; an item has passed only when its work is there.
 *
 * @module
 */
import { note, type RalphContext } from "../../context/context.ts";
import type { Attempt, Item } from "../../backlog/types.ts";
import { restoreBrief } from "../../checks/brief/create_brief.ts";
import { guardHistory } from "../../git/history.ts";
import { commitMerged, mergeTrees } from "../../git/land.ts";
import { mergedText } from "../../git/merge_change.ts";
import { type Repository, requireRepository, rootPaths, type TreeStatus } from "../../git/repository.ts";
import type { StoppedEarly } from "../run/outcome.ts";
import { type Committer, createCommitter, ownPaths } from "../settle/committer.ts";
import { type LandingSteps, leftOpen, settleAndCommit, type Settled, type ToSettle } from "../settle/settle.ts";
import { BY_WORKER, checkLanding, type LandingParts, type ToLand } from "./check_landing.ts";
import type { Note, WorkerTree } from "./worker_tree.ts";

/** The commits of a turn elsewhere that says that there was nothing to do: its checks run here all the same. */
const NOTHING = { subjects: [], trailers: [] } as const;

/** The landings of a run, one at a time. */
export class Landings {
  readonly #parts: LandingParts;
  readonly #ralph: RalphContext;
  readonly #repository: Repository;
  readonly #committers = new Map<number, Committer>();
  readonly #conflicts = new Map<string, { readonly times: number; readonly paths: readonly string[] }>();
  /** Changes in the project's own tree that were there, or are named already. */
  readonly #reported: Set<string>;
  /** The branch as Ralph left it. */
  #line: { readonly head: string | null; readonly branch: string | null } | null = null;

  constructor(parts: LandingParts) {
    this.#parts = parts;
    this.#ralph = parts.loop.ralph;
    this.#repository = requireRepository(parts.loop.ralph);
    this.#reported = new Set(parts.uncommitted);
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

  /**
   * Settles an attempt; what passed comes onto the branch.
   *
   * @returns why the run ends, or `null`; `left-open`: the run was stopped before a result from another machine had landed,
   * and the next run lands it
   */
  async land(toLand: ToLand): Promise<StoppedEarly | "left-open" | null> {
    const { begun, worked, work, base, tree, isForeign } = toLand;
    const { loop, iterations, signal } = this.#parts;
    if (isForeign && signal.aborted && worked.attempt.status !== "interrupted") return this.#leaveOpen(toLand);
    await restoreBrief(loop.brief);
    await this.#take(toLand.notes);
    const known = await this.#guardProject(begun.id);
    const attempt = iterations.limited(begun, worked.attempt);
    const passed = attempt.status === "verified" || attempt.status === "unverified";
    if (!passed || (work === null && !isForeign)) return await this.#settle(toLand, attempt);

    const { events } = tree.home;
    const { item } = begun.named;
    const tip = known.head ?? base;
    events.emit({ type: "landing-start", item, behind: await this.#commitsBetween(base, tip) });
    const merged = work === null || base === tip ? null : await mergeTrees(this.#repository, tip, work.commit);
    if (merged !== null && merged.conflicts.length > 0) return await this.#conflict(toLand, attempt, merged.conflicts);
    const made = merged === null ? work?.commit : await commitMerged(this.#repository, tip, merged.tree);
    const conflicts = this.#timesOf(item.id);
    const place = { tip, commit: made ?? tip, own: work?.own ?? NOTHING, conflicts };
    const checked = await checkLanding(this.#parts, toLand, attempt, place);
    const { steps, checkedAgain, result } = checked;
    if (isForeign && result === "interrupted") return this.#leaveOpen(toLand);
    const landing = steps === null ? {} : { known, landing: steps };
    return await this.#settle(toLand, checked.attempt, landing, ({ committed }) => {
      const isRefused = steps !== null && committed.length === 0 && steps.paths.length > 0;
      const paths = rootPaths(this.#ralph, checked.paths);
      const end = { result: isRefused ? "refused" : result, checkedAgain, conflicts, paths } as const;
      events.emit({ type: "landing-end", item, ...end });
    });
  }

  /** Its turn is paid, and its result is on the remote: nothing of it is settled, so that the next run asks for it again. */
  #leaveOpen({ begun, tree }: ToLand): "left-open" {
    note(tree.home, "info", `${begun.item.id} was worked on, and has not landed: the next run lands it`);
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
    { begun, worked: { checks }, tree }: ToLand,
    attempt: Attempt,
    conflicts: readonly string[],
  ): Promise<StoppedEarly | null> {
    const { item } = begun.named;
    const times = this.#timesOf(item.id) + 1;
    const paths = rootPaths(this.#ralph, conflicts);
    this.#conflicts.set(item.id, { times, paths });
    const end = { result: "conflict", checkedAgain: false, conflicts: times, paths } as const;
    tree.home.events.emit({ type: "landing-end", item, ...end });
    const reason = `conflicts with what was merged since: ${paths.join(", ")}`;
    return await this.#parts.iterations.end(begun, { attempt, settled: leftOpen(attempt, reason), checks }, {});
  }

  async #settle(
    { begun, worked: { attempt: worked, checks }, ref, tree }: ToLand,
    attempt: Attempt,
    landing: Pick<ToSettle, "known" | "landing"> = {},
    report: (settled: Settled) => void = () => {},
  ): Promise<StoppedEarly | null> {
    const { loop: { backlog, key }, iterations, kept } = this.#parts;
    const committer = this.#committers.get(tree.lane) ?? createCommitter(tree.home, backlog);
    this.#committers.set(tree.lane, committer);
    const settled = await settleAndCommit(tree.home, committer, {
      backlog,
      key,
      item: begun.item,
      attempt,
      limited: (one) => iterations.limited(begun, one),
      checks,
      work: {},
      ...landing,
    });
    await this.#parts.guard.settled("open");
    report(settled);
    if (settled.settlement.status === "passed") {
      if (landing.landing !== undefined) await this.#bringDependencies(tree, landing.landing);
      await kept.drop(ref);
      this.#conflicts.delete(begun.item.id);
    }
    this.#line = await this.#repository.head();
    return await iterations.end(begun, { attempt: worked, settled, checks }, {});
  }

  /** Packages that it installed: the others and the project's tree need them as well. */
  async #bringDependencies(tree: WorkerTree, { tip, commit, paths }: LandingSteps): Promise<void> {
    const back = await tree.filled.bringBack(tip, commit, paths);
    if (back === null || back.length === 0) return;
    const message = `the lock file has changed: ${back.join(", ")} of the worker's tree is in the project's now ` +
      "(`workspace.setup` would install it)";
    note(tree.home, "info", message);
  }

  /**
   * The branch only grows, and what no landing has brought into the project's tree is named, and never committed.
   *
   * @returns the project's tree
   */
  async #guardProject(attemptId: string): Promise<TreeStatus> {
    const ralph = this.#ralph;
    await this.#parts.guard.look(BY_WORKER);
    const found = await this.#repository.status();
    const { head, branch } = this.#line ?? found;
    const line = { branch: branch ?? found.branch, head: head ?? found.head, floor: head ?? found.head };
    const rewritten = await guardHistory(this.#repository, line, found, attemptId);
    if (rewritten !== null) note(ralph, "warn", rewritten.message);
    const now = rewritten === null ? found : await this.#repository.status();
    const own = new Set(ownPaths(ralph, this.#parts.loop.backlog));
    const strange = now.changed.map(({ path }) => path).filter((path) => !own.has(path) && !this.#reported.has(path));
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
