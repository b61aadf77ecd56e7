import { RalphError } from "../errors/ralph_error.ts";
import type { Host } from "../host/types.ts";
import type { Command } from "../cli/command.ts";
import { findCommand } from "./commands.ts";
import { parseLine } from "../cli/parse.ts";
import { findPlace } from "../cli/workspace.ts";

/** Whether `ralph` without a command is the build loop: the flag or the configuration says `spec`. */
export async function wantsBuild(line: readonly string[], host: Host): Promise<boolean> {
  try {
    const { flags } = parseLine(findCommand("build") as Command, line, host.environment.variables);
    const asked = flags.text("workflow");
    if (asked !== undefined) return asked === "spec" && !flags.has("help");
    return !flags.has("help") && (await findPlace({ flags, host })).config.workflow === "spec";
  } catch (error) {
    if (RalphError.isInstance(error)) return false; // `ralph status` says what is wrong
    throw error;
  }
}
