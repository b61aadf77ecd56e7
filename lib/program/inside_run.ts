import type { Command, Flags } from "../cli/command.ts";
import { resolveRoot } from "../cli/root.ts";
import { RalphError } from "../errors/ralph_error.ts";
import type { Host } from "../host/types.ts";

/**
 * Inside of a run, which its environment tells, a command of the same root only reads or claims: what writes or starts
 * something is the run's own.
 *
 * @throws {RalphError} inside-a-run
 */
export async function checkInsideRun(
  { name, insideRun = false }: Command,
  { arguments: given, flags }: { readonly arguments: readonly string[]; readonly flags: Flags },
  { environment }: Pick<Host, "environment">,
): Promise<void> {
  const { RALPH_RUN: run, RALPH_ROOT: root } = environment.variables;
  if (run === undefined || root === undefined) return;
  if (typeof insideRun === "boolean" ? insideRun : insideRun.includes(given[0] ?? "")) return;
  if (await resolveRoot(environment, flags.text("root")) !== root) return;
  throw new RalphError("inside-a-run", { details: { command: name, run } });
}
