import type { RalphContext } from "../context.ts";
import { ensureDirectory, openAppender } from "../host/files.ts";
import { join } from "node:path";
import type { Check, CheckOutcome, CheckResult, Item, Verification } from "../loop/types.ts";
import { runCommandCheck } from "../verifiers/command.ts";
import { runShellCheck, type ShellCheckOptions } from "../verifiers/shell.ts";
import type { CheckLike, CommandLike } from "../verifiers/types.ts";

/** How checks are run. */
export interface VerifyOptions {
  /** Absolute path of the working tree. @default the root */
  readonly cwd?: string;
  readonly item?: Item | null;
  /** Commit before the turn. @default null */
  readonly base?: string | null;
  /** Folder for one log file a check; without one nothing is logged. */
  readonly logs?: string;
  /** Told in the events; the same checks may run before and after a turn. */
  readonly signal?: AbortSignal;
}

type Runnable = Check | { readonly name: string; readonly builder: CommandLike; readonly scope?: string; readonly timeoutMs?: number };

/**
 * Runs every check in order and collects all failures, not only the first. No check at all is `unverified`, never
 * `passed`. Each check has a timeout, its whole process tree ends with it, and the end of its output is kept.
 *
 * @returns `passed`, `failed` with `failures`, `unverified`, or `aborted`; every result has exit code, milliseconds and tail
 * @example Check a repository from a build script
 * ```ts
 * import { createRalph, verify } from "ralph";
 *
 * await using ralph = await createRalph();
 * const checked = await verify(ralph, ["test 1 = 1", ralph.$`echo built`, ($) => $`echo linted`]);
 * console.log(checked.status); // passed
 * ```
 */
export async function verify(
  ralph: Pick<RalphContext, "$" | "config" | "events" | "host" | "root" | "signal">,
  checks: readonly CheckLike[],
  options: VerifyOptions = {},
): Promise<Verification> {
  const signal = options.signal ?? ralph.signal;
  const results: CheckResult[] = [];
  for (const check of checks.map((like) => toRunnable(like, ralph))) {
    if (signal.aborted) return { status: "aborted", results };
    const { name, scope = "" } = check;
    ralph.events.emit({ type: "check-start", name, scope });
    const started = ralph.host.clock.now();
    const outcome = await runOne(ralph, check, { ...options, signal }, results.length + 1);
    if (signal.aborted) return { status: "aborted", results };
    const result = { ...outcome, name, scope, durationMs: ralph.host.clock.now() - started };
    results.push(result);
    ralph.events.emit({ type: "check-end", ...result });
  }
  if (results.length === 0) return { status: "unverified", results: [] };
  const failures = results.filter((result) => !result.ok);
  return failures.length === 0 ? { status: "passed", results } : { status: "failed", results, failures };
}

function toRunnable(like: CheckLike, { $ }: Pick<RalphContext, "$">): Runnable {
  if (typeof like === "string") return { name: like, command: like };
  if (typeof like === "function") return toRunnable(like($), { $ });
  if ("spawn" in like) return { name: "command", builder: like };
  return like;
}

async function runOne(
  ralph: Pick<RalphContext, "$" | "config" | "host" | "root">,
  check: Runnable,
  options: VerifyOptions & { readonly signal: AbortSignal },
  number: number,
): Promise<CheckOutcome> {
  const cwd = options.cwd ?? ralph.root;
  const { signal, item = null, base = null } = options;
  if ("run" in check && check.run !== undefined) return await runFunction(check.run, { cwd, signal, item, base });

  const log = options.logs === undefined ? null : await openLog(options.logs, number);
  const run: ShellCheckOptions = {
    cwd,
    signal,
    timeoutMs: check.timeoutMs ?? ralph.config.verify.timeout * 1000,
    ...(log === null ? {} : { onOutput: (chunk) => log.write(chunk) }),
    ...("expect" in check && check.expect !== undefined ? { expect: check.expect } : {}),
  };
  try {
    return "builder" in check
      ? await runCommandCheck(ralph.host, check.builder, run)
      : await runShellCheck(ralph.$, ralph.host, check.command ?? "false", run);
  } finally {
    await log?.close();
  }
}

/** A check function that throws has failed, with what it threw as its tail. */
async function runFunction(
  run: NonNullable<Check["run"]>,
  context: Parameters<NonNullable<Check["run"]>>[0],
): Promise<CheckOutcome> {
  try {
    return await run(context);
  } catch (error) {
    const tail = error instanceof Error ? error.stack ?? error.message : String(error);
    return { ok: false, exitCode: null, tail };
  }
}

async function openLog(folder: string, number: number): ReturnType<typeof openAppender> {
  await ensureDirectory(folder);
  return await openAppender(join(folder, `check-${number}.log`));
}
