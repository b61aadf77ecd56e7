/**
 * A report as sections of lines, the same in every form: Markdown and HTML only write them. Pure.
 *
 * @module
 */
import { localTime } from "../host/local_date.ts";
import { changesText, formatDuration } from "../ui/text.ts";
import * as texts from "./texts.ts";
import type { AttemptReport, CommitReport, ItemReport, NoteReport, RunReport } from "./types.ts";

/** A part of a line: plain text, or text with a look; back-ticks in what was `told` set off code. */
export type Word =
  | string
  | { readonly code: string }
  | { readonly strong: string }
  | { readonly dim: string }
  | { readonly told: string };

/** A line of a list. */
export interface Line {
  readonly words: readonly Word[];
  /** The mark before it. @default none */
  readonly tone?: texts.Tone;
  /** Text that is shown below it as it is. */
  readonly below?: string;
  readonly lines?: readonly Line[];
}

/** An item with its attempts. */
export interface ItemBlock {
  readonly item: ItemReport;
  readonly tone: texts.Tone;
  /** Kind, state, attempts, usage. */
  readonly facts: readonly string[];
  /** Proof, and why it came again. */
  readonly notes: readonly string[];
  readonly lines: readonly Line[];
}

/** The rows at the head of a report, without those that have nothing to say. */
export function factRows(report: RunReport): readonly { readonly name: string; readonly words: readonly Word[] }[] {
  const rows: readonly (readonly [name: string, word: Word])[] = [
    ["Project", report.project],
    ["Branch", texts.branchText(report)],
    ["Run", report.goal === null ? "" : report.run],
    ["Workflow", texts.workflowsText(report)],
    ["When", texts.whenText(report)],
    ["Agent", texts.agentsText(report)],
    ["Used", texts.totalText(report.usage, report.hooks.length)],
    ["At once", texts.landingsText(report)],
    ["Experiments", texts.leftOut(report)],
    ["Why it ended", report.reasons.map(texts.firstLine).join("; ")],
    ...report.next.map((told) => ["Next", { told }] as const),
    ["Folder", { code: report.folder }],
  ];
  return rows.filter(([, word]) => word !== "").map(([name, word]) => ({ name, words: [word] }));
}

/** Items that no check has proved or that were given up on, and what Ralph had to undo or could not read. */
export function needsALook(report: RunReport): readonly Line[] {
  const open = texts.openItems(report).map(({ ids, words, tone }) => ({
    tone,
    words: [...listed(ids.map((strong) => ({ strong }))), ` ${words}`],
  }));
  return [...open, ...doubtLines(report)];
}

/** The same without items that are open. */
export function doubtLines(report: RunReport): readonly Line[] {
  const { malformed, problems } = report.events;
  const warned = (words: readonly Word[]): Line => ({ tone: "warn", words });
  const unread: readonly Word[] = [
    `${texts.plural(malformed, "line")} of the events could not be read and ${
      malformed === 1 ? "is" : "are"
    } left out: `,
    ...listed(problems.map((code) => ({ code }))),
  ];
  return [
    ...report.trespasses.map((trespass): Line => ({
      tone: "bad",
      words: [`${texts.trespassText(trespass)}:`],
      below: trespass.diff,
    })),
    ...texts.restoredGroups(report).map(({ path, items }) =>
      warned([
        "edited manually and restored: ",
        { code: path },
        items.length === 0 ? "" : `, in turns for ${items.join(", ")}`,
      ])
    ),
    ...[...texts.doubtedChecks(report), ...texts.noticeTexts(report), ...texts.brokenHooks(report)].map((told) =>
      warned([{ told }])
    ),
    ...report.warnings.map((note) => warned(noteWords(note))),
    ...malformed === 0 ? [] : [warned(unread)],
  ];
}

/** An item as it is shown. */
export function itemBlock(item: ItemReport, report: RunReport): ItemBlock {
  const { words, tone } = texts.itemText(item);
  const part = report.parts[item.part];
  const where = report.parts.length > 1 && part !== undefined ? `${texts.partName(part)} ` : "";
  const reopened = item.state === "reopened" ? texts.firstLine(item.reason ?? "") : "";
  return {
    item,
    tone,
    facts: [`${where}${item.kind}`, words, texts.plural(item.attempts.length, "attempt"), texts.itemUsage(item)].filter(
      Boolean,
    ),
    notes: [texts.proofOfItem(report, item), reopened].filter(Boolean),
    lines: item.attempts.map(attemptLine),
  };
}

function attemptLine(attempt: AttemptReport): Line {
  const { number, iteration, durationMs, turns, checks, changes, commits } = attempt;
  const { words, tone } = texts.attemptText(attempt);
  const time = durationMs === null ? "" : ` (${formatDuration(durationMs)})`;
  const reason = texts.attemptReason(attempt);
  return {
    tone,
    words: [`attempt ${number}, iteration ${iteration}: ${words}${time}${reason === null ? "" : `: ${reason}`}`],
    lines: [
      ...turns.map((turn) => withFile(texts.turnText(turn), "transcript", turn.transcript)),
      ...checks.map((check): Line => ({
        tone: check.ok ? "good" : "bad",
        words: [{ code: check.name }, " ", { dim: `(${texts.checkText(check)})` }],
        ...check.tail === null || check.tail.trim() === "" ? {} : { below: check.tail },
      })),
      ...changes === null ? [] : [{ words: [`changed ${changesText(changes)}`] }],
      ...commits.map(commitLine),
    ],
  };
}

/** The sections after the items. */
export function laterSections(
  { state, parts, commits, hooks, waits, answers, notes }: RunReport,
): readonly { readonly title: string; readonly lines: readonly Line[] }[] {
  return [
    {
      title: "Parts",
      lines: parts.map((part) => ({
        tone: texts.statusTone(part.status),
        words: [
          `${texts.partName(part)}: ${part.status ?? (state === "running" ? "still running" : "no end recorded")}`,
          part.turns.length === 0 ? "" : `, ${texts.plural(part.turns.length, "turn")} outside items`,
        ],
      })),
    },
    { title: "Commits outside items", lines: commits.map(commitLine) },
    {
      title: "Hooks",
      lines: hooks.map((hook) => ({
        ...withFile(texts.hookText(hook), "log", hook.log),
        tone: hook.status === "completed" ? "good" : "warn",
      })),
    },
    {
      title: "Waits",
      lines: waits.map(({ at, agent, message, waitedMs, interrupted }) => {
        const waited = waitedMs === null ? "the run ended while it waited" : `waited ${formatDuration(waitedMs)}`;
        return {
          words: [{ dim: localTime(at) }, ` ${agent}: ${waited}${interrupted ? ", interrupted" : ""} (${message})`],
        };
      }),
    },
    {
      title: "Consents and answers",
      lines: answers.map(({ id, question, answer, source }) => ({
        words: [{ told: question ?? id }, " ", { strong: answer }, " ", { dim: `(${source})` }],
      })),
    },
    { title: "Notes", lines: notes.map((note) => ({ words: noteWords(note) })) },
  ];
}

/** How much was read. */
export function eventsWords({ events: { file, count, malformed, unknown } }: RunReport): readonly Word[] {
  return [
    { code: file },
    `, ${texts.plural(count, "event")}`,
    malformed === 0 ? "" : `, ${texts.plural(malformed, "line")} that could not be read`,
    unknown === 0 ? "" : `, ${texts.plural(unknown, "event")} of a kind that this Ralph does not know`,
  ];
}

function commitLine(commit: CommitReport): Line {
  return { words: ["commit ", { code: commit.commit.slice(0, 7) }, ` ${texts.commitText(commit)}`] };
}

function noteWords({ at, item, message }: NoteReport): readonly Word[] {
  return [{ dim: `${localTime(at).slice(11)}${item === null ? "" : ` ${item}`}` }, " ", { told: message }];
}

function withFile(text: string, name: string, code: string): Line {
  return { words: code === "" ? [text] : [`${text}, ${name} `, { code }] };
}

function listed(words: readonly Word[]): readonly Word[] {
  return words.flatMap((word, index) => index === 0 ? [word] : [", ", word]);
}
