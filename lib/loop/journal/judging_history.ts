import picomatch from "picomatch";
import { mayChangeTests } from "../../backlog/changes_tests.ts";
import type { JudgedItem, JudgingHistory, OpenItem } from "../../backlog/journal_types.ts";
import type { Attempt, Item } from "../../backlog/types.ts";

/** The history, and where the last run ended in order; `null` while one is under way or was killed. */
export interface Judging extends JudgingHistory {
  readonly end: string | null;
  /** An attempt has begun: `base` is known, also where it is `null`. */
  readonly begun: boolean;
}

/** Nothing was attempted since a run last passed. */
export const NOT_ATTEMPTED: Judging = { base: null, steps: [], items: [], end: null, begun: false };

/** An attempt begins at a commit. Changes since the last run ended in order are a person's work. Pure. */
export function begunAt(judging: Judging, head: string | null): Judging {
  if (!judging.begun) return { ...judging, base: head, begun: true };
  const { end, steps } = judging;
  if (end === null || head === null || end === head) return { ...judging, end: null };
  return { ...judging, end: null, steps: [...steps, { from: end, to: head }] };
}

/**
 * An attempt was settled; `commit`: the one at which its item passed. The changes that the item was allowed are old
 * then. Pure.
 */
export function attempted(
  judging: Judging,
  { item, attempt }: Pick<OpenItem, "item" | "attempt">,
  commit: string | null,
): Judging {
  const known = judging.items.find(({ id }) => id === item.id);
  const now = { ...judgedItem(item, attempt, known), ...commit === null ? {} : { passed: commit } };
  const items = [...judging.items.filter(({ id }) => id !== item.id), now];
  const { base, steps } = judging;
  const mayChange = picomatch([...mayChangeTests(item)], { dot: true });
  const globs = commit === null || base === null ? [] : now.changed.filter((path) => mayChange(path)).map(literal);
  if (commit === null || base === null || globs.length === 0) return { ...judging, items };
  const left = items.map((one) => ({ ...one, changed: one.changed.filter((path) => !mayChange(path)) }));
  return { ...judging, items: left, steps: [...steps, { from: base, to: commit, globs }] };
}

/** A run ended in order without having passed. Pure. */
export function runEndedAt(judging: Judging, head: string | null): Judging {
  return judging.begun ? { ...judging, end: head } : judging;
}

/** An item as the history has it, with what one more attempt changed. Pure. */
export function judgedItem(item: Item, attempt: Pick<Attempt, "turn"> | null, known?: JudgedItem): JudgedItem {
  const { id, title, criteria = [] } = item;
  const passed = known?.passed === undefined ? {} : { passed: known.passed };
  const changed = [...new Set([...known?.changed ?? [], ...attempt?.turn?.changedFiles ?? []])];
  return { id, text: item.isAdded === true ? "" : [title, ...criteria].join("\n"), changed, ...passed };
}

function literal(path: string): string {
  return path.replaceAll(/[\\*?[\]{}()!+@|]/g, "\\$&");
}
