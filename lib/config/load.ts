import { isAbsolute, join } from "node:path";
import { RalphError } from "../errors/ralph_error.ts";
import type { Config } from "../generated/config.ts";
import { readText, writeOwn } from "../host/files.ts";
import { defaultConfig } from "./defaults.ts";

/** The name of the configuration file at the root. */
export const CONFIG_FILE = "ralph.config.json";

/** A configuration and where it came from. */
export interface LoadedConfig {
  readonly config: Config;
  /** Absolute path of the file, or `null` when there is none. */
  readonly file: string | null;
  /** Keys that have a new name. */
  readonly warnings: readonly string[];
}

/** A configuration as it was found, with whatever is wrong with it. */
export interface FoundConfig extends Omit<LoadedConfig, "config"> {
  /** `null` where there are problems. */
  readonly config: Config | null;
  /** ``line 3, column 5: limits.costUSD is not a key of the configuration; did you mean `limits.costUsd`?`` */
  readonly problems: readonly string[];
  /** The file as it is; "" where there is none. */
  readonly text: string;
}

/**
 * Reads `ralph.config.json`, or the file that is named. A missing file is the defaults, but for one that was named.
 *
 * @param cache where the outcome of a check is kept, so that the same text need not be checked again
 *
 * @throws {RalphError} config-invalid with every problem, state-missing for a named file that is not there
 */
export async function loadConfig(root: string, named?: string, cache?: ConfigCache | null): Promise<LoadedConfig> {
  const { config, file, warnings, problems } = await findConfig(root, named, cache);
  if (config === null) {
    const [only = "", ...others] = problems;
    const problem = others.length === 0 ? only : [`${problems.length} problems`, ...problems].join("\n  ");
    throw new RalphError("config-invalid", { details: { path: file ?? CONFIG_FILE, problem } });
  }
  return { config, file, warnings };
}

/**
 * As `loadConfig()`, but for the problems: they are returned.
 *
 * @throws {RalphError} state-missing for a named file that is not there
 */
export async function findConfig(root: string, named?: string, cache?: ConfigCache | null): Promise<FoundConfig> {
  const file = named === undefined ? join(root, CONFIG_FILE) : isAbsolute(named) ? named : join(root, named);
  const text = await readText(file);
  if (text === null) {
    if (named === undefined) return { config: defaultConfig(), file: null, warnings: [], problems: [], text: "" };
    throw new RalphError("state-missing", { details: { path: file }, hint: "`--config` names a file that exists" });
  }
  const kept = cache ? await readKept(cache, text) : null;
  if (kept !== null) return { ...kept, file, problems: [], text };
  const { readConfigText } = await import("./read_text.ts");
  const { config, problems, warnings } = await readConfigText(text);
  if (cache && config !== null) await keep(cache, text, { config, warnings });
  return { config, file, warnings, problems, text };
}

/**
 * The place that keeps a checked configuration. Checking needs zod, whose loading costs a command like `status` more
 * than the rest of its work.
 */
export interface ConfigCache {
  /** Absolute path, inside the git directory. */
  readonly file: string;
  /** Names the program that checked it: another build checks anew. */
  readonly program: string;
}

/** The kept parts of a configuration that had no problem. */
interface Kept {
  readonly config: Config;
  readonly warnings: readonly string[];
}

/** The outcome of an earlier check of this very text by this very program, or `null`. */
async function readKept({ file, program }: ConfigCache, text: string): Promise<Kept | null> {
  try {
    const kept = JSON.parse(await readText(file) ?? "null") as (Kept & { program: string; text: string }) | null;
    return kept?.program === program && kept.text === text ? { config: kept.config, warnings: kept.warnings } : null;
  } catch {
    return null; // torn or unreadable: checked anew
  }
}

/** Keeps the outcome of a check. If it cannot be written, the next command checks again. */
async function keep({ file, program }: ConfigCache, text: string, { config, warnings }: Kept): Promise<void> {
  await writeOwn(file, JSON.stringify({ program, text, config, warnings })).catch(() => {});
}

export type * from "../generated/config.ts";
