import type { Check, CheckResult } from "../../backlog/types.ts";
import { withFailure } from "../../backlog/notes.ts";
import type { Story } from "./types.ts";

/** All stories' checks, each command once; its scope names every story that asks for it. Pure. */
export function finalChecks(
  stories: readonly Story[],
  checksOf: (story: Story) => readonly Check[],
): readonly Check[] {
  const byName = new Map<string, { check: Check; readonly ids: string[] }>();
  for (const story of stories.toSorted((one, other) => one.priority - other.priority)) {
    for (const check of checksOf(story)) {
      const known = byName.get(check.name);
      if (known === undefined) byName.set(check.name, { check, ids: [story.id] });
      else known.ids.push(story.id);
    }
  }
  return [...byName.values()].map(({ check, ids }) => ({ ...check, scope: ids.join(",") }));
}

/**
 * The stories whose checks fail now, open again, with the failure in their notes. A check that several stories share
 * opens the last of them: one turn is enough to fix it. Pure.
 */
export function reopened(stories: readonly Story[], failures: readonly CheckResult[]): ReadonlyMap<string, Story> {
  const open = new Map<string, Story>();
  for (const { name, scope, exitCode, tail } of failures) {
    const id = scope.split(",").at(-1) ?? "";
    const story = open.get(id) ?? stories.find((one) => one.id === id);
    if (story === undefined) continue;
    const failure = `${name} fails at the end: exit ${exitCode ?? "unknown"}\n${tail}`;
    open.set(id, { ...story, passes: false, notes: withFailure(story.notes, failure) });
  }
  return open;
}
