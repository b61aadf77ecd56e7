import { localTime } from "../host/local_date.ts";
import type { AgentEvent, EventRows, RalphEvent, TurnChanges } from "../events/types.ts";
import type { Usage } from "../backlog/types.ts";
import { FAILED_BEFORE, headlineOf } from "../backlog/verdict.ts";
import { formatDuration } from "./format_duration.ts";
import { plainText } from "./printable.ts";

/** So many files are named in a line. */
const NAMED_PATHS = 4;

type IterationEnd = Extract<RalphEvent, { type: "iteration-end" }>;
type CheckEnd = Extract<RalphEvent, { type: "check-end" }>;

/** The result of an iteration, in a few words. */
export function iterationText({ result, settlement, message }: IterationEnd): string {
  // The rest of a failed check's message is its tail, which was shown when it failed.
  const first = message?.split("\n", 1)[0];
  const said = result === "failed" && first?.endsWith(":") !== true
    ? first
    : message === null
    ? null
    : headlineOf(message);
  const reason = said === null || said === undefined || said === "" ? "" : `: ${said}`;
  if (settlement === "parked") return `parked${reason}`;
  switch (result) {
    case "verified":
      return settlement === "passed" ? "verified" : `checks passed, not settled${reason}`;
    case "unverified":
      if (settlement !== "passed") return `unverified, still open${reason}`;
      return reason === "" ? "done, no check ran" : `done, unverified${reason}`; // the verdict on it comes at the end
    case "not-done":
      return `not done${reason}`;
    case "failed":
    case "blocked":
    case "interrupted":
      return `${result}${reason}`;
    case "trespassed":
      return said?.startsWith("wrote outside") ? said : `wrote outside the allowed paths${reason}`;
    case "agent-unusable":
      return `the agent cannot be used${reason}`;
  }
}

/** Tells if an iteration came out well, badly, or neither. */
export function iterationTone({ result, settlement }: IterationEnd): "good" | "warn" | "bad" {
  if (settlement === "passed") return result === "verified" ? "good" : "warn";
  return result === "interrupted" || result === "not-done" ? "warn" : "bad";
}

/** The result of work from a worker's tree. */
export function landingText(
  { item, result, checkedAgain, paths }: Extract<RalphEvent, { type: "landing-end" }>,
): string {
  const named = paths.join(", ");
  switch (result) {
    case "landed":
      return checkedAgain ? `${item.id} landed, checked again with what was merged since` : `${item.id} landed`;
    case "conflict":
      return `${item.id} conflicts with what was merged since, and comes again: ${named}`;
    case "failed":
      return `${item.id} did not land: its checks fail on the branch as it is now`;
    case "blocked":
      return `${item.id} cannot land: uncommitted changes are in the way: ${named}`;
    case "refused":
      return `${item.id} did not land: a hook of the repository refused the commit`;
    case "interrupted":
      return `${item.id} was landing when the run was stopped`;
  }
}

/** `3 files, +12 -4: src/a.ts, src/b.ts …`. */
export function changesText({ paths, files, added, removed }: TurnChanges): string {
  const named = paths.slice(0, NAMED_PATHS).join(", ");
  const lines = added + removed === 0 ? "" : `, ${linesText({ added, removed })}`;
  return `${files} file${files === 1 ? "" : "s"}${lines}: ${named}${files > NAMED_PATHS ? " …" : ""}`;
}

/** `+12 -4`. */
export function linesText({ added, removed }: { readonly added: number; readonly removed: number }): string {
  return `+${added} -${removed}`;
}

/** Why a check failed, short. */
export function checkText({ exitCode, failedBefore }: CheckEnd): string {
  const ended = exitCode === null ? "no exit code" : `exit ${exitCode}`;
  return failedBefore === true ? `${ended}${FAILED_BEFORE}` : ended;
}

/** The result of a hook. */
export function hookText({ hook, iteration, status, message }: Extract<RalphEvent, { type: "hook-end" }>): string {
  return `hook ${hook} (iteration ${iteration}): ${status}${message === null ? "" : `: ${message.split("\n", 1)[0]}`}`;
}

/** The places in which a turn wrote that it may not. */
export function trespassText({ by, paths }: Extract<RalphEvent, { type: "trespass" }>): string {
  return by === "planner"
    ? `changed while the planner was at work, by it or by you: ${paths.join(", ")}`
    : `written outside the allowed paths: ${paths.join(", ")}`;
}

/** `1,204 tokens, $0.03`, or nothing where nothing is known. */
export function usageText(usage: Usage | null): string {
  if (usage === null) return "";
  const known = [usage.inputTokens, usage.outputTokens].filter((count) => count !== null);
  const tokens = known.reduce((sum, count) => sum + count, 0);
  const words = known.length === 0 ? [] : [`${String(tokens).replaceAll(/\B(?=(\d{3})+$)/g, ",")} tokens`];
  if (usage.costUsd !== null) words.push(`${usage.estimated ? "about " : ""}${dollars(usage.costUsd)}`);
  return words.join(", ");
}

/** `$0.03`; a cent that is not full is no nothing: `<$0.01`. */
export function dollars(amount: number): string {
  return amount > 0 && amount < 0.005 ? "<$0.01" : `$${amount.toFixed(2)}`;
}

/** The last lines of a check's output, without trailing blank lines. */
export function tailLines(tail: string, count: number): readonly string[] {
  return plainText(tail).trimEnd().split("\n").filter((line, index, all) => line !== "" || index < all.length - 1)
    .slice(-count);
}

/** Test runners and compilers write one of these words beside a reason, whichever they are; `0 failed` is none. */
const REASON_REGEXP = /\b(?<!\b0 )(?:errors?|fail(?:s|ed|ures?)?|expected|assert\w*|panic\w*|exception|not ok)\b/i;

/**
 * So many lines of a failed check's output: the first that look like a reason with what is around them, and the end,
 * which alone is often only a summary.
 */
export function excerptLines(text: string, count: number): readonly string[] {
  const lines = tailLines(text, Infinity);
  if (lines.length <= count) return lines;
  const most = Math.floor(count * 2 / 3);
  const shown = new Set<number>();
  for (const [index, line] of lines.entries()) {
    if (shown.size >= most || index >= lines.length - count) break;
    if (!REASON_REGEXP.test(line)) continue;
    for (let near = Math.max(0, index - 1); near <= index + 3 && shown.size < most; near++) shown.add(near);
  }
  for (let index = lines.length - 1; shown.size < count; index--) shown.add(index);
  return [...shown].toSorted((one, other) => one - other).flatMap((index, at, all) => {
    const isGap = index > (all[at - 1] ?? -1) + 1;
    return [...(isGap && at > 0 ? ["…"] : []), lines[index] as string];
  });
}

/** Tells if the processes of a run are confined. */
export function sandboxText({ on, by, network }: Extract<RalphEvent, { type: "sandbox" }>): string {
  if (!on) return `no sandbox: ${by}`;
  if (network === "all") return `sandbox: ${by}, every host can be reached`;
  if (network === "unknown") return `sandbox: ${by}, which decides on hosts`;
  if (network === "none") return `sandbox: ${by}, no host can be reached`;
  return `sandbox: ${by}, the agent's own hosts${network.length === 0 ? "" : ` and ${network.join(", ")}`}`;
}

/** Which host was refused, and how to allow it. */
export function refusedText({ host, port, by }: Extract<RalphEvent, { type: "host-refused" }>): string {
  const who = by === null ? "a process" : `a ${by}`;
  const name = host.includes(":") ? `[${host}]` : host;
  const isLocal = /^(?:localhost$|127\.|\[::1\])/.test(name);
  const entry = isLocal ? `${name}:${port}` : name;
  return `the sandbox refused ${name}:${port} to ${who}; to allow it, add "${entry}" to \`sandbox.allow\``;
}

/** How long a wait still is, and for what. */
export function waitText(event: Extract<RalphEvent, { type: "wait-start" | "wait-delta" }>): string {
  const left = formatDuration(event.remainingMs);
  if (event.type === "wait-delta") return `${event.agent}: ${left} left to wait`;
  return `${waitReason(event)}: waiting ${left}, until ${localTime(event.until)} (${event.message})`;
}

/** The reason for waiting. */
export function waitReason({ agent, reason }: Extract<RalphEvent, { type: "wait-start" }>): string {
  return `${agent} ${reason === "rate-limit" ? "has reached a limit" : "cannot reach its provider"}`;
}

/** An agent says this of itself beside its words, if a reader wants to know it at once. */
export function agentText(event: AgentEvent): string | null {
  switch (event.type) {
    case "agent-rate-limit":
      return event.status === "rejected" ? null : event.message;
    case "agent-error":
      return event.fatal ? null : event.message;
    case "agent-line-invalid":
      return `a line that is no event (${event.reason})${event.line === "" ? "" : `: ${event.line}`}`;
    case "agent-tool-call":
      return `${event.tool}${event.input === "" ? "" : `: ${event.input}`}`;
    case "agent-file-change":
      return `${event.change} ${event.path}`;
    case "agent-start":
    case "agent-text":
    case "agent-tool-result":
    case "agent-usage":
    case "agent-end":
      return null;
  }
}

/** Events that every reporter shows as a remark, or not at all. */
export type RemarkedType =
  | "experiments"
  | "hook-end"
  | `landing-${"start" | "end"}`
  | "items-reopened"
  | "sandbox"
  | "host-refused"
  | "state-restored"
  | "trespass"
  | "pause-end"
  | "note"
  | Exclude<AgentEvent["type"], "agent-text">
  | "check-start"
  | "question"
  | "run-end";

/** An event as one remark, whatever shows it. */
export interface Remark {
  readonly tone: "good" | "warn" | "bad" | "dim";
  readonly words: string;
  readonly durationMs?: number;
  /** Lines of detail. */
  readonly below?: readonly string[];
}

const DIFF_LINES = 200;
const silent = (): null => null;

const REMARKS: Pick<EventRows<readonly [], Remark | null>, RemarkedType> = {
  "experiments": ({ findings, blocked }) =>
    findings.length === 0 ? null : {
      tone: "warn",
      words: `the checks cannot be believed${blocked ? ", so that the work fails" : ""}:`,
      below: findings,
    },
  "hook-end": (event) => ({
    tone: event.status === "completed" ? "good" : "warn",
    words: hookText(event),
    durationMs: event.durationMs,
  }),
  "landing-end": (event) => ({ tone: event.result === "landed" ? "dim" : "warn", words: landingText(event) }),
  "items-reopened": ({ ids }) => ({ tone: "warn", words: `the final check sends back ${ids.join(", ")}` }),
  "sandbox": (event) => ({ tone: event.on ? "dim" : "warn", words: sandboxText(event) }),
  "host-refused": (event) => ({ tone: "warn", words: refusedText(event) }),
  "state-restored": ({ paths }) => ({ tone: "warn", words: `restored, edited manually: ${paths.join(", ")}` }),
  "trespass": (event) => ({ tone: "bad", words: trespassText(event), below: tailLines(event.diff, DIFF_LINES) }),
  "pause-end": ({ pausedMs }) => ({ tone: "dim", words: `continues after ${formatDuration(pausedMs)}` }),
  "note": ({ level, message }) => ({ tone: level === "warn" ? "warn" : "dim", words: message }),
  "agent-tool-call": agentRemark,
  "agent-file-change": agentRemark,
  "agent-rate-limit": agentRemark,
  "agent-error": agentRemark,
  "agent-line-invalid": agentRemark,
  "agent-start": silent,
  "agent-tool-result": silent,
  "agent-usage": silent,
  "agent-end": silent,
  "landing-start": silent,
  "check-start": silent,
  "question": silent,
  "run-end": silent,
};

function agentRemark(event: AgentEvent): Remark | null {
  const words = agentText(event);
  return words === null ? null : { tone: "dim", words };
}

/** The remark of an event, `null` for one that is not shown; `undefined`: each reporter has a form of its own for it. */
export function remarkOf(event: RalphEvent): Remark | null | undefined {
  const row = (REMARKS as Partial<EventRows<readonly [], Remark | null>>)[event.type];
  return (row as ((event: RalphEvent) => Remark | null) | undefined)?.(event);
}

/** A run that waits for a person. */
export const PAUSED = "paused: `ralph resume` continues";

const STEERED = {
  "pause": "asked to pause",
  "resume": "asked to continue",
  "stop": "asked to stop after the present turn",
  "stop-now": "asked to stop now",
  "tell": "told",
};

/** A person's change while the run lasted, and its origin. */
export function steeredText(
  { action, origin, text, item }: Extract<RalphEvent, { readonly type: "steered" }>,
): string {
  const told = text === null ? "" : `: ${text.replaceAll(/\s+/g, " ").trim()}`;
  const from = { terminal: "its terminal", file: "a command", page: "the page" }[origin];
  return `${STEERED[action]}${item === null ? "" : ` for ${item}`}, from ${from}${told}`;
}
