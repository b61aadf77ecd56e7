import type { Check } from "../../backlog/types.ts";
import type { Story } from "./types.ts";

/** All stories' checks, each command once; its scope names every story that asks for it. Pure. */
export function finalChecks(
  stories: readonly Story[],
  checksOf: (story: Story) => readonly Check[],
): readonly Check[] {
  const byName = new Map<string, { check: Check; readonly ids: string[] }>();
  for (const story of stories.toSorted((one, other) => one.priority - other.priority)) {
    for (const check of checksOf(story)) {
      const earlier = byName.get(check.name);
      if (earlier === undefined) byName.set(check.name, { check, ids: [story.id] });
      else earlier.ids.push(story.id);
    }
  }
  return [...byName.values()].map(({ check, ids }) => ({ ...check, scope: ids.join(",") }));
}
