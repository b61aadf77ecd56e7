import { join } from "node:path";
import type { RalphContext } from "../../context/context.ts";
import { changedScripts, holdsScripts } from "./check_scripts.ts";
import { type FileChange, weakenedTests } from "./weakened_tests.ts";
import { namedCheck } from "../named_check.ts";
import type { CheckLike } from "../types.ts";
import { requireRepository } from "../../git/require_repository.ts";
import { byTopLevelPath, type ItemStart, readFileStart } from "./item_start.ts";

/** More files than this are not looked into. */
const MOST_FILES = 500;

/**
 * How tests, and the scripts that checks run, were weakened since the item was taken up, a line a file. Git is asked
 * only where such a file was changed.
 */
export async function findWeakened(
  ralph: Pick<RalphContext, "config" | "repository" | "root">,
  start: ItemStart,
  checks: readonly CheckLike[],
): Promise<readonly string[]> {
  if (ralph.config.tests.integrity === "off") return [];
  const { isTest } = start;
  const paths = start.changedFiles.filter((path) => isTest(path) || holdsScripts(path));
  if (paths.length === 0) return [];

  const compared = byTopLevelPath(ralph, paths.slice(0, MOST_FILES));
  const old = start.since === null
    ? new Map<string, string | null>()
    : await requireRepository(ralph).contents(start.since, [...compared.values()]);
  const changes: FileChange[] = [];
  for (const [path, name] of compared) {
    const before = (start.own.has(path) ? start.own.get(path) : old.get(name)) ?? null;
    changes.push({ path, before, after: await readFileStart(join(ralph.root, path)) });
  }
  const left = paths.length - compared.size;
  return [
    ...changedScripts(
      checks.flatMap((check) => namedCheck(check)?.command ?? []),
      changes.filter(({ path }) => holdsScripts(path)),
    ),
    ...weakenedTests(changes.filter(({ path }) => !holdsScripts(path))),
    ...(left === 0 ? [] : [`${left} more test files were changed and not compared`]),
  ];
}
