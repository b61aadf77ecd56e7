/**
 * The plan after an attempt, and the loop's next step. Pure.
 *
 * @module
 */
import { relative, sep } from "node:path";
import { isOver, reasonOf } from "../../backlog/attempts.ts";
import type { Attempt, CheckResult, PassedItem, PassedRecord, SettleCommit, Settlement } from "../../backlog/types.ts";
import { parentId, scopeOf, type SpecFindings, withClaims } from "./turn_claims.ts";
import { MOST_PARTINGS, type SpecItem, tasksIn, testsChangedBy } from "./item.ts";
import { inherited, planned, shortName, withDependents, withRejection } from "./mutations.ts";
import * as plans from "./plan_file.ts";
import { type Entry, type Plan, PLAN_FILE, type Task } from "./types.ts";

const LONGEST_REASON = 1000;
const SHORT_HASH = 7;

/** The facts beside item and attempt. */
export interface SettleOptions {
  readonly root: string;
  /** The task was rejected too often. */
  readonly isGivenUp: (plan: Plan, id: string) => boolean;
}

/** The outcome of an attempt. */
interface Settled {
  /** The claims that count. @default new issues: any turn may add these, however it ended */
  readonly counts?: (command: string) => boolean;
  readonly to: (plan: Plan) => Plan;
  /** The next step, from the plan that was written. */
  readonly end: (after: Plan) => Settlement;
}

type Settle = (item: SpecItem, attempt: Attempt<SpecFindings>, options: SettleOptions) => Settled;

const SETTLED: Readonly<Record<SpecItem["data"]["stage"], Settle>> = {
  BUILD: buildSettled,
  VERIFY: verifySettled,
  DECOMPOSE: decomposeSettled,
  INVESTIGATE: investigateSettled,
};

/** The change of the plan, and the loop's next step, after an attempt. */
export function settled(
  item: SpecItem,
  attempt: Attempt<SpecFindings>,
  options: SettleOptions,
): Pick<Settled, "end" | "to"> {
  const { counts = (command) => command === "issue add", to, end } = SETTLED[item.data.stage](item, attempt, options);
  const claims = (attempt.claim?.findings?.claims ?? []).filter(({ command }) => counts(command));
  return { to: (plan) => to(withClaims(plan, scopeOf(item), claims)), end };
}

function isPassed({ status }: Attempt): boolean {
  return status === "verified" || status === "unverified";
}

/** The commit holds the plan alone: it leaves out files of a turn that was to write nothing. */
function commitOf(what: string, { title }: Pick<SpecItem, "title">): SettleCommit {
  return { subject: `ralph: ${what} - ${shortName(title)}`, paths: [PLAN_FILE], work: false };
}

/** VERIFY, DECOMPOSE, INVESTIGATE: tried again some times, then a person is needed. */
function again(attempt: Attempt, commit: SettleCommit): Settlement {
  if (attempt.status === "interrupted") return { status: "open", commit };
  return { status: isOver(attempt) ? "parked" : "open", reason: shortReason(reasonOf(attempt)), commit };
}

function buildSettled(item: SpecItem, attempt: Attempt, { root, isGivenUp }: SettleOptions): Settled {
  const { id } = item;
  if (isPassed(attempt)) { // its task is done, with or without a claim
    const { subject: stateSubject, ...state } = commitOf("task done", item);
    const commit = { ...state, subject: `feat: ${id} - ${item.title}`, stateSubject, work: true };
    const to = (plan: Plan): Plan =>
      plans.withChanged(withGiven(plan, item), isTask(id, "p"), { s: "d", done_at: undefined });
    return { to, end: () => ({ status: "passed", commit }) };
  }
  const toPending = (plan: Plan): Plan => reset(plan, item);
  if (attempt.status === "interrupted") return { to: toPending, end: () => ({ status: "open" }) }; // the next commit takes it along
  const reason = shortReason(reasonOf(attempt));
  const kill = killOf(attempt);
  const depth = tasksIn(item)[0]?.depth ?? 0;
  if (kill !== null && depth >= MOST_PARTINGS) {
    const whole = `${reason}; it came of ${depth} decompositions and is not cut again`;
    return { to: toPending, end: () => ({ status: "parked", reason: whole, commit: commitOf("task reset", item) }) };
  }
  if (kill !== null) { // the task is to be taken apart
    const log = attempt.turn === null ? {} : { kill_log: relative(root, attempt.turn.transcript).replaceAll(sep, "/") };
    const to = (plan: Plan): Plan => plans.withChanged(toPending(plan), isTask(id, "p"), { kill, ...log });
    return { to, end: () => ({ status: "open", reason, commit: commitOf("task kill", item) }) };
  }
  return {
    to: (plan) => failed(plan, item, attempt),
    end: (after) => {
      const isLast = isOver(attempt) || isGivenUp(after, id);
      return { status: isLast ? "parked" : "open", reason, commit: commitOf("task reject", item) };
    },
  };
}

function killOf(attempt: Attempt): "timeout" | "context" | null {
  if (attempt.status !== "failed") return null;
  if (attempt.reason === "timed-out" || attempt.reason === "idle") return "timeout";
  return attempt.reason === "context-exhausted" ? "context" : null;
}

/** A BUILD turn that failed: what it marked as done is not; its own task is rejected where it was claimed to be done. */
function failed(plan: Plan, item: SpecItem, attempt: Attempt): Plan {
  const head = attempt.turn?.head?.slice(0, SHORT_HASH) ?? null;
  const open = reset(plan, item);
  const pending = plans.pendingOf(open).find(({ id }) => id === item.id);
  // Settled again after a crash: the tombstone is there already.
  const isSettled = plans.rejectionsOf(open, item.id) > item.data.rejections;
  return pending !== undefined && attempt.claim?.status === "done" && !isSettled
    ? withRejection(open, pending, shortReason(reasonOf(attempt)), head)
    : open;
}

/** The item's own task is pending again, and comes back where it left the file; what others did meanwhile stays. */
function reset(plan: Plan, item: SpecItem): Plan {
  return plans.withChanged(withGiven(plan, item), isTask(item.id, "d"), { s: "p", done_at: undefined });
}

function verifySettled(item: SpecItem, attempt: Attempt): Settled {
  const ids = tasksIn(item).map(({ id }) => id);
  if (isPassed(attempt)) {
    const title = ids.length === 1 ? tasksIn(item)[0]?.name : undefined;
    const commit = commitOf("task accept", { title: title ?? `${item.data.lines.length} tasks` });
    const isAccepted = (entry: Entry): boolean =>
      entry.type === "task" && entry.task.s === "d" && ids.includes(entry.task.id);
    return { to: (plan) => planned(plans.without(plan, isAccepted)), end: () => ({ status: "passed", commit }) };
  }
  return {
    counts: (command) => command !== "task accept",
    to: (plan) => notAccepted(plan, item, attempt),
    end(after) {
      const done = new Set(plans.doneOf(after).map(({ id }) => id));
      const reopened = ids.filter((id) => !done.has(id));
      return { ...again(attempt, commitOf("task reject", item)), ...(reopened.length === 0 ? {} : { reopened }) };
    },
  };
}

/** A VERIFY turn that did not pass: what it accepted is back, and what a check of its own refutes is rejected. */
function notAccepted(plan: Plan, item: SpecItem, attempt: Attempt): Plan {
  let changed = plan;
  for (const [index, { id, doneAt }] of tasksIn(item).entries()) {
    // a tombstone names the very commit at which the task was done: it was replaced
    const isRejected = plans.rejectsOf(plan).some((one) => one.id === id && (doneAt === null || one.doneAt === doneAt));
    if (!plans.tasksById(plan).has(id) && !isRejected) changed = plans.withLine(changed, item.data.lines[index] ?? "");
  }
  const failures = attempt.verification?.status === "failed" ? attempt.verification.failures : [];
  for (const { id } of tasksIn(item)) {
    const own = failures.filter(({ scope }) => scope === id);
    const task = plans.doneOf(changed).find((one) => one.id === id);
    if (own.length === 0 || task === undefined) continue;
    changed = withRejection(changed, task, shortReason(own.map(describe).join("; ")));
  }
  return changed;
}

function describe({ name, exitCode, tail }: CheckResult): string {
  return `${name}: exit ${exitCode ?? "unknown"}${tail === "" ? "" : `\n${tail}`}`;
}

function decomposeSettled(item: SpecItem, attempt: Attempt<SpecFindings>): Settled {
  if (!isPassed(attempt)) { // the whole is decomposed anew
    const to = (plan: Plan): Plan => withoutTasks(plan, item, newChildren(item, plan));
    return { to, end: () => again(attempt, commitOf("task reset", item)) };
  }
  const asked = new Set(attempt.claim?.findings?.claims.map(({ command }) => command));
  if (asked.has("task done") && !asked.has("task add")) { // done already: a BUILD turn says so, and its checks decide
    const changes = { kill: undefined, kill_log: undefined, decompose: undefined };
    const to = (plan: Plan): Plan => plans.withChanged(plan, isTask(parentId(item), "p"), changes);
    return { to, end: () => ({ status: "passed", commit: commitOf("task resume", item) }) };
  }
  const commit = commitOf("task decompose", item);
  const counts = (command: string): boolean => command !== "task done";
  return { counts, to: (plan) => decomposed(plan, item), end: () => ({ status: "passed", commit }) };
}

/** A DECOMPOSE turn that passed: the parts take the place of the whole. */
function decomposed(plan: Plan, item: SpecItem): Plan {
  const parent = plans.tasksById(plan).get(parentId(item));
  const children = newChildren(item, plan);
  if (parent === undefined || children.length === 0) return plan;
  const globs = testsChangedBy(parent);
  let changed = withLastPart(withDependents(plan, parent.id, children), parent, children);
  for (const { id, deps: own } of plans.tasksOf(changed).filter((task) => children.includes(task.id))) {
    const deps = [...new Set([...own.filter((one) => one !== parent.id), ...parent.deps])];
    changed = plans.withChanged(changed, isTask(id), {
      changes_tests: globs,
      decompose_depth: parent.depth + 1,
      ...(deps.join() === own.join() ? {} : { deps: deps.length === 0 ? undefined : deps }),
    });
  }
  return plans.without(changed, isTask(parent.id));
}

/** A part that no other one waits for is built last, and what the whole has to pass is checked then. */
function withLastPart(plan: Plan, parent: Task, children: readonly string[]): Plan {
  const parts = plans.tasksOf(plan).filter(({ id }) => children.includes(id));
  const last = parts.findLast(({ id }) => !parts.some(({ deps }) => deps.includes(id)));
  if (last === undefined) return plan;
  const deps = [...new Set([...last.deps, ...children.filter((id) => id !== last.id)])];
  const { accept } = inherited({ accept: last.accept }, parent);
  return plans.withChanged(plan, isTask(last.id), {
    deps: deps.length === 0 ? undefined : deps,
    accept: accept === "" ? undefined : accept,
  });
}

/** Tasks that a DECOMPOSE turn made of its own. */
function newChildren(item: SpecItem, plan: Plan): readonly string[] {
  const parent = parentId(item);
  return plans.tasksOf(plan).filter((task) => task.parent === parent && !item.data.ids.includes(task.id)).map((
    { id },
  ) => id);
}

function investigateSettled(item: SpecItem, attempt: Attempt<SpecFindings>): Settled {
  if (isPassed(attempt)) {
    const commit = commitOf("investigate", item);
    return { counts: () => true, to: (plan) => plan, end: () => ({ status: "passed", commit }) };
  }
  const added = attempt.claim?.findings?.claims.filter(({ command }) => command === "task add") ?? [];
  return {
    to: (plan) => withoutTasks(plan, item, added.map(({ id }) => id)),
    end: () => again(attempt, commitOf("task reset", item)),
  };
}

/** The plan without tasks that a turn added, with the records that it was given. */
function withoutTasks(plan: Plan, item: SpecItem, ids: readonly (string | undefined)[]): Plan {
  return withGiven(plans.without(plan, (entry) => entry.type === "task" && ids.includes(entry.task.id)), item);
}

/** The records that the turn was given come back where they left the file. */
function withGiven(plan: Plan, { data }: SpecItem): Plan {
  return data.lines.reduce((now, raw) => {
    const id = plans.recordIn(plans.readLine(raw, 0).entry)?.id;
    return id === undefined || plans.idsOf(now).has(id) ? now : plans.withLine(now, raw);
  }, plan);
}

/** A task that is done, with the commit of its work. */
export function committedAt(plan: Plan, id: string, commit: string): Plan {
  return plans.withChanged(plan, isTask(id, "d"), { done_at: commit.slice(0, SHORT_HASH) });
}

/** The tasks that VERIFY accepted last, where a run has passed with them, by their own checks. */
export function acceptedLast(passed: readonly PassedRecord[]): readonly PassedItem[] {
  const checks = passed.find(({ kind, closed }) => kind === "VERIFY" && closed === true)?.checks ?? [];
  const ids = new Set(checks.map(({ scope = "" }) => scope).filter((id) => id !== ""));
  return [...ids].map((id) => ({ id, title: id, checks: checks.filter(({ scope }) => scope === id) }));
}

/**
 * Tasks that fail the final check are pending again, with the reason: accepted ones are added again.
 *
 * @param lines of accepted tasks, by their ids
 */
export function sentBack(plan: Plan, ids: readonly string[], lines: ReadonlyMap<string, string>, reason: string): Plan {
  return ids.reduce((now, id) => {
    const line = lines.get(id);
    const whole = plans.tasksById(now).has(id) || line === undefined ? now : plans.withLine(now, line);
    const task = plans.tasksById(whole).get(id);
    if (task === undefined || (whole === now && task.s === "p")) return now; // sent back already
    return withRejection(whole, task, reason);
  }, plan);
}

/** The beginning names the check, the end says what went wrong. */
export function shortReason(reason: string): string {
  const half = LONGEST_REASON / 2;
  return reason.length <= LONGEST_REASON ? reason : `${reason.slice(0, half)} … ${reason.slice(-half)}`;
}

function isTask(id: string, s?: string): (entry: Entry) => boolean {
  return (entry) => entry.type === "task" && entry.task.id === id && (s === undefined || entry.task.s === s);
}
