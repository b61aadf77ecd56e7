import type { $Type, CommandBuilder, CommandResult } from "dax";
import { createTail } from "../host/tail.ts";
import type { Host } from "../host/types.ts";
import type { ShellCheckOptions } from "./shell.ts";
import type { Check, CheckContext, CheckOutcome } from "../backlog/types.ts";

/**
 * Calls a check that is a function. One that throws, takes too long, or answers with something else has failed, and its
 * tail says why. Its signal is aborted when its time is over. A dax command that it gives is run, that and the commands
 * that it awaits print into its tail, and their processes end with it.
 */
export async function runFunctionCheck(
  { $, host }: { readonly $: $Type; readonly host: Pick<Host, "clock" | "ids" | "processes"> },
  run: (context: CheckContext, $: $Type) => unknown,
  context: CheckContext,
  { timeoutMs, mask, onOutput }: Pick<ShellCheckOptions, "mask" | "onOutput" | "timeoutMs">,
): Promise<CheckOutcome> {
  const over = new AbortController();
  const signal = AbortSignal.any([context.signal, over.signal]);
  const token = `${host.processes.runToken}.${host.ids.random(6)}`;
  const tail = createTail(16 * 1024);
  let written = Promise.resolve();
  let hasStarted = false;
  const masks = { stdout: mask(), stderr: mask() };
  function take(bytes: Uint8Array): void {
    const chunk = bytes.slice();
    tail.push(chunk);
    written = written.then(() => onOutput?.(chunk));
  }
  function output(): string {
    for (const held of Object.values(masks)) take(held.end());
    return tail.text().trimEnd();
  }
  const writer = (stream: "stdout" | "stderr"): { writeSync(bytes: Uint8Array): number } => ({
    writeSync: (bytes) => (take(masks[stream].push(bytes)), bytes.length),
  });
  const watched = (command: CommandLike): CommandLike =>
    command.pipefail().env("RALPH_TREE", token).stdout(writer("stdout")).stderr(writer("stderr")).beforeCommandSync(
      () => {
        hasStarted = true;
      },
    );
  const failed = (exitCode: number | null, why: string): CheckOutcome => {
    const tail = [output(), why].filter((part) => part !== "").join("\n");
    return { ok: false, exitCode, tail };
  };
  try {
    const given = run({ ...context, signal }, $.build$({ commandBuilder: watched }));
    const answer = isCommand(given) ? watched(given).noThrow().spawn() : given;
    // what keeps its own time ends by itself when its signal says so
    const found = timeoutMs === Infinity ? await answer : await Promise.race([
      answer,
      host.clock.sleep(timeoutMs, signal).then(() => failed(null, `timed out after ${timeoutMs / 1000} s`)),
    ]);
    if (isOutcome(found)) return found;
    if (!isCommandEnd(found)) {
      return failed(null, `the check answered ${shown(found)}: expected { ok, exitCode, tail }`);
    }
    return found.code === 0 ? { ok: true, exitCode: 0, tail: output() } : failed(found.code, "");
  } catch (error) {
    // dax's error for a command that failed
    if (error instanceof Error && "exitCode" in error && typeof error.exitCode === "number") {
      return failed(error.exitCode, "");
    }
    return failed(null, error instanceof Error ? error.stack ?? error.message : String(error));
  } finally {
    over.abort();
    if (hasStarted) await host.processes.sweep(token);
    output();
    await written;
  }
}

/** True for a dax command. */
export function isCommand(value: unknown): value is CommandLike {
  return typeof value === "object" && value !== null && "spawn" in value;
}

function isOutcome(value: unknown): value is CheckOutcome {
  return typeof value === "object" && value !== null && "ok" in value && typeof value.ok === "boolean" &&
    "tail" in value && typeof value.tail === "string";
}

/** The result of a dax command that the function awaited. */
function isCommandEnd(value: unknown): value is { readonly code: number } {
  return typeof value === "object" && value !== null && "code" in value && typeof value.code === "number" &&
    "stdoutBytes" in value;
}

function shown(value: unknown): string {
  return value === undefined ? "nothing" : JSON.stringify(value) ?? typeof value;
}

/** A command, or a check with a name, as the latter; `null` for a function or a dax command, of which nothing is known. */
export function namedCheck(like: CheckLike): Check | null {
  if (typeof like === "string") return { name: like, command: like };
  return typeof like === "object" && like !== null && !isCommand(like) ? like : null;
}

/** A dax command as a recipe writes it: ``ralph.$`npm test` ``. */
export type CommandLike = CommandBuilder;

/**
 * A check that is a function. It builds a dax command, awaits one and returns its result, or looks for itself and
 * returns what it found. A command that fails inside it fails the check.
 */
export type CheckFunction = (
  $: $Type,
  context: CheckContext,
) => CommandLike | CheckOutcome | Promise<CheckOutcome | CommandResult>;

/** Anything that `verify()` takes: a command string, a dax command, a function, or a check with a name. */
export type CheckLike = string | CommandLike | CheckFunction | Check;
