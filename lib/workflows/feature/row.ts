import type { Backlog } from "../../backlog/types.ts";
import { basename, join } from "node:path";
import type { CommandLine } from "../../cli/command.ts";
import { LOOP_FLAGS, SESSION_FLAGS } from "../../cli/flags.ts";
import type { WorkflowRow } from "../workflow.ts";

/** The shared commands that take a feature. */
const TAKES_FEATURE: ReadonlySet<string> = new Set(["run", "verify", "next", "validate", "status"]);

/** A PRD for each feature. */
export const FEATURE: WorkflowRow = {
  name: "feature",
  summary: "a PRD for each feature, with services, browser checks and a final verification",
  hint: "a PRD for each feature, services and browser checks",
  start: "ralph prd FEATURE",
  scope: "FEATURE",
  pages: true,
  state: ".ralph/<date>-<feature>",
  async detect(root) {
    const { pathExists } = await import("../../host/path_facts.ts");
    if (!await pathExists(join(root, ".ralph"))) return false;
    const { listFeatures } = await import("./directories.ts");
    return (await listFeatures(root)).length > 0;
  },
  claims,
  help: {
    plan: "a feature's PRD, as `ralph prd FEATURE`",
    run: "the stories of a feature, then the final verification",
  },
  async resume({ name, scope }) {
    if (name !== "feature" || scope === null) return null;
    const { parseDirectory } = await import("./directories.ts");
    const found = parseDirectory(basename(scope));
    return found === null ? null : `ralph run ${found.name}`;
  },
  workflow: {
    init: {
      files: async (root) => await (await import("./directories.ts")).scaffoldFeature(root),
      next: "`ralph prd FEATURE`",
    },
    async plan(invocation) {
      const { isFeatureName } = await import("./directories.ts");
      if (!isFeatureName(invocation.arguments[0] ?? "")) return null; // a goal
      return await (await import("./commands/run_and_prd.ts")).makePrd(invocation);
    },
    run: async (invocation, place) => await (await import("./commands/run_and_prd.ts")).runFeature(invocation, place),
    status: async (look) => await (await import("./commands/look.ts")).featureStatus(look),
    next: async (look) => await (await import("./commands/look.ts")).featureNext(look),
    validate: async (validated) => await (await import("./commands/look.ts")).validateFeature(validated),
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
    verify: async (ralph, scope) => await (await import("./commands/look.ts")).featureVerify(ralph, scope),
  },
  commands: [
    {
      name: "prd",
      summary: "write, refine, finalize or edit a feature's PRD, or run it",
      usage: "FEATURE",
      arity: [1, 1],
      flags: { ...LOOP_FLAGS, ...SESSION_FLAGS },
      details: [
        "A feature's PRD is .ralph/<date>-FEATURE/prd.md; finalized it is prd.json beside it, which `ralph run FEATURE` works off.",
      ],
      load: async () => ({ run: (await import("./commands/run_and_prd.ts")).makePrd }),
    },
  ],
};

/** An argument of a shared command names a feature. @throws {RalphError} usage for what cannot be a name */
async function claims({ arguments: [name], command }: CommandLine): Promise<string | null> {
  if (name === undefined || !TAKES_FEATURE.has(command.name)) return null;
  const { isFeatureName } = await import("./directories.ts");
  if (isFeatureName(name)) return `\`${command.name} ${name}\` names a feature`;
  const { usage } = await import("../../cli/command.ts");
  const hint = /^\d+$/.test(name) && command.name === "run"
    ? `\`ralph run --max-iterations ${name}\`, or \`ralph run --loop ${name}\` for that many plans`
    : `\`ralph ${command.name} auth\``;
  throw usage(`\`${name}\` is no name for a feature`, hint);
}
