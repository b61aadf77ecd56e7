/**
 * Finds what ended a turn, from how the process ended and what the stream said. Exit code 0 is no proof of anything:
 * several programs end with it when they failed or were killed.
 *
 * @module
 */
import type { Clock, Environment, ProcessEnd } from "../host/types.ts";
import type { Turn, TurnEnd } from "../backlog/types.ts";
import type { Adapter, Driver, FailureKind } from "./adapter.ts";
import { failureKind } from "./failures.ts";
import { resetTime, saneReset } from "./reset_time.ts";
import type { StreamReader } from "./stream_reader.ts";
import type { StreamSummary } from "./stream_summary.ts";
import { signalOf, turnEndOf, type TurnLimits } from "./turn_end.ts";
import { join } from "node:path";
import { pathExists } from "../host/files.ts";
import { unstyledText } from "../host/terminal.ts";

/** The context beside the stream. */
export interface VerdictContext {
  readonly limits: TurnLimits;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The agent's name, for hints. */
  readonly agent: string;
  /** How to log in. */
  readonly login: string;
  /** The line that asked for a login, where the turn was ended for it. */
  readonly asksToLogIn?: string | null;
  /** There is a login of it, a key, or settings. @default true */
  readonly hasLogin?: boolean;
  /** How to log in where the agent refuses for this reason; `null`: as always. */
  readonly loginFor?: Driver["loginFor"] | undefined;
  /** How it refuses to start. @default none known */
  readonly refusals?: Adapter["refusals"] | undefined;
  readonly exitKind?: Driver["exitKind"] | undefined;
}

const KILLS = new Set(["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"]);

/** Judges one turn. Pure. */
export function turnVerdict(end: ProcessEnd, summary: StreamSummary, context: VerdictContext): TurnEnd {
  const { asksToLogIn = null } = context;
  if (asksToLogIn !== null) return failed("auth", asksToLogIn, 0, summary, context);
  if (end.reason !== "exited") {
    const stopped = turnEndOf(end, context.limits);
    const waited = stopped.reason === "timed-out" || stopped.reason === "idle";
    const told = waited && summary.toolCalls === 0 ? toldBy(linesOf(end, summary), UNUSABLE) : null;
    if (told !== null) return failed(told.kind, told.line, 0, summary, context); // it waits for a login that no one gives
    // It was not stuck: it was waiting for its limit to be over, in silence.
    return waited && summary.waiting ? limited("it was waiting for its rate limit", summary, context) : stopped;
  }
  const signal = signalOf(end);
  if (signal !== undefined && KILLS.has(signal)) {
    return { reason: "killed", message: `the agent was ended from outside with ${signal}` };
  }
  if (end.signal !== null) return turnEndOf(end, context.limits);
  const ended = judged(end, summary, context);
  const isUnreached = ended.reason === "unavailable" && context.hasLogin === false && !summary.answered;
  return isUnreached ? failed("auth", `${NO_LOGIN}: ${ended.message}`, 0, summary, context) : ended;
}

function judged(end: ProcessEnd, summary: StreamSummary, context: VerdictContext): TurnEnd {
  const code = end.exitCode ?? 0;
  const refused = summary.toolCalls > 0 ? null : refusedBy(end, summary, context);
  if (refused !== null) return { reason: "agent-unusable", message: `\`${context.agent}\` does not start: ${refused}` };
  if (summary.error !== null) return failed(summary.error.kind, summary.error.message, code, summary, context);
  switch (summary.end?.status) {
    case "completed":
      if (code === 0) return { reason: "completed" };
      // opencode continues after its context was full, and its exit code still shows it.
      if (summary.pastError !== null) {
        return failed(summary.pastError.kind, summary.pastError.message, code, summary, context);
      }
      return failed("other", `it said that it was done and ended with exit code ${code}`, code, summary, context);
    case "cut-off":
      return {
        reason: "cut-off",
        message: `the agent's turn was cut off: ${summary.end.message ?? "no reason given"}`,
      };
    case "failed":
      return failed("other", summary.end.message ?? "it gave no reason", code, summary, context);
    case undefined:
      return code === 0 ? unfinished(end, summary, context) : exited(end, code, summary, context);
  }
}

/** The reason that it gave for not starting, with what a person does about it; `null`: it gave none. */
function refusedBy(end: ProcessEnd, summary: StreamSummary, { refusals = [] }: VerdictContext): string | null {
  const lines = [...linesOf(end, summary), ...summary.error === null ? [] : [summary.error.message]];
  for (const { pattern, hint } of refusals) {
    const line = lines.find((one) => pattern.test(one));
    if (line !== undefined) return `${line} (${hint})`;
  }
  return null;
}

function unfinished(end: ProcessEnd, summary: StreamSummary, context: VerdictContext): TurnEnd {
  const { events, openCalls } = summary;
  const told = openCalls > 0 ? null : toldBy(linesOf(end, summary), UNUSABLE);
  if (told !== null) return failed(told.kind, told.line, 0, summary, context);
  if (events === 0) {
    return { reason: "cut-off", message: "the agent ended without printing anything that could be read" };
  }
  if (openCalls > 0) return { reason: "cut-off", message: "the agent ended in the middle of a tool call" };
  return { reason: "cut-off", message: "the agent's stream ended without a result" };
}

/** The machine keeps the program, or a file of it, from the agent: so it does at the next try. */
const BARRED_REGEXP = /\b(?:EACCES|EPERM|EROFS)\b|permission denied|operation not permitted|read-only file system/i;
/** The shell's codes for a program that may not be run, and for none. */
const NOT_RUN: ReadonlySet<number> = new Set([126, 127]);

const USAGE_REGEXP = /unknown (?:option|argument|flag)s?|unexpected argument|unrecognized (?:option|argument)/i;

/** A program that ended without a word in its stream: its last lines on standard error say why. */
function exited(end: ProcessEnd, code: number, summary: StreamSummary, context: VerdictContext): TurnEnd {
  const lines = linesOf(end, summary);
  const own = context.exitKind?.(code) ?? null;
  if (own !== null) {
    const said = lines.findLast((line) => failureKind(line) === own);
    return failed(own, said ?? `it ended with exit code ${code}`, code, summary, context);
  }
  if (summary.openCalls > 0) {
    return { reason: "cut-off", message: `the agent ended in the middle of a tool call (exit code ${code})` };
  }
  const usage = summary.events > 0 ? null : usageProblem(lines);
  if (usage !== null) {
    const message = `\`${context.agent}\` does not take the arguments that Ralph gives it: ${usage}`;
    return { reason: "agent-unusable", message: `${message}; \`ralph doctor --probe\` shows more` };
  }
  const barred = summary.events > 0 ? undefined : lines.findLast((line) => BARRED_REGEXP.test(line));
  if (barred !== undefined || (summary.events === 0 && NOT_RUN.has(code))) {
    const why = barred ?? [...lines.slice(-1), `exit code ${code}`].join(", ");
    const how = "check owner and mode of the program and of what it names";
    return { reason: "agent-unusable", message: `\`${context.agent}\` does not start: ${why} (${how})` };
  }
  const told = toldBy(lines, null);
  return told === null ? turnEndOf(end, context.limits) : failed(told.kind, told.line, code, summary, context);
}

/** A person has to see to these: no attempt can get over them. */
const UNUSABLE: ReadonlySet<FailureKind> = new Set<FailureKind>(["auth", "billing", "model"]);

/** Some print what is wrong before their stream begins. */
function linesOf({ stderr, stdout }: ProcessEnd, { events }: StreamSummary): readonly string[] {
  return unstyledText(events > 0 ? stderr : `${stdout}\n${stderr}`).split("\n").map((line) => line.trim())
    .filter((line) => line !== "");
}

/** The failure that its last lines tell of: the newest that means something. */
function toldBy(lines: readonly string[], kinds: ReadonlySet<FailureKind> | null) {
  for (const line of lines.slice(-12).toReversed()) {
    const kind = failureKind(line);
    if (kind !== "other" && kind !== "interrupted" && (kinds?.has(kind) ?? true)) return { kind, line };
  }
  return null;
}

/** The problem with the arguments; some programs just print their help. */
function usageProblem(lines: readonly string[]): string | null {
  const said = lines.find((line) => USAGE_REGEXP.test(line));
  if (said !== undefined) return said;
  const isHelp = lines.includes("Options:") && lines.some((line) => line.includes("--help"));
  return isHelp ? "it printed its help" : null;
}

function failed(said: FailureKind, message: string, code: number, summary: StreamSummary, context: VerdictContext) {
  const kind = said === "other" ? context.exitKind?.(code) ?? "other" : said;
  const why = message.replaceAll(/\s*\n\s*/g, " ").trim().slice(0, 1000) || "it gave no reason";
  if (kind === "rate-limit") return limited(why, summary, context);
  const { reason, words } = FAILED[kind];
  const how = kind === "auth" ? ` (${context.loginFor?.(why) ?? context.login})` : HINTS[kind] ?? "";
  return { reason, message: `${reason === "agent-unusable" ? `\`${context.agent}\`` : "the"} ${words}: ${why}${how}` };
}

/** How a turn ends that failed so, and the words for it, behind the agent's name or `the`. */
const FAILED = {
  auth: { reason: "agent-unusable", words: "is not logged in" },
  billing: { reason: "agent-unusable", words: "has no credit" },
  model: { reason: "agent-unusable", words: "has no such model" },
  context: { reason: "context-exhausted", words: "conversation no longer fits the model" },
  server: { reason: "unavailable", words: "agent's provider failed" },
  network: { reason: "unavailable", words: "agent's provider failed" },
  interrupted: { reason: "killed", words: "agent was interrupted" },
  "own-limit": { reason: "agent-failed", words: "agent failed" },
  other: { reason: "agent-failed", words: "agent failed" },
} as const;

const HINTS: Readonly<Partial<Record<FailureKind, string>>> = {
  billing: " (see to its plan and billing)",
  model: " (name another with `--model`)",
};

function limited(message: string, { limit }: StreamSummary, { now }: VerdictContext): TurnEnd {
  const said = limit === null || limit.status === "retrying"
    ? null
    : limit.untilMs ?? (limit.waitMs === null ? null : now + limit.waitMs);
  return { reason: "rate-limited", untilMs: saneReset(said ?? resetTime(message, now), now), message };
}

/**
 * Why a turn that ended normally was none, where the agent's stream shows what it did: it planned or asked instead of
 * working, or did nothing at all. `null` for a turn that changed something. Pure.
 */
export function refusalOf({ activity, changedFiles, lines }: Turn): string | null {
  if (activity === undefined || changedFiles.length > 0) return null;
  const last = lines.at(-1) ?? "";
  const words = last === "" ? "" : `: ${last.slice(0, 300)}`;
  if (activity.planned) return `the agent made a plan and changed nothing${words}`;
  if (activity.asked) return `the agent asked a question that no one answers${words}`;
  if (activity.toolCalls > 0) return null;
  return last.endsWith("?")
    ? `the agent only asked a question that no one answers${words}`
    : `the agent used no tool and changed nothing${words}`;
}

/** How long an agent may be silent after it has said that it is not logged in: some wait for a person then, for ever. */
const SILENCE_MS = 20_000;
/** How long the model of an agent without any login may be silent: some ask a server that is not reached, for ever. */
const ANSWER_MS = 180_000;
const LONGEST_LINE = 2000;

/** Why a turn failed whose agent has no login and gave no answer. */
export const NO_LOGIN = "its model gave no answer, and there is neither a login nor a key of it";

/** Ends a turn whose agent waits for a login. */
export interface LoginWatch extends Disposable {
  /** Aborts when the agent asked for a login and said nothing after it. */
  readonly signal: AbortSignal;
  /** Takes what the agent prints, on either stream. */
  push(chunk: Uint8Array): void;
  /** The line that asks for the login, where the turn was ended for it. */
  said(): string | null;
}

/** @param reader of the agent's stream: one that is at work needs no login @param hasLogin a login of it, a key, or settings */
export function createLoginWatch(clock: Clock, { summary }: StreamReader, hasLogin: boolean): LoginWatch {
  const ended = new AbortController();
  const stop = new AbortController();
  let line: string | null = null;
  let rest = "";

  async function wait(before: number): Promise<void> {
    await clock.sleep(SILENCE_MS, stop.signal);
    if (!stop.signal.aborted && summary().events === before) ended.abort();
  }

  async function waitForAnswer(): Promise<void> {
    await clock.sleep(ANSWER_MS, stop.signal);
    if (stop.signal.aborted || summary().answered) return;
    line ??= NO_LOGIN;
    ended.abort();
  }

  if (!hasLogin) void waitForAnswer();
  return {
    signal: ended.signal,
    push(chunk) {
      if (line !== null || summary().events > 1) return;
      const lines = (rest + Buffer.from(chunk).toString("utf8")).split("\n");
      rest = (lines.pop() ?? "").slice(-LONGEST_LINE);
      line = lines.find((one) => !one.startsWith("{") && failureKind(one, null) === "auth")?.trim() ?? null;
      if (line !== null) void wait(summary().events);
    },
    said: () => ended.signal.aborted ? line : null,
    [Symbol.dispose]: () => stop.abort(),
  };
}

/**
 * Tells whether a login, a key or settings of the agent can be seen: its files and variables. Some keep theirs where no
 * one can look.
 *
 * @param cwd absolute path of the folder that it works in
 */
export async function seesLogin(
  { needs: { folders, keys }, waitsForServer = { files: [], variables: [] } }: Pick<
    Adapter,
    "needs" | "waitsForServer"
  >,
  { home, variables }: Pick<Environment, "home" | "variables">,
  cwd: string,
): Promise<boolean> {
  if ([...keys, ...waitsForServer.variables].some((name) => (variables[name] ?? "") !== "")) return true;
  const files = folders.flatMap(({ path, variable, copy }) => {
    const folder = (variable === undefined ? undefined : variables[variable]) || path.replace(/^~/, home);
    return copy.map((name) => join(folder, name));
  });
  for (const file of [...files, ...waitsForServer.files.map((name) => join(cwd, name))]) {
    if (await pathExists(file)) return true;
  }
  return false;
}
