import type { Invocation } from "../../cli/command.ts";
import * as looks from "../../cli/look.ts";
import { WORKFLOWS } from "../../workflows/table.ts";
import { usedAt } from "../../cli/workspace.ts";
import { chosen } from "../chosen.ts";
import { EXIT } from "../../errors/ralph_error.ts";
import { readLockHolder } from "../../host/lock.ts";
import type { Host } from "../../host/types.ts";

/** `ralph next`: what the next iteration would take, and what would have to pass. */
export async function next(invocation: Invocation): Promise<number> {
  const { place, scope, workflow } = await chosen(invocation);
  const look = await looks.openLook(invocation, place, scope);
  const view = await workflow.next(look);
  const row = WORKFLOWS.find(({ name }) => name === place.workflow.name);
  const isLeft = view.blocked || view.item !== undefined;
  const hint = isLeft ? null : await looks.hintWhenUnverified(row, (await looks.journalIn(look))?.named() ?? null);
  return looks.showNext(invocation, hint === null ? view : { ...view, notes: [...view.notes ?? [], `hint: ${hint}`] });
}

/** `ralph status`: the state of the work; starts nothing and changes nothing. */
export async function status(invocation: Invocation): Promise<number> {
  const { place, scope, workflow } = await chosen(invocation);
  const look = await looks.openLook(invocation, place, scope);
  const views = place.workflow.byDefault === true ? await viewsOfAll(look) : [];
  await looks.showStatus(
    invocation,
    look,
    views.length > 0 ? views : await workflow.status(look),
    await runningView(invocation.host, look),
  );
  return EXIT.done;
}

/** A view of the run at work; `null` if there is none. */
async function runningView(host: Host, { own, root, style }: looks.Look): Promise<looks.RunningView | null> {
  if (await readLockHolder(own.runLock) === null) return null;
  const { nowData, nowLines, possible, readNow, runsAt } = await import("../../watch/now.ts");
  const live = (await runsAt(own.directory, root)).at(-1);
  if (live === undefined) return null;
  const now = readNow(live);
  return { data: nowData(now, host.clock.now()), lines: nowLines(now, { host, style }), can: possible(live) };
}

/** The views of each workflow whose state is there, if nothing says which is meant. */
async function viewsOfAll(look: looks.Look): Promise<readonly looks.StatusView[]> {
  const views: looks.StatusView[] = [];
  for (const row of await usedAt(look.root, WORKFLOWS)) {
    const workflow = { name: row.name, why: `${row.state} exists` };
    const own = await row.workflow.status({ ...look, workflow });
    views.push(...own.map((view) => ({ ...view, workflow })));
  }
  return views;
}
