import type { JournalKey } from "../../backlog/journal_types.ts";
import { kindOf, testsBy } from "../../checks/experiment/product.ts";
import type { RalphContext } from "../../context/context.ts";
import { requireRepository, topLevelPaths } from "../../git/repository.ts";
import { numstats } from "../../git/branch_work.ts";
import type { Notice } from "../policy/progress.ts";

/** Nobody reviews more changed lines of the product than these at once. */
const MOST_LINES = 600;

/**
 * Items of this run whose work is too large to be reviewed, in one notice.
 *
 * @param passed their ids @param whole the commits of the run, which are compared as well: git is asked once
 */
export async function tooLarge(
  ralph: RalphContext,
  key: JournalKey,
  passed: readonly string[],
  whole: { readonly from: string | null; readonly to: string | null },
): Promise<readonly Notice[]> {
  const { items } = ralph.journal.judging(key);
  const files = {
    isTest: testsBy(ralph.config.tests.globs),
    commands: [],
    published: new Set<string>(),
    isSubject: () => false,
  };
  const records = ralph.journal.passed(key).flatMap(({ id, since, commit }) =>
    passed.includes(id) && since !== undefined && commit !== null ? [{ id, from: since, to: commit }] : []
  );
  if (records.length === 0) return [];
  const pairs = [...records, whole].flatMap(({ from, to }) =>
    from === null || to === null ? [] : [[from, to] as const]
  );
  const rows = await numstats(requireRepository(ralph), pairs);
  const large = records.flatMap(({ id }, index) => {
    const changed = new Set(topLevelPaths(ralph, items.find((item) => item.id === id)?.changed ?? []));
    const lines = (rows[index] ?? []).filter(({ path }) => changed.has(path) && kindOf(path, files) === "product")
      .reduce((sum, { added, removed }) => sum + added + removed, 0);
    return lines > MOST_LINES ? [`${id} (${lines})`] : [];
  });
  if (large.length === 0) return [];
  const message = `more than ${MOST_LINES} changed lines of the product: what cannot be reviewed is two items`;
  return [{ kind: "too-large", subject: large.join(", "), message }];
}
