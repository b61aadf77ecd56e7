import { type AgentEvent, callRow, type EventOf, type EventRows, type RalphEvent } from "../events/types.ts";
import * as texts from "./text.ts";

/** An event as plain text, one line where it can be: for logs, pipes and screen readers. */
export function plainLines(event: RalphEvent): readonly string[] {
  return callRow(ROWS, event, null) ?? [];
}

/** An event as lines for a terminal: an item a block, its turn, checks and commits below it. */
export function richLines(event: RalphEvent, style: texts.Style): readonly string[] {
  return callRow(ROWS, event, style) ?? [];
}

/** Draws an event; `null`: as plain text. */
type Draw<Event> = (event: Event, style: texts.Style | null) => readonly string[];

/** An event as one remark, whatever shows it. */
interface Remark {
  readonly tone: "good" | "warn" | "bad" | "dim";
  readonly words: string;
  readonly durationMs?: number;
  /** Lines of detail. */
  readonly below?: readonly string[];
}

const DIFF_LINES = 200;
const TAIL_LINES = { plain: 20, rich: 12 };

const none = (): readonly string[] => [];

/** How an event looks as plain text, and in a terminal. */
function drawn<Event>(
  plain: (event: Event) => readonly string[],
  rich: (event: Event, style: texts.Style) => readonly string[],
): Draw<Event> {
  return (event, style) => style === null ? plain(event) : rich(event, style);
}

/** Draws a remark; `null`: there is none. */
function remarked<Event extends RalphEvent>(remarkOf: (event: Event) => Remark | null): Draw<Event> {
  return (event, style) => {
    const remark = remarkOf(event);
    if (remark === null) return [];
    return style === null ? plainRemark(event, remark) : richRemark(event, remark, style);
  };
}

/** Agents' words stand deepest, those about an item below it. */
function plainRemark({ type }: RalphEvent, { tone, words, durationMs, below = [] }: Remark): readonly string[] {
  const isTop = ["sandbox", "trespass", "pause-end", "note"].includes(type);
  const depth = type.startsWith("agent-") ? 2 : Number(!isTop);
  const took = durationMs === undefined ? "" : ` (${texts.formatDuration(durationMs)})`;
  return [
    `${"  ".repeat(depth)}${tone === "warn" && took === "" ? "warning: " : ""}${words}${took}`,
    ...below.map((line) => `    ${line}`),
  ];
}

function richRemark({ type }: RalphEvent, { tone, words, durationMs, below = [] }: Remark, style: texts.Style) {
  const { dim, symbols } = style;
  const mark = { good: symbols.passed, warn: symbols.warning, bad: symbols.failed, dim: symbols.dot }[tone];
  const paint = style[tone];
  const isPlain = durationMs !== undefined || type === "note" && tone === "dim";
  const took = durationMs === undefined ? "" : ` ${dim(texts.formatDuration(durationMs))}`;
  return [
    indented(paint(mark), `${isPlain ? words : paint(words)}${took}`),
    ...below.map((line) => indented(" ", `${dim(symbols.bar)} ${line}`)),
  ];
}

function agentRemark<Event extends AgentEvent>(wordsOf: (event: Event) => string | null): Draw<Event> {
  return remarked((event) => {
    const words = wordsOf(event);
    return words === null ? null : { tone: "dim", words };
  });
}

/** A new event does not compile before it has its row. */
const ROWS: EventRows<readonly [style: texts.Style | null], readonly string[]> = {
  "run-start": drawn(
    ({ workflow, root, agent, folder }) => [
      `run: ${workflow} in ${root} with ${agent}${folder === "" ? "" : `, logs in ${folder}`}`,
    ],
    ({ workflow, root, agent, folder }, { accent, bold, dim, symbols }) => [
      `${accent(symbols.start)} ${bold(workflow)} ${dim(`${symbols.dot} ${agent} ${symbols.dot} ${root}`)}`,
      ...(folder === "" ? [] : [indented(" ", dim(`logs in ${folder}`))]),
    ],
  ),
  "step-start": drawn(
    ({ step, title }) => [`${step}: ${title}`],
    ({ title }, { accent, bold, symbols }) => ["", `${accent(symbols.start)} ${bold(title)}`],
  ),
  "step-end": drawn(
    ({ step, status, message }) => [`${step}: ${status}${message === undefined ? "" : `, ${message}`}`],
    ({ message }, { dim, symbols }) => message === undefined ? [] : [indented(dim(symbols.dot), message)],
  ),
  "iteration-start": drawn(
    ({ item, attempt, passed, total }) => {
      const place = total === null ? "" : `, ${passed} of ${total} done`;
      return [`${nameOf(item)}: ${item.title} (attempt ${attempt}${place})`];
    },
    ({ item, attempt, passed, total }, { accent, bold, dim, warn, symbols }) => {
      const place = total === null ? "" : ` ${symbols.dot} ${passed}/${total} done`;
      const again = attempt > 1 ? ` ${symbols.dot} ${warn(`attempt ${attempt}`)}` : "";
      return ["", `${accent(symbols.start)} ${bold(item.id)}  ${item.title}${dim(place)}${again}`];
    },
  ),
  "turn-start": drawn(
    ({ agent, transcript, route }) => [
      `  agent ${agent}: started${route === undefined ? "" : ` (${route})`}, transcript in ${transcript}`,
    ],
    ({ agent }, { dim, symbols }) => [indented(dim(symbols.bar), dim(`agent ${agent} at work${symbols.ellipsis}`))],
  ),
  "turn-end": drawn(
    (event) => [
      `  agent ${event.agent}: ${event.reason} (${usedText(event)})${
        event.message === null ? "" : `: ${event.message}`
      }`,
    ],
    (event, { bad, dim, symbols }) => {
      const failed = event.reason === "completed" ? "" : ` ${bad(event.message ?? event.reason)}`;
      return [indented(dim(symbols.bar), `${dim(`agent ${event.agent} ${usedText(event)}`)}${failed}`)];
    },
  ),
  "check-end": drawn(plainCheck, richCheck),
  "iteration-end": drawn(
    (event) => [`${nameOf(event.item)}: ${texts.iterationText(event)} (${texts.formatDuration(event.durationMs)})`],
    richIteration,
  ),
  "hook-start": drawn(
    ({ hook, iteration, log }) => [`  hook ${hook} (iteration ${iteration}): started, log in ${log}`],
    none,
  ),
  "hook-end": remarked(({ hook, iteration, status, message, durationMs }) => ({
    tone: status === "completed" ? "good" : "warn",
    words: `hook ${hook} (iteration ${iteration}): ${status}${
      message === null ? "" : `: ${message.split("\n", 1)[0]}`
    }`,
    durationMs,
  })),
  "commit": drawn(
    ({ commit, subject }) => [`  commit ${commit.slice(0, 7)}: ${subject}`],
    ({ commit, subject }, { accent, dim, symbols }) => [
      indented(accent(symbols.commit), `${dim(commit.slice(0, 7))} ${subject}`),
    ],
  ),
  "steered": drawn(
    (event) => [steeredText(event)],
    (event, { accent, symbols }) => [indented(accent(symbols.start), steeredText(event))],
  ),
  "pause-start": drawn(() => [PAUSED], (_event, { warn, symbols }) => [indented(warn(symbols.open), warn(PAUSED))]),
  "pause-end": remarked(({ pausedMs }) => ({
    tone: "dim",
    words: `continues after ${texts.formatDuration(pausedMs)}`,
  })),
  "text": drawn(
    ({ title, lines }) => [title, ...lines.map((line) => `  ${line}`.trimEnd())],
    ({ title, lines }, { bold }) => ["", bold(title), ...lines.map((line) => `  ${line}`)],
  ),
  "answer": drawn(
    ({ id, answer, source }) => wasAsked(source) ? [] : [`answer ${id}: ${answer} (${source})`],
    ({ id, answer, source }, { dim, symbols }) =>
      wasAsked(source) ? [] : [indented(dim(symbols.dot), dim(`${id}: ${answer} (${source})`))],
  ),
  "wait-start": waitLines,
  "wait-delta": waitLines,
  "wait-end": drawn(
    ({ agent, waitedMs, interrupted }) =>
      interrupted ? [] : [`  ${agent}: waited ${texts.formatDuration(waitedMs)}, continuing`],
    ({ agent, waitedMs, interrupted }, { dim, symbols }) =>
      interrupted
        ? []
        : [indented(dim(symbols.dot), dim(`${agent} waited ${texts.formatDuration(waitedMs)}, continuing`))],
  ),
  "experiments": remarked(({ findings, blocked }) =>
    findings.length === 0 ? null : {
      tone: "warn",
      words: `the checks cannot be believed${blocked ? ", so that the work fails" : ""}:`,
      below: findings,
    }
  ),
  "landing-end": remarked(({ item, result, checkedAgain, paths, with: others = [] }) => {
    const named = paths.join(", ");
    const words = {
      landed: `landed${others.length === 0 ? "" : ` with ${others.join(", ")}`}${
        checkedAgain ? ", checked again as it was merged" : ""
      }`,
      conflict: `conflicts with what was merged since, and comes again: ${named}`,
      failed: "did not land: its checks fail on the branch as it is now",
      blocked: `cannot land: uncommitted changes are in the way: ${named}`,
      refused: "did not land: a hook of the repository refused the commit",
      interrupted: "was landing when the run was stopped",
    }[result];
    return { tone: result === "landed" ? "dim" : "warn", words: `${item.id} ${words}` };
  }),
  "items-reopened": remarked(({ ids }) => ({ tone: "warn", words: `the final check sends back ${ids.join(", ")}` })),
  "sandbox": remarked((event) => ({ tone: event.on ? "dim" : "warn", words: texts.sandboxText(event) })),
  "host-refused": remarked((event) => ({ tone: "warn", words: texts.refusedText(event) })),
  "state-restored": remarked(({ paths }) => ({
    tone: "warn",
    words: `restored, edited manually: ${paths.join(", ")}`,
  })),
  "trespass": remarked((event) => ({
    tone: "bad",
    words: texts.trespassText(event),
    below: texts.tailLines(event.diff, DIFF_LINES),
  })),
  "note": remarked(({ level, message }) => ({ tone: level === "warn" ? "warn" : "dim", words: message })),
  "agent-text": drawn(
    ({ text }) => text.trimEnd().split("\n").map((line) => `    ${line}`),
    ({ text }, { dim, symbols }) => text.trimEnd().split("\n").map((line) => indented(dim(symbols.bar), dim(line))),
  ),
  "agent-tool-call": agentRemark(({ tool, input }) => `${tool}${input === "" ? "" : `: ${input}`}`),
  "agent-file-change": agentRemark(({ change, path }) => `${change} ${path}`),
  "agent-rate-limit": agentRemark(({ status, message }) => status === "rejected" ? null : message),
  "agent-error": agentRemark(({ fatal, message }) => fatal ? null : message),
  "agent-line-invalid": agentRemark(({ reason, line }) =>
    `a line that is no event (${reason})${line === "" ? "" : `: ${line}`}`
  ),
  "agent-start": none,
  "agent-tool-result": none,
  "agent-usage": none,
  "agent-end": none,
  "landing-start": none,
  "check-start": none,
  "question": none,
  "run-end": none,
};

function plainCheck(event: EventOf<"check-end">): readonly string[] {
  const { name, ok, beforeWork, durationMs, tail } = event;
  if (beforeWork === true) return ok ? [`  passes before the work: ${name}`] : [];
  if (ok) return [`  check passed: ${name} (${texts.formatDuration(durationMs)})`];
  return [
    `  check failed: ${name} (${texts.checkText(event)}, ${texts.formatDuration(durationMs)})`,
    ...excerptLines(tail, TAIL_LINES.plain).map((line) => `    ${line}`),
  ];
}

function richCheck(event: EventOf<"check-end">, { bad, dim, good, symbols, warn }: texts.Style): readonly string[] {
  const { name, ok, beforeWork, durationMs, tail } = event;
  if (beforeWork === true) {
    return ok ? [indented(warn(symbols.warning), `${name} ${dim("passes before the work")}`)] : [];
  }
  const took = dim(texts.formatDuration(durationMs));
  if (ok) return [indented(good(symbols.passed), `${name} ${took}`)];
  return [
    indented(bad(symbols.failed), `${name} ${took} ${bad(texts.checkText(event))}`),
    ...excerptLines(tail, TAIL_LINES.rich).map((line) => indented(" ", `${dim(symbols.bar)} ${line}`)),
  ];
}

function richIteration(event: EventOf<"iteration-end">, style: texts.Style): readonly string[] {
  const { dim, symbols } = style;
  const { result, settlement, changes, durationMs } = event;
  const isLate = result === "interrupted" || result === "not-done";
  const passed = result === "verified" ? "good" : "warn";
  const missed = isLate ? "warn" : "bad";
  const tone = settlement === "passed" ? passed : missed;
  const mark = { good: symbols.passed, warn: symbols.open, bad: symbols.failed }[tone];
  const changed = changes === undefined ? "" : ` ${symbols.dot} ${texts.changesText(changes)}`;
  const words = `${style[tone](texts.iterationText(event))} ${dim(`in ${texts.formatDuration(durationMs)}${changed}`)}`;
  return [indented(style[tone](mark), words)];
}

function waitLines(event: EventOf<"wait-start" | "wait-delta">, style: texts.Style | null): readonly string[] {
  return style === null
    ? [`  ${texts.waitText(event)}`]
    : [indented(style.warn(style.symbols.open), style.warn(texts.waitText(event)))];
}

/** True where the person who looks on has answered. */
function wasAsked(source: string): boolean {
  return source === "terminal" || source === "stdin";
}

function usedText({ durationMs, usage }: EventOf<"turn-end">): string {
  return [texts.formatDuration(durationMs), texts.usageText(usage)].filter(Boolean).join(", ");
}

const PAUSED = "paused: `ralph resume` continues";

/** A person's change while the run lasted, and its origin. */
function steeredText({ action, origin, text, item }: EventOf<"steered">): string {
  const asked = {
    "pause": "asked to pause",
    "resume": "asked to continue",
    "stop": "asked to stop after the present turn",
    "stop-now": "asked to stop now",
    "tell": "told",
  }[action];
  const from = { terminal: "its terminal", file: "a command", page: "the page" }[origin];
  return `${asked}${item === null ? "" : ` for ${item}`}, from ${from}${
    text === null ? "" : `: ${texts.oneLine(text)}`
  }`;
}

/** `story US-001`; a stage of a workflow is its own kind. */
function nameOf({ kind, id }: { readonly kind: string; readonly id: string }): string {
  return kind === id ? id : `${kind} ${id}`;
}

function indented(mark: string, text: string): string {
  return `  ${mark} ${text}`;
}

const STACK = String.raw`^\s*(?:at |.*\(\S+:\d+:\d+\)$|node:\S+$|$)`;

/** How test runners show one failure: how it begins, the line after it, and the lines of it that give no reason. */
const RUNNERS = [
  { // TAP: node --test, tape, prove
    begins: /^\s*not ok \d+/,
    ends: /^\s*(?:\.{3}$|(?:not )?ok \d|# )/,
    idle: new RegExp(String.raw`${STACK}|^\s*(?:---$|(?:duration_ms|type|failureType|code|name|operator|stack):)`),
  },
  { begins: /^✖ failing tests:/, ends: /^npm /, idle: new RegExp(STACK) }, // node --test in a terminal
  { begins: /^_{3,} .+ _{3,}$/, ends: /^(?:_{3,} |={3,})/, idle: /^(?!>|E|_|\S+:\d+: )/ }, // pytest
  { begins: /^\s*● .+ › /, ends: /^\s*(?:● |at |Test Suites:)/, idle: /^\s*(?:\d* \|.*)?$/ }, // jest
  { begins: /^\s*FAIL {2}.+ > /, ends: /^\s*(?:⎯|FAIL )/, idle: new RegExp(String.raw`${STACK}|^\s*\d*\|`) }, // vitest
  { begins: /^---- .+ stdout ----$/, ends: /^(?:---- |failures:|$)/, idle: /^note: run with/ }, // cargo test
  { begins: /^error(?:\[E\d+\])?: /, ends: /^$/, idle: /^\s*\|?$/ }, // rustc
  { begins: /^\s*--- FAIL: /, ends: /^(?:=== |---|FAIL|PASS|ok)/, idle: /^\s*$/ }, // go test
];

/** Test runners and compilers write one of these words beside a reason, whichever they are; `0 failed` is none. */
const REASON_REGEXP = /\b(?<!\b0 )(?:errors?|fail(?:s|ed|ures?)?|expected|assert\w*|panic\w*|exception|not ok)\b/i;

/**
 * So many lines of a failed check's output: its failures where the runner is known; else the first lines that look like
 * a reason with what is around them, and the end, which alone is often only a summary. Pure.
 */
export function excerptLines(text: string, count: number): readonly string[] {
  const lines = texts.tailLines(text, Infinity);
  if (lines.length <= count) return lines;
  const failing = RUNNERS.map((runner) => failuresIn(lines, runner)).find((found) => found.length > 0);
  if (failing !== undefined) return failing.length > count ? [...failing.slice(0, count - 1), "…"] : failing;
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

/** The lines of every failure that is no other's parent. */
function failuresIn(lines: readonly string[], { begins, ends, idle }: (typeof RUNNERS)[number]): readonly string[] {
  const found: string[] = [];
  let next = 0;
  for (const [index, line] of lines.entries()) {
    if (index < next || !begins.test(line)) continue;
    const rest = lines.slice(index + 1);
    const end = rest.findIndex((next) => ends.test(next));
    const block = end < 0 ? rest : rest.slice(0, end);
    if (block.some((one) => one.includes("subtestsFailed"))) continue;
    found.push(line, ...block.filter((one) => !idle.test(one)));
    next = index + 1 + block.length;
  }
  return found;
}
