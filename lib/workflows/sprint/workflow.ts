import type { Workflow } from "../workflow.ts";

/** The shared commands do this in the workflow sprint; each part is loaded when it is used. */
export const SPRINT_WORKFLOW: Workflow = {
  async init(invocation, place) {
    const { scaffoldWorkflow } = await import("../../cli/scaffold.ts");
    const { scaffoldSprint } = await import("./scaffold.ts");
    return await scaffoldWorkflow(invocation, place, {
      files: scaffoldSprint,
      config: { workflow: "sprint" },
      next: "write the goal into SPRINT.yaml, then `ralph sprint run DIR`",
    });
  },
  run: async (invocation) =>
    await (await import("./commands/sprint.ts")).run({ ...invocation, arguments: ["run", ...invocation.arguments] }),
  status: async (look) => [await (await import("./commands/status_and_next.ts")).readSprints(look)],
  next: async (look) => await (await import("./commands/status_and_next.ts")).nextOfSprint(look),
  validate: async (validated) => await (await import("./commands/verify_and_validate.ts")).validateSprints(validated),
  verify: async (ralph, scope) => await (await import("./commands/verify_and_validate.ts")).verifySprint(ralph, scope),
};
