/**
 * Work from a worker's tree comes onto the branch: merged by git, checked once more where the branch has moved, committed
 * in the project's own tree with the user's hooks. Never by an agent; an item has passed only when its work is there.
 *
 * @module
 */
import type { Attempt, Check, Item, WorkDone } from "../../backlog/types.ts";
import { describeFailures } from "../../backlog/verdict.ts";
import type { BriefKind } from "../../checks/brief/types.ts";
import { restoreBrief } from "../../checks/brief/restore_brief.ts";
import { namedCheck } from "../../checks/function.ts";
import type { CheckLike } from "../../checks/types.ts";
import { verify } from "../../checks/verify.ts";
import { bodyWith, type Captured } from "../../git/fold.ts";
import { guardHistory } from "../../git/history.ts";
import { commitMerged, inTheWay, type Landing, mergeTrees, moveTree } from "../../git/land.ts";
import { unionOf } from "../../git/merge_change.ts";
import { requireRepository } from "../../git/require_repository.ts";
import { rootPaths, topLevelPaths } from "../../git/tree_paths.ts";
import type { Repository } from "../../git/types.ts";
import { dropWork, pathsBetween } from "../../git/work_commit.ts";
import { withoutReviews, type WorkedItem } from "../attempt_parts.ts";
import type { Begun, Iterations } from "../iterations.ts";
import type { LoopParts } from "../loop_parts.ts";
import type { StoppedEarly } from "../outcome.ts";
import { type Committer, createCommitter } from "../committer.ts";
import { type LandingSteps, settleAndCommit, type Settled } from "../settle.ts";
import { ownPaths } from "../stow.ts";
import type { Note, WorkerTree } from "./worker_tree.ts";

/** An attempt that ended in a tree of its own. All of it but the tree is plain data. */
export interface ToLand<Data, Findings> {
  readonly begun: Begun<Data, Findings>;
  readonly worked: WorkedItem<Findings>;
  /** What it changed; `null`: nothing. */
  readonly work: Captured | null;
  /** What it wrote beside Ralph's part of state files. */
  readonly notes: readonly Note[];
  /** The commit that it began on. */
  readonly base: string;
  /** Where its work is kept. */
  readonly ref: string;
  /** Where its checks may run once more. */
  readonly tree: WorkerTree;
  /** It was made on another machine: it is checked here whatever was said there. */
  readonly isForeign: boolean;
}

/** The landings of a run, one at a time. */
export interface Landings<Data, Findings> {
  /** Settles an attempt; what passed comes onto the branch. @returns why the run ends, or `null` */
  land(toLand: ToLand<Data, Findings>): Promise<StoppedEarly | null>;
  /** The checks of an item, as `work()` gives them, and those that hold for every item. */
  checksOf(item: Item<Data>, number: number): Promise<readonly Check[]>;
  /** It has conflicted so often that nothing else is to be worked on beside it. */
  wantsToBeAlone(item: Item<Data>): boolean;
}

const TOGETHER = "passed alone, and fails together with what was merged since";

const PROTECTED: ReadonlySet<BriefKind> = new Set(["protected", "recipe", "prompt", "plan"]);

/** Of a turn elsewhere that says that there was nothing to do: its checks run here all the same. */
const NOTHING = { subjects: [], trailers: [] } as const;

type LandingResult = "landed" | "conflict" | "failed" | "blocked" | "refused" | "interrupted";

/** An attempt on its way, and how its work gets there. */
interface Checked<Findings> {
  readonly attempt: Attempt<Findings>;
  /** `null`: nothing is brought in. */
  readonly steps: LandingSteps | null;
  readonly checkedAgain: boolean;
  readonly result: LandingResult;
  readonly paths: readonly string[];
}

/** @param parts of the loop */
export function createLandings<Data, Findings>(
  parts: LoopParts<Data, Findings>,
  { iterations, signal }: { readonly iterations: Iterations<Data, Findings>; readonly signal: AbortSignal },
): Landings<Data, Findings> {
  return new RunLandings(parts, iterations, signal);
}

class RunLandings<Data, Findings> implements Landings<Data, Findings> {
  readonly #parts: LoopParts<Data, Findings>;
  readonly #iterations: Iterations<Data, Findings>;
  readonly #signal: AbortSignal;
  readonly #repository: Repository;
  readonly #committers = new Map<number, Committer>();
  readonly #conflicts = new Map<string, number>();
  readonly #reported: Set<string>;
  /** The branch as Ralph left it. */
  #tip: string | null = null;
  #branch: string | null = null;

  constructor(parts: LoopParts<Data, Findings>, iterations: Iterations<Data, Findings>, signal: AbortSignal) {
    this.#parts = parts;
    this.#iterations = iterations;
    this.#signal = signal;
    this.#repository = requireRepository(parts.ralph);
    this.#reported = new Set(parts.ownership.userPaths);
  }

  wantsToBeAlone(item: Item<Data>): boolean {
    return (this.#conflicts.get(item.id) ?? 0) >= this.#parts.ralph.config.parallel.conflicts;
  }

  async land(toLand: ToLand<Data, Findings>): Promise<StoppedEarly | null> {
    const { begun, worked, work, base, tree, isForeign } = toLand;
    await restoreBrief(this.#parts.brief);
    await this.#take(toLand.notes);
    await this.#guardProject(begun.id);
    const attempt = this.#iterations.limited(begun, worked.attempt);
    const passed = attempt.status === "verified" || attempt.status === "unverified";
    if (!passed || (work === null && !isForeign)) return await this.#settle(toLand, attempt, null);

    const { events } = tree.home;
    const { item } = begun.named;
    const tip = (await this.#repository.status()).head ?? base;
    events.emit({ type: "landing-start", item, behind: await this.#commitsBetween(base, tip) });
    const merged = work === null ? null : await mergeTrees(this.#repository, tip, work.commit);
    if (merged !== null && merged.conflicts.length > 0) return await this.#conflict(toLand, attempt, merged.conflicts);
    const made = base === tip ? work?.commit : merged && await commitMerged(this.#repository, tip, merged.tree);
    const checked = await this.#check(toLand, attempt, { tip, commit: made ?? tip, own: work?.own ?? NOTHING });
    const ended = await this.#settle(toLand, checked.attempt, checked.steps, (settled) => {
      const isRefused = checked.steps !== null && settled.committed.length === 0 && checked.steps.paths.length > 0;
      events.emit({
        type: "landing-end",
        item,
        result: isRefused ? "refused" : checked.result,
        checkedAgain: checked.checkedAgain,
        conflicts: this.#conflicts.get(item.id) ?? 0,
        paths: rootPaths(this.#parts.ralph, checked.paths),
      });
    });
    return ended;
  }

  /** What turns write beside Ralph's part of a state file stays, whatever became of them. */
  async #take(notes: readonly Note[]): Promise<void> {
    const { ralph, backlog } = this.#parts;
    for (const { path, before, text } of notes) {
      await ralph.state.transact(path, async (written, write) => {
        const found = written === null ? null : await unionOf(this.#repository, [written, before, text]);
        if (written === null || found === null) return;
        const restored = backlog.restore?.({ path, found, written }) ?? written;
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
    const times = (this.#conflicts.get(item.id) ?? 0) + 1;
    this.#conflicts.set(item.id, times);
    const paths = rootPaths(ralph, conflicts);
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

  /** Whether it may come onto the tip, checked there where anything but state has changed since it began. */
  async #check(
    { begun, base, tree, work, isForeign }: ToLand<Data, Findings>,
    attempt: Attempt<Findings>,
    { tip, commit, own }: Landing & Pick<Captured, "own">,
  ): Promise<Checked<Findings>> {
    const { ralph, backlog } = this.#parts;
    const state = new Set(topLevelPaths(ralph, backlog.stateFiles));
    const since = base === tip ? [] : await pathsBetween(this.#repository, base, tip);
    const again = isForeign || since.some((path) => !state.has(path));
    const conflicts = this.#conflicts.get(begun.item.id) ?? 0;
    let landed: Attempt<Findings> = { ...attempt, landing: { base, tip, checkedAgain: again, conflicts } };
    const none = { steps: null, checkedAgain: again, paths: [] };
    if (again) {
      await tree.checkOut(commit);
      const touched = isForeign ? await this.#protectedIn(tree, work?.paths ?? []) : [];
      if (touched.length > 0) {
        const message = `changed what judges the run: ${touched.join(", ")}`;
        const failed = { ...landed, status: "failed", reason: "protected-file-changed", message } as Attempt<Findings>;
        return { ...none, attempt: this.#iterations.limited(begun, failed), result: "failed" };
      }
      const before = base === tip ? "passed where it was made, and fails here" : TOGETHER;
      landed = await this.#checkAgain(begun, landed, { tree, before });
      if (landed.status === "interrupted") return { ...none, attempt: landed, result: "interrupted" };
      if (landed.status === "failed") {
        return { ...none, attempt: this.#iterations.limited(begun, landed), result: "failed" };
      }
    }
    const obstacles = await inTheWay(this.#repository, { tip, commit });
    if (obstacles !== null) {
      const paths = rootPaths(ralph, obstacles).join(", ");
      const message =
        `cannot be brought into the tree: uncommitted changes are in the way; commit or stash ${paths}, ` +
        `then \`--retry-blocked\` (the work is kept as ${commit.slice(0, 10)})`;
      const { last: _, ...rest } = { last: undefined, ...landed };
      const blocked = { ...rest, status: "blocked", message } as Attempt<Findings>;
      return { ...none, attempt: blocked, result: "blocked", paths: obstacles };
    }
    const paths = await pathsBetween(this.#repository, tip, commit);
    const steps: LandingSteps = {
      tip,
      commit,
      paths,
      body: (body, subject) => bodyWith(body, own, subject),
      bring: () => moveTree(this.#repository, tip, commit),
      takeBack: () => moveTree(this.#repository, commit, tip),
    };
    return { attempt: landed, steps, checkedAgain: again, result: "landed", paths: [] };
  }

  async #checkAgain(
    { item, number }: Begun<Data, Findings>,
    attempt: Attempt<Findings>,
    { tree, before }: { readonly tree: WorkerTree; readonly before: string },
  ): Promise<Attempt<Findings>> {
    const checks = withoutReviews(await this.#checksIn(tree.ralph.root, item, number));
    const done: WorkDone = { since: attempt.turn?.base ?? null, changedFiles: attempt.turn?.changedFiles ?? [] };
    const verification = await verify(tree.ralph, checks, {
      item,
      base: done.since,
      done,
      signal: this.#signal,
      logs: `${this.#iterations.folder}/landing-${attempt.id.slice(attempt.id.lastIndexOf(".") + 1)}`,
      failedBefore: this.#iterations.failedBefore ?? new Set(),
    });
    switch (verification.status) {
      case "passed":
      case "unverified":
        return {
          ...attempt,
          ...(attempt.status === "verified" && verification.status === "unverified" ? {} : { verification }),
        };
      case "aborted": {
        const { landing: _, ...rest } = attempt;
        return { ...rest, status: "interrupted" } as Attempt<Findings>;
      }
      case "failed": {
        const message = `${before}:\n${describeFailures(verification)}`;
        return { ...attempt, verification, status: "failed", reason: "checks-failed", message } as Attempt<Findings>;
      }
    }
  }

  /** A worker's own guards have seen to it; its word is not relied on. */
  async #protectedIn({ brief, ralph }: WorkerTree, paths: readonly string[]): Promise<readonly string[]> {
    const changes = (await brief.compare()).filter(({ kind }) => PROTECTED.has(kind)).map(({ path }) => path);
    const state = new Set(this.#parts.backlog.stateFiles);
    return [...changes, ...rootPaths(ralph, paths).filter((path) => state.has(path))];
  }

  async checksOf(item: Item<Data>, number: number): Promise<readonly Check[]> {
    const checks = await this.#checksIn(this.#parts.ralph.root, item, number);
    return checks.map(namedCheck).filter((check) => check !== null);
  }

  async #checksIn(cwd: string, item: Item<Data>, number: number): Promise<readonly CheckLike[]> {
    const context = { cwd, attempt: number, previous: null, last: null, nonce: "", claims: [] };
    return [...(await this.#parts.backlog.work(item, context)).checks, ...this.#iterations.shared];
  }

  async #settle(
    { begun, worked, ref, tree }: ToLand<Data, Findings>,
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
      ...(steps === null ? {} : { landing: steps }),
    });
    report(settled);
    if (settled.settlement.status === "passed") {
      await this.#bringDependencies(tree, steps);
      await dropWork(this.#repository, await this.#has(ref) ? [ref] : []);
      this.#conflicts.delete(begun.item.id);
    }
    const { head, branch } = await this.#repository.status();
    this.#tip = head;
    this.#branch = branch;
    return await this.#iterations.end(begun, { attempt: worked.attempt, settled, checks: worked.checks }, {});
  }

  /** Packages that it installed: the others and the project's tree need them as well. */
  async #bringDependencies(tree: WorkerTree, steps: LandingSteps | null): Promise<void> {
    if (steps === null) return;
    const back = await tree.filled.bringBack(steps.tip, steps.commit);
    if (back === null || back.length === 0) return;
    const message = `the lock file has changed: ${back.join(", ")} of the worker's tree is in the project's now ` +
      "(`workspace.setup` would install it)";
    tree.home.events.emit({ type: "note", level: "info", message });
  }

  /** The branch only grows, and what no landing has brought into the project's tree is named, and never committed. */
  async #guardProject(attemptId: string): Promise<void> {
    const { ralph, backlog } = this.#parts;
    const now = await this.#repository.status();
    const line = { branch: this.#branch ?? now.branch, head: this.#tip ?? now.head, floor: this.#tip ?? now.head };
    const rewritten = await guardHistory(this.#repository, line, now, attemptId);
    if (rewritten !== null) ralph.events.emit({ type: "note", level: "warn", message: rewritten.message });
    const own = new Set(ownPaths(ralph, backlog));
    const strange = now.changed.map(({ path }) => path).filter((path) => !own.has(path) && !this.#reported.has(path));
    if (strange.length === 0) return;
    for (const path of strange) this.#reported.add(path);
    const message = `changed in the project's own tree while items are worked on in others, by a person or by a turn ` +
      `outside of its tree; not committed: ${rootPaths(ralph, strange).join(", ")}`;
    ralph.events.emit({ type: "note", level: "warn", message });
  }

  #committerOf(tree: WorkerTree): Committer {
    const committer = this.#committers.get(tree.lane) ?? createCommitter(tree.home, this.#parts.backlog);
    this.#committers.set(tree.lane, committer);
    return committer;
  }

  async #commitsBetween(base: string, tip: string): Promise<number> {
    const { stdout } = await this.#repository.git(["rev-list", "--count", `${base}..${tip}`]);
    return Number(stdout.trim()) || 0;
  }

  async #has(ref: string): Promise<boolean> {
    return (await this.#repository.git(["rev-parse", "--verify", "--quiet", ref])).exitCode === 0;
  }
}
