import { withDefaults } from "../format.ts";
import type { FeaturePrd, FeatureStory } from "../types.ts";
import { validateFeaturePrd } from "../validate.ts";

/** A draft of the agent's: what can be used of it, or what is wrong. */
export type ReadDraft =
  | { readonly status: "valid"; readonly prd: FeaturePrd }
  | { readonly status: "invalid"; readonly problems: readonly string[] };

/** Reads a draft of prd.json: JSON, or an answer with JSON in a code fence. Pure. */
export function readDraft(text: string): ReadDraft {
  const fenced = [...text.matchAll(/^[ \t]*(`{3,}|~{3,})[^\n]*\n([\s\S]*?)^[ \t]*\1/gm)].map((match) => match[2] ?? "");
  const candidates = [text, ...fenced.toReversed(), text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1)];
  for (const candidate of candidates) {
    const data = tryJson(candidate);
    if (data === undefined) continue;
    const problems = validateFeaturePrd(data);
    return problems.length > 0
      ? { status: "invalid", problems }
      : { status: "valid", prd: withDefaults(data as Partial<FeaturePrd>) };
  }
  return { status: "invalid", problems: ["no JSON object was found: neither in the file nor in the answer"] };
}

function tryJson(text: string): unknown {
  try {
    const data: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
    return typeof data === "object" ? data : undefined;
  } catch {
    return undefined; // the next candidate may be JSON
  }
}

/**
 * A draft with Ralph's own fields as Ralph has them: fresh, or those of the story with the same id and criteria. Pure.
 *
 * @param before what is in prd.json, or `null`
 */
export function withOwnState(draft: FeaturePrd, before: FeaturePrd | null, prdSha256: string): FeaturePrd {
  const stories = draft.userStories.map((story): FeatureStory => {
    const same = before?.userStories.find((one) => one.id === story.id && sameCriteria(one, story));
    const { passes = false, retries = 0, blocked = false, lastResult = null, notes = "" } = same ?? {};
    return { ...story, passes, retries, blocked, lastResult, notes };
  });
  const kept = before?.run ?? { startedAt: null, currentStoryId: null, learnings: [] };
  const current = stories.some(({ id, passes }) => id === kept.currentStoryId && !passes) ? kept.currentStoryId : null;
  const { verifiedAt: _, ...run } = kept;
  const allSame = before !== null && stories.length === before.userStories.length &&
    stories.every(({ passes }) => passes);
  return {
    ...draft,
    schemaVersion: 2,
    run: allSame ? kept : { ...run, currentStoryId: current },
    userStories: stories,
    prdSha256,
  };
}

function sameCriteria(one: FeatureStory, other: FeatureStory): boolean {
  return JSON.stringify(one.acceptanceCriteria) === JSON.stringify(other.acceptanceCriteria);
}
