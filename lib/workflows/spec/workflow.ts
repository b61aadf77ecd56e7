import { join } from "node:path";
import { pathExists, writeAtomic } from "../../host/files.ts";
import type { Backlog } from "../../backlog/types.ts";
import type { Workflow } from "../workflow.ts";

const FOLDER = "ralph/specs";

/** The shared commands do this in the workflow spec; each part is loaded when it is used. */
export const SPEC_WORKFLOW: Workflow = {
  async init(invocation, place) {
    const { scaffoldWorkflow } = await import("../../cli/scaffold.ts");
    return await scaffoldWorkflow(invocation, place, {
      files: scaffoldSpec,
      config: { workflow: "spec" },
      next: "write a spec into ralph/specs, then `ralph plan SPEC.md`",
    });
  },
  plan: async (invocation, place) =>
    await (await import("./commands/set_spec_plan_build.ts")).planFile(invocation, place),
  run: async (invocation) => await (await import("./commands/set_spec_plan_build.ts")).build(invocation),
  status: async (look) => [await (await import("./commands/look.ts")).readSpecStatus(look)],
  next: async (look) => await (await import("./commands/look.ts")).nextOfPlan(look),
  validate: async (
    validated,
  ) => [await (await import("./commands/verify_and_validate.ts")).validatePlanFile(validated)],
  backlog: async (ralph) => (await import("./backlog.ts")).specBacklog(ralph) as Backlog,
  verify: async (ralph) => await (await import("./commands/verify_and_validate.ts")).verifyTasks(ralph),
};

/** Makes the folder of specs where it is missing. @returns the paths that were made, relative to the root */
async function scaffoldSpec(root: string): Promise<readonly string[]> {
  if (await pathExists(join(root, FOLDER))) return [];
  const path = `${FOLDER}/.gitkeep`; // git keeps no empty folder
  await writeAtomic(join(root, path), "");
  return [path];
}
