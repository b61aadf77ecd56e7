import { isAbsolute, join } from "node:path";
import { RalphError } from "../errors/ralph_error.ts";
import { readText } from "../host/files.ts";
import { type ConfigCache, keep, readKept } from "./config_cache.ts";
import { defaultConfig } from "./defaults.ts";
import type { Config } from "./types.ts";

/** The name of the configuration file at the root. */
export const CONFIG_FILE = "ralph.config.json";

/** A configuration and where it came from. */
export interface LoadedConfig {
  readonly config: Config;
  /** Absolute path of the file, or `null` when there is none. */
  readonly file: string | null;
  /** Unknown keys, each with the nearest known one. */
  readonly warnings: readonly string[];
}

/**
 * Reads `ralph.config.json`, or the file that is named. A missing file is the defaults, but for one that was named.
 *
 * @param cache where the outcome of a check is kept, so that the same text need not be checked again
 *
 * @throws {RalphError} config-invalid with every problem, state-missing for a named file that is not there
 */
export async function loadConfig(root: string, named?: string, cache?: ConfigCache | null): Promise<LoadedConfig> {
  const file = named === undefined ? join(root, CONFIG_FILE) : isAbsolute(named) ? named : join(root, named);
  const text = await readText(file);
  if (text === null) {
    if (named === undefined) return { config: defaultConfig(), file: null, warnings: [] };
    throw new RalphError("state-missing", { details: { path: file }, hint: "`--config` names a file that exists" });
  }
  const kept = cache ? await readKept(cache, text) : null;
  if (kept !== null) return { ...kept, file };
  const { checkConfig } = await import("./check.ts");
  const { config, problems, warnings } = checkConfig(parseJson(text, file));
  if (config === null) throw invalid(file, problems.join("; "));
  if (cache) await keep(cache, text, { config, warnings });
  return { config, file, warnings };
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid(file, `not valid JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function invalid(path: string, problem: string): RalphError {
  return new RalphError("config-invalid", { details: { path, problem } });
}
