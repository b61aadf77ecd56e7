import { resolve } from "node:path";
import { loadConfig, type LoadedConfig } from "../config/load.ts";
import type { Invocation } from "./command.ts";
import { resolveRoot } from "./root.ts";
import { chooseWorkflow, type ChosenWorkflow, workflowOfGrammar } from "./workflow.ts";

/** Where a command works, and on what. */
export interface Place extends LoadedConfig {
  /** Absolute path. */
  readonly root: string;
  readonly workflow: ChosenWorkflow;
}

/** Finds the root, its configuration and the workflow. @throws {RalphError} root-missing, config-invalid, state-missing, usage */
export async function findPlace(
  invocation: Pick<Invocation, "flags" | "host"> & Partial<Pick<Invocation, "arguments" | "command">>,
): Promise<Place> {
  const { flags, host } = invocation;
  const root = await resolveRoot(host.environment, flags.text("root"));
  const named = flags.text("config");
  const loaded = await loadConfig(root, named === undefined ? undefined : resolve(host.environment.cwd, named));
  const grammar = workflowOfGrammar(invocation);
  const workflow = await chooseWorkflow(root, {
    flag: flags.text("workflow"),
    config: loaded.config.workflow,
    grammar,
  });
  return { ...loaded, root, workflow };
}
