import type { Backlog } from "../../backlog/types.ts";
import type { Workflow } from "../workflow.ts";
import { CHECK_FORM } from "./check_form.ts";

/** The shared commands do this in the workflow gsd; each part is loaded when it is used. */
export const GSD_WORKFLOW: Workflow = {
  init: async (invocation) => await (await import("./commands/planning.ts")).planWithGsd(invocation, "init"),
  plan: async (invocation) => await (await import("./commands/planning.ts")).planWithGsd(invocation, "plan"),
  run: async (invocation, place) => await (await import("./commands/run.ts")).runGsd(invocation, place),
  status: async (look) => [await (await import("./commands/status_and_next.ts")).readGsdStatus(look)],
  next: async (look) => await (await import("./commands/status_and_next.ts")).nextPlan(look),
  validate: async (validated) => await (await import("./commands/verify_and_validate.ts")).validatePlanning(validated),
  checkForm: CHECK_FORM,
  backlog: async (ralph) => (await import("./backlog.ts")).gsdBacklog(ralph) as Backlog,
  verify: async (ralph) => await (await import("./commands/verify_and_validate.ts")).verifyPlans(ralph),
  examine: async (place, host) => await (await import("./commands/finding.ts")).gsdFinding(place, host),
};
