import { type Look, parkedIn } from "../../../cli/look.ts";
import type { NextView } from "../../../cli/next_view.ts";
import { oneLine } from "../../../ui/printable.ts";
import { sprintBacklog } from "../backlog.ts";
import { directoryOf } from "./place.ts";

/** The mode and the step of the next iteration. */
export async function nextOfSprint(look: Look): Promise<NextView> {
  const { root, state, host, config, scope, style } = look;
  const backlog = sprintBacklog({ root, state, host, config }, { directory: await directoryOf(look, scope) });
  const next = await backlog.next({ inFlight: [], parked: await parkedIn(look, backlog) });
  switch (next.status) {
    case "item": {
      const { data, title } = next.item;
      const item = [`${style.bold(data.mode)} ${oneLine(title)}`, `iteration ${data.iteration}`];
      return { blocked: false, data: { status: next.status, ...data }, item };
    }
    case "done":
      return { blocked: false, data: next, item: [`the goal is reached: ${next.summary ?? ""}`] };
    case "blocked":
      return { blocked: true, data: next, notes: next.reasons.map((reason) => `blocked: ${reason}`) };
    case "waiting":
      return { blocked: false, data: next };
  }
}
