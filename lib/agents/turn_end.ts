import type { ProcessEnd } from "../host/types.ts";
import type { AgentTurn, TurnEnd, Usage } from "../backlog/types.ts";

/** The usage of an agent that does not report it. */
export const UNKNOWN_USAGE: Usage = {
  inputTokens: null,
  outputTokens: null,
  cachedTokens: null,
  reasoningTokens: null,
  costUsd: null,
  estimated: false,
};

/** Agents report failed requests as nothing used; what they did use is unknown. */
export function saysNothing({ inputTokens, outputTokens, costUsd }: Usage): boolean {
  return (inputTokens ?? 0) === 0 && (outputTokens ?? 0) === 0 && (costUsd ?? 0) === 0;
}

/** A turn in which nothing was said. @param transcript absolute path. @default none */
export function silentTurn(end: TurnEnd, transcript = ""): AgentTurn {
  return { end, text: "", lines: [], usage: UNKNOWN_USAGE, transcript, durationMs: 0 };
}

/** The limits a turn ran under, for the message. */
export interface TurnLimits {
  readonly timeoutMs: number;
  readonly idleTimeoutMs?: number;
}

/** A shell reports a command that a signal ended as 128 and the signal's number. */
const SIGNALS: Readonly<Record<number, string>> = {
  129: "SIGHUP",
  130: "SIGINT",
  131: "SIGQUIT",
  132: "SIGILL",
  134: "SIGABRT",
  135: "SIGBUS",
  136: "SIGFPE",
  137: "SIGKILL",
  139: "SIGSEGV",
  143: "SIGTERM",
};

/** How a turn ended, from how its process ended. */
export function turnEndOf(end: ProcessEnd, limits: TurnLimits): TurnEnd {
  switch (end.reason) {
    case "aborted":
      return { reason: "aborted" };
    case "timed-out":
      return { reason: "timed-out", message: `the agent had not ended after ${seconds(limits.timeoutMs)}` };
    case "idle":
      return { reason: "idle", message: `the agent printed nothing for ${seconds(limits.idleTimeoutMs ?? 0)}` };
    case "not-started":
      return { reason: "crashed", message: withLast("the agent's command could not be started", end) };
    case "not-found":
      return { reason: "agent-unusable", message: withLast("the agent's command could not be started", end) };
    case "exited":
      return exitOf(end);
  }
}

/** The signal that ended a process, or the command that a shell ran. */
export function signalOf({ signal, exitCode }: ProcessEnd): string | undefined {
  return signal ?? SIGNALS[exitCode ?? 0];
}

function exitOf(end: ProcessEnd): TurnEnd {
  const signal = signalOf(end);
  if (signal !== undefined) return { reason: "crashed", message: withLast(`the agent was ended by ${signal}`, end) };
  if (end.exitCode === 0) return { reason: "completed" };
  if (end.exitCode === 127) {
    return { reason: "agent-unusable", message: withLast("the agent's command was not found (exit code 127)", end) };
  }
  return { reason: "agent-failed", message: withLast(`the agent ended with exit code ${end.exitCode}`, end) };
}

function withLast(message: string, end: ProcessEnd): string {
  const last = lastLine(end.stderr) ?? lastLine(end.stdout);
  return last === null ? message : `${message}: ${last}`;
}

function lastLine(text: string): string | null {
  return text.split("\n").map((line) => line.trim()).findLast((line) => line !== "")?.slice(0, 500) ?? null;
}

function seconds(milliseconds: number): string {
  return `${Math.round(milliseconds / 100) / 10} s`;
}
