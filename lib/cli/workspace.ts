import { join, resolve } from "node:path";
import { type ConfigCache, loadConfig, type LoadedConfig } from "../config/load.ts";
import { findFolders } from "../git/find_folders.ts";
import { modifiedAt } from "../host/files.ts";
import type { Host } from "../host/types.ts";
import type { CommandLine, Program } from "./command.ts";
import { resolveRoot } from "./root.ts";
import { chooseWorkflow, type ChosenWorkflow } from "./workflow.ts";

/** The place in which a command works, and its subject. */
export interface Place extends LoadedConfig {
  /** Absolute path. */
  readonly root: string;
  readonly workflow: ChosenWorkflow;
}

/** Finds the root, its configuration and the workflow. @throws {RalphError} root-missing, config-invalid, state-missing, usage */
export async function findPlace(line: CommandLine & { readonly program: Program }): Promise<Place> {
  const { flags, host, program } = line;
  const root = await resolveRoot(line);
  const named = flags.text("config");
  const file = named === undefined ? undefined : resolve(host.environment.cwd, named);
  const loaded = await loadConfig(root, file, await cacheOf(root, host));
  const workflow = await chooseWorkflow(program.workflows, root, {
    flag: flags.text("workflow"),
    config: loaded.config.workflow ?? program.workflows.find((row) => row.configured?.(loaded.config))?.name,
    line,
  });
  return { ...loaded, root, workflow };
}

/** The place that records that a configuration was checked. Only by the binary: sources change under their own name. */
export async function cacheOf(root: string, { environment }: Host): Promise<ConfigCache | null> {
  if (!environment.compiled) return null;
  const folders = await findFolders(root, environment);
  if (folders === null) return null;
  const program = `${environment.executable} ${await modifiedAt(environment.executable)}`;
  return { file: join(folders.ralphDirectory, "config.json"), program };
}
