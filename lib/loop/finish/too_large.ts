import picomatch from "picomatch";
import type { JournalKey } from "../../backlog/journal_types.ts";
import { kindOf } from "../../checks/experiment/product.ts";
import type { RalphContext } from "../../context/context.ts";
import { numstat } from "../../git/branch_work.ts";
import { requireRepository } from "../../git/require_repository.ts";
import { topLevelPaths } from "../../git/tree_paths.ts";
import type { Notice } from "../policy/progress.ts";

/** Nobody reviews more changed lines of the product than these at once. */
const MOST_LINES = 600;

/** Items of this run whose work is too large to be reviewed, in one notice. @param passed their ids */
export async function tooLarge(
  ralph: RalphContext,
  key: JournalKey,
  passed: readonly string[],
): Promise<readonly Notice[]> {
  const { items } = ralph.journal.judging(key);
  const { globs } = ralph.config.tests;
  const files = {
    isTest: picomatch([...globs], { dot: true }),
    commands: [],
    published: new Set<string>(),
    isSubject: () => false,
  };
  const large: string[] = [];
  for (const { id, since, commit } of ralph.journal.passed(key)) {
    const changed = new Set(topLevelPaths(ralph, items.find((item) => item.id === id)?.changed ?? []));
    if (commit === null || since === undefined || changed.size === 0 || !passed.includes(id)) continue;
    const lines = (await numstat(requireRepository(ralph), [since, commit], []))
      .filter(({ path }) => changed.has(path) && kindOf(path, files) === "product")
      .reduce((sum, { added, removed }) => sum + added + removed, 0);
    if (lines > MOST_LINES) large.push(`${id} (${lines})`);
  }
  if (large.length === 0) return [];
  const message = `more than ${MOST_LINES} changed lines of the product: what cannot be reviewed is two items`;
  return [{ kind: "too-large", subject: large.join(", "), message }];
}
