/**
 * Changes of the plan that commands and turns ask for. Pure.
 *
 * @module
 */
import { verifyCommands } from "../../backlog/verify_commands.ts";
import { onOneLine } from "../../prompts/render.ts";
import * as plans from "./plan_file.ts";
import { usage } from "../../cli/command.ts";
import type { Entry, JsonObject, Plan, Priority, Task } from "./types.ts";

const LONGEST_NAME = 50;

/** Git's name for a commit that does not exist: the place of a task that was done before the first commit. */
const NO_COMMIT = "0000000";

/** ``Changes tests: `GLOB` ``: a criterion that permits a task to change tests. */
const GRANT_REGEXP = /Changes tests:[ \t]*`[^`]*`[ \t]*[.,;]?/gi;

const LISTS_TASKS = "`ralph query tasks` lists them";

/** A changed plan, and what its commit says. */
export interface Change {
  readonly plan: Plan;
  /** Subject of the commit: `ralph: task done - NAME`. */
  readonly subject: string;
  /** Warnings for a person. */
  readonly warnings?: readonly string[];
}

/** A task to be added. */
export interface NewTask {
  /** Asked for only where tasks of one batch depend on each other; the command gives one otherwise. */
  readonly id?: string | undefined;
  readonly name: string;
  /** @default the current spec */
  readonly spec?: string | undefined;
  readonly notes?: string | undefined;
  readonly accept?: string | undefined;
  readonly deps?: readonly string[] | undefined;
  readonly priority?: Priority | undefined;
  readonly parent?: string | undefined;
  readonly created_from?: string | undefined;
  readonly supersedes?: string | undefined;
  /** Keys that Ralph itself adds. */
  readonly own?: JsonObject;
}

/** A name as a commit's subject shows it: one line, at most 50 characters. */
export function shortName(name: string): string {
  return [...onOneLine(name)].slice(0, LONGEST_NAME).join("");
}

/** One name, or how many there are. */
function namesOf(names: readonly string[], kind: string): string {
  return names.length === 1 ? shortName(names.join()) : `${names.length} ${kind}`;
}

/** Ids that the tasks name and that are neither in the file nor among themselves. */
export function unknownIds(plan: Plan, tasks: readonly NewTask[]): readonly string[] {
  const here = new Set([...plans.idsOf(plan), ...tasks.map(({ id }) => id)]);
  const named = tasks.flatMap(({ deps = [], parent, created_from }) => [...deps, parent, created_from]);
  return [...new Set(named)].filter((id) => id !== undefined).filter((id) => !here.has(id));
}

/**
 * Adds tasks, all or none.
 *
 * @param options `upsert`: a pending task of the same spec and name is brought up to date instead, for a plan made again
 * @throws {RalphError} usage for taken ids, circles, no current spec
 */
export function addTasks(
  plan: Plan,
  tasks: readonly NewTask[],
  options: { readonly upsert?: boolean | undefined } = {},
): Change {
  const changed = tasks.reduce((now, task) => addTask(now, task, options), plan);
  const circle = plans.circleIn(plans.tasksOf(changed));
  if (circle !== null) {
    const hint = "leave one of these dependencies out";
    throw usage(`the tasks would depend on each other in a circle: ${circle.text}`, hint);
  }
  return { plan: changed, subject: `ralph: task add - ${namesOf(tasks.map(({ name }) => name), "tasks")}` };
}

function addTask(plan: Plan, task: NewTask, { upsert = false }: { readonly upsert?: boolean | undefined }): Plan {
  const spec = task.spec ?? plans.specOf(plan);
  if (spec === null) {
    const hint = "`ralph set-spec FILE` sets it; `ralph plan FILE` plans it";
    throw usage("no spec is set, and a task belongs to one", hint);
  }
  if (task.name.trim() === "") throw usage("a task needs a name", '`ralph task add "what to do"`');
  const same = plans.pendingOf(plan).find((old) => upsert && old.spec === spec && old.name === task.name);
  if (same !== undefined) return plans.withChanged(plan, plans.isLineOf(same), given(task));

  const { id = "" } = task;
  checkFree(plan, id);
  const record: JsonObject = { t: "task", id, spec, name: task.name, ...given(task), ...task.own, s: "p" };
  return task.supersedes === undefined ? plans.withRecord(plan, record) : replaced(plan, task.supersedes, task, record);
}

/** The keys that were given, empty ones left out. */
function given({ notes, accept, deps = [], priority, parent, created_from, supersedes }: NewTask): JsonObject {
  const keys = { notes, accept, deps, priority, parent, created_from, supersedes };
  return Object.fromEntries(Object.entries(keys).filter(([, value]) => value !== undefined && value.length > 0));
}

/** The old task goes, its tombstones stay, and what waited for it waits for the new one. */
function replaced(plan: Plan, oldId: string, { id = "", notes = "" }: NewTask, record: JsonObject): Plan {
  const old = plans.tasksById(plan).get(oldId);
  if (old === undefined) throw usage(`there is no task ${oldId} to supersede`, LISTS_TASKS);
  if (old.s === "d") throw usage(`${oldId} is done`, `reject it first: \`ralph task reject ${oldId} "reason"\``);
  const why = `It replaces ${oldId} (${old.name}), which was rejected: ${old.reject}`;
  const told = old.reject === null ? record : { ...record, notes: notes === "" ? why : `${notes}\n${why}` };
  return withDependents(plans.withRecord(plans.without(plan, plans.isLineOf(old)), told), oldId, [id]);
}

/** Whatever depended on one task depends on these instead. */
export function withDependents(plan: Plan, oldId: string, newIds: readonly string[]): Plan {
  const dependents = plans.tasksOf(plan).filter(({ id, deps }) => deps.includes(oldId) && !newIds.includes(id));
  return dependents.reduce((changed, task) => {
    const deps = [...new Set(task.deps.flatMap((id) => id === oldId ? newIds : [id]))];
    return plans.withChanged(changed, plans.isLineOf(task), { deps });
  }, plan);
}

function checkFree(plan: Plan, id: string): void {
  if (id === "" || plans.idsOf(plan).has(id)) throw usage(`the id ${id} is taken`, "leave `id` out: Ralph gives one");
}

/** A new task's record without permissions to change tests. */
export function withoutGrants({ changes_tests: _, ...record }: JsonObject): JsonObject {
  const plain = (key: string, value: unknown): unknown =>
    typeof value === "string" && ["name", "notes", "accept"].includes(key)
      ? value.replaceAll(GRANT_REGEXP, "").trim()
      : value;
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, plain(key, value)]));
}

/** A new task's record with the commands, and the permissions, of the task that it replaces or is the last part of. */
export function inherited(record: JsonObject, old: Pick<Task, "accept" | "notes">): JsonObject {
  const accept = typeof record["accept"] === "string" ? record["accept"] : "";
  if (accept.trim() === "") return old.accept === "" ? record : { ...record, accept: old.accept };
  const known = verifyCommands(accept);
  const missing = verifyCommands(old.accept).filter((command) => !known.includes(command));
  const grants = [old.accept, old.notes].flatMap((text) => text.match(GRANT_REGEXP) ?? []);
  const added = [
    ...missing.map((command) => command.includes("`") ? `Verify: \`\` ${command} \`\`` : `Verify: \`${command}\``),
    ...grants.filter((grant) => !accept.includes(grant)),
  ];
  return added.length === 0 ? record : { ...record, accept: [accept, ...added].join("\n") };
}

/**
 * Marks a pending task as done. `null`: it is done already.
 *
 * @param done `id`: the first task when left out; `head`: the short hash of HEAD, or `null` before the first commit
 * @throws {RalphError} usage when there is no such task
 */
export function doneTask(
  plan: Plan,
  { id, head }: { readonly id?: string | undefined; readonly head: string | null },
): Change | null {
  const task = id === undefined ? firstTask(plan) : plans.pendingOf(plan).find((one) => one.id === id);
  if (task === undefined) {
    if (plans.doneOf(plan).some((one) => one.id === id)) return null;
    throw usage(id === undefined ? "no task is pending" : `no pending task has the id ${id}`, LISTS_TASKS);
  }
  const open = task.deps.filter((one) => plans.pendingOf(plan).some((other) => other.id === one));
  return {
    plan: plans.withChanged(plan, plans.isLineOf(task), {
      s: "d",
      ...(head === null ? {} : { done_at: head }),
      kill: undefined,
      kill_log: undefined,
      decompose: undefined,
    }),
    subject: `ralph: task done - ${shortName(task.name)}`,
    warnings: open.length === 0 ? [] : [`${task.id} is done before what it depends on: ${open.join(", ")}`],
  };
}

/** The first in topological order; in a circle of dependencies, the first of the file. */
export function firstTask(plan: Plan): Task | undefined {
  return plans.readyTasks(plans.pendingOf(plan))[0] ?? plans.pendingOf(plan)[0];
}

/** Takes all done tasks out of the file: they live on in git's history. @throws {RalphError} usage when none is done */
export function acceptTasks(plan: Plan): Change {
  const names = plans.doneOf(plan).map(({ name }) => name);
  if (names.length === 0) throw usage("no task is done", `${LISTS_TASKS}; \`ralph task done\` marks one`);
  return {
    plan: planned(plans.without(plan, (entry) => entry.type === "task" && entry.task.s === "d")),
    subject: `ralph: task accept - ${namesOf(names, "tasks")}`,
  };
}

/**
 * Puts a done task back to pending, with its reason and a tombstone.
 *
 * @param rejection `id`: the first done task when left out
 * @throws {RalphError} usage when no such task is done
 */
export function rejectTask(
  plan: Plan,
  { id, reason }: { readonly id?: string | undefined; readonly reason: string },
): Change {
  const task = id === undefined ? firstDone(plan) : plans.doneOf(plan).find((one) => one.id === id);
  if (task === undefined) {
    throw usage(id === undefined ? "no task is done" : `no done task has the id ${id}`, LISTS_TASKS);
  }
  return { plan: withRejection(plan, task, reason), subject: `ralph: task reject - ${shortName(task.name)}` };
}

/** The plan with this task pending again and a tombstone for the commit at which it was done. */
export function withRejection(plan: Plan, task: Task, reason: string, head?: string | null): Plan {
  const pending = plans.withChanged(plan, plans.isLineOf(task), { s: "p", done_at: undefined, reject: reason });
  return plans.withRecord(pending, { t: "reject", id: task.id, done_at: task.doneAt ?? head ?? NO_COMMIT, reason });
}

/** The first done task in topological order: that which would have been built first. */
export function firstDone(plan: Plan): Task | undefined {
  return plans.readyTasks(plans.doneOf(plan))[0];
}

/**
 * Adds issues to the current spec.
 *
 * @param issues `rounds` of issue and task that led to one
 * @throws {RalphError} usage without a spec or a description, for a taken id
 */
export function addIssues(
  plan: Plan,
  issues: readonly { readonly id: string; readonly desc: string; readonly rounds?: number }[],
): Change {
  const spec = plans.specOf(plan);
  if (spec === null) throw usage("no spec is set, and an issue belongs to one", "`ralph set-spec FILE` sets it");
  let changed = plan;
  for (const { id, desc, rounds = 0 } of issues) {
    if (desc.trim() === "") throw usage("an issue needs a description", '`ralph issue add "what was found"`');
    checkFree(changed, id);
    const more = rounds > 0 ? { issue_rounds: rounds } : {};
    changed = plans.withRecord(changed, { t: "issue", id, spec, desc, ...more });
  }
  return { plan: changed, subject: `ralph: issue add - ${namesOf(issues.map(({ desc }) => desc), "issues")}` };
}

/** Removes an issue. @param id default: the first. @throws {RalphError} usage when there is none */
export function doneIssue(plan: Plan, id?: string): Change {
  const issue = plans.issuesOf(plan).find((one) => id === undefined || one.id === id);
  if (issue === undefined) {
    throw usage(`there is no issue${id === undefined ? "" : ` ${id}`}`, "`ralph query issues` lists them");
  }
  return {
    plan: plans.without(plan, (entry) => entry.type === "issue" && entry.issue === issue),
    subject: `ralph: issue done - ${shortName(issue.desc)}`,
  };
}

/** Makes a spec the current one; everything else in the file stays. Another one is not planned yet. */
export function setSpec(plan: Plan, spec: string): Change {
  const subject = `ralph: set spec ${spec}`;
  const last = plans.specLine(plan);
  if (last === null) return { plan: plans.withRecord(plan, { t: "spec", spec, planned: false }), subject };
  const one = plans.without(plan, (entry) => entry.type === "spec" && entry !== last);
  if (last.spec === spec) return { plan: one, subject };
  return { plan: plans.withChanged(one, (entry) => entry === last, { spec, planned: false }), subject };
}

/** The current spec was planned, or its tasks were accepted: with nothing left it is complete. */
export function planned(plan: Plan): Plan {
  const isLeft = (entry: Entry): boolean => entry.type === "spec" && !entry.planned;
  return plan.lines.some(({ entry }) => isLeft(entry)) ? plans.withChanged(plan, isLeft, { planned: undefined }) : plan;
}

/** Unfinished tasks of other specs. */
export function unfinishedOf(plan: Plan, spec: string): readonly Task[] {
  return plans.tasksOf(plan).filter((task) => (task.s === "p" || task.s === "d") && task.spec !== spec);
}

/**
 * Begins to plan a spec. Starting fresh (another spec, or nothing is left of this one) clears the tombstones; tasks of
 * other specs go, since the person said so; issues stay.
 */
export function beginSpec(plan: Plan, spec: string): Change {
  const foreign = new Set(unfinishedOf(plan, spec));
  const kept = plans.without(plan, (entry) => entry.type === "task" && foreign.has(entry.task));
  const isFresh = plans.pendingOf(kept).length + plans.doneOf(kept).length === 0;
  return setSpec(isFresh ? plans.without(kept, ({ type }) => type === "reject") : kept, spec);
}
