import { type Invocation, usage } from "../../cli/command.ts";
import { refuseItems } from "../../cli/validated_file.ts";
import { findPlace } from "../../cli/workspace.ts";
import { DEFAULT_WORKFLOW, workflowRow } from "../../workflows/table.ts";
import { chosen } from "../chosen.ts";

/** `ralph init`: sets the project up; overwrites nothing. */
export async function init(invocation: Invocation): Promise<number> {
  const place = await findPlace(invocation);
  const row = workflowRow(place.workflow.name);
  const { init: start } = row.workflow;
  if (typeof start === "function") return await start(invocation, place);
  const { scaffoldWorkflow } = await import("../../cli/scaffold.ts");
  const config = row === DEFAULT_WORKFLOW ? {} : { workflow: row.name };
  return await scaffoldWorkflow(invocation, place, { ...start, config });
}

/** `ralph plan`: the planning of the workflow; the default one's where a workflow has none. */
export async function plan(invocation: Invocation): Promise<number> {
  const place = await findPlace(invocation);
  for (const row of new Set([workflowRow(place.workflow.name), DEFAULT_WORKFLOW])) {
    const exitCode = await row.workflow.plan?.(invocation, place) ?? null;
    if (exitCode !== null) return exitCode;
  }
  throw usage(`the workflow ${place.workflow.name} has no planning`);
}

/** `ralph run`: the loop of the workflow. Typing it is the consent. */
export async function run(invocation: Invocation): Promise<number> {
  const found = await chosen(invocation);
  const { place: { config, root }, scope, workflow } = found;
  refuseItems(await workflow.validate({ root, config, scope, host: invocation.host }));
  if (invocation.flags.has("dry-run")) return await (await import("./run_dry_run.ts")).showRunDryRun(invocation, found);
  return await found.workflow.run(invocation, found.place);
}
