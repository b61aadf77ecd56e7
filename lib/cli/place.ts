import { resolve } from "node:path";
import { loadConfig, type LoadedConfig } from "../config/load.ts";
import type { Invocation } from "./command.ts";
import { resolveRoot } from "./root.ts";
import { chooseWorkflow, type ChosenWorkflow } from "./workflow.ts";

/** Where a command works, and on what. */
export interface Place extends LoadedConfig {
  /** Absolute path. */
  readonly root: string;
  readonly workflow: ChosenWorkflow;
}

/** Finds the root, its configuration and the workflow. @throws {RalphError} root-missing, config-invalid, state-missing, usage */
export async function findPlace({ flags, host }: Pick<Invocation, "flags" | "host">): Promise<Place> {
  const root = await resolveRoot(host.environment, flags.text("root"));
  const named = flags.text("config");
  const loaded = await loadConfig(root, named === undefined ? undefined : resolve(host.environment.cwd, named));
  const workflow = await chooseWorkflow(root, { flag: flags.text("workflow"), config: loaded.config.workflow });
  return { ...loaded, root, workflow };
}
