import { markdownLines } from "../backlog/fences.ts";
import { plainText, type Style, type Symbols } from "../ui/text.ts";
import { eventsWords, factRows, itemBlock, laterSections, type Line, needsALook, type Word } from "./document.ts";
import { headingOf, markOf, oneLine, outcomeOf } from "./texts.ts";
import type { ItemReport, RunReport } from "./types.ts";

/** A report as Markdown that also reads well unrendered. Words of agents and files are text, never markup. Pure. */
export function markdownReport(report: RunReport, symbols: Symbols): string {
  const outcome = outcomeOf(report);
  const section = (title: string, lines: readonly string[]): readonly string[] =>
    lines.length === 0 ? [] : ["", `## ${title}`, "", ...lines];
  const lines = [
    `# ${markOf(outcome.tone, symbols)} ${escape(headingOf(report))}: ${escape(outcome.word)}`,
    "",
    ...(outcome.detail === "" ? [] : [`${escape(outcome.detail)}.`, ""]),
    ...factRows(report).map(({ name, words }) => `- **${name}**: ${shown(words)}`),
    ...section("Needs a look", listed(needsALook(report), symbols)),
    ...section("Items", report.items.flatMap((item) => itemLines(item, report, symbols))),
    ...laterSections(report).flatMap(({ title, lines: own }) => section(title, listed(own, symbols))),
    "",
    `Events: ${shown(eventsWords(report))}`,
  ];
  return `${lines.join("\n").replaceAll(/\n{3,}/g, "\n\n").trimEnd()}\n`;
}

function itemLines(item: ItemReport, report: RunReport, symbols: Symbols): readonly string[] {
  const { tone, facts, notes, lines } = itemBlock(item, report);
  return [
    "",
    `### ${markOf(tone, symbols)} ${escape(item.id)}: ${escape(item.title)}`,
    "",
    facts.map(escape).join(` ${symbols.dot} `),
    ...notes.flatMap((note) => ["", escape(note)]),
    "",
    ...item.criteria.map((criterion) => `- ${withCode(criterion)}`),
    "",
    ...listed(lines, symbols),
  ];
}

/** Lines with what is below them, which is indented under their words. */
function listed(lines: readonly Line[], symbols: Symbols, indent = ""): readonly string[] {
  return lines.flatMap(({ tone, words, below, lines: inner = [] }) => [
    `${indent}- ${tone === undefined ? "" : `${markOf(tone, symbols)} `}${shown(words)}`,
    ...(below === undefined ? [] : fenced(below, `${indent}  `)),
    ...listed(inner, symbols, `${indent}  `),
  ]);
}

function shown(words: readonly Word[]): string {
  const text = (word: Word): string => {
    if (typeof word === "string") return escaped(plainText(word).replaceAll(/\s+/g, " "));
    if ("code" in word) return code(word.code);
    if ("strong" in word) return `**${escape(word.strong)}**`;
    return "told" in word ? withCode(word.told) : escape(word.dim);
  };
  return words.map(text).join("");
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
