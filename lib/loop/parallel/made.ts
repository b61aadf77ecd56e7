import { interruptedAttempt } from "../../backlog/attempts.ts";
import { withFindings } from "../../backlog/findings.ts";
import type { Attempt } from "../../backlog/types.ts";
import { namedCheck } from "../../checks/function.ts";
import type { AttemptJob, Elsewhere } from "../../context/elsewhere.ts";
import { requireRepository, rootPaths, topLevelPaths, type TreeSnapshot } from "../../git/repository.ts";
import type { WorkItemOptions } from "../attempt/attempt_parts.ts";
import { createTurnGuard } from "../attempt/turn_guard.ts";
import { workItem } from "../attempt/work_item.ts";
import type { CleanRun } from "../finish/clean.ts";
import type { Begun, Iterations } from "../iterations.ts";
import { previousWith } from "../policy/attempts.ts";
import { checksIn } from "./check_merged.ts";
import type { LandingParts, ToLand } from "./to_land.ts";
import { captureTree, conflictNote, notesIn, prepareTree, type TreeBegin, type WorkerTree } from "./worker_tree.ts";

/** An attempt to be made beside others. */
interface ToMake {
  readonly parts: LandingParts & { readonly clean: Pick<CleanRun, "look"> };
  readonly begun: Begun;
  readonly begin: TreeBegin;
  /** Paths in which the last attempt at the item conflicted with what had landed. */
  readonly conflicts: readonly string[];
}

/** An attempt that was made, and what came of it. */
export type Made = Pick<ToLand, "worked" | "work" | "notes">;

/** On another machine. @returns `null` where it is out for a later run */
export async function madeElsewhere(toMake: ToMake, elsewhere: Elsewhere, lane: number): Promise<Made | null> {
  const { parts, begun: { id, number, item }, begin: { tip, left, ref } } = toMake;
  const { loop: { ralph, backlog }, signal, kept } = parts;
  const options = optionsFor(toMake, null, left === null ? [] : [ref]);
  const job: AttemptJob = {
    attempt: { id, number },
    item,
    base: tip,
    left,
    previous: options.previous ?? null,
    last: options.last ?? null,
    judging: options.judging,
    failedBefore: [...options.failedBefore ?? []],
    greenBefore: options.greenBefore ?? null,
    unseenFailed: options.unseenFailed ?? false,
    told: ralph.steering.told(item.id),
    budget: options.budget ?? null,
  };
  const made = await elsewhere.attempt(job, signal, lane);
  if (made === null) return null;
  if (job.greenBefore === null && made.attempt.turn !== null) {
    await options.baselineTaken?.(made.attempt.greenBefore === true);
  }
  const read = await withFindings(backlog, made.attempt);
  const work = read.status === "read" ? made.work : null;
  const attempt = read.status === "read" ? read.attempt : unusable({ id, number }, read.problem);
  if (work !== null) await kept.keep(ref, work.commit);
  const checks = (await checksIn(parts, ralph.root, item, number)).map(namedCheck).filter((check) => check !== null);
  return { worked: { attempt, checks, before: null, after: null }, work, notes: [] };
}

/** An attempt whose result cannot be read: no one knows what it did. */
function unusable(attempt: Pick<Attempt, "id" | "number">, problem: string): Attempt {
  const message = `the result of attempt ${attempt.id} is not used: ${problem}`;
  return { ...interruptedAttempt(attempt), status: "blocked", message };
}

/** The turn and its checks in the worker's tree, and what came of it as a commit. */
export async function madeInTree(toMake: ToMake, tree: WorkerTree): Promise<Made> {
  const { parts: { loop, signal, beside, clean }, begun, begin } = toMake;
  const { backlog } = loop;
  const { ralph, brief } = tree;
  const { left, conflicts } = await prepareTree(tree, begin);
  const before = await requireRepository(ralph).snapshot();
  const inConflict = rootPaths(ralph, conflicts);
  const { attempt, ...worked } = await workItem(ralph, backlog, begun.item, {
    ...optionsFor(toMake, before, left, inConflict),
    green: new Set(), // of another tree
    ...(inConflict.length === 0 ? {} : { note: conflictNote(inConflict) }),
    signal,
    brief,
    beside,
    guard: createTurnGuard(ralph, { userPaths: new Set(), stateFiles: backlog.stateFiles }),
    clean: { look: clean.look },
  });
  loop.brief.hear(brief);
  const changed = topLevelPaths(ralph, attempt.turn?.changedFiles ?? []);
  const notes = await notesIn(tree);
  return { worked: { attempt, ...worked }, work: await captureTree(tree, [...left, ...changed]), notes };
}

/** A turn that removes the tree that it was given has failed, and its work is gone. */
export function madeNothing(begun: Pick<Begun, "id" | "number">): Made {
  const message = "the turn removed the working tree that it was given";
  const attempt = { ...interruptedAttempt(begun), status: "failed", reason: "agent-failed", message } as const;
  return { worked: { attempt, checks: [], before: null, after: null }, work: null, notes: [] };
}

/** @param left paths or refs of the work that it begins with */
function optionsFor(
  { parts: { iterations }, begun, conflicts: landed }: ToMake,
  before: TreeSnapshot | null,
  left: readonly string[],
  conflicts: readonly string[] = [],
): ReturnType<Iterations["workOptions"]> & Pick<WorkItemOptions, "previous"> {
  const options = iterations.workOptions(begun, before, Object.fromEntries(left.map((one) => [one, null])));
  const earlier = landed.length > 0 ? null : options.previous ?? null;
  return { ...options, previous: previousWith(begun.id, earlier, [...landed, ...conflicts]) };
}
