import { note, type RalphContext } from "../context/context.ts";
import type { AsInstructed } from "../backlog/check_types.ts";
import { createNewestLine } from "../events/newest_line.ts";
import { type Redactor, redactorFor } from "../events/redact.ts";
import type { RalphEvent } from "../events/types.ts";
import { mapTexts, shortened } from "../host/data.ts";
import { ensureDirectory } from "../host/files.ts";
import { openLog } from "../host/log_file.ts";
import { join } from "node:path";
import type * as backlog from "../backlog/types.ts";
import { checkId, isNoCommand, isResultOf } from "../backlog/verify_commands.ts";
import { type CheckLike, type CommandLike, isCommand, namedCheck, runFunctionCheck } from "./function.ts";
import { runShellCheck, type ShellCheckOptions } from "./shell.ts";
import { createTapReader } from "../measured/tests_run.ts";
import { openCheckTree } from "./checkout/open_checkout.ts";
import type { CheckoutPlace } from "./checkout/place.ts";
import type { $Type } from "dax";
import { optionInvalid, type RalphError } from "../errors/ralph_error.ts";

/** How checks are run. */
export interface VerifyOptions {
  /** Absolute path of the working tree. @default the root */
  readonly cwd?: string;
  /** The item that is given to check functions. @default null */
  readonly item?: backlog.Item | null;
  /** Commit before the turn. @default null */
  readonly base?: string | null;
  /** The changes to the tree, for check functions. */
  readonly done?: backlog.WorkDone;
  /** Commands that failed before the run's first turn: their failures are marked so. */
  readonly failedBefore?: ReadonlySet<string>;
  /** The checks run before the item's first attempt, where its own should fail. */
  readonly beforeWork?: boolean;
  /** Folder for the log of each check that prints something; without one nothing is logged. */
  readonly logs?: string;
  /** How reviewers are run. @default with the instruction files of agents as they are */
  readonly asInstructed?: AsInstructed;
  /** A checkout that commands run in; functions are given its folder, reviews the tree. */
  readonly place?: CheckoutPlace;
  /** Called when a command has run, before the next one does. @returns the tests that it wrote of */
  readonly ran?: () => Promise<backlog.CheckOutcome["tests"] | null>;
  /** Ends the running check and starts no other. @default the context's */
  readonly signal?: AbortSignal;
}

type RunOptions = VerifyOptions & { readonly signal: AbortSignal; readonly redactor: Redactor };

/** A look at what checks find: no event tells of it, and a failure is none of the run's. */
export function verifyQuietly(
  ralph: Parameters<typeof verify>[0],
  checks: readonly CheckLike[],
  options: VerifyOptions,
): Promise<backlog.Verification> {
  return verify({ ...ralph, events: { emit: () => {}, attach: () => {} } }, checks, options);
}

/**
 * Runs every check in order and collects all failures, not only the first. No check at all is `unverified`, never
 * `passed`. A command that checks of several scopes name is run once for all of them. Each check has a timeout, its
 * whole process tree ends with it, and the end of its output is kept. Reviews come last, and only where everything
 * else passed. With `verify.isolated` commands run in a clean checkout of what would be committed now; functions see
 * the tree itself.
 *
 * @throws {RalphError} option-invalid for what is no check; not-a-repository, git-failed with `verify.isolated`
 * @returns `passed`, `failed` with `failures`, `unverified`, or `aborted`; every result has exit code, milliseconds and tail
 * @example Check a repository from a build script
 * ```ts
 * import { createRalph, verify } from "ralph";
 *
 * await using ralph = await createRalph();
 * const checked = await verify(ralph, [
 *   "test 1 = 1",
 *   ralph.$`echo built`,
 *   async ($) => await $`echo linted`,
 *   { name: "by hand", run: async ({ cwd }) => ({ ok: cwd === ralph.root, exitCode: null, tail: "" }) },
 * ]);
 * console.log(checked.status); // passed
 * ```
 */
export async function verify(
  ralph: Pick<RalphContext, "$" | "config" | "events" | "host" | "lookAfter" | "repository" | "root" | "signal">,
  checks: readonly CheckLike[],
  options: VerifyOptions = {},
): Promise<backlog.Verification> {
  const signal = options.signal ?? ralph.signal;
  const results: backlog.CheckResult[] = [];
  const runnables = toRunnables(checks);
  const redactor = redactorFor(ralph.host.environment.variables);
  const isolated = ralph.config.verify.isolated && options.place === undefined && runnables.some(isShellCommand);
  await using tree = isolated && !signal.aborted ? await openCheckTree(ralph, { signal }) : null;
  const isolatedIn = tree === null ? undefined : rememberingAll(tree.place, runnables);
  const place = options.place === undefined ? {} : { place: rememberingAll(options.place, runnables) };
  // a command that several items ask for runs once; one that one item names twice may mean a state before and one after
  const earlier = new Map<string, { readonly check: Runnable; readonly outcome: backlog.CheckOutcome }>();
  for (const check of [...runnables.filter(({ review }) => review !== true), ...runnables.filter(isReview)]) {
    if (signal.aborted) return { status: "aborted", results };
    if (isReview(check) && results.some(({ ok }) => !ok)) break; // a review would cost a turn and change nothing
    const { name, scope = "" } = check;
    const number = results.length + 1;
    const whole = `${keyOf(check)} ${check.timeoutMs}`;
    const same = isShellCommand(check) ? earlier.get(whole) : undefined;
    const known = same?.check.scope === check.scope ? undefined : same;
    const isTold = known?.check.name === name;
    if (!isTold) ralph.events.emit({ type: "check-start", name, scope, number, total: checks.length });
    const started = ralph.host.clock.steady();
    const outcome = known?.outcome ??
      await runPlaced(ralph, check, { ...options, ...place, signal, redactor }, isolatedIn, number);
    await ralph.lookAfter?.(`the check \`${name}\``);
    if (signal.aborted) return { status: "aborted", results };
    const isOld = !outcome.ok && check.command !== undefined && options.failedBefore?.has(check.command) === true;
    const durationMs = Math.max(0, ralph.host.clock.steady() - started);
    const tail = redactor.text(outcome.tail);
    const shown = { ...outcome, tail, ...namesOf(check, redactor), scope };
    const result = { ...shown, durationMs, ...(isOld ? { failedBefore: true } : {}) };
    results.push(result);
    const isKept = known === undefined && isShellCommand(check) && isWhole(outcome);
    if (isKept) earlier.set(whole, { check, outcome });
    if (!isTold) ralph.events.emit({ ...endOf(result), ...(options.beforeWork === true ? { beforeWork: true } : {}) });
  }
  return verificationOf(results);
}

/** The verification with these results: all passed, some failed, or there are none. Pure. */
export function verificationOf(results: readonly backlog.CheckResult[]): backlog.Verification {
  if (results.length === 0) return { status: "unverified", results: [] };
  const failures = results.filter(({ ok }) => !ok);
  return failures.length === 0 ? { status: "passed", results } : { status: "failed", results, failures };
}

/**
 * A place that knows earlier results only where it knows those of all commands: one may need what another has built.
 */
function rememberingAll(place: CheckoutPlace, runnables: readonly Runnable[]): CheckoutPlace {
  const commands = runnables.filter(isShellCommand);
  return commands.every((check) => place.known(keyOf(check)) !== null) ? place : { ...place, known: () => null };
}

/** Words of a check as they may be stored, shown and committed: every result has them from here. */
function namesOf(
  { name, command, expect }: Runnable,
  { text }: Redactor,
): Pick<backlog.CheckResult, "name" | "command" | "expect" | "id"> {
  const names = {
    name,
    ...(command === undefined || command === name ? {} : { command }),
    ...(expect === undefined ? {} : { expect }),
  };
  const masked = mapTexts(names, text) as typeof names;
  return JSON.stringify(masked) === JSON.stringify(names) ? names : { ...masked, id: checkId(names) };
}

/** The key that keeps a result, beside the tree. */
function keyOf({ command, expect = {} }: Runnable): string {
  return `${command} ${JSON.stringify(expect)}`;
}

/** Neither cut short nor ended by a signal: it would come out the same again. */
function isWhole({ exitCode, timedOut }: backlog.CheckOutcome): boolean {
  return exitCode !== null && timedOut !== true;
}

/** Runs a check where it belongs. A command that ran on the same tree in this run is not asked again. */
async function runPlaced(
  ralph: Pick<RalphContext, "$" | "config" | "events" | "host" | "root">,
  check: Runnable,
  { place: given, ...options }: RunOptions,
  isolated: CheckoutPlace | undefined,
  number: number,
): Promise<backlog.CheckOutcome> {
  const place = given ?? isolated;
  if (place === undefined || isReview(check)) return await runOne(ralph, check, options, number);
  if (!isShellCommand(check)) {
    const cwd = await given?.directory();
    return await runOne(ralph, check, cwd === undefined ? options : { ...options, cwd }, number);
  }
  const key = keyOf(check);
  const known = place.known(key);
  if (known !== null) return known;
  const ran = await runOne(ralph, check, { ...options, place }, number);
  const tests = await options.ran?.() ?? null;
  const outcome = tests === null ? ran : { ...ran, tests };
  if (isWhole(outcome) && !options.signal.aborted) place.remember(key, outcome);
  return outcome;
}

function isShellCommand({ run }: Runnable): boolean {
  return run === undefined;
}

function isReview({ review }: Runnable): boolean {
  return review === true;
}

function endOf(result: backlog.CheckResult): Extract<RalphEvent, { type: "check-end" }> {
  const { name, command, scope, ok, exitCode, durationMs, tail, failedBefore, tests } = result;
  const more = {
    ...(command === undefined ? {} : { command }),
    ...(failedBefore === undefined ? {} : { failedBefore }),
    ...(tests === undefined ? {} : { tests }),
  };
  return { type: "check-end", id: checkId(result), name, scope, ok, exitCode, durationMs, tail, ...more };
}

async function runOne(
  ralph: Pick<RalphContext, "$" | "config" | "events" | "host" | "root">,
  check: Runnable,
  options: RunOptions,
  number: number,
): Promise<backlog.CheckOutcome> {
  const { signal, item = null, base = null, cwd = ralph.root, done, logs, asInstructed, redactor } = options;
  const timeoutMs = check.timeoutMs ?? ralph.config.verify.timeout * 1000;
  const log = logs === undefined || check.review === true ? null : createLog(logs, number);
  if (check.run !== undefined) await log?.open(); // it may write beside its log
  const newest = createNewestLine();
  let tap = createTapReader();
  ralph.events.preview?.(newest.read);
  const shell: ShellCheckOptions = {
    cwd,
    signal,
    timeoutMs,
    mask: () => redactor.stream(),
    onAgain: () => void (tap = createTapReader()),
    onOutput: async (chunk) => {
      newest.push(chunk);
      tap.push(chunk);
      await log?.write(chunk);
    },
    ...(check.expect === undefined ? {} : { expect: check.expect }),
    ...(options.place === undefined ? {} : { place: options.place }),
  };
  try {
    if (check.run === undefined) {
      const outcome = await runShellCheck(ralph.host, check.command ?? "", shell);
      const tests = tap.end();
      return tests === null ? outcome : { ...outcome, tests };
    }
    const more = { ...done && { done }, ...logs !== undefined && { logs }, ...asInstructed && { asInstructed } };
    const context = { cwd, item, base, signal, ...more };
    return await runFunctionCheck(ralph, check.run, context, shell);
  } finally {
    await log?.close();
  }
}

/** The log of a check: what prints nothing has none. */
function createLog(folder: string, number: number) {
  let opened: ReturnType<typeof openLog> | null = null;
  async function open(): ReturnType<typeof openLog> {
    await ensureDirectory(folder);
    return await openLog(join(folder, `check-${number}.log`));
  }
  return {
    open: () => opened ??= open(),
    write: async (chunk: Uint8Array) => (await (opened ??= open())).write(chunk),
    close: async () => await (await opened)?.close(),
  };
}

/** A check in one form: a command for the shell, or a function that looks or builds a command. */
type Runnable = Pick<backlog.Check, "name" | "scope" | "timeoutMs" | "command" | "expect" | "review"> & {
  readonly run?: ((context: backlog.CheckContext, $: $Type) => unknown) | undefined;
};

const CHECK_FORMS = "a command, a dax command, a function, or `{ name, command }` or `{ name, run }`";
const NAME_LENGTH = 60;

/**
 * Names each check: a command by its text, a function by its name or the beginning of its source. A name that is taken
 * by another function gets a number.
 *
 * @throws {RalphError} option-invalid for what is no check
 */
function toRunnables(checks: readonly CheckLike[]): readonly Runnable[] {
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
  const command = typeof like === "string" ? like : isCheck(like) ? like.command : undefined;
  if (command !== undefined && isNoCommand(command)) throw noCheck(command);
  if (typeof like === "string") return { name: like, command: like };
  if (typeof like === "function") {
    return { name: like.name || nameOf(String(like)), run: (context, $) => like($, context) };
  }
  if (isCommand(like)) return { name: nameOf(textOf(like)), run: () => like };
  if (isCheck(like)) return like;
  throw noCheck(like);
}

function noCheck(like: unknown): RalphError {
  const value = JSON.stringify(like) ?? typeof like;
  return optionInvalid("a check", CHECK_FORMS, value, "docs/guides/recipes.md shows each form");
}

/** Recipes in JavaScript reach this too, so that the type alone proves nothing. */
function isCheck(like: unknown): like is backlog.Check {
  const { name, run, command } = (like ?? {}) as Partial<Record<keyof backlog.Check, unknown>>;
  return typeof name === "string" && (typeof run === "function" || typeof command === "string");
}

function nameOf(text: string): string {
  return shortened(text.replaceAll(/\s+/g, " ").trim(), NAME_LENGTH);
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
 * Runs each command that failed once more, after all others and at the same place, before anything is blamed for it.
 * One that passes then counts as green and is named as unsteady. Commands that reached their time limit, functions and
 * reviews are not repeated.
 */
export async function repeatFailed(
  ralph: Parameters<typeof verify>[0] & Pick<RalphContext, "events">,
  checks: readonly CheckLike[],
  found: backlog.Verification,
  options: VerifyOptions,
): Promise<{ readonly verification: backlog.Verification; readonly unsteady: readonly string[] }> {
  if (found.status !== "failed") return { verification: found, unsteady: [] };
  const isRed = (check: backlog.Check): boolean =>
    found.failures.some((failure) => isOf(failure, check) && failure.timedOut !== true && failure.halts === undefined);
  const again = checks.map(namedCheck).filter((check): check is backlog.Check => check !== null)
    .filter((check) => check.command !== undefined && check.review !== true && isRed(check));
  if (again.length === 0) return { verification: found, unsteady: [] };
  const names = [...new Set(again.map(({ name }) => name))].join(", ");
  note(ralph, "info", `failed, and run once more: ${names}`);
  const { place } = options;
  const logs = options.logs === undefined ? {} : { logs: `${options.logs}-again` };
  const fresh = place === undefined ? {} : { place: { ...place, known: () => null } };
  const second = await verify(ralph, again, { ...options, ...logs, ...fresh });
  if (second.status === "aborted") return { verification: { ...second, results: found.results }, unsteady: [] };
  const results = found.results.map((result) =>
    result.ok
      ? result
      : second.results.find((one) => one.ok && checkId(one) === checkId(result) && one.scope === result.scope) ?? result
  );
  return {
    verification: verificationOf(results),
    unsteady: [...new Set(second.results.filter(({ ok }) => ok).map(({ name }) => name))],
  };
}

function isOf(result: backlog.CheckResult, check: backlog.Check): boolean {
  return isResultOf(result, check) && result.scope === (check.scope ?? "");
}
