import { failureOf, fingerprintOf, isOver, isParked, reasonOf } from "./attempts.ts";
import { howToEnd } from "./signals.ts";
import type { Backlog, BacklogPolicy, Check, Item, PassedItem } from "./types.ts";

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
  const all = async (): Promise<readonly (Listed<Entry> & { readonly done: boolean })[]> =>
    (await read()).map((entry) => ({ ...listed(itemOf(entry), entry), done: itemOf(entry).done }));
  return {
    name,
    ...(scope === undefined ? {} : { scope }),
    stateFiles,
    unverified: "block",
    concurrent: true,
    ...(policy === undefined ? {} : { policy }),
    async overview({ parked }) {
      const items = await all();
      const left = items.filter(({ done }) => !done);
      const open = left.filter(({ item }) => !isParked(item, parked));
      return {
        total: items.length,
        passed: items.length - left.length,
        open: open.length,
        parked: left.length - open.length,
        unchecked: open.filter(({ checks }) => checks.length === 0).map(({ item }) => item.id),
      };
    },
    async next({ inFlight, parked }) {
      const left = (await all()).filter(({ done }) => !done).map(({ item }) => item);
      const item = left.find((one) => !inFlight.includes(one.id) && !isParked(one, parked));
      if (item !== undefined) return { status: "item", item };
      if (left.some(({ id }) => inFlight.includes(id))) return { status: "waiting" };
      if (left.length > 0) return { status: "blocked", reasons: parked.map(({ id, reason }) => `${id}: ${reason}`) };
      return { status: "done" };
    },
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
    passed: async () => (await all()).filter(({ done }) => done).map(({ item, checks }) => passedOf(item, checks)),
    async reopen(ids, reason) {
      await write(ids, false);
      if (stateFiles.length === 0) return { status: "open", reason };
      const commit = { subject: "ralph: sent back by the final check", paths: stateFiles, work: false };
      return { status: "open", reason, commit };
    },
  };
}

interface Listed<Entry> {
  readonly item: Item<Entry>;
  readonly checks: readonly Check[];
}

function listed<Entry>({ done: _, prompt, checks = [], ...given }: ListItem, data: Entry): Listed<Entry> {
  const named = checks.map((check): Check => typeof check === "string" ? { name: check, command: check } : check);
  const fingerprint = fingerprintOf([given.title, prompt ?? "", named.map(({ name, command }) => [name, command])]);
  const criteria = prompt === undefined ? {} : { criteria: [prompt] };
  return { item: { kind: "task", ...criteria, fingerprint, ...given, data }, checks: named };
}

function passedOf({ id, title, fingerprint }: Item, checks: readonly Check[]): PassedItem {
  return { id, title, ...(fingerprint === undefined ? {} : { fingerprint }), checks };
}
