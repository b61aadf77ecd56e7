import { storyCommands } from "../../../backlog/verify_commands.ts";
import { type Look, parkedIn } from "../../../cli/look.ts";
import { itemLines, type NextView, withoutItem } from "../../../cli/next_view.ts";
import { prdBacklog } from "../backlog.ts";
import type { Story } from "../types.ts";

/** What the next iteration would take of the PRD. */
export async function readNext(look: Look): Promise<NextView> {
  const { config, style } = look;
  const backlog = prdBacklog(look);
  const parked = await parkedIn(look, backlog);
  const next = await backlog.next({ inFlight: [], parked });
  if (next.status !== "item") {
    const retry = parked.length > 0 ? "ralph run --retry-blocked" : null;
    return withoutItem(next, { done: "every story passes", retry });
  }
  const { id, kind, title, data, checksOnly } = next.item;
  const story = kind === "story" ? data as Story : null;
  const criteria = story?.acceptanceCriteria ?? [];
  const checks = story === null ? [] : [...new Set([...config.verify.default, ...storyCommands(story)])];
  return {
    blocked: false,
    data: { status: "item", id, kind, title, acceptanceCriteria: criteria, checks },
    item: checksOnly === true
      ? ["every story passes; next: all their checks once more (`ralph verify`)"]
      : itemLines({ id, title, criteria, checks }, style),
  };
}
