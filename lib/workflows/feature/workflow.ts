import type { Backlog } from "../../backlog/types.ts";
import type { Workflow } from "../workflow.ts";

/** The shared commands do this in the workflow feature; each part is loaded when it is used. */
export const FEATURE_WORKFLOW: Workflow = {
  async init(invocation, place) {
    const { scaffoldWorkflow } = await import("../../cli/scaffold.ts");
    const { scaffoldFeature } = await import("./directories.ts");
    return await scaffoldWorkflow(invocation, place, {
      files: scaffoldFeature,
      config: { workflow: "feature" },
      next: "`ralph prd FEATURE`",
      complete: true,
    });
  },
  run: async (invocation, place) => await (await import("./commands/run_and_prd.ts")).runFeature(invocation, place),
  status: async (look) => await (await import("./commands/status_and_next.ts")).featureStatus(look),
  next: async (look) => await (await import("./commands/status_and_next.ts")).featureNext(look),
  validate: async (validated) => await (await import("./commands/verify_and_validate.ts")).validateFeature(validated),
  validateConfig({ config: { provider, verify }, present }) {
    if (!present) return ["ralph.config.json not found: run `ralph init` to create one"];
    return [
      ...(provider.command === undefined && provider.preset === undefined ? ["provider.command is required"] : []),
      ...(verify.default.length === 0 ? ["verify.default must have at least one command"] : []),
    ];
  },
  async backlog(ralph, scope) {
    const { openFeature } = await import("./open_feature.ts");
    const { featureBacklog } = await import("./backlog.ts");
    return featureBacklog(ralph, { feature: await openFeature(ralph, scope) }) as Backlog;
  },
  verify: async (ralph, scope) => await (await import("./commands/verify_and_validate.ts")).featureVerify(ralph, scope),
};
