/**
 * Work from a worker's tree comes onto the branch: merged by git, checked once more where the branch has moved, committed
 * in the project's own tree with the user's hooks. Never by an agent; an item has passed only when its work is there.
 *
 * @module
 */
import type { Attempt, Check, Item } from "../../backlog/types.ts";
import type { Beside } from "../../checks/beside.ts";
import { restoreBrief } from "../../checks/brief/create_brief.ts";
import { guardHistory } from "../../git/history.ts";
import { commitMerged, mergeTrees } from "../../git/land.ts";
import { unionOf } from "../../git/merge_change.ts";
import { requireRepository } from "../../git/require_repository.ts";
import { rootPaths } from "../../git/tree_paths.ts";
import type { Repository, TreeStatus } from "../../git/types.ts";
import type { KeptWork } from "../../git/work_commit.ts";
import type { Iterations } from "../iterations.ts";
import type { LoopParts } from "../run/loop_parts.ts";
import type { StoppedEarly } from "../run/outcome.ts";
import { type Committer, createCommitter } from "../settle/committer.ts";
import { type LandingSteps, settleAndCommit, type Settled } from "../settle/settle.ts";
import { ownPaths } from "../settle/stow.ts";
import { LandingChecks, type ToLand } from "./check_landing.ts";
import type { Note, WorkerTree } from "./worker_tree.ts";

/** The landings of a run, one at a time. */
export interface Landings<Data, Findings> {
  /**
   * Settles an attempt; what passed comes onto the branch.
   *
   * @returns why the run ends, or `null`; `left-open`: the run was stopped before a result from another machine had landed,
   * and the next run lands it
   */
  land(toLand: ToLand<Data, Findings>): Promise<StoppedEarly | "left-open" | null>;
  /** The checks of an item, as `work()` gives them, and those that hold for every item. */
  checksOf(item: Item<Data>, number: number): Promise<readonly Check[]>;
  /** It has conflicted so often that nothing else is to be worked on beside it. */
  wantsToBeAlone(item: Item<Data>): boolean;
  /** Paths in which its last attempt conflicted with what had landed; relative to the root. */
  conflictOf(item: Item<Data>): readonly string[];
}

/** The commits of a turn elsewhere that says that there was nothing to do: its checks run here all the same. */
const NOTHING = { subjects: [], trailers: [] } as const;

/** @param parts of the loop */
export function createLandings<Data, Findings>(
  parts: LoopParts<Data, Findings>,
  rest: LandingParts<Data, Findings>,
): Landings<Data, Findings> {
  return new RunLandings(parts, rest);
}

interface LandingParts<Data, Findings> {
  readonly iterations: Iterations<Data, Findings>;
  readonly signal: AbortSignal;
  readonly beside: Beside;
  readonly kept: KeptWork;
  /** In the project's own tree when the run began, relative to the top level. */
  readonly uncommitted: ReadonlySet<string>;
}

class RunLandings<Data, Findings> implements Landings<Data, Findings> {
  readonly #parts: LoopParts<Data, Findings>;
  readonly #iterations: Iterations<Data, Findings>;
  readonly #signal: AbortSignal;
  readonly #checks: LandingChecks<Data, Findings>;
  readonly #repository: Repository;
  readonly #kept: KeptWork;
  readonly #committers = new Map<number, Committer>();
  readonly #conflicts = new Map<string, { readonly times: number; readonly paths: readonly string[] }>();
  /** Changes in the project's own tree that were there, or are named already. */
  readonly #reported: Set<string>;
  /** The branch as Ralph left it. */
  #tip: string | null = null;
  #branch: string | null = null;

  constructor(
    parts: LoopParts<Data, Findings>,
    { iterations, signal, beside, kept, uncommitted }: LandingParts<Data, Findings>,
  ) {
    this.#parts = parts;
    this.#kept = kept;
    this.#iterations = iterations;
    this.#signal = signal;
    this.#checks = new LandingChecks(parts, { iterations, signal, beside });
    this.#repository = requireRepository(parts.ralph);
    this.#reported = new Set(uncommitted);
  }

  checksOf(item: Item<Data>, number: number): Promise<readonly Check[]> {
    return this.#checks.checksOf(item, number);
  }

  wantsToBeAlone(item: Item<Data>): boolean {
    return (this.#conflicts.get(item.id)?.times ?? 0) >= this.#parts.ralph.config.parallel.conflicts;
  }

  conflictOf(item: Item<Data>): readonly string[] {
    return this.#conflicts.get(item.id)?.paths ?? [];
  }

  async land(toLand: ToLand<Data, Findings>): Promise<StoppedEarly | "left-open" | null> {
    const { begun, worked, work, base, tree, isForeign } = toLand;
    if (isForeign && this.#signal.aborted && worked.attempt.status !== "interrupted") return this.#leaveOpen(toLand);
    await restoreBrief(this.#parts.brief);
    await this.#take(toLand.notes);
    const now = await this.#guardProject(begun.id);
    const toSettle = { ...toLand, known: now };
    const attempt = this.#iterations.limited(begun, worked.attempt);
    const passed = attempt.status === "verified" || attempt.status === "unverified";
    if (!passed || (work === null && !isForeign)) return await this.#settle(toSettle, attempt, null);

    const { events } = tree.home;
    const { item } = begun.named;
    const tip = now.head ?? base;
    events.emit({ type: "landing-start", item, behind: await this.#commitsBetween(base, tip) });
    const merged = work === null || base === tip ? null : await mergeTrees(this.#repository, tip, work.commit);
    if (merged !== null && merged.conflicts.length > 0) return await this.#conflict(toLand, attempt, merged.conflicts);
    const made = merged === null ? work?.commit : await commitMerged(this.#repository, tip, merged.tree);
    const own = work?.own ?? NOTHING;
    const conflicts = this.#conflicts.get(item.id)?.times ?? 0;
    const checked = await this.#checks.check(toLand, attempt, { tip, commit: made ?? tip, own, conflicts });
    if (isForeign && checked.result === "interrupted") return this.#leaveOpen(toLand);
    const ended = await this.#settle(toSettle, checked.attempt, checked.steps, (settled) => {
      const isRefused = checked.steps !== null && settled.committed.length === 0 && checked.steps.paths.length > 0;
      events.emit({
        type: "landing-end",
        item,
        result: isRefused ? "refused" : checked.result,
        checkedAgain: checked.checkedAgain,
        conflicts,
        paths: rootPaths(this.#parts.ralph, checked.paths),
      });
    });
    return ended;
  }

  /** Its turn is paid, and its result is on the remote: nothing of it is settled, so that the next run asks for it again. */
  #leaveOpen({ begun, tree }: ToLand<Data, Findings>): "left-open" {
    const message = `${begun.item.id} was worked on, and has not landed: the next run lands it`;
    tree.home.events.emit({ type: "note", level: "info", message });
    return "left-open";
  }

  /** Text that turns write beside Ralph's part of a state file stays, whatever became of them. */
  async #take(notes: readonly Note[]): Promise<void> {
    const { ralph } = this.#parts;
    for (const { path, before, text } of notes) {
      await ralph.state.transact(path, async (written, write) => {
        const found = written === null ? null : await unionOf(this.#repository, [written, before, text]);
        if (written === null || found === null) return;
        const restored = ralph.state.parts.get(path)?.({ path, found, written }) ?? written;
        if (restored !== written) await write(restored);
      });
    }
  }

  /** A conflict is no failure: it is not settled, and comes again with both changes. */
  async #conflict(
    { begun, worked, tree }: ToLand<Data, Findings>,
    attempt: Attempt<Findings>,
    conflicts: readonly string[],
  ): Promise<StoppedEarly | null> {
    const { ralph } = this.#parts;
    const { item } = begun;
    const times = (this.#conflicts.get(item.id)?.times ?? 0) + 1;
    const paths = rootPaths(ralph, conflicts);
    this.#conflicts.set(item.id, { times, paths });
    tree.home.events.emit({
      type: "landing-end",
      item: begun.named.item,
      result: "conflict",
      checkedAgain: false,
      conflicts: times,
      paths,
    });
    const reason = `conflicts with what was merged since: ${paths.join(", ")}`;
    const settled: Settled = { settlement: { status: "open", reason }, attempt, committed: [], passed: null };
    return await this.#iterations.end(begun, { attempt, settled, checks: worked.checks }, {});
  }

  async #settle(
    { begun, worked, ref, tree, known }: ToLand<Data, Findings> & { readonly known: TreeStatus },
    attempt: Attempt<Findings>,
    steps: LandingSteps | null,
    report: (settled: Settled) => void = () => {},
  ): Promise<StoppedEarly | null> {
    const { backlog, key } = this.#parts;
    const settled = await settleAndCommit(tree.home, this.#committerOf(tree), {
      backlog,
      key,
      item: begun.item,
      attempt,
      limited: (one) => this.#iterations.limited(begun, one as Attempt<Findings>),
      checks: worked.checks,
      work: {},
      ...(steps === null ? {} : { known, landing: steps }),
    });
    report(settled);
    if (settled.settlement.status === "passed") {
      await this.#bringDependencies(tree, steps);
      await this.#kept.drop(ref);
      this.#conflicts.delete(begun.item.id);
    }
    const { head, branch } = await this.#repository.head();
    this.#tip = head;
    this.#branch = branch;
    return await this.#iterations.end(begun, { attempt: worked.attempt, settled, checks: worked.checks }, {});
  }

  /** Packages that it installed: the others and the project's tree need them as well. */
  async #bringDependencies(tree: WorkerTree, steps: LandingSteps | null): Promise<void> {
    if (steps === null) return;
    const back = await tree.filled.bringBack(steps.tip, steps.commit, steps.paths);
    if (back === null || back.length === 0) return;
    const message = `the lock file has changed: ${back.join(", ")} of the worker's tree is in the project's now ` +
      "(`workspace.setup` would install it)";
    tree.home.events.emit({ type: "note", level: "info", message });
  }

  /**
   * The branch only grows, and what no landing has brought into the project's tree is named, and never committed.
   *
   * @returns the project's tree
   */
  async #guardProject(attemptId: string): Promise<TreeStatus> {
    const { ralph, backlog } = this.#parts;
    const found = await this.#repository.status();
    const line = {
      branch: this.#branch ?? found.branch,
      head: this.#tip ?? found.head,
      floor: this.#tip ?? found.head,
    };
    const rewritten = await guardHistory(this.#repository, line, found, attemptId);
    if (rewritten !== null) ralph.events.emit({ type: "note", level: "warn", message: rewritten.message });
    const now = rewritten === null ? found : await this.#repository.status();
    const own = new Set(ownPaths(ralph, backlog));
    const strange = now.changed.map(({ path }) => path).filter((path) => !own.has(path) && !this.#reported.has(path));
    if (strange.length === 0) return now;
    for (const path of strange) this.#reported.add(path);
    const message = `changed in the project's own tree while items are worked on in others, by a person or by a turn ` +
      `outside of its tree; not committed: ${rootPaths(ralph, strange).join(", ")}`;
    ralph.events.emit({ type: "note", level: "warn", message });
    return now;
  }

  #committerOf(tree: WorkerTree): Committer {
    const committer = this.#committers.get(tree.lane) ?? createCommitter(tree.home, this.#parts.backlog);
    this.#committers.set(tree.lane, committer);
    return committer;
  }

  async #commitsBetween(base: string, tip: string): Promise<number> {
    if (base === tip) return 0;
    const { stdout } = await this.#repository.git(["rev-list", "--count", `${base}..${tip}`]);
    return Number(stdout.trim()) || 0;
  }
}
