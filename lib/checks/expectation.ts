import type { ProcessEnd } from "../host/types.ts";
import type { CheckExpectation } from "../backlog/types.ts";

/** What the shell says of a command that it could not run: never an expected failure. */
const NOT_RUN: readonly number[] = [126, 127];

/** Why a command that ended did not do what it should; `""` where its exit code says it all, `null` where it did. Pure. */
export function unmet(
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
export function outputWatch(text: string | undefined): {
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
