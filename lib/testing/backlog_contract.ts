import { refuseOldMembers } from "../backlog/old_members.ts";
import { openJournal } from "../loop/journal/journal.ts";
import {
  type BacklogContract,
  Bench,
  type ContractCase,
  type Open,
  type OpenedBacklog,
  type Rules,
} from "./contract/bench.ts";
import { COUNTING, OFFERING } from "./contract/offering.ts";
import { SETTLING, WRITING } from "./contract/settling.ts";

export type { BacklogContract, ContractCase, ContractStore, ContractTurn, OpenedBacklog } from "./contract/bench.ts";

const RULES: Rules = { ...OFFERING, ...SETTLING, ...COUNTING, ...WRITING };

/**
 * The promises that the loop relies on, as test cases: items and attempts go through JSON, `record` and `settle` are called twice, a
 * kill falls between any two calls, every end of an attempt is settled.
 *
 * @example Run it with vitest
 * ```ts
 * import { memoryBacklog } from "ralph";
 * import { backlogContract } from "ralph/testing";
 *
 * const cases = backlogContract({
 *   async open(store) {
 *     const checks = store === "checked" ? ["true"] : [];
 *     const backlog = memoryBacklog(["a", "b"].map((id) => ({ id, title: id, checks })));
 *     return { backlog, root: null, snapshot: async () => JSON.stringify(await backlog.overview({ parked: [] })) };
 *   },
 * });
 * for (const { run } of cases) await run();
 * ```
 */
export function backlogContract<Data, Findings>(contract: BacklogContract<Data, Findings>): readonly ContractCase[] {
  return Object.entries(RULES).map(([name, run]) => ({
    name,
    async run() {
      const opened: Partial<AsyncDisposable>[] = [];
      try {
        const open: Open = async (store = "checked") => {
          const one = await contract.open(store);
          opened.push(one);
          refuseOldMembers(one.backlog);
          return new Bench(one as OpenedBacklog<unknown, unknown>, await openJournal(null));
        };
        await run(await open(), open);
      } finally {
        for (const one of opened.toReversed()) await one[Symbol.asyncDispose]?.();
      }
    },
  }));
}
