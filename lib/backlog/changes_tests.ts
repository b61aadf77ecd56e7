import type { Item } from "./item.ts";

const CHANGES_REGEXP = /(?<![\w-])Changes tests:[ \t]*((?:`[^`\n]+`[ \t,]*)+)/g;

/**
 * The globs of tests that an item may change, from criteria in the form ``Changes tests: `GLOB` ``. Several are
 * separated by commas. Only text that a person approved counts: the backlog decides which text that is.
 *
 * @example A criterion that permits one folder
 * ```ts
 * import { changesTests } from "ralph/backlog";
 *
 * console.log(changesTests(["Rounding is to even", "Changes tests: `test/round/**`"])); // [ "test/round/**" ]
 * ```
 */
export function changesTests(criteria: readonly string[]): readonly string[] {
  return criteria.flatMap((criterion) =>
    [...criterion.matchAll(CHANGES_REGEXP)].flatMap(([, globs = ""]) =>
      [...globs.matchAll(/`([^`]+)`/g)].map(([, glob = ""]) => glob.trim()).filter((glob) => glob !== "")
    )
  );
}

/** The globs of tests that an item may change. Pure. */
export function mayChangeTests({ changesTests: globs, criteria = [] }: Item): readonly string[] {
  return globs ?? changesTests(criteria);
}
