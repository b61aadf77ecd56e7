import type { Attempt, Backlog, Item, LoopView, Next, Turn } from "../backlog/types.ts";

/** A backlog under test, and how to begin anew. */
export interface BacklogContract<Data, Findings> {
  /** A fresh store with at least one open item, and the backlog on it. Opened again, it must read the same store. */
  open(): Promise<{
    readonly backlog: Backlog<Data, Findings>;
    /** The same store, read by a backlog made anew: as after a kill. Absent: the store is lost with the process. */
    readonly reopen?: () => Promise<Backlog<Data, Findings>>;
    /** The store's content, to be compared. */
    readonly snapshot: () => Promise<string>;
    /** Absolute path of the working tree. @default "." */
    readonly cwd?: string;
  }>;
}

/** One thing that every backlog owes, to be run by the test runner of your choice. Throws when it is not kept. */
export interface ContractCase {
  readonly name: string;
  run(): Promise<void>;
}

const VIEW: LoopView = { parked: [] };
const USAGE = {
  inputTokens: null,
  outputTokens: null,
  cachedTokens: null,
  reasoningTokens: null,
  costUsd: null,
  estimated: false,
};

/**
 * What the loop relies on, as test cases: items and attempts go through JSON, `begin` and `settle` are called twice, a
 * kill falls between any two calls.
 *
 * @example Run it with vitest
 * ```ts
 * import { memoryBacklog } from "ralph";
 * import { backlogContract } from "ralph/testing";
 *
 * const cases = backlogContract({
 *   async open() {
 *     const backlog = memoryBacklog([{ id: "a", title: "a", checks: ["true"] }]);
 *     return { backlog, snapshot: async () => JSON.stringify(await backlog.overview({ parked: [] })) };
 *   },
 * });
 * for (const { run } of cases) await run();
 * ```
 */
export function backlogContract<Data, Findings>(contract: BacklogContract<Data, Findings>): readonly ContractCase[] {
  const settledTwice = (status: "verified" | "failed" | "interrupted"): ContractCase => ({
    name: `settle() of a ${status} attempt, called twice, leaves what one call leaves and answers the same`,
    async run() {
      const { backlog, snapshot } = await contract.open();
      const item = await firstItem(backlog);
      await backlog.begin?.(item, "run.1");
      const attempt = wired(attemptOf<Findings>(status));
      const first = await backlog.settle(item, attempt);
      const once = await snapshot();
      const second = await backlog.settle(wired(item), wired(attempt));
      same(await snapshot(), once, "the store after the second settle()");
      same(second.status, first.status, "the second settlement");
    },
  });
  return [
    settledTwice("verified"),
    settledTwice("failed"),
    settledTwice("interrupted"),
    {
      name: "items are plain JSON, and work() answers the same for an item that went through it",
      async run() {
        const { backlog, cwd = "." } = await contract.open();
        const item = await firstItem(backlog);
        same(JSON.stringify(wired(item)), JSON.stringify(item), "the item");
        const context = { cwd, attempt: 1, previous: null, last: null, nonce: "k3f9ab", claims: [] };
        const [direct, sent] = [await backlog.work(item, context), await backlog.work(wired(item), context)];
        same(JSON.stringify(sent), JSON.stringify(direct), "the work");
      },
    },
    {
      name: "next() changes nothing and answers the same again",
      async run() {
        const { backlog, snapshot } = await contract.open();
        const before = await snapshot();
        const [first, second] = [await firstItem(backlog), await firstItem(backlog)];
        same(second.id, first.id, "the second item");
        same(await snapshot(), before, "the store");
      },
    },
    {
      name: "next() never gives an item that is in flight",
      async run() {
        const { backlog } = await contract.open();
        const inFlight: string[] = [];
        for (let next: Next<Data> = await backlog.next({ ...VIEW, inFlight }); next.status === "item";) {
          if (inFlight.includes(next.item.id)) throw new Error(`${next.item.id} was given although it is in flight`);
          inFlight.push(next.item.id);
          next = await backlog.next({ ...VIEW, inFlight });
        }
      },
    },
    {
      name: "begin() called twice leaves what one call leaves",
      async run() {
        const { backlog, snapshot } = await contract.open();
        const item = await firstItem(backlog);
        await backlog.begin?.(item, "run.1");
        const once = await snapshot();
        await backlog.begin?.(wired(item), "run.1");
        same(await snapshot(), once, "the store after the second begin()");
      },
    },
    {
      name: "an interrupted attempt leaves the item open: next() gives it again",
      async run() {
        const { backlog, reopen } = await contract.open();
        const item = await firstItem(backlog);
        await backlog.begin?.(item, "run.1");
        const after = await reopen?.() ?? backlog; // killed here
        const { status } = await after.settle(wired(item), wired(attemptOf<Findings>("interrupted")));
        same(status, "open", "the settlement");
        same((await firstItem(after)).id, item.id, "the next item");
      },
    },
    {
      name: "a pass is taken back when the same attempt is settled as failed: its commit was refused",
      async run() {
        const { backlog } = await contract.open();
        const item = await firstItem(backlog);
        await backlog.begin?.(item, "run.1");
        await backlog.settle(item, attemptOf<Findings>("verified"));
        await backlog.settle(item, attemptOf<Findings>("failed"));
        same((await firstItem(backlog)).id, item.id, "the next item");
      },
    },
    {
      name: "a verified item is not given again, and overview() counts it",
      async run() {
        const { backlog, reopen } = await contract.open();
        const item = await firstItem(backlog);
        const before = await backlog.overview(VIEW);
        await backlog.begin?.(item, "run.1");
        await backlog.settle(item, attemptOf<Findings>("verified"));
        const after = await reopen?.() ?? backlog;
        const next = await after.next({ ...VIEW, inFlight: [] });
        if (next.status === "item") different(next.item.id, item.id, "the next item");
        if (item.checksOnly !== true && before.total !== null) {
          same((await after.overview(VIEW)).passed, before.passed + 1, "overview().passed");
        }
      },
    },
    {
      name: "judge() answers for a turn that said nothing",
      async run() {
        const { backlog, cwd = "." } = await contract.open();
        const item = await firstItem(backlog);
        const context = { cwd, attempt: 1, previous: null, last: null, nonce: "k3f9ab", claims: [], checked: false };
        await backlog.judge?.(item, SILENT_TURN, context);
      },
    },
  ];
}

const SILENT_TURN: Turn = {
  end: { reason: "completed" },
  text: "",
  lines: [],
  usage: USAGE,
  transcript: "",
  durationMs: 0,
  changedFiles: [],
  base: null,
  head: null,
};

async function firstItem<Data, Findings>(backlog: Backlog<Data, Findings>): Promise<Item<Data>> {
  const next = await backlog.next({ ...VIEW, inFlight: [] });
  if (next.status !== "item") throw new Error(`next() must give an item (got: ${next.status})`);
  return next.item;
}

function attemptOf<Findings>(status: "verified" | "failed" | "interrupted"): Attempt<Findings> {
  const { text: _text, lines: _lines, ...turn } = SILENT_TURN;
  const result = {
    name: "check",
    scope: "",
    ok: status === "verified",
    exitCode: status === "verified" ? 0 : 1,
    tail: "tail",
    durationMs: 1,
  };
  const known = { id: "run.1", number: 1, claim: { status: "done" }, turn } as const;
  switch (status) {
    case "verified":
      return { ...known, status, verification: { status: "passed", results: [result] } };
    case "failed": {
      const verification = { status: "failed", results: [result], failures: [result] } as const;
      return { ...known, status, reason: "checks-failed", message: "check: exit 1", verification };
    }
    case "interrupted":
      return { ...known, claim: null, turn: null, status, verification: null };
  }
}

function wired<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}

function same(found: unknown, expected: unknown, what: string): void {
  if (found !== expected) throw new Error(`${what} must be ${String(expected)} (got: ${String(found)})`);
}

function different(found: unknown, other: unknown, what: string): void {
  if (found === other) throw new Error(`${what} must not be ${String(other)} again`);
}
