/**
 * Text of agents, files and commands, made safe for a terminal: nothing that it holds moves the cursor, sets a colour
 * or turns the direction of the text. If a person decides by a text, it is shown with the hidden characters spelled
 * out.
 *
 * @module
 */
import type { Usage } from "../backlog/types.ts";
import { FAILED_BEFORE, headlineOf } from "../backlog/attempts.ts";
import type { Question } from "../context/context.ts";
import type { EventOf, RalphEvent, TurnChanges } from "../events/types.ts";
import { mapTexts, words } from "../host/data.ts";
import { CONTROL_REGEXP, SEQUENCE_REGEXP } from "../host/invisible.ts";
import { localTime } from "../host/local_date.ts";
import { styledText } from "../host/terminal.ts";
import type { Environment } from "../host/types.ts";

/** `createStyle()` writes these. */
const PAINT_REGEXP = /(\u001b\[(?:1|2|22|3[1-69])m)/;

/** Fields that a person decides by, or distinguishes items by. */
const EXACT: ReadonlySet<string> = new Set(words("title id subject name lines message question findings"));
const ONE_LINE: ReadonlySet<string> = new Set(["title", "id", "subject", "findings"]);

/** The text without colours, cursor moves and control characters: for output that is only looked at. */
export function plainText(text: string): string {
  return text.replaceAll(SEQUENCE_REGEXP, "").replaceAll(/[^\S\n]*\r?\n/g, "\n").replaceAll(CONTROL_REGEXP, "");
}

/** The text with control characters spelled out: `\u001b`. */
export function printable(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll(
    CONTROL_REGEXP,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The same for lines that Ralph has painted: the colours of `createStyle()` stay. Pure. */
export function printablePainted(text: string): string {
  return text.split(PAINT_REGEXP).map((part, index) => index % 2 === 1 ? part : printable(part)).join("");
}

/** The text on one line. The command line's own text is made printable where it is written. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

/** An event whose texts can be shown. A check's tail stays: its lines are taken apart where they are drawn. */
export function printableEvent(event: RalphEvent): RalphEvent {
  return mapTexts(event, (text, key) => {
    if (key === "tail") return text;
    return ONE_LINE.has(key) ? printable(oneLine(text)) : EXACT.has(key) ? printable(text) : plainText(text);
  }) as RalphEvent;
}

/** A question whose texts can be shown. Values stay as they are: answers are made of them. */
export function printableQuestion(question: Question): Question {
  const shown = {
    ...question,
    message: printable(question.message),
    ...(question.details === undefined ? {} : { details: question.details.map(printable) }),
  };
  if (shown.kind !== "select") return shown;
  return { ...shown, choices: shown.choices.map((choice) => ({ ...choice, label: printable(choice.label) })) };
}

/** How text for people is drawn: a function per meaning, and the symbols. */
export type Style =
  & Readonly<Record<"bold" | "dim" | "good" | "bad" | "warn" | "accent", (text: string) => string>>
  & { readonly symbols: Symbols };

/** Marks at the start of a line. */
export type Symbols = Readonly<Record<keyof typeof SYMBOLS, string>>;

/** Each symbol, and what stands for it in ASCII. */
const SYMBOLS = {
  passed: ["✓", "+"],
  failed: ["✗", "x"],
  open: ["○", "o"],
  warning: ["▲", "!"],
  start: ["◆", "*"],
  bar: ["│", "|"],
  commit: ["●", "@"],
  dot: ["·", "-"],
  ellipsis: ["…", "..."],
} as const;

/** Draws with or without colours, with or without characters beyond ASCII. */
export function createStyle({ colour, ascii }: Readonly<Record<"colour" | "ascii", boolean>>): Style {
  const paint = (format: Parameters<typeof styledText>[0]) => (text: string): string =>
    colour && text !== "" ? styledText(format, text) : text;
  const entries = Object.entries(SYMBOLS).map(([name, [unicode, plain]]) => [name, ascii ? plain : unicode]);
  return {
    bold: paint("bold"),
    dim: paint("dim"),
    good: paint("green"),
    bad: paint("red"),
    warn: paint("yellow"),
    accent: paint("cyan"),
    symbols: Object.fromEntries(entries) as Symbols,
  };
}

/** Colours suit a terminal that can show them, unless they were refused (`--no-color`, `NO_COLOR`). */
export function wantsColour(
  terminal: boolean,
  { variables }: Pick<Environment, "variables">,
  refused: boolean,
): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = variables;
  if (refused || (NO_COLOR !== undefined && NO_COLOR !== "")) return false;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== "" && FORCE_COLOR !== "0") return true;
  return terminal && TERM !== "dumb";
}

/** `0.4s`, `12s`, `3m 05s`, `1h 02m`: as exact as is worth reading. */
export function formatDuration(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 9.95) return `${Math.max(0, seconds).toFixed(1)}s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${two(whole % 60)}s`;
  return `${Math.floor(whole / 3600)}h ${two(Math.floor((whole % 3600) / 60))}m`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

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

/** The same beside the word "sandbox". @param state absent: nothing is confined */
export function confinementText(state: Omit<EventOf<"sandbox">, "type"> | undefined): string {
  if (state === undefined) return "off; `--sandbox` confines agent and checks to this project";
  if (state.on && / \((?:auto|light)\)$/.test(state.by)) {
    return `writes stay in this project, keys are hidden, every host can be reached: ${state.by}`;
  }
  return state.on ? sandboxText({ type: "sandbox", ...state }).replace("sandbox: ", "") : `none; ${state.by}`;
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
