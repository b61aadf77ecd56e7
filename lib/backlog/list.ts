import { failureOf, fingerprintOf, isOver, isParked, reasonOf } from "./attempts.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { howToEnd } from "./signals.ts";
import type { Backlog, BacklogPolicy, Check, Item, LoopView, Next, Overview, PassedItem } from "./types.ts";

/** An entry of a list as an item. */
export interface ListItem extends Partial<Omit<Item, "data" | "id" | "title">> {
  /** Unique in the list. */
  readonly id: string;
  /** The task in a line: the commit's subject. */
  readonly title: string;
  readonly done: boolean;
  /** The task of the agent. @default the title */
  readonly prompt?: string;
  /** Commands or checks that must pass. @default `verify.default` of the configuration */
  readonly checks?: readonly (string | Check)[];
}

/** The parts of a backlog whose store is a list. */
export interface ListBacklogOptions<Entry> {
  readonly name: string;
  /** Separates two lists of one kind in the journal. @default the name alone */
  readonly scope?: string;
  /** Files that only Ralph writes, relative to the root. @default none */
  readonly stateFiles?: readonly string[];
  readonly policy?: BacklogPolicy<Entry>;
  /** All entries, also those that are done. */
  read(): Promise<readonly Entry[]> | readonly Entry[];
  /** Marks entries as done, or as open again. The same twice is once. */
  write(ids: readonly string[], done: boolean): Promise<void> | void;
  /** Pure: entries are plain JSON, and come from another process as well. */
  itemOf(entry: Entry): ListItem;
}

/**
 * A list as a backlog: its entries are worked off in their order, or several at once.
 *
 * @example The tasks of a JSON file
 * ```ts
 * import { runLoop } from "ralph";
 * import { listBacklog } from "ralph/backlog";
 * import { testContext } from "ralph/testing";
 *
 * await using ralph = await testContext({
 *   files: { "tasks.json": '{ "write a": false }' },
 *   agent: { turns: [{ write: { a: "" }, say: "<ralph>DONE</ralph>" }] },
 * });
 * const file = ralph.state.json("tasks.json", (value): value is Record<string, boolean> => typeof value === "object");
 * const backlog = listBacklog<[string, boolean]>({
 *   name: "tasks",
 *   stateFiles: [file.path],
 *   read: async () => Object.entries(await file.read()),
 *   write: (ids, done) => file.update((tasks) => ({ ...tasks, ...Object.fromEntries(ids.map((id) => [id, done])) })),
 *   itemOf: ([title, done]) => ({ id: title, title, done, checks: ["test -f a"] }),
 * });
 * console.log((await runLoop(ralph, backlog)).status); // passed
 * ```
 */
export function listBacklog<Entry>(options: ListBacklogOptions<Entry>): Backlog<Entry> {
  const { name, scope, policy, stateFiles = [], read, write, itemOf } = options;
  async function all(): Promise<readonly Listed<Entry>[]> {
    const list = (await read()).map((entry) => listed(itemOf(entry), entry));
    const ids = list.map(({ item }) => item.id);
    if (new Set(ids).size === ids.length) return list;
    const problem = `two items have the id ${ids.find((id, at) => ids.indexOf(id) !== at)}`;
    throw new RalphError("backlog-invalid", { details: { backlog: name, problem } });
  }
  return {
    name,
    ...(scope === undefined ? {} : { scope }),
    stateFiles,
    unverified: "block",
    concurrent: true,
    ...(policy === undefined ? {} : { policy }),
    overview: async ({ parked }) => overviewOf(await all(), (item) => isParked(item, parked)),
    next: async (look) => nextOf(await all(), look),
    async work({ data }, { nonce, previous }) {
      const { prompt, title } = itemOf(data);
      const failure = previous === null ? "" : `\n\n${failureOf(previous)}`;
      return {
        prompt: `${prompt ?? title}${failure}\n\n${howToEnd(nonce)}`,
        checks: listed(itemOf(data), data).checks,
      };
    },
    async settle({ id, title }, attempt) {
      const passed = attempt.status === "verified" || attempt.status === "unverified";
      await write([id], passed); // a pass is reverted where its commit was refused
      if (passed) return { status: "passed", commit: { subject: `feat: ${title}`, paths: stateFiles, work: true } };
      if (attempt.status === "interrupted") return { status: "open" };
      return { status: isOver(attempt) ? "parked" : "open", reason: reasonOf(attempt) };
    },
    passed: async () => passedOf(await all()),
    async reopen(ids, reason) {
      await write(ids, false);
      if (stateFiles.length === 0) return { status: "open", reason };
      const commit = { subject: "ralph: sent back by the final check", paths: stateFiles, work: false };
      return { status: "open", reason, commit };
    },
  };
}

/** An entry of a store as an item, with its checks. */
export interface Listed<Entry> {
  readonly item: Item<Entry>;
  readonly checks: readonly Check[];
  readonly done: boolean;
}

/** The entries that are to be worked off. Pure. */
export function openOf<Entry>(
  list: readonly Listed<Entry>[],
  isGivenUp: (item: Item<Entry>) => boolean,
): readonly Listed<Entry>[] {
  return list.filter(({ item, done }) => !done && !isGivenUp(item));
}

/** The counts of a list. Pure. */
export function overviewOf<Entry>(list: readonly Listed<Entry>[], isGivenUp: (item: Item<Entry>) => boolean): Overview {
  const open = openOf(list, isGivenUp);
  const passed = list.filter(({ done }) => done).length;
  return {
    total: list.length,
    ids: list.map(({ item }) => item.id),
    passed,
    open: open.length,
    parked: list.length - passed - open.length,
    unchecked: open.filter(({ checks }) => checks.length === 0).map(({ item }) => item.id),
  };
}

/**
 * The entry of a list that is worked on next. Pure.
 *
 * @param startable picks those that may start now, in their order. @default all that are not in flight
 */
export function nextOf<Entry>(
  list: readonly Listed<Entry>[],
  { inFlight, parked }: LoopView & { readonly inFlight: readonly string[] },
  startable: (open: readonly Item<Entry>[]) => readonly Item<Entry>[] = (open) =>
    open.filter(({ id }) => !inFlight.includes(id)),
): Next<Entry> {
  const [item] = startable(openOf(list, (one) => isParked(one, parked)).map((open) => open.item));
  if (item !== undefined) return { status: "item", item };
  if (inFlight.length > 0) return { status: "waiting" };
  const left = list.filter(({ done }) => !done).map((open) => open.item.id);
  if (left.length === 0) return { status: "done" };
  const given = parked.filter(({ id }) => left.includes(id));
  return { status: "blocked", reasons: given.map(({ id, reason }) => `${id}: ${reason}`) };
}

/** The entries of a list that are done, for the final check. Pure. */
export function passedOf(list: readonly Listed<unknown>[]): readonly PassedItem[] {
  return list.filter(({ done }) => done).map(({ item: { id, title, fingerprint }, checks }) => ({
    id,
    title,
    ...(fingerprint === undefined ? {} : { fingerprint }),
    checks,
  }));
}

function listed<Entry>({ done, prompt, checks = [], ...given }: ListItem, data: Entry): Listed<Entry> {
  const named = checks.map((check): Check => typeof check === "string" ? { name: check, command: check } : check);
  const fingerprint = fingerprintOf([given.title, prompt ?? "", named.map(({ name, command }) => [name, command])]);
  const criteria = prompt === undefined ? {} : { criteria: [prompt] };
  return { item: { kind: "task", ...criteria, fingerprint, ...given, data }, checks: named, done };
}
