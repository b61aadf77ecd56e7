import type { Invocation } from "../../cli/command.ts";
import { usage } from "../../cli/parse.ts";
import { findPlace } from "../../cli/workspace.ts";
import { DEFAULT_WORKFLOW, workflowRow } from "../../workflows/table.ts";

/** `ralph plan`: the planning of the workflow; the default one's where a workflow has none. */
export async function run(invocation: Invocation): Promise<number> {
  const place = await findPlace(invocation);
  for (const row of new Set([workflowRow(place.workflow.name), DEFAULT_WORKFLOW])) {
    const exitCode = await (await row.load()).plan?.(invocation, place) ?? null;
    if (exitCode !== null) return exitCode;
  }
  throw usage(`the workflow ${place.workflow.name} has no planning`);
}
