import type { $Type } from "dax";
import { shellInvocation } from "../host/shell.ts";
import type { Host, OutputMask, ProcessEnd } from "../host/types.ts";
import type { CheckExpectation, CheckOutcome } from "../backlog/types.ts";
import type { CheckPlace } from "./checkout/types.ts";
import { outputWatch, unmet } from "./expectation.ts";
import { forgivingPipeline, isSinglePipeline } from "./pipeline.ts";

/** How a command of a check is run. */
export interface ShellCheckOptions {
  readonly cwd: string;
  /** Milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Masks secrets in the output; what `expect` compares is not masked. */
  readonly mask: () => OutputMask;
  /** Gets every chunk of output, masked. */
  readonly onOutput?: (chunk: Uint8Array) => Promise<void>;
  /** @default exit code 0 */
  readonly expect?: CheckExpectation;
  /** Runs it in a checkout instead. @default in `cwd` */
  readonly place?: Pick<CheckPlace, "run">;
}

/** Says how a process ended, where the exit code alone does not. */
export function endedBy(end: Pick<ProcessEnd, "reason" | "signal" | "exitCode">, timeoutMs: number): string {
  switch (end.reason) {
    case "timed-out":
      return `timed out after ${timeoutMs / 1000} s`;
    case "aborted":
      return "interrupted";
    case "not-found":
      return "could not be started";
    default:
      return end.signal === null ? "" : `ended by ${end.signal}`;
  }
}

/**
 * Runs a command string through the system shell. dax launches it; the process tree is the host's, since dax's own
 * timeout leaves grandchildren alive.
 */
export async function runShellCheck(
  $: $Type,
  host: Host,
  command: string,
  options: ShellCheckOptions,
): Promise<CheckOutcome> {
  const plain = await shellInvocation(command, host.environment);
  const pipefail = plain.arguments.includes("pipefail");
  const shell = pipefail && isSinglePipeline(command)
    ? await shellInvocation(forgivingPipeline(command), host.environment)
    : plain;
  const { mask, onOutput, expect = {} } = options;
  const watch = outputWatch(expect.output);
  let end: ProcessEnd | null = null;
  const derived = $.build$({
    commandBuilder: (builder) =>
      builder.registerCommand("ralph-shell", async () => {
        end = await host.processes.run({
          ...(options.place?.run(shell, command, options.cwd) ?? { ...shell, cwd: options.cwd }),
          timeoutMs: options.timeoutMs,
          signal: options.signal,
          mask,
          ...(expect.output === undefined ? {} : { onRaw: watch.take }),
          ...(onOutput === undefined ? {} : { onOutput }),
        });
        return { code: end.exitCode ?? 1 };
      }),
  });
  await derived`ralph-shell`.noThrow().quiet();
  if (end === null) throw new Error("dax did not run the command it was given");
  return outcomeOf(end, options.timeoutMs, unmet(end, expect, watch.seen()));
}

function outcomeOf(end: ProcessEnd, timeoutMs: number, missing: string | null): CheckOutcome {
  const why = endedBy(end, timeoutMs) || (missing ?? "");
  const ok = end.reason === "exited" && missing === null;
  const tail = [end.tail.trimEnd(), why].filter((part) => part !== "").join("\n");
  return { ok, exitCode: end.exitCode, tail, ...(end.reason === "timed-out" ? { timedOut: true } : {}) };
}
