import { createTail } from "../host/tail.ts";
import type { Host } from "../host/types.ts";
import type { CheckOutcome } from "../backlog/types.ts";
import type { ShellCheckOptions } from "./shell.ts";
import type { CommandLike } from "./types.ts";

/** Milliseconds that a command is given between SIGTERM and SIGKILL. */
const GRACE_MS = 1000;

/**
 * Runs a dax command that a recipe built. The timer is ours: dax's own waits for every grandchild that holds a pipe.
 * What the command started is found by its run token and ended with it.
 */
export async function runCommandCheck(
  host: Host,
  command: CommandLike,
  options: ShellCheckOptions,
): Promise<CheckOutcome> {
  const runToken = `${host.processes.runToken}.${host.ids.random(6)}`;
  const tail = createTail(16 * 1024);
  async function take(chunk: Uint8Array): Promise<void> {
    tail.push(chunk);
    await options.onOutput?.(chunk);
  }
  function sink(): WritableStream<Uint8Array> {
    const mask = options.mask();
    return new WritableStream({ write: (chunk) => take(mask.push(chunk)), close: () => take(mask.end()) });
  }
  const child = command.env("RALPH_TREE", runToken).stdout(sink()).stderr(sink()).noThrow().spawn();

  const ended = new AbortController();
  const stopped = await Promise.race([
    child.then((result) => ({ reason: "exited" as const, exitCode: result.code })),
    host.clock.sleep(options.timeoutMs, ended.signal).then(() => ({ reason: "timed-out" as const, exitCode: null })),
    aborted(options.signal, ended.signal).then(() => ({ reason: "aborted" as const, exitCode: null })),
  ]);
  ended.abort();
  if (stopped.reason !== "exited") {
    child.kill("SIGTERM");
    await Promise.race([child, host.clock.sleep(GRACE_MS)]);
  }
  await host.processes.sweep(runToken);

  const why = stopped.reason === "timed-out"
    ? `timed out after ${options.timeoutMs / 1000} s`
    : stopped.reason === "aborted"
    ? "interrupted"
    : "";
  const text = [tail.text().trimEnd(), why].filter((part) => part !== "").join("\n");
  return { ok: stopped.reason === "exited" && stopped.exitCode === 0, exitCode: stopped.exitCode, tail: text };
}

function aborted(signal: AbortSignal, until: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true, signal: until });
  });
}
