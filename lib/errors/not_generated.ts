import { RalphError } from "./ralph_error.ts";

/** The error for an import that failed because a checkout lacks its generated files, or `null` for any other. */
export function notGenerated(error: unknown): RalphError | null {
  const message = error instanceof Error || error instanceof Object && "message" in error ? String(error.message) : "";
  const isMissing = /cannot find|not found/i.test(message) &&
    /generated[\\/](?:prompts|recipes|types)\.ts/.test(message);
  return isMissing ? new RalphError("not-generated", { cause: error }) : null;
}
