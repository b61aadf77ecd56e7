import { localTime } from "../host/local_date.ts";
import { markdownLines } from "../backlog/fences.ts";
import { plainText } from "../ui/printable.ts";
import type { Style, Symbols } from "../ui/style.ts";
import type { AttemptReport, CommitReport, ItemReport, NoteReport, RunReport } from "./types.ts";
import {
  agentsText,
  attemptReason,
  attemptText,
  brokenHooks,
  checkText,
  commitText,
  doubtedChecks,
  firstLine,
  headingOf,
  hookText,
  itemText,
  itemUsage,
  landingsText,
  markOf,
  noticeTexts,
  oneLine,
  openItems,
  outcomeOf,
  partName,
  plural,
  proofOfItem,
  restoredGroups,
  statusTone,
  totalText,
  trespassText,
  turnText,
  whenText,
  workflowsText,
} from "./texts.ts";
import { workText } from "../cli/end_with.ts";
import { changesText } from "../ui/event_text.ts";
import { formatDuration } from "../ui/format_duration.ts";

/** A report as Markdown that also reads well unrendered. Words of agents and files are text, never markup. Pure. */
export function markdownReport(report: RunReport, symbols: Symbols): string {
  const outcome = outcomeOf(report);
  const lines = [
    `# ${markOf(outcome.tone, symbols)} ${escape(headingOf(report))}: ${escape(outcome.word)}`,
    "",
    ...(outcome.detail === "" ? [] : [`${escape(outcome.detail)}.`, ""]),
    ...facts(report),
    ...needsALook(report, symbols),
    ...section("Items", report.items.flatMap((item) => itemLines(item, report, symbols))),
    ...section(
      "Parts",
      report.parts.map((part) =>
        `- ${markOf(statusTone(part.status), symbols)} ${escape(partName(part))}: ${
          escape(part.status ?? "no end recorded")
        }${part.turns.length === 0 ? "" : `, ${plural(part.turns.length, "turn")} outside items`}`
      ),
    ),
    ...section("Commits outside items", report.commits.map(commitLine)),
    ...section(
      "Hooks",
      report.hooks.map((hook) => `- ${escape(hookText(hook))}${hook.log === "" ? "" : `, log ${code(hook.log)}`}`),
    ),
    ...section(
      "Waits",
      report.waits.map(({ at, agent, message, waitedMs, interrupted }) =>
        `- ${localTime(at)} ${escape(agent)}: ${
          waitedMs === null ? "the run ended while it waited" : `waited ${formatDuration(waitedMs)}`
        }${interrupted ? ", interrupted" : ""} (${escape(message)})`
      ),
    ),
    ...section(
      "Consents and answers",
      report.answers.map(({ id, question, answer, source }) =>
        `- ${withCode(question ?? id)} **${escape(answer)}** (${escape(source)})`
      ),
    ),
    ...section("Notes", report.notes.map(noteLine)),
    "",
    `Events: ${code(report.events.file)}, ${plural(report.events.count, "event")}${eventProblems(report)}`,
  ];
  return `${lines.join("\n").replaceAll(/\n{3,}/g, "\n\n").trimEnd()}\n`;
}

function facts(report: RunReport): readonly string[] {
  const row = (name: string, value: string): readonly string[] => value === "" ? [] : [`- **${name}**: ${value}`];
  return [
    ...row("Project", escape(report.project)),
    ...row("Branch", report.work === null ? escape(report.branch ?? "") : escape(workText(report.work))),
    ...row("Run", report.goal === null ? "" : escape(report.run)),
    ...row("Workflow", escape(workflowsText(report))),
    ...row("When", escape(whenText(report))),
    ...row("Agent", escape(agentsText(report))),
    ...row("Used", escape(totalText(report.usage, report.hooks.length))),
    ...row("At once", landingsText(report)),
    ...row("Why it ended", report.reasons.map((reason) => escape(firstLine(reason))).join("; ")),
    ...report.next.flatMap((step) => row("Next", step)),
    ...row("Folder", code(report.folder)),
  ];
}

/** Items that no check has proved or that were given up on, and what Ralph had to undo or could not read. */
function needsALook(report: RunReport, symbols: Symbols): readonly string[] {
  const items = openItems(report).map(({ ids, words, tone }) =>
    `- ${markOf(tone, symbols)} ${ids.map((id) => `**${escape(id)}**`).join(", ")} ${escape(words)}`
  );
  return section("Needs a look", [
    ...items,
    ...report.trespasses.flatMap((trespass) => [
      `- ${symbols.failed} ${escape(trespassText(trespass))}:`,
      ...fenced(trespass.diff, "  "),
    ]),
    ...restoredGroups(report).map(({ path, items }) =>
      `- ${symbols.warning} edited manually and restored: ${code(path)}${
        items.length === 0 ? "" : `, in turns for ${items.map(escape).join(", ")}`
      }`
    ),
    ...doubtedChecks(report).map((text) => `- ${symbols.warning} ${escape(text)}`),
    ...noticeTexts(report).map((text) => `- ${symbols.warning} ${escape(text)}`),
    ...brokenHooks(report).map((text) => `- ${symbols.warning} ${escape(text)}`),
    ...report.warnings.map((note) => `- ${symbols.warning} ${noteLine(note).slice(2)}`),
    ...(report.events.malformed === 0 ? [] : [
      `- ${symbols.warning} ${plural(report.events.malformed, "line")} of the events could not be read and ${
        report.events.malformed === 1 ? "is" : "are"
      } left out: ${report.events.problems.map(code).join(", ")}`,
    ]),
  ]);
}

function itemLines(item: ItemReport, report: RunReport, symbols: Symbols): readonly string[] {
  const { words, tone } = itemText(item);
  const part = report.parts[item.part];
  const where = report.parts.length > 1 && part !== undefined ? `${escape(partName(part))} ` : "";
  const used = itemUsage(item) === "" ? "" : ` ${symbols.dot} ${escape(itemUsage(item))}`;
  const proof = proofOfItem(report, item);
  return [
    "",
    `### ${markOf(tone, symbols)} ${escape(item.id)}: ${escape(item.title)}`,
    "",
    `${where}${escape(item.kind)} ${symbols.dot} ${escape(words)} ${symbols.dot} ${
      plural(item.attempts.length, "attempt")
    }${used}`,
    ...(proof === "" ? [] : ["", escape(proof)]),
    ...(item.state === "reopened" && item.reason !== null ? ["", escape(firstLine(item.reason))] : []),
    ...(item.criteria.length === 0 ? [] : ["", ...item.criteria.map((criterion) => `- ${withCode(criterion)}`)]),
    "",
    ...item.attempts.flatMap((attempt) => attemptLines(attempt, symbols)),
  ];
}

function attemptLines(attempt: AttemptReport, symbols: Symbols): readonly string[] {
  const { words, tone } = attemptText(attempt);
  const time = attempt.durationMs === null ? "" : ` (${formatDuration(attempt.durationMs)})`;
  const reason = attemptReason(attempt);
  const why = reason === null ? "" : `: ${escape(reason)}`;
  return [
    `- ${markOf(tone, symbols)} attempt ${attempt.number}, iteration ${attempt.iteration}: ${
      escape(words)
    }${time}${why}`,
    ...attempt.turns.map((turn) =>
      `  - ${escape(turnText(turn))}${turn.transcript === "" ? "" : `, transcript ${code(turn.transcript)}`}`
    ),
    ...attempt.checks.flatMap((check) => [
      `  - ${check.ok ? symbols.passed : symbols.failed} ${code(check.name)} (${escape(checkText(check))})`,
      ...(check.tail === null || check.tail.trim() === "" ? [] : fenced(check.tail, "    ")),
    ]),
    ...(attempt.changes === null ? [] : [`  - changed ${escape(changesText(attempt.changes))}`]),
    ...attempt.commits.map((commit) => `  ${commitLine(commit)}`),
  ];
}

function commitLine(commit: CommitReport): string {
  return `- commit ${code(commit.commit.slice(0, 7))} ${escape(commitText(commit))}`;
}

function noteLine({ at, item, message }: NoteReport): string {
  return `- ${localTime(at).slice(11)}${item === null ? "" : ` ${escape(item)}`} ${escape(message)}`;
}

function eventProblems({ events: { malformed, unknown } }: RunReport): string {
  return [
    ...(malformed === 0 ? [] : [`, ${plural(malformed, "line")} that could not be read`]),
    ...(unknown === 0 ? [] : [`, ${plural(unknown, "event")} of a kind that this Ralph does not know`]),
  ].join("");
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ["", `## ${title}`, "", ...lines];
}

/** Text on one line in which nothing is markup. It is never at the start of a line. */
export function escape(text: string): string {
  return escaped(oneLine(text));
}

function escaped(line: string): string {
  return line.replaceAll(/[\\`*[\]<>~&|]/g, "\\$&").replaceAll(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, "\\_");
}

/** Text in which back-ticks set off code, as people write it: nothing else in it is markup. */
export function withCode(text: string): string {
  return oneLine(text).split(/(`[^`]+`)/).map((part) => /^`.+`$/.test(part) ? code(part.slice(1, -1)) : escaped(part))
    .join("");
}

export function code(text: string): string {
  const line = oneLine(text);
  const fence = "`".repeat(longestRun(line) + 1);
  const space = line.startsWith("`") || line.endsWith("`") ? " " : "";
  return line === "" ? "" : `${fence}${space}${line}${space}${fence}`;
}

function fenced(text: string, indent: string): readonly string[] {
  const lines = plainText(text).trimEnd().split("\n");
  const fence = "`".repeat(Math.max(3, longestRun(text) + 1));
  return [fence, ...lines, fence].map((line) => `${indent}${line}`.trimEnd());
}

/** How many back-ticks stand together at most. */
export function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}

/** Colours for headings and marks; the text itself stays as it is. Pure. */
export function paintMarkdown(text: string, { bold, dim, good, bad, warn, symbols }: Style): string {
  const tones = new Map([[symbols.passed, good], [symbols.failed, bad], [symbols.warning, warn], [symbols.open, dim]]);
  return markdownLines(text).lines.map(({ text: line, fenced }) => {
    if (fenced) return dim(line);
    const [, before = "", symbol = "", rest = ""] = /^(#+ |\s*- )(\S+)( .*)?$/.exec(line) ?? [];
    const tone = tones.get(symbol);
    if (before.startsWith("#")) return tone === undefined ? bold(line) : bold(`${before}${tone(symbol)}${rest}`);
    return tone === undefined ? line : `${before}${tone(symbol)}${rest}`;
  }).join("\n");
}
