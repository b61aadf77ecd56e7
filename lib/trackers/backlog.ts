/**
 * The issues of a tracker as a backlog. Nothing of it is in the tree: text and checks are as the run read them first,
 * attempts are in the journal, claims on the remote, and news for the tracker waits in the outbox.
 *
 * @module
 */
import { failureOf } from "../backlog/attempts.ts";
import type { Backlog } from "../backlog/types.ts";
import type { RalphContext } from "../context/context.ts";
import { claimedOf, openDesk, WORKING } from "./desk.ts";
import { checksOf, countsOf, type Entry, standingsOf } from "./queue.ts";
import { type IssueData, promptOf } from "./trust.ts";
import { ISSUES, type Tracker, trackerKey } from "./types.ts";

/** Variables that hold a tracker's token, empty: nothing that an agent writes is given them. */
export const TOKENS = { GH_TOKEN: "", GITHUB_TOKEN: "", LINEAR_API_KEY: "" };

/** The parts of the backlog that need nothing but the entries. */
export function issueParts(
  tracker: Pick<Tracker, "name" | "project">,
  { entries, shared }: { readonly entries: () => Promise<readonly Entry[]>; readonly shared: readonly string[] },
): Pick<Backlog<IssueData>, "concurrent" | "name" | "overview" | "scope" | "stateFiles" | "unverified" | "work"> {
  return {
    name: ISSUES,
    scope: trackerKey(tracker),
    stateFiles: [],
    unverified: "block",
    concurrent: true,
    async overview(view) {
      const standings = standingsOf(await entries(), view);
      const isUnchecked = ({ item }: Entry): boolean => checksOf(item.data, shared).length === 0;
      const unchecked = [...standings.ready, ...standings.later].filter(isUnchecked).map(({ item }) => item.id);
      return { ...countsOf(standings), unchecked };
    },
    async work({ data }, { nonce, previous }) {
      const failure = previous === null ? null : failureOf(previous);
      return { prompt: promptOf(data, { nonce, failure }), checks: checksOf(data, shared), environment: TOKENS };
    },
  };
}

/** A backlog that keeps claims while it is open. */
export interface TrackerBacklog extends Backlog<IssueData>, AsyncDisposable {
  /** Reads what has changed, with its text as it is now, and tells whether there is something to do. */
  hasWork(): Promise<boolean>;
}

/**
 * Opens the issues of a tracker to work them off. Dispose it: that lets go of what has not ended.
 *
 * @throws {RalphError} tracker-unreachable, tracker-refused, tracker-login, not-a-repository
 */
export async function trackerBacklog(ralph: RalphContext, tracker: Tracker): Promise<TrackerBacklog> {
  const desk = await openDesk(ralph, tracker);
  const shared = ralph.config.verify.default;
  return {
    ...issueParts(tracker, { entries: () => desk.entries(), shared }),
    ...tracker.files === undefined ? {} : { ownFiles: tracker.files },
    brief: async () => ({ goal: `issues ${ralph.config.tracker.label} of ${tracker.project}`, branch: desk.branch }),
    next: (view) => desk.next(view),
    settle: (item, attempt) => desk.settle(item, attempt),
    passed: async ({ passed = [] }) =>
      passed.filter(({ closed, kind }) => closed !== true && kind === "issue")
        .map(({ id, fingerprint, checks }) => ({
          id,
          title: id,
          checks,
          ...fingerprint === null ? {} : { fingerprint },
        })),
    async reopen(ids, reason) {
      for (const id of ids) await desk.tell({ id, asks: desk.asks(id) }, "working", WORKING);
      return { status: "open", reason };
    },
    async record(milestone) {
      if (milestone.type === "item-began") await desk.tell(claimedOf(milestone.item), "working", WORKING);
      if (milestone.type === "item-committed") await desk.propose(milestone.item, milestone.commit);
    },
    hasWork: () => desk.hasWork(),
    [Symbol.asyncDispose]: () => desk[Symbol.asyncDispose](),
  };
}
