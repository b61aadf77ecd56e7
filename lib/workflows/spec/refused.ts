import { RalphError } from "../../errors/ralph_error.ts";

/** A change of the plan that cannot be made: exit 2, nothing was written. */
export function refused(problem: string, hint: string): RalphError {
  return new RalphError("usage", { details: { problem }, hint });
}
