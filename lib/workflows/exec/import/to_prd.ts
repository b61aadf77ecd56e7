import { isPlainBranchName } from "../../../git/switch_branch.ts";
import type { Prd, Story } from "../types.ts";
import type { ExternalItem, ExternalPlan } from "./external_plan.ts";
import { onOneLine } from "../../../prompts/render.ts";
import { inDependencyOrder } from "../../dependencies.ts";

/** Between the parts of a story's notes. */
const PARAGRAPH = "\n\n";

/**
 * A plan as a PRD. A PRD knows no dependencies: its priorities say the order, in which each story comes after those that
 * it depends on. Stories that are done stay so. Pure.
 */
export function toPrd(plan: ExternalPlan): Prd {
  const byPriority = withIds(plan.items).toSorted((one, other) => rank(one) - rank(other));
  const userStories = inDependencyOrder(byPriority).map((item, index) => storyOf(item, index + 1));
  return { branchName: branchOf(plan), userStories };
}

/** The file's own ids, made different where one is used twice or missing. */
function withIds(items: readonly ExternalItem[]): readonly ExternalItem[] {
  const used = new Set(items.map(({ id }) => id));
  const seen = new Set<string>();
  return items.map((item, index) => {
    let { id } = item;
    for (let number = id === "" ? index + 1 : 2; id === "" || seen.has(id); number++) {
      const next = item.id === "" ? `US-${String(number).padStart(3, "0")}` : `${item.id}-${number}`;
      id = used.has(next) ? "" : next;
    }
    seen.add(id);
    used.add(id);
    return { ...item, id };
  });
}

function rank({ priority }: ExternalItem): number {
  return priority ?? Number.MAX_SAFE_INTEGER;
}

function storyOf({ id, title, criteria, notes, done }: ExternalItem, priority: number): Story {
  const acceptanceCriteria = criteria.length === 0 ? [title] : criteria;
  return { id, title, acceptanceCriteria, priority, passes: done, notes: notes.join(PARAGRAPH) };
}

function branchOf({ branch, title, tool }: ExternalPlan): string {
  if (branch !== null && isPlainBranchName(branch)) return branch;
  const slug = onOneLine(branch ?? title).toLowerCase().replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-+|-+$/g, "");
  const word = slug === "" ? tool.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-") : slug.slice(0, 60).replace(/-+$/, "");
  return `ralph/${word}`;
}
