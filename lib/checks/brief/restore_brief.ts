import type { Brief, BriefChange } from "./types.ts";

/** Compares, and restores what differs. @returns what was restored */
export async function restoreBrief(brief: Brief): Promise<readonly BriefChange[]> {
  const changes = await brief.compare();
  return changes.length === 0 ? [] : await brief.restore(changes);
}
