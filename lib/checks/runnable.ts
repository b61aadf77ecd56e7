import type { $Type } from "dax";
import { RalphError } from "../errors/ralph_error.ts";
import type { Check, CheckContext, CheckExpectation, CheckOutcome } from "../backlog/types.ts";
import { isCommand } from "./function.ts";
import type { CheckLike, CommandLike } from "./types.ts";
import { createTail } from "../host/tail.ts";
import type { Host } from "../host/types.ts";
import type { ShellCheckOptions } from "./shell.ts";

/** Milliseconds that a command is given between SIGTERM and SIGKILL. */
const GRACE_MS = 1000;

/** A check in one form: a command for the shell, or a function that looks or builds a command. */
export interface Runnable {
  readonly name: string;
  readonly scope?: string;
  readonly timeoutMs?: number;
  readonly run?: ((context: CheckContext, $: $Type) => unknown) | undefined;
  readonly command?: string | undefined;
  readonly expect?: CheckExpectation | undefined;
  readonly review?: boolean;
}

const CHECK_FORMS = "a command, a dax command, a function, or `{ name, command }` or `{ name, run }`";
const NAME_LENGTH = 60;

/**
 * Names each check: a command by its text, a function by its name or the beginning of its source. A name that is taken
 * by another function gets a number.
 *
 * @throws {RalphError} option-invalid for what is no check
 */
export function toRunnables(checks: readonly CheckLike[]): readonly Runnable[] {
  const counts = new Map<string, number>();
  return checks.map((like) => {
    const runnable = toRunnable(like);
    if (typeof like !== "function") return runnable;
    const count = (counts.get(runnable.name) ?? 0) + 1;
    counts.set(runnable.name, count);
    return count === 1 ? runnable : { ...runnable, name: `${runnable.name} (${count})` };
  });
}

function toRunnable(like: CheckLike): Runnable {
  if (typeof like === "string") return { name: like, command: like };
  if (typeof like === "function") {
    return { name: like.name || shortened(String(like)), run: (context, $) => like($, context) };
  }
  if (isCommand(like)) return { name: shortened(textOf(like)), run: () => like };
  if (isCheck(like)) return like;
  throw new RalphError("option-invalid", {
    details: { option: "a check", expected: CHECK_FORMS, value: JSON.stringify(like) ?? typeof like },
    hint: "docs/guides/recipes.md shows each form",
  });
}

/** Recipes in JavaScript reach this too, so that the type alone proves nothing. */
function isCheck(like: unknown): like is Check {
  const { name, run, command } = (like ?? {}) as Partial<Record<keyof Check, unknown>>;
  return typeof name === "string" && (typeof run === "function" || typeof command === "string");
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= NAME_LENGTH ? line : `${line.slice(0, NAME_LENGTH - 1)}…`;
}

/** The text of a dax command: it gives that to its logger only, before it starts anything. */
function textOf(command: CommandLike): string {
  let text = "command";
  const stop = new Error("only the text is wanted");
  const copy = command.printCommand().tailDisplay(false);
  copy.setPrintCommandLogger((printed) => {
    text = printed;
    throw stop;
  });
  try {
    void copy.spawn();
  } catch (error) {
    if (error !== stop) throw error;
  }
  return text;
}

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
