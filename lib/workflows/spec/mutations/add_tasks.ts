import { describeCycle, findCycle } from "../graph.ts";
import { idsOf, isLineOf, pendingOf, specOf, tasksOf, withChanged, without, withRecord } from "../plan_file.ts";
import { refused } from "../refused.ts";
import type { JsonObject, Plan, Priority } from "../types.ts";
import { type Change, shortName } from "./change.ts";

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

/** The options of adding, beside the plan. */
export interface AddOptions {
  /** Ids that are not in the file but were once: they count as done. */
  readonly known: ReadonlySet<string>;
  /** A pending task of the same spec and name is brought up to date instead: a plan that is made again. @default false */
  readonly upsert?: boolean;
}

/** Ids that the tasks name and that are neither in the file nor among themselves. */
export function unknownIds(plan: Plan, tasks: readonly NewTask[]): readonly string[] {
  const here = new Set([...idsOf(plan), ...tasks.flatMap(({ id }) => id === undefined ? [] : [id])]);
  const named = tasks.flatMap(({ deps = [], parent, created_from }) => [...deps, ...one(parent), ...one(created_from)]);
  return [...new Set(named)].filter((id) => !here.has(id));
}

/** Adds tasks, all or none. @throws {RalphError} usage for unknown or taken ids, circles, no current spec */
export function addTasks(plan: Plan, tasks: readonly NewTask[], options: AddOptions): Change {
  const unknown = unknownIds(plan, tasks).filter((id) => !options.known.has(id));
  if (unknown.length > 0) {
    throw refused(`there is no ${unknown.join(", no ")} in ${plan.file}`, "`ralph query` lists what there is");
  }
  let changed = plan;
  for (const task of tasks) changed = addTask(changed, task, options);
  const cycle = findCycle(tasksOf(changed));
  if (cycle !== null) {
    const circle = describeCycle(cycle);
    throw refused(`the tasks would depend on each other in a circle: ${circle}`, "leave one of these dependencies out");
  }
  const [first] = tasks;
  const what = tasks.length === 1 && first !== undefined ? shortName(first.name) : `${tasks.length} tasks`;
  return { plan: changed, subject: `ralph: task add - ${what}` };
}

function addTask(plan: Plan, task: NewTask, { upsert = false }: AddOptions): Plan {
  const spec = task.spec ?? specOf(plan);
  if (spec === null) {
    const hint = "`ralph set-spec FILE` sets it; `ralph plan FILE` plans it";
    throw refused("no spec is set, and a task belongs to one", hint);
  }
  if (task.name.trim() === "") throw refused("a task needs a name", '`ralph task add "what to do"`');
  const same = pendingOf(plan).find((old) => upsert && old.spec === spec && old.name === task.name);
  if (same !== undefined) return withChanged(plan, isLineOf(same), given(task));

  const { id = "" } = task;
  checkFree(plan, id);
  const record: JsonObject = { t: "task", id, spec, name: task.name, ...given(task), ...task.own, s: "p" };
  return task.supersedes === undefined ? withRecord(plan, record) : replaced(plan, task.supersedes, task, record);
}

/** The keys that were given, empty ones left out. */
function given(task: NewTask): JsonObject {
  const { notes, accept, deps = [], priority, parent, created_from, supersedes } = task;
  const waits = deps.length === 0 ? undefined : deps;
  const keys = { notes, accept, deps: waits, priority, parent, created_from, supersedes };
  return Object.fromEntries(Object.entries(keys).filter(([, value]) => value !== undefined && value !== ""));
}

/** The old task goes, its tombstones stay, and what waited for it waits for the new one. */
function replaced(plan: Plan, oldId: string, { id = "", notes = "" }: NewTask, record: JsonObject): Plan {
  const old = tasksOf(plan).find(({ id }) => id === oldId);
  if (old === undefined) throw refused(`there is no task ${oldId} to supersede`, "`ralph query tasks` lists them");
  if (old.s === "d") throw refused(`${oldId} is done`, `reject it first: \`ralph task reject ${oldId} "reason"\``);
  const why = `It replaces ${oldId} (${old.name}), which was rejected: ${old.reject}`;
  const told = old.reject === null ? record : { ...record, notes: notes === "" ? why : `${notes}\n${why}` };
  return withDependents(withRecord(without(plan, isLineOf(old)), told), oldId, [id]);
}

/** Whatever depended on one task depends on these instead. */
export function withDependents(plan: Plan, oldId: string, newIds: readonly string[]): Plan {
  const dependents = tasksOf(plan).filter(({ id, deps }) => deps.includes(oldId) && !newIds.includes(id));
  return dependents.reduce((changed, task) => {
    const deps = [...new Set(task.deps.flatMap((id) => id === oldId ? newIds : [id]))];
    return withChanged(changed, isLineOf(task), { deps });
  }, plan);
}

/** @throws {RalphError} usage for an id that is taken */
export function checkFree(plan: Plan, id: string): void {
  if (id === "" || idsOf(plan).has(id)) throw refused(`the id ${id} is taken`, "leave `id` out: Ralph gives one");
}

function one(value: string | undefined): readonly string[] {
  return value === undefined ? [] : [value];
}
