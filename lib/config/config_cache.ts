import { readText, writeOwn } from "../host/files.ts";
import type { Config } from "./types.ts";

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
export async function readKept({ file, program }: ConfigCache, text: string): Promise<Kept | null> {
  try {
    const kept = JSON.parse(await readText(file) ?? "null") as (Kept & { program: string; text: string }) | null;
    return kept?.program === program && kept.text === text ? { config: kept.config, warnings: kept.warnings } : null;
  } catch {
    return null; // torn or unreadable: checked anew
  }
}

/** Keeps the outcome of a check. If it cannot be written, the next command checks again. */
export async function keep({ file, program }: ConfigCache, text: string, { config, warnings }: Kept): Promise<void> {
  await writeOwn(file, JSON.stringify({ program, text, config, warnings })).catch(() => {});
}
