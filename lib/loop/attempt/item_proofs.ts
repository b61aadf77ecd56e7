import picomatch from "picomatch";
import type { JournalKey, JudgingHistory } from "../../backlog/journal_types.ts";
import type { Check, PassedRecord } from "../../backlog/types.ts";
import type { Evidence } from "../../checks/experiment/experiments.ts";
import { mayBeTest } from "../../checks/experiment/product.ts";
import type { RalphContext } from "../../context/context.ts";

/** An item that passed, between the commit before its first attempt and its own. */
export interface ProvableItem {
  readonly id: string;
  readonly kind: string;
  readonly head: string;
  readonly history: JudgingHistory;
  readonly checks: readonly Check[];
  /** Tells whether its turns changed a path; the files of other items are none of its work. */
  readonly isChanged: (path: string) => boolean;
}

/**
 * Items of this run that came with a test and have a commit of their own, with those of their checks that a checkout can
 * make.
 */
export function provableItems(
  { config, journal }: Pick<RalphContext, "config" | "journal">,
  { key, history, passed, checks }: {
    readonly key: JournalKey;
    readonly history: JudgingHistory;
    /** Ids of what passed in this run. */
    readonly passed: readonly string[];
    readonly checks: readonly Check[];
  },
): readonly ProvableItem[] {
  const known = new Set(checks.map(({ command }) => command));
  const isTest = picomatch([...config.tests.globs], { dot: true });
  return journal.passed(key).filter(({ id }) => passed.includes(id)).flatMap((record: PassedRecord) => {
    const { id, kind, commit, since } = record;
    const own = record.checks.filter(({ command }) => known.has(command));
    const item = history.items.find((one) => one.id === id);
    if (commit === null || since === undefined || own.length === 0 || item === undefined) return [];
    if (!item.changed.some((path) => mayBeTest(path, isTest))) return [];
    const changed = new Set(item.changed);
    const range = { base: since, steps: [], items: [item] };
    return [{ id, kind, head: commit, history: range, checks: own, isChanged: (path) => changed.has(path) }];
  });
}

/** The proof of an item, in a line; `null` if there was nothing to try. Pure. */
export function proofText({ withoutWork, ownTests }: Evidence, oldJudges: Evidence["oldJudges"]): string | null {
  switch (withoutWork?.status) {
    case "red": {
      const agree = oldJudges?.status === "agree" || oldJudges?.status === "unchanged";
      const { seen, of } = ownTests ?? { seen: 0, of: 0 };
      return [
        "red without the work",
        ...agree ? ["the old checks agree"] : [],
        ...of === 0 ? [] : [`${seen} of ${of} canaries seen`],
      ].join("; ");
    }
    case "green":
      return "passes without the work";
    case "unknown":
      return `not tried without the work: ${withoutWork.reason}`;
    default:
      return null;
  }
}
