import type { Look } from "../../../cli/look.ts";
import { itemLines, type NextView, withoutItem } from "../../../cli/next_view.ts";
import type { FeatureStory } from "../types.ts";
import { checkNames, viewFeature } from "./view.ts";

/** What the next iteration would take of a feature. */
export async function featureNext(look: Look): Promise<NextView> {
  const { config, style } = look;
  const { backlog, feature: { name: feature } } = await viewFeature(look, look.scope);
  const next = await backlog.next({ inFlight: [], parked: [] });
  if (next.status !== "item") {
    const done = next.status === "done" ? next.summary ?? "every story passes" : "";
    const view = withoutItem(next, { done, retry: `ralph run ${feature} --retry-blocked` });
    return { ...view, data: { feature, ...next } };
  }
  const { id, kind, title } = next.item;
  const data = { feature, status: "item", id, kind, title };
  if (kind !== "story") {
    const item = [`every story passes; next: the final verification (\`ralph run ${feature}\`)`];
    return { blocked: false, data, item };
  }
  const story = next.item.data as FeatureStory;
  const { acceptanceCriteria, tags, retries } = story;
  const checks = checkNames(story, config);
  return {
    blocked: false,
    data: { ...data, acceptanceCriteria, tags, retries, checks },
    item: itemLines({ id, title, criteria: acceptanceCriteria, checks }, style),
  };
}
