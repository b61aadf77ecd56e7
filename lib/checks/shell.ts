import { shellInvocation } from "../host/shell.ts";
import type { Host, OutputMask, ProcessEnd } from "../host/types.ts";
import type { CheckExpectation, CheckOutcome } from "../backlog/types.ts";
import type { CheckPlace } from "./checkout/place.ts";

/** The shell's exit codes for a command that it cannot run, or cannot find: never an expected failure. */
export const NOT_RUN: readonly number[] = [126, 127];

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
  /** Called where it runs once more, outside of the sandbox. */
  readonly onAgain?: () => void;
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
    case "not-started":
    case "not-found":
      return "could not be started";
    default:
      return end.signal === null ? "" : `ended by ${end.signal}`;
  }
}

/** Runs a command string through the system shell, with its whole process tree. */
export async function runShellCheck(host: Host, command: string, options: ShellCheckOptions): Promise<CheckOutcome> {
  const shell = await shellInvocation(command, host.environment);
  const { mask, onOutput, expect = {}, onAgain = () => {}, cwd } = options;
  const watch = outputWatch(expect.output);
  const placed = options.place?.run(shell, command, cwd) ?? { ...shell, cwd };
  const check = options.expect === undefined ? { check: { command, again: onAgain } } : {};
  const end = await host.processes.run({
    ...placed,
    sandbox: { role: "check", cwd, ...placed.sandbox, ...check },
    timeoutMs: options.timeoutMs,
    signal: options.signal,
    mask,
    ...(expect.output === undefined ? {} : { onRaw: watch.take }),
    ...(onOutput === undefined ? {} : { onOutput }),
  });
  const missing = unmet(end, expect, watch.seen());
  const why = endedBy(end, options.timeoutMs) || (missing ?? "");
  const ok = end.reason === "exited" && missing === null;
  const tail = [end.tail.trimEnd(), why].filter((part) => part !== "").join("\n");
  return { ok, exitCode: end.exitCode, tail, ...(end.reason === "timed-out" ? { timedOut: true } : {}) };
}

/** Why a command that ended did not do what it should; `""` where its exit code says it all, `null` where it did. Pure. */
function unmet(end: ProcessEnd, { exit = 0, output }: CheckExpectation, seen: boolean): string | null {
  const { exitCode, signal } = end;
  if (end.reason !== "exited" || signal !== null || exitCode === null) return "";
  if (exit !== 0 && NOT_RUN.includes(exitCode)) return `the command could not be run (exit ${exitCode})`;
  if (exit === "non-zero" && exitCode === 0) return "expected a failure (got: exit 0)";
  if (exit !== "non-zero" && exitCode !== exit) {
    return exit === 0 ? "" : `expected exit ${exit} (got: exit ${exitCode})`;
  }
  return output === undefined || seen ? null : `expected the output to contain "${output}"`;
}

/** Looks for a text in output that comes in pieces, each stream by itself, in constant memory. */
function outputWatch(text: string | undefined) {
  const wanted = new TextEncoder().encode(text ?? "");
  const ends: Record<"stdout" | "stderr", Buffer> = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
  let seen = text === undefined;
  return {
    take(chunk: Uint8Array, stream: "stdout" | "stderr") {
      if (seen) return;
      const joined = Buffer.concat([ends[stream], chunk]);
      seen = joined.includes(wanted);
      ends[stream] = Buffer.from(joined.subarray(Math.max(0, joined.length - wanted.length + 1)));
    },
    seen: () => seen,
  };
}
