import { EXIT } from "../errors/exit_codes.ts";
import { notGenerated } from "../errors/not_generated.ts";
import { RalphError } from "../errors/ralph_error.ts";

const FRAMES = 5;

/** What is printed for an error, and the exit code. */
export interface Failure {
  readonly lines: readonly string[];
  readonly exitCode: number;
}

/** Turns whatever was thrown into text: the table's message and hint, or a bug with its stack. */
export function describeFailure(error: unknown, { verbose }: { readonly verbose: boolean }): Failure {
  if (RalphError.isInstance(error)) {
    const stack = verbose && error.exitCode === EXIT.internal ? stackOf(error.cause ?? error, true) : [];
    return { lines: [`error: ${error.message}`, ...stack, `hint: ${error.hint}`], exitCode: error.exitCode };
  }
  const missing = notGenerated(error);
  if (missing !== null) return describeFailure(missing, { verbose });
  const internal = new RalphError("internal", { details: { problem: messageOf(error) } });
  return {
    lines: [`error: internal: ${internal.message}`, ...stackOf(error, verbose), `hint: ${internal.hint}`],
    exitCode: EXIT.internal,
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function stackOf(error: unknown, whole: boolean): readonly string[] {
  const stack = error instanceof Error ? error.stack ?? "" : "";
  const frames = stack.split("\n").filter((line) => /^\s+at /.test(line)).map((line) => `  ${line.trim()}`);
  if (whole || frames.length <= FRAMES) return frames;
  return [...frames.slice(0, FRAMES), `  … ${frames.length - FRAMES} more (\`--verbose\` shows them)`];
}
