import type { Backlog } from "../../backlog/types.ts";
import type { Workflow } from "../workflow.ts";

/** The exec workflow's part of the shared commands; each part is loaded when it is used. */
export const EXEC_WORKFLOW: Workflow = {
  async init(invocation, place) {
    const { scaffoldWorkflow } = await import("../../cli/scaffold.ts");
    return await scaffoldWorkflow(invocation, place, {
      files: () => Promise.resolve([]), // planning makes what it needs
      config: {},
      next: '`ralph exec "<goal>"`',
    });
  },
  plan: async (invocation, place) =>
    await (await import("./commands/plan_understand_run.ts")).planGoal(invocation, place),
  run: async (invocation, place) =>
    await (await import("./commands/plan_understand_run.ts")).runStories(invocation, place),
  status: async (look) => [await (await import("./commands/status_and_next.ts")).readStatus(look)],
  next: async (look) => await (await import("./commands/status_and_next.ts")).readNext(look),
  validate: async (validated) => await (await import("./commands/verify_and_validate.ts")).validateExec(validated),
  backlog: async (ralph) => (await import("./backlog.ts")).prdBacklog(ralph) as Backlog,
  verify: async (ralph) => await (await import("./commands/verify_and_validate.ts")).verifyStories(ralph),
};
