import { RalphError } from "../errors/ralph_error.ts";
import { standingOf } from "../trackers/trust.ts";
import type { Issue, Tracker } from "../trackers/types.ts";
import { type ContractCase, must } from "./contract/bench.ts";

/** A fresh tracker. Disposed after the case. */
export interface OpenedTracker extends Partial<AsyncDisposable> {
  readonly tracker: Tracker;
  /**
   * Two open issues with the label `ralph`, the second of which waits for the first, each last edited by someone who may
   * write; one more without the label.
   */
  readonly ids: readonly [first: string, second: string, other: string];
  /** The comments of an issue, as its host has them. */
  comments(id: string): Promise<readonly string[]>;
  /** Closes an issue, as a person does. */
  close(id: string): Promise<void>;
  /** Changes an issue's text as someone who may not write. Absent: the host has nobody like that. */
  editAsStranger?(id: string): Promise<void>;
}

/** A tracker's contract. */
export interface TrackerContract {
  open(): Promise<OpenedTracker>;
}

type Rule = (opened: OpenedTracker, known: { readonly first: Issue; readonly second: Issue }) => Promise<void>;

const LABEL = "ralph";
const MARK = "<!-- ralph:contract:1 -->";

const RULES: Readonly<Record<string, Rule>> = {
  async "an issue is plain JSON, with an id, a text and a time"(_opened, { first }) {
    must(JSON.stringify(JSON.parse(JSON.stringify(first))) === JSON.stringify(first), "it is not plain JSON");
    must(first.id !== "" && first.title !== "", "it has no id or no title");
    must(!Number.isNaN(Date.parse(first.updatedAt)), `updatedAt is no time: ${first.updatedAt}`);
    must(first.isOpen && first.labels.includes(LABEL), "an open issue with the label is called something else");
  },
  async "the order is in waitsFor, and names open issues only"({ tracker, close }, { first, second }) {
    must(second.waitsFor.includes(first.id), `${second.id} waits for ${first.id}, and waitsFor does not say so`);
    await close(first.id);
    const [again] = await tracker.list({ label: LABEL, id: second.id });
    must(again?.waitsFor.length === 0, "waitsFor names an issue that is closed");
  },
  async "a closed issue is off the list, and found by its id"({ tracker, close }, { first }) {
    await close(first.id);
    const listed = await tracker.list({ label: LABEL });
    must(!listed.some(({ id }) => id === first.id), "list() gives an issue that is closed");
    const [closed] = await tracker.list({ label: LABEL, id: first.id });
    must(closed?.isOpen === false, "list({ id }) does not give an issue that is closed, or calls it open");
  },
  async "an id that is not there is an empty list"({ tracker }, { first }) {
    const gone = first.id.replace(/\d+$/, "") + "987654";
    must((await tracker.list({ label: LABEL, id: gone })).length === 0, "list({ id }) gives something for no issue");
  },
  async "since gives all that changed, whatever its state"({ tracker, close }, { first, second }) {
    await close(first.id);
    const found = await tracker.list({ label: LABEL, since: second.updatedAt });
    must(found.some(({ id, isOpen }) => id === first.id && !isOpen), "an issue that was closed since is not given");
  },
  async "one comment for a marker: changed, not added"({ tracker, comments }, { first }) {
    await tracker.comment(first.id, MARK, "one");
    await tracker.comment(first.id, MARK, "one");
    must((await comments(first.id)).length === 1, "the same words are there twice");
    await tracker.comment(first.id, MARK, "two");
    must((await comments(first.id)).at(-1)?.includes("two") === true, "the newest words are not there");
  },
  async "every state may be set twice, and none closes the issue"({ tracker }, { first }) {
    for (const state of ["working", "working", "review", "blocked", "review", "open", "open"] as const) {
      await tracker.state(first.id, state);
      const [now] = await tracker.list({ label: LABEL, id: first.id });
      must(now?.isOpen === true && now.labels.includes(LABEL), `the state ${state} closes it, or takes its label`);
    }
  },
  async "an issue that is gone is no crash"({ tracker }, { first }) {
    const gone = first.id.replace(/\d+$/, "") + "987654";
    try {
      await tracker.comment(gone, MARK, "words");
      await tracker.state(gone, "review");
    } catch (error) {
      must(RalphError.isInstance(error) && error.code.startsWith("tracker-"), `it throws ${String(error)}`);
    }
  },
  async "someone who may write is known as such; anyone else is a stranger"({ tracker, editAsStranger }, { first }) {
    must(standingOf(first) === "own", "the last editor may write, and `edits` does not say so");
    if (editAsStranger === undefined) return;
    await editAsStranger(first.id);
    const [now] = await tracker.list({ label: LABEL, id: first.id });
    must(
      now !== undefined && standingOf(now) === "strange",
      "a stranger edited it last, and is taken for someone who may write",
    );
  },
};

/**
 * The promises of a tracker, as test cases.
 *
 * @example Run it with a test runner
 * ```ts
 * import { trackerContract, type TrackerContract } from "ralph/testing";
 *
 * const run = async (contract: TrackerContract): Promise<void> => {
 *   for (const { run } of trackerContract(contract)) await run();
 * };
 * console.log(typeof run); // function
 * ```
 */
export function trackerContract(contract: TrackerContract): readonly ContractCase[] {
  return Object.entries(RULES).map(([name, rule]) => ({
    name,
    async run() {
      const opened = await contract.open();
      try {
        const [firstId, secondId, otherId] = opened.ids;
        const listed = await opened.tracker.list({ label: LABEL });
        must(!listed.some(({ id }) => id === otherId), "list() gives an issue without the label");
        const [first, second] = [firstId, secondId].map((wanted) => listed.find(({ id }) => id === wanted));
        must(first !== undefined && second !== undefined, "list() does not give the two issues with the label");
        await rule(opened, { first, second });
      } finally {
        await opened[Symbol.asyncDispose]?.();
      }
    },
  }));
}
