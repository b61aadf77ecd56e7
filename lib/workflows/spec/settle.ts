import { reasonOf } from "../../backlog/attempts.ts";
import type { ClaimLine } from "../../backlog/claims.ts";
import type { Attempt, CheckResult } from "../../backlog/types.ts";
import { type SpecItem, tasksIn, testsChangedBy } from "./item.ts";
import { newChildren, parentId, wasRejected } from "./claim.ts";
import { inherited, planned, withDependents, withRejection } from "./mutations.ts";
import { idsOf, rejectionsOf, tasksOf, withChanged, withLine, without } from "./plan_file.ts";
import { readLine } from "./read_line.ts";
import type { Entry, Plan, Task } from "./types.ts";

const LONGEST_REASON = 1000;
const SHORT_HASH = 7;

/** A BUILD turn that passed: its task is done, with or without a claim. */
export function built(plan: Plan, item: SpecItem): Plan {
  return withChanged(withGiven(plan, item), isTask(item.id, "p"), { s: "d", done_at: undefined });
}

/** A task that is done, with the commit of its work. */
export function committedAt(plan: Plan, id: string, commit: string): Plan {
  return withChanged(plan, isTask(id, "d"), { done_at: commit.slice(0, SHORT_HASH) });
}

/** A BUILD turn that was ended by time or context: the task is to be taken apart. */
export function killed(plan: Plan, item: SpecItem, kill: "timeout" | "context", log: string | null): Plan {
  const pending = reset(plan, item);
  return withChanged(pending, isTask(item.id, "p"), { kill, ...(log === null ? {} : { kill_log: log }) });
}

/** A BUILD turn that failed: what it marked as done is not; its own task is rejected where it was claimed to be done. */
export function failed(plan: Plan, item: SpecItem, attempt: Attempt): Plan {
  const reason = shortReasonOf(attempt);
  const head = attempt.turn?.head?.slice(0, SHORT_HASH) ?? null;
  const open = reset(plan, item);
  const pending = tasksOf(open).find(({ id, s }) => id === item.id && s === "p");
  const isClaimed = attempt.claim?.status === "done";
  // Settled again after a crash: the tombstone is there already.
  const isSettled = rejectionsOf(open, item.id) > item.data.rejections;
  return pending !== undefined && isClaimed && !isSettled ? withRejection(open, pending, reason, head) : open;
}

/** The item's own task is pending again, and comes back where it left the file; what others did meanwhile stays. */
export function reset(plan: Plan, item: SpecItem): Plan {
  return withChanged(withGiven(plan, item), isTask(item.id, "d"), { s: "p", done_at: undefined });
}

/** The records that the turn was given come back where they left the file. */
export function withGiven(plan: Plan, { data }: SpecItem): Plan {
  return data.lines.reduce((now, raw) => {
    const { entry } = readLine(raw, 0);
    const id = entry.type === "task" ? entry.task.id : entry.type === "issue" ? entry.issue.id : null;
    return id === null || idsOf(now).has(id) ? now : withLine(now, raw);
  }, plan);
}

/** An INVESTIGATE turn that did not pass: its issues are open, and the tasks that it added are gone. */
export function notInvestigated(plan: Plan, item: SpecItem, claims: readonly ClaimLine[]): Plan {
  const added = claims.filter(({ command }) => command === "task add").map(({ id }) => id);
  return withGiven(without(plan, (entry) => entry.type === "task" && added.includes(entry.task.id)), item);
}

/** A VERIFY turn that passed: what it was about leaves the file. */
export function accepted(plan: Plan, item: SpecItem): Plan {
  const ids = new Set(tasksIn(item).map(({ id }) => id));
  return planned(without(plan, (entry) => entry.type === "task" && entry.task.s === "d" && ids.has(entry.task.id)));
}

/** A VERIFY turn that did not pass: what it accepted is back, and what a check of its own refutes is rejected. */
export function notAccepted(plan: Plan, item: SpecItem, attempt: Attempt): Plan {
  const here = new Set(tasksOf(plan).map(({ id }) => id));
  let changed = plan;
  for (const [index, task] of tasksIn(item).entries()) {
    const isGone = !here.has(task.id) && !wasRejected(plan, task.id, task.doneAt);
    if (isGone) changed = withLine(changed, item.data.lines[index] as string);
  }
  const failures = attempt.verification?.status === "failed" ? attempt.verification.failures : [];
  const refuted = new Set(failures.map(({ scope }) => scope));
  for (const { id } of tasksIn(item).filter((task) => refuted.has(task.id))) {
    const own = failures.filter(({ scope }) => scope === id);
    const task = tasksOf(changed).find((one) => one.id === id && one.s === "d");
    if (own.length > 0 && task !== undefined) {
      changed = withRejection(changed, task, shortReason(own.map(describe).join("; ")));
    }
  }
  return changed;
}

/** A DECOMPOSE turn that found the task done already: a BUILD turn says so, and its checks decide. */
export function resumed(plan: Plan, item: SpecItem): Plan {
  return withChanged(plan, isTask(parentId(item), "p"), { kill: undefined, kill_log: undefined, decompose: undefined });
}

/** A DECOMPOSE turn that passed: the parts take the place of the whole. */
export function decomposed(plan: Plan, item: SpecItem): Plan {
  const parent = tasksOf(plan).find(({ id }) => id === parentId(item));
  const children = newChildren(item, plan);
  if (parent === undefined || children.length === 0) return plan;
  const globs = testsChangedBy(parent);
  let changed = withLastPart(withDependents(plan, parent.id, children), parent, children);
  for (const task of tasksOf(changed).filter(({ id }) => children.includes(id))) {
    changed = withChanged(changed, isTask(task.id), { changes_tests: globs, decompose_depth: parent.depth + 1 });
    const deps = [...new Set([...task.deps.filter((id) => id !== parent.id), ...parent.deps])];
    if (deps.join() !== task.deps.join()) {
      changed = withChanged(changed, isTask(task.id), { deps: deps.length === 0 ? undefined : deps });
    }
  }
  return without(changed, isTask(parent.id));
}

/** A part that no other one waits for is built last, and what the whole has to pass is checked then. */
function withLastPart(plan: Plan, parent: Task, children: readonly string[]): Plan {
  const parts = tasksOf(plan).filter(({ id }) => children.includes(id));
  const last = parts.findLast(({ id }) => !parts.some(({ deps }) => deps.includes(id)));
  if (last === undefined) return plan;
  const deps = [...new Set([...last.deps, ...children.filter((id) => id !== last.id)])];
  const { accept } = inherited({ accept: last.accept }, parent);
  return withChanged(plan, isTask(last.id), {
    deps: deps.length === 0 ? undefined : deps,
    accept: accept === "" ? undefined : accept,
  });
}

/** A DECOMPOSE turn that did not pass: its parts go, the whole is decomposed anew. */
export function notDecomposed(plan: Plan, item: SpecItem): Plan {
  const children = newChildren(item, plan);
  return withGiven(without(plan, (entry) => entry.type === "task" && children.includes(entry.task.id)), item);
}

/** Why an attempt failed, short enough for a task to keep. */
export function shortReasonOf(attempt: Attempt): string {
  return shortReason(reasonOf(attempt));
}

function describe({ name, exitCode, tail }: CheckResult): string {
  return `${name}: exit ${exitCode ?? "unknown"}${tail === "" ? "" : `\n${tail}`}`;
}

/** The beginning names the check, the end says what went wrong. */
export function shortReason(reason: string): string {
  const half = LONGEST_REASON / 2;
  return reason.length <= LONGEST_REASON ? reason : `${reason.slice(0, half)} … ${reason.slice(-half)}`;
}

function isTask(id: string, s?: string): (entry: Entry) => boolean {
  return (entry) => entry.type === "task" && entry.task.id === id && (s === undefined || entry.task.s === s);
}
