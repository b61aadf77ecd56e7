import { describeFailures } from "../../backlog/attempts.ts";
import type { Attempt, FailureReason, Item, WorkDone } from "../../backlog/types.ts";
import type { BriefKind } from "../../checks/brief/types.ts";
import { type CheckLike, namedCheck } from "../../checks/function.ts";
import { unresolvedIn, unresolvedMessage } from "../../git/conflict_markers.ts";
import { requireRepository, rootPaths } from "../../git/repository.ts";
import { withoutReviews } from "../attempt/attempt_parts.ts";
import { mayChangeKey } from "../../workspace/dependency_key.ts";
import { inLane } from "./lane_fault.ts";
import type { LandingParts, Merged, Ready } from "./to_land.ts";
import { checkOut, type WorkerTree } from "./worker_tree.ts";

const TOGETHER = "passed alone, and fails together with what was merged since";
const ELSEWHERE = "was reported as passed where it was made, and fails here";

const PROTECTED: ReadonlySet<BriefKind> = new Set(["protected", "recipe", "prompt", "plan"]);

/**
 * Checks work that is merged, in a tree that gets all of it.
 *
 * @returns the attempts with what was found; `null`: several are red together
 * @throws {LaneFault}
 */
export async function checkMerged(
  parts: LandingParts,
  merged: readonly Merged[],
  tree: WorkerTree,
): Promise<readonly Attempt[] | null> {
  const items = merged.map(({ ready }) => ready);
  tree.now.lane = items[0]?.toLand.lane ?? tree.lane;
  return await inLane(tree, async () => {
    for (const { toLand: { tree: own, work, isForeign } } of items) {
      if (own === tree && !isForeign && work !== null && mayChangeKey(work.paths)) await tree.filled.adopt(work.commit);
    }
    await checkOut(tree, merged.at(-1)?.commit ?? "HEAD");
    for (const { toLand: { work, isForeign }, attempt } of items) {
      const fault = isForeign ? await faultIn(tree, work?.paths ?? []) : null;
      if (fault !== null) return items.length > 1 ? null : [{ ...attempt, status: "failed", ...fault }];
    }
    return await checkedAgain(parts, items, tree);
  });
}

/** In the tree that has them together with what was merged since. A command that several name runs once. */
async function checkedAgain(
  parts: LandingParts,
  items: readonly Ready[],
  { ralph }: WorkerTree,
): Promise<readonly Attempt[] | null> {
  const { iterations, beside, signal } = parts;
  const shared = withoutReviews(iterations.shared);
  const own: (readonly CheckLike[])[] = [];
  for (const { toLand: { begun: { item, number } }, attempt } of items) {
    const checks = withoutReviews(await ownChecksIn(parts, ralph.root, item, number));
    own.push([...checks, ...shared.filter(isFunction)].map((check) => askedFor(item, doneIn(attempt), check)));
  }
  const [lead] = items as readonly [Ready, ...Ready[]];
  const { attempt, toLand: { begun: { id, item }, isForeign } } = lead;
  const done = doneIn(attempt);
  const logs = `${iterations.folder}/landing-${id.slice(id.lastIndexOf(".") + 1)}`;
  const failedBefore = iterations.failedBefore ?? new Set<string>();
  const options = { item, base: done.since, done, signal, logs, failedBefore };
  const checks = [...own.flat(), ...shared.filter((check) => !isFunction(check))];
  const verification = await beside.verify(ralph, checks, options, items.length === 1);
  if (verification.status === "failed") {
    if (items.length > 1) return null;
    const message = `${isForeign ? ELSEWHERE : TOGETHER}:\n${describeFailures(verification)}`;
    return [{ ...attempt, verification, status: "failed", reason: "checks-failed", message }];
  }
  const { status, results } = verification;
  const ofAll = results.slice(own.flat().length);
  let at = 0;
  return items.map(({ attempt: passed }, index): Attempt => {
    if (status === "aborted") return { ...passed, status: "interrupted" };
    const found = [...results.slice(at, at += own[index]?.length ?? 0), ...ofAll];
    if (found.length > 0) return { ...passed, verification: { status: "passed", results: found } };
    return passed.status === "verified" ? passed : { ...passed, verification: { status: "unverified", results: [] } };
  });
}

function doneIn({ turn }: Attempt): WorkDone {
  return { since: turn?.base ?? null, changedFiles: turn?.changedFiles ?? [] };
}

/** It is called for each item: it may look at what that one changed. */
function isFunction(check: CheckLike): boolean {
  return typeof check === "function" || namedCheck(check)?.run !== undefined;
}

/** A function is told of its own item. */
function askedFor(item: Item, done: WorkDone, check: CheckLike): CheckLike {
  const about = { item, base: done.since, done };
  if (typeof check === "function") return ($, context) => check($, { ...context, ...about });
  const named = namedCheck(check);
  if (named === null || named.run === undefined) return check;
  const { run } = named;
  return { ...named, run: (context) => run({ ...context, ...about }) };
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
  parts: LandingParts,
  ...of: readonly [cwd: string, item: Item, number: number]
): Promise<readonly CheckLike[]> {
  return [...await ownChecksIn(parts, ...of), ...parts.iterations.shared];
}

async function ownChecksIn(
  { loop: { backlog } }: LandingParts,
  cwd: string,
  item: Item,
  number: number,
): Promise<readonly CheckLike[]> {
  const context = { cwd, attempt: number, previous: null, last: null, nonce: "", claims: [] };
  return (await backlog.work(item, context)).checks;
}
