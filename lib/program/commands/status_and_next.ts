import type { Invocation } from "../../cli/command.ts";
import { type Look, openLook } from "../../cli/look.ts";
import { showNext } from "../../cli/next_view.ts";
import { WORKFLOWS } from "../../workflows/table.ts";
import { chosen } from "../chosen.ts";
import { showStatus, type StatusView } from "../../cli/status_view.ts";
import { EXIT } from "../../errors/exit_codes.ts";

/** `ralph next`: what the next iteration would take, and what would have to pass. */
export async function next(invocation: Invocation): Promise<number> {
  const { place, scope, workflow } = await chosen(invocation);
  return showNext(invocation, await workflow.next(await openLook(invocation, place, scope)));
}

/** `ralph status`: the state of the work; starts nothing and changes nothing. */
export async function status(invocation: Invocation): Promise<number> {
  const { place, scope, workflow } = await chosen(invocation);
  const look = await openLook(invocation, place, scope);
  const views = place.workflow.byDefault === true ? await viewsOfAll(look) : [];
  await showStatus(invocation, look, views.length > 0 ? views : await workflow.status(look));
  return EXIT.done;
}

/** Where nothing says which workflow is meant, each whose state is there. */
async function viewsOfAll(look: Look): Promise<readonly StatusView[]> {
  const views: StatusView[] = [];
  for (const row of WORKFLOWS) {
    if (!await row.detect(look.root)) continue;
    const workflow = { name: row.name, why: `${row.state} exists` };
    const own = await (await row.load()).status({ ...look, workflow });
    views.push(...own.map((view) => ({ ...view, workflow })));
  }
  return views;
}
