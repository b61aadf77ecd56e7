/**
 * Decides whether work from a worker's tree may come onto the branch: its checks run once more if the branch has moved,
 * or if another machine made it.
 *
 * @module
 */
import type { Attempt, FailureReason, Item, WorkDone } from "../../backlog/types.ts";
import { describeFailures } from "../../backlog/verdict.ts";
import type { Beside } from "../../checks/beside.ts";
import type { BriefKind } from "../../checks/brief/types.ts";
import type { CheckLike } from "../../checks/function.ts";
import { unresolvedIn, unresolvedMessage } from "../../git/conflict_markers.ts";
import type { Captured } from "../../git/fold.ts";
import { inTheWay, type Landing, moveTree } from "../../git/land.ts";
import { requireRepository, rootPaths, topLevelPaths } from "../../git/repository.ts";
import { pathsBetween } from "../../git/run_git.ts";
import type { KeptWork } from "../../git/work_commit.ts";
import { withoutReviews, type WorkedItem } from "../attempt/attempt_parts.ts";
import type { TurnGuard } from "../attempt/turn_guard.ts";
import type { Begun, Iterations, LoopParts } from "../iterations.ts";
import type { LandingSteps } from "../settle/settle.ts";
import { inLane } from "./lane_fault.ts";
import { checkOut, type Note, type WorkerTree } from "./worker_tree.ts";

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
export interface Checked {
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
export async function checkLanding(
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
