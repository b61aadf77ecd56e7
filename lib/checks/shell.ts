import { shellInvocation } from "../host/shell.ts";
import type { Host, OutputMask, ProcessEnd } from "../host/types.ts";
import type { CheckExpectation, CheckOutcome } from "../backlog/types.ts";
import type { CheckPlace } from "./checkout/types.ts";

/** What the shell says of a command that it could not run: never an expected failure. */
const NOT_RUN: readonly number[] = [126, 127];

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
    case "not-started":
    case "not-found":
      return "could not be started";
    default:
      return end.signal === null ? "" : `ended by ${end.signal}`;
  }
}

/** Runs a command string through the system shell, with its whole process tree. */
export async function runShellCheck(
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
  const end = await host.processes.run({
    ...(options.place?.run(shell, command, options.cwd) ??
      { ...shell, cwd: options.cwd, sandbox: { role: "check", cwd: options.cwd } as const }),
    timeoutMs: options.timeoutMs,
    signal: options.signal,
    mask,
    ...(expect.output === undefined ? {} : { onRaw: watch.take }),
    ...(onOutput === undefined ? {} : { onOutput }),
  });
  return outcomeOf(end, options.timeoutMs, unmet(end, expect, watch.seen()));
}

function outcomeOf(end: ProcessEnd, timeoutMs: number, missing: string | null): CheckOutcome {
  const why = endedBy(end, timeoutMs) || (missing ?? "");
  const ok = end.reason === "exited" && missing === null;
  const tail = [end.tail.trimEnd(), why].filter((part) => part !== "").join("\n");
  return { ok, exitCode: end.exitCode, tail, ...(end.reason === "timed-out" ? { timedOut: true } : {}) };
}

/** Why a command that ended did not do what it should; `""` where its exit code says it all, `null` where it did. Pure. */
function unmet(
  end: Pick<ProcessEnd, "exitCode" | "reason" | "signal">,
  { exit = 0, output }: CheckExpectation,
  seen: boolean,
): string | null {
  const { exitCode, signal } = end;
  if (end.reason !== "exited" || signal !== null || exitCode === null) return "";
  if (exit === "non-zero" && (exitCode === 0 || NOT_RUN.includes(exitCode))) {
    return `expected a failure (got: exit ${exitCode})`;
  }
  if (exit !== "non-zero" && exitCode !== exit) {
    return exit === 0 ? "" : `expected exit ${exit} (got: exit ${exitCode})`;
  }
  return output === undefined || seen ? null : `expected the output to contain "${output}"`;
}

/** Looks for a text in output that comes in pieces, each stream by itself, in constant memory. */
function outputWatch(text: string | undefined): {
  readonly take: (chunk: Uint8Array, stream: "stdout" | "stderr") => void;
  readonly seen: () => boolean;
} {
  const wanted = new TextEncoder().encode(text ?? "");
  const ends: Record<"stdout" | "stderr", Buffer> = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
  let seen = text === undefined;
  return {
    take(chunk, stream) {
      if (seen) return;
      const joined = Buffer.concat([ends[stream], chunk]);
      seen = joined.includes(wanted);
      ends[stream] = Buffer.from(joined.subarray(Math.max(0, joined.length - wanted.length + 1)));
    },
    seen: () => seen,
  };
}

/**
 * True for one pipeline and nothing else: `git log | head -1`. Anything that could run a second command after it
 * (`&&`, `;`, a new line, a group, a substitution) is not. Pure.
 */
export function isSinglePipeline(command: string): boolean {
  const text = command.trim();
  if (text.startsWith("!")) return false;
  let pipes = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? "";
    if (character === "\\") index += 1;
    else if (character === "'") index = endOfQuote(text, index);
    else if (character === '"') {
      const end = endOfDoubleQuote(text, index);
      if (/[`$]\(|`/.test(text.slice(index, end))) return false;
      index = end;
    } else if (character === "|" && text[index + 1] !== "|" && text[index - 1] !== ">") pipes += 1;
    else if (character === "&" && (text[index - 1] === ">" || text[index + 1] === ">")) continue; // 2>&1, &>
    else if ("|&;\n(){}`#".includes(character) || text.startsWith("<<", index)) return false;
  }
  return pipes > 0;
}

/**
 * Forgives SIGPIPE (141) upstream of a command that succeeded, as `git log | head -1` means it; every other failure
 * counts. Only for one single pipeline: after a compound command there is no knowing what was left out because of it.
 */
export function forgivingPipeline(command: string): string {
  return `${command}\n${FORGIVE}`;
}

const FORGIVE = 's=("${PIPESTATUS[@]}"); r=0; for i in "${!s[@]}"; do ' +
  'if [ "${s[i]}" -ne 0 ] && { [ "${s[i]}" -ne 141 ] || [ "$i" -eq $((${#s[@]} - 1)) ]; }; then r=${s[i]}; fi; ' +
  "done; exit $r";

function endOfQuote(text: string, start: number): number {
  const end = text.indexOf("'", start + 1);
  return end === -1 ? text.length : end;
}

function endOfDoubleQuote(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    if (text[index] === "\\") index += 1;
    else if (text[index] === '"') return index;
  }
  return text.length;
}
