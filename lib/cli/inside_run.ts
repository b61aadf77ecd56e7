import { RalphError } from "../errors/ralph_error.ts";
import type { Command, Invocation } from "./command.ts";
import { resolveRoot } from "./root.ts";

/**
 * Inside of a run, which its environment tells, a command of the same root only reads or claims: what writes or starts
 * something is the run's own.
 *
 * @throws {RalphError} inside-a-run
 */
export async function checkInsideRun(
  { name, insideRun = false }: Command,
  invocation: Pick<Invocation, "arguments" | "flags" | "host" | "program">,
): Promise<void> {
  const { RALPH_RUN: run, RALPH_ROOT: root } = invocation.host.environment.variables;
  if (run === undefined || root === undefined) return;
  if (typeof insideRun === "boolean" ? insideRun : insideRun.includes(invocation.arguments[0] ?? "")) return;
  if (await resolveRoot(invocation) !== root) return;
  throw new RalphError("inside-a-run", { details: { command: name, run } });
}
