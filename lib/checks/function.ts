import type { Host } from "../host/types.ts";
import type { CheckContext, CheckOutcome } from "../backlog/types.ts";
import type { CommandLike } from "./types.ts";

/** What a function gave: a finding, or a dax command that is still to be run. A command is never awaited: that runs it. */
export type FunctionResult = CheckOutcome | { readonly command: CommandLike };

/**
 * Calls a check that is a function. One that throws, takes too long, or answers with something else has failed, and its
 * tail says why. Its signal is aborted when its time is over.
 */
export async function runFunctionCheck(
  host: Pick<Host, "clock">,
  run: (context: CheckContext) => unknown,
  context: CheckContext,
  timeoutMs: number,
): Promise<FunctionResult> {
  const over = new AbortController();
  const signal = AbortSignal.any([context.signal, over.signal]);
  try {
    const answer = run({ ...context, signal });
    if (isCommand(answer)) return { command: answer };
    // what keeps its own time ends by itself when it is told to
    const found = timeoutMs === Infinity ? await answer : await Promise.race([
      answer,
      host.clock.sleep(timeoutMs, signal).then(() => failed(`timed out after ${timeoutMs / 1000} s`)),
    ]);
    return isOutcome(found) ? found : failed(`the check answered ${told(found)}: expected { ok, exitCode, tail }`);
  } catch (error) {
    return failed(error instanceof Error ? error.stack ?? error.message : String(error));
  } finally {
    over.abort();
  }
}

/** True for a dax command. */
export function isCommand(value: unknown): value is CommandLike {
  return typeof value === "object" && value !== null && "spawn" in value;
}

function failed(tail: string): CheckOutcome {
  return { ok: false, exitCode: null, tail };
}

function isOutcome(value: unknown): value is CheckOutcome {
  return typeof value === "object" && value !== null && "ok" in value && typeof value.ok === "boolean" &&
    "tail" in value && typeof value.tail === "string";
}

function told(value: unknown): string {
  return value === undefined ? "nothing" : JSON.stringify(value) ?? typeof value;
}
