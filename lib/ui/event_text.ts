import { localTime } from "../host/local_date.ts";
import type { EventOf, TurnChanges } from "../events/types.ts";
import type { Usage } from "../backlog/types.ts";
import { FAILED_BEFORE, headlineOf } from "../backlog/verdict.ts";
import { formatDuration, plainText } from "./printable.ts";

/** So many files are named in a line. */
const NAMED_PATHS = 4;

/** The result of an iteration, in a few words. */
export function iterationText({ result, settlement, message }: EventOf<"iteration-end">): string {
  // The rest of a failed check's message is its tail, which was shown when it failed.
  const first = message?.split("\n", 1)[0];
  const said = result === "failed" && first?.endsWith(":") !== true
    ? first
    : message === null
    ? null
    : headlineOf(message);
  const reason = said === null || said === undefined || said === "" ? "" : `: ${said}`;
  if (settlement === "parked") return `parked${reason}`;
  if (result === "verified") return settlement === "passed" ? "verified" : `checks passed, not settled${reason}`;
  if (result === "unverified") {
    if (settlement !== "passed") return `unverified, still open${reason}`;
    return reason === "" ? "done, no check ran" : `done, unverified${reason}`; // the verdict on it comes at the end
  }
  if (result === "trespassed" && said?.startsWith("wrote outside") === true) return said;
  return `${RESULT_WORDS[result]}${reason}`;
}

const RESULT_WORDS = {
  "not-done": "not done",
  "failed": "failed",
  "blocked": "blocked",
  "interrupted": "interrupted",
  "trespassed": "wrote outside the allowed paths",
  "agent-unusable": "the agent cannot be used",
};

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
export function checkText({ exitCode, failedBefore }: EventOf<"check-end">): string {
  const ended = exitCode === null ? "no exit code" : `exit ${exitCode}`;
  return failedBefore === true ? `${ended}${FAILED_BEFORE}` : ended;
}

/** The places in which a turn wrote that it may not. */
export function trespassText({ by, paths }: EventOf<"trespass">): string {
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

/** Tells if the processes of a run are confined. */
export function sandboxText({ on, by, network }: EventOf<"sandbox">): string {
  if (!on) return `no sandbox: ${by}`;
  if (network === "all") return `sandbox: ${by}, every host can be reached`;
  if (network === "unknown") return `sandbox: ${by}, which decides on hosts`;
  if (network === "none") return `sandbox: ${by}, no host can be reached`;
  return `sandbox: ${by}, the agent's own hosts${network.length === 0 ? "" : ` and ${network.join(", ")}`}`;
}

/** Which host was refused, and how to allow it. */
export function refusedText({ host, port, by }: EventOf<"host-refused">): string {
  const who = by === null ? "a process" : `a ${by}`;
  const name = host.includes(":") ? `[${host}]` : host;
  const isLocal = /^(?:localhost$|127\.|\[::1\])/.test(name);
  const entry = isLocal ? `${name}:${port}` : name;
  return `the sandbox refused ${name}:${port} to ${who}; to allow it, add "${entry}" to \`sandbox.allow\``;
}

/** How long a wait still is, and for what. */
export function waitText(event: EventOf<"wait-start" | "wait-delta">): string {
  const left = formatDuration(event.remainingMs);
  if (event.type === "wait-delta") return `${event.agent}: ${left} left to wait`;
  return `${waitReason(event)}: waiting ${left}, until ${localTime(event.until)} (${event.message})`;
}

/** The reason for waiting. */
export function waitReason({ agent, reason }: EventOf<"wait-start">): string {
  return `${agent} ${reason === "rate-limit" ? "has reached a limit" : "cannot reach its provider"}`;
}
