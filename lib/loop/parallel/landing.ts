/**
 * Work from a worker's tree comes onto the branch: merged by git, checked once more where the branch has moved, committed
 * in the project's own tree with the user's hooks. Never by an agent; an item has passed only when its work is there.
 *
 * @module
 */
import { note, type RalphContext } from "../../context/context.ts";
import type { Attempt, FailureReason, Item, WorkDone } from "../../backlog/types.ts";
import { restoreBrief } from "../../checks/brief/create_brief.ts";
import { guardHistory } from "../../git/history.ts";
import { commitMerged, inTheWay, type Landing, mergeTrees, moveTree } from "../../git/land.ts";
import { mergedText } from "../../git/merge_change.ts";
import { type Repository, requireRepository, rootPaths, topLevelPaths, type TreeStatus } from "../../git/repository.ts";
import type { StoppedEarly } from "../run/outcome.ts";
import { type Committer, createCommitter, ownPaths } from "../settle/committer.ts";
import { type LandingSteps, leftOpen, settleAndCommit, type Settled, type ToSettle } from "../settle/settle.ts";
import { checkOut, type Note, type WorkerTree } from "./worker_tree.ts";
import { describeFailures } from "../../backlog/attempts.ts";
import type { Beside } from "../../checks/beside.ts";
import type { BriefKind } from "../../checks/brief/types.ts";
import type { CheckLike } from "../../checks/function.ts";
import { unresolvedIn, unresolvedMessage } from "../../git/conflict_markers.ts";
import type { Captured } from "../../git/fold.ts";
import { pathsBetween } from "../../git/run_git.ts";
import type { KeptWork } from "../../git/work_commit.ts";
import { withoutReviews, type WorkedItem } from "../attempt/attempt_parts.ts";
import type { TurnGuard } from "../attempt/turn_guard.ts";
import type { Begun, Iterations, LoopParts } from "../iterations.ts";
import { inLane } from "./lane_fault.ts";

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
  /** The tree in which its checks may run once more. */
  readonly tree: WorkerTree;
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
  readonly guard: TurnGuard;
  /** In the project's own tree when the run began, relative to the top level. */
  readonly uncommitted: ReadonlySet<string>;
}

/** Blamed for what happened to the project's own tree meanwhile. */
export const BY_WORKER = "a worker, or a person,";

const TOGETHER = "passed alone, and fails together with what was merged since";
const ELSEWHERE = "was reported as passed where it was made, and fails here";

const PROTECTED: ReadonlySet<BriefKind> = new Set(["protected", "recipe", "prompt", "plan"]);

/** An attempt on its way, and how its work gets there. */
interface Checked {
  readonly attempt: Attempt;
  /** `null`: nothing is brought in. */
  readonly steps: LandingSteps | null;
  readonly checkedAgain: boolean;
  readonly result: "landed" | "failed" | "blocked" | "interrupted";
  readonly paths: readonly string[];
}

/** The place that it is to land at. */
interface ToCheck extends Landing, Pick<Captured, "own"> {
  /** Conflicts of the item so far. */
  readonly conflicts: number;
}

/** Tells whether it may come onto the tip, checked there if anything but state has changed since it began. */
async function checkLanding(
  parts: LandingParts,
  toLand: ToLand,
  attempt: Attempt,
  { tip, commit, own, conflicts }: ToCheck,
): Promise<Checked> {
  const { ralph, backlog } = parts.loop;
  const { base, tree, isForeign } = toLand;
  const repository = requireRepository(ralph);
  const state = new Set(topLevelPaths(ralph, backlog.stateFiles));
  const again = isForeign ||
    (base !== tip && (await pathsBetween(repository, base, tip)).some((path) => !state.has(path)));
  const known: Attempt = { ...attempt, landing: { base, tip, checkedAgain: again, conflicts } };
  const none = { steps: null, checkedAgain: again, paths: [] };
  let landed = known;
  if (again) {
    await inLane(tree, () => checkOut(tree, commit));
    landed = await inLane(tree, () => checkedAgain(parts, toLand, known));
    if (landed.status === "interrupted") return { ...none, attempt: landed, result: "interrupted" };
    if (landed.status === "failed") {
      return { ...none, attempt: parts.iterations.limited(toLand.begun, landed), result: "failed" };
    }
  }
  const obstacles = await inTheWay(repository, { tip, commit });
  if (obstacles !== null) {
    const message = `cannot be brought into the tree: uncommitted changes are in the way; commit or stash ${
      rootPaths(ralph, obstacles).join(", ")
    }, then \`--retry-blocked\` (the work is kept as ${commit.slice(0, 10)})`;
    const { last: _, ...rest } = { last: undefined, ...landed };
    const blocked = { ...rest, status: "blocked", message } as Attempt;
    return { ...none, attempt: blocked, result: "blocked", paths: obstacles };
  }
  const steps: LandingSteps = {
    tip,
    commit,
    paths: await pathsBetween(repository, tip, commit),
    own,
    bring: () => moveTree(repository, tip, commit),
    takeBack: () => moveTree(repository, commit, tip),
  };
  return { ...none, attempt: landed, steps, result: "landed" };
}

/** In the tree that has it together with what was merged since. */
async function checkedAgain(
  parts: LandingParts,
  { begun: { item, number }, tree, work, isForeign }: ToLand,
  attempt: Attempt,
): Promise<Attempt> {
  const { iterations, beside, signal } = parts;
  const fault = isForeign ? await faultIn(tree, work?.paths ?? []) : null;
  if (fault !== null) return { ...attempt, status: "failed", ...fault };
  const checks = withoutReviews(await checksIn(parts, tree.ralph.root, item, number));
  const done: WorkDone = { since: attempt.turn?.base ?? null, changedFiles: attempt.turn?.changedFiles ?? [] };
  const logs = `${iterations.folder}/landing-${attempt.id.slice(attempt.id.lastIndexOf(".") + 1)}`;
  const failedBefore = iterations.failedBefore ?? new Set<string>();
  const options = { item, base: done.since, done, signal, logs, failedBefore };
  const verification = await beside.verify(tree.ralph, checks, options, true);
  switch (verification.status) {
    case "passed":
      return { ...attempt, verification };
    case "unverified":
      return attempt.status === "verified" ? attempt : { ...attempt, verification };
    case "aborted": {
      const { landing: _, ...rest } = attempt;
      return { ...rest, status: "interrupted" };
    }
    case "failed": {
      const message = `${isForeign ? ELSEWHERE : TOGETHER}:\n${describeFailures(verification)}`;
      return { ...attempt, verification, status: "failed", reason: "checks-failed", message };
    }
  }
}

/** A worker's own guards have seen to it; its word is not relied on. */
async function faultIn(
  { brief, ralph, backlog }: WorkerTree,
  paths: readonly string[],
): Promise<{ readonly reason: FailureReason; readonly message: string } | null> {
  const changes = (await brief.compare()).filter(({ kind }) => PROTECTED.has(kind)).map(({ path }) => path);
  const touched = [...changes, ...rootPaths(ralph, paths).filter((path) => backlog.stateFiles.includes(path))];
  if (touched.length > 0) {
    return { reason: "protected-file-changed", message: `changed what judges the run: ${touched.join(", ")}` };
  }
  const unresolved = rootPaths(ralph, await unresolvedIn(requireRepository(ralph), paths));
  return unresolved.length === 0 ? null : { reason: "conflict", message: unresolvedMessage(unresolved) };
}

/** The checks of an item, as `work()` gives them, and those that hold for every item. */
export async function checksIn(
  { loop: { backlog }, iterations }: LandingParts,
  cwd: string,
  item: Item,
  number: number,
): Promise<readonly CheckLike[]> {
  const context = { cwd, attempt: number, previous: null, last: null, nonce: "", claims: [] };
  return [...(await backlog.work(item, context)).checks, ...iterations.shared];
}
