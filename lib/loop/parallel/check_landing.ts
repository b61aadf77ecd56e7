/**
 * Decides whether work from a worker's tree may come onto the branch: its checks run once more if the branch has moved,
 * or if another machine made it.
 *
 * @module
 */
import type { Attempt, Check, FailureReason, Item, WorkDone } from "../../backlog/types.ts";
import { describeFailures } from "../../backlog/verdict.ts";
import type { Beside } from "../../checks/beside.ts";
import type { BriefKind } from "../../checks/brief/types.ts";
import { namedCheck } from "../../checks/function.ts";
import type { CheckLike } from "../../checks/types.ts";
import { unresolvedIn, unresolvedMessage } from "../../git/conflict_markers.ts";
import { bodyWith, type Captured } from "../../git/fold.ts";
import { inTheWay, type Landing, moveTree } from "../../git/land.ts";
import { requireRepository } from "../../git/require_repository.ts";
import { rootPaths, topLevelPaths } from "../../git/tree_paths.ts";
import type { Repository } from "../../git/types.ts";
import { pathsBetween } from "../../git/run_git.ts";
import { withoutReviews, type WorkedItem } from "../attempt/attempt_parts.ts";
import type { Begun, Iterations } from "../iterations.ts";
import type { LoopParts } from "../run/loop_parts.ts";
import type { LandingSteps } from "../settle/settle.ts";
import { inLane } from "./lane_fault.ts";
import type { Note, WorkerTree } from "./worker_tree.ts";

/** An attempt that ended in a tree of its own. All of it but the tree is plain data. */
export interface ToLand<Data, Findings> {
  readonly begun: Begun<Data, Findings>;
  readonly worked: WorkedItem<Findings>;
  /** The work that it changed; `null`: nothing. */
  readonly work: Captured | null;
  /** The notes that it wrote beside Ralph's part of state files. */
  readonly notes: readonly Note[];
  /** The commit that it began on. */
  readonly base: string;
  /** The ref that keeps its work. */
  readonly ref: string;
  /** The tree in which its checks may run once more. */
  readonly tree: WorkerTree;
  /** It was made on another machine: it is checked here whatever was said there. */
  readonly isForeign: boolean;
}

const TOGETHER = "passed alone, and fails together with what was merged since";

const PROTECTED: ReadonlySet<BriefKind> = new Set(["protected", "recipe", "prompt", "plan"]);

export type LandingResult = "landed" | "conflict" | "failed" | "blocked" | "refused" | "interrupted";

/** An attempt on its way, and how its work gets there. */
export interface Checked<Findings> {
  readonly attempt: Attempt<Findings>;
  /** `null`: nothing is brought in. */
  readonly steps: LandingSteps | null;
  readonly checkedAgain: boolean;
  readonly result: LandingResult;
  readonly paths: readonly string[];
}

/** The place that it is to land at. */
interface ToCheck extends Landing, Pick<Captured, "own"> {
  /** Conflicts of the item so far. */
  readonly conflicts: number;
}

/** The checks of a run's landings. */
export class LandingChecks<Data, Findings> {
  readonly #parts: LoopParts<Data, Findings>;
  readonly #iterations: Iterations<Data, Findings>;
  readonly #signal: AbortSignal;
  readonly #beside: Beside;
  readonly #repository: Repository;

  constructor(
    parts: LoopParts<Data, Findings>,
    { iterations, signal, beside }: {
      readonly iterations: Iterations<Data, Findings>;
      readonly signal: AbortSignal;
      readonly beside: Beside;
    },
  ) {
    this.#parts = parts;
    this.#iterations = iterations;
    this.#signal = signal;
    this.#beside = beside;
    this.#repository = requireRepository(parts.ralph);
  }

  /** Tells whether it may come onto the tip, checked there if anything but state has changed since it began. */
  async check(
    { begun, base, tree, work, isForeign }: ToLand<Data, Findings>,
    attempt: Attempt<Findings>,
    { tip, commit, own, conflicts }: ToCheck,
  ): Promise<Checked<Findings>> {
    const { ralph, backlog } = this.#parts;
    const state = new Set(topLevelPaths(ralph, backlog.stateFiles));
    const again = isForeign ||
      (base !== tip && (await pathsBetween(this.#repository, base, tip)).some((path) => !state.has(path)));
    let landed: Attempt<Findings> = { ...attempt, landing: { base, tip, checkedAgain: again, conflicts } };
    const none = { steps: null, checkedAgain: again, paths: [] };
    if (again) {
      await inLane(tree, () => tree.checkOut(commit));
      const fault = isForeign ? await this.#faultIn(tree, work?.paths ?? []) : null;
      if (fault !== null) {
        const failed = { ...landed, status: "failed", ...fault } as Attempt<Findings>;
        return { ...none, attempt: this.#iterations.limited(begun, failed), result: "failed" };
      }
      const before = isForeign ? "was reported as passed where it was made, and fails here" : TOGETHER;
      const unchecked = landed;
      landed = await inLane(tree, () => this.#checkAgain(begun, unchecked, { tree, before }));
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
    const options = {
      item,
      base: done.since,
      done,
      signal: this.#signal,
      logs: `${this.#iterations.folder}/landing-${attempt.id.slice(attempt.id.lastIndexOf(".") + 1)}`,
      failedBefore: this.#iterations.failedBefore ?? new Set<string>(),
    };
    const verification = await this.#beside.verify(tree.ralph, checks, options, true);
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
  async #faultIn(
    tree: WorkerTree,
    paths: readonly string[],
  ): Promise<{ readonly reason: FailureReason; readonly message: string } | null> {
    const touched = await this.#protectedIn(tree, paths);
    if (touched.length > 0) {
      return { reason: "protected-file-changed", message: `changed what judges the run: ${touched.join(", ")}` };
    }
    const unresolved = rootPaths(this.#parts.ralph, await unresolvedIn(requireRepository(tree.ralph), paths));
    return unresolved.length === 0 ? null : { reason: "conflict", message: unresolvedMessage(unresolved) };
  }

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
}
