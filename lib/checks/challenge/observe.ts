import { shellInvocation } from "../../host/shell.ts";
import type { Host } from "../../host/types.ts";
import type { CheckPlace } from "../checkout/types.ts";
import { endedBy } from "../shell.ts";

/** What a command printed. */
export interface Observed {
  /** Its standard output, as far as it is compared. */
  readonly text: string;
  /** How it ended, where it did not end by itself with exit code 0; else empty. */
  readonly ending: string;
}

/** As much of the output is compared. */
const BYTES = 64 * 1024;

/** Runs a command in a checkout and keeps what it printed to standard output. */
export async function observe(
  host: Host,
  place: Pick<CheckPlace, "run">,
  command: string,
  { cwd, timeoutMs, signal }: { readonly cwd: string; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<Observed> {
  const chunks: Uint8Array[] = [];
  let left = BYTES;
  const end = await host.processes.run({
    ...place.run(await shellInvocation(command, host.environment), command, cwd),
    timeoutMs,
    signal,
    onRaw(chunk, stream) {
      if (stream === "stderr" || left <= 0) return;
      chunks.push(chunk.slice(0, left));
      left -= chunk.length;
    },
  });
  const ending = endedBy(end, timeoutMs) || (end.exitCode === 0 ? "" : `exit ${end.exitCode}`);
  return { text: Buffer.concat(chunks).toString("utf8"), ending };
}
