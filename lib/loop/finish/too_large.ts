import type { JournalKey } from "../../backlog/journal_types.ts";
import { kindOf, testsBy } from "../../checks/experiment/product.ts";
import type { RalphContext } from "../../context/context.ts";
import { requireRepository, topLevelPaths } from "../../git/repository.ts";
import { words } from "../../host/data.ts";
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
  const files = {
    isTest: testsBy(ralph.config.tests.globs),
    commands: [],
    published: new Set<string>(),
    isSubject: () => false,
  };
  const records = ralph.journal.passed(key).filter(({ id, since, commit }) =>
    passed.includes(id) && since !== undefined && commit !== null
  );
  if (records.length === 0) return [];
  const arguments_ = words("-c core.quotePath=false diff-tree --stdin --always --numstat -r --no-renames");
  const input = records.map(({ since, commit }) => `${commit} ${since}\n`).join(""); // one process, however many items
  const { stdout } = await requireRepository(ralph).git(arguments_, { input });
  const parts = stdout.split(/^[\da-f]{40,64}\n/m).slice(1);
  const large = records.flatMap(({ id }, index) => {
    const changed = new Set(topLevelPaths(ralph, items.find((item) => item.id === id)?.changed ?? []));
    const lines = (parts[index] ?? "").split("\n").map((row) => row.split("\t"))
      .filter(([, , path = ""]) => changed.has(path) && kindOf(path, files) === "product")
      .reduce((sum, [added, removed]) => sum + (Number(added) || 0) + (Number(removed) || 0), 0);
    return lines > MOST_LINES ? [`${id} (${lines})`] : [];
  });
  if (large.length === 0) return [];
  const message = `more than ${MOST_LINES} changed lines of the product: what cannot be reviewed is two items`;
  return [{ kind: "too-large", subject: large.join(", "), message }];
}
