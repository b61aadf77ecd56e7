import type { MarkdownLine } from "../../backlog/fences.ts";
import type { Expectation, PlanCommand, Verifying } from "./types.ts";

/** Takes what could not be understood. */
export type Report = (line: number, message: string) => void;

/** The reading of a plan leaves this behind. */
export interface Reading {
  readonly report: Report;
  /** Takes the line of a check that was read, or reported. */
  readonly seen: (line: number) => void;
}

/** A list mark, and tags before the one that counts. */
const BEFORE = String.raw`(?:[-*+][ \t]+|\d+[.)][ \t]+)?((?:<\/?[A-Za-z][\w:-]*(?:[ \t][^<>]*)?>[ \t]*)*?)`;
const OPEN_REGEXP = new RegExp(String.raw`^[ \t]*${BEFORE}<(automated|command)(?:[ \t][^<>]*)?>`);
const CHECK_REGEXP = /<check\b[^<>]*?\bname\s*=\s*(?:"([^"]*)"|'([^']*)')/;
const EXPECT_REGEXP = /^[ \t]*<expect(?:[ \t][^<>]*)?>(.*?)<\/expect>/;
const TAG_REGEXP = /<\/?[A-Za-z][\w:-]*(?:\s[^<>]*)?>/g;

/**
 * Reads the requests of a `<verify>` or `<verification>`. Only what is in `<automated>`, or in `<command>` with an
 * `<expect>` that is understood, is a command; all other text is for people and agents. A tag counts only at the start
 * of a line, behind a list mark or other tags, outside code fences.
 */
export function readVerifying(lines: readonly MarkdownLine[], { report, seen }: Reading): Verifying {
  const commands: PlanCommand[] = [];
  const notCheckable: string[] = [];
  let check: string | null = null;
  let index = 0;
  let rest: string | null = null;
  while (index < lines.length) {
    const line = lines[index] as MarkdownLine;
    const text: string = rest ?? line.text;
    rest = null;
    const match: RegExpExecArray | null = line.fenced ? null : OPEN_REGEXP.exec(text);
    const tag = match?.[2] ?? "";
    if (match !== null) seen(line.number);
    const found = match === null ? null : contentOf(lines, index, text.slice(match[0].length), tag);
    check = line.fenced ? check : checkName(match === null ? text : match[1] ?? "", check);
    if (found === null) {
      if (match !== null) report(line.number, `<${tag}> is not closed: not run`);
      const words = proseOf(text, line);
      if (words !== "") notCheckable.push(words);
      index += 1;
      continue;
    }
    const command = commandOf(found.content, line.number, report);
    const expected: Expected = tag === "command" ? expectationAt(lines, found) : { ...found, expect: {} };
    const { expect } = expected;
    if (command === null) report(line.number, `<${tag}> is empty`);
    else if (expect === null) {
      const message = `<expect>${expected.text}</expect> is not machine-checkable: not run`;
      report(lines[expected.index]?.number ?? line.number, message);
      notCheckable.push(`${command} (expected: ${expected.text})`);
    } else if (/^MISSING\b/.test(command)) notCheckable.push(command);
    else commands.push({ command, expect, name: check, line: line.number });
    const more = expected.rest.trim() !== "";
    index = more ? expected.index : expected.index + 1;
    rest = more ? expected.rest : null;
  }
  return { commands, notCheckable };
}

function checkName(text: string, before: string | null): string | null {
  const [, double, single] = CHECK_REGEXP.exec(text) ?? [];
  if (double !== undefined || single !== undefined) return double ?? single ?? null;
  return /<\/check>|<check\b/.test(text) ? null : before;
}

function contentOf(lines: readonly MarkdownLine[], start: number, first: string, tag: string) {
  const close = `</${tag}>`;
  const content: string[] = [];
  for (let index = start; index < lines.length; index++) {
    const text = index === start ? first : lines[index]?.text ?? "";
    const end = text.indexOf(close);
    if (end !== -1) {
      return { content: [...content, text.slice(0, end)].join("\n"), index, rest: text.slice(end + close.length) };
    }
    if (index !== start && lines[index]?.fenced !== true && OPEN_REGEXP.test(text)) return null;
    content.push(text);
  }
  return null;
}

type Expected =
  | { readonly expect: Expectation; readonly index: number; readonly rest: string; readonly text?: string }
  | { readonly expect: null; readonly index: number; readonly rest: string; readonly text: string };

/** The `<expect>` behind a command, on its line or the next that is not empty. */
function expectationAt(lines: readonly MarkdownLine[], { index, rest }: Pick<Expected, "index" | "rest">): Expected {
  let at = index;
  let text = rest;
  while (text.trim() === "" && at + 1 < lines.length) text = lines[++at]?.text ?? "";
  const match = lines[at]?.fenced === true && at !== index ? null : EXPECT_REGEXP.exec(text);
  if (match === null) {
    const broken = /^[ \t]*<expect\b/.test(text) ? text.trim() : null;
    return broken === null ? { expect: {}, index, rest } : { expect: null, index: at, rest: "", text: broken };
  }
  const words = decode(match[1] ?? "").trim();
  return { expect: expectationOf(words), index: at, rest: text.slice(match[0].length), text: words };
}

/** `exit 0`, `exit non-zero`, `output contains "…"`, or nothing; anything else is not understood. */
export function expectationOf(text: string): Expectation | null {
  const words = text.trim();
  if (words === "") return {};
  const [, code] = /^exit(?:\s+code)?(?:\s*[:=])?\s+(\d{1,3})$/i.exec(words) ?? [];
  if (code !== undefined) return Number(code) === 0 ? {} : { exit: Number(code) };
  if (/^exit\s+(?:code\s+)?non-?zero$/i.test(words)) return { exit: "non-zero" };
  const [, double, single] = /^output\s+contains:?\s+(?:"([^]+)"|'([^]+)')$/i.exec(words) ?? [];
  const output = double ?? single;
  return output === undefined ? null : { output };
}

function commandOf(content: string, line: number, report: Report): string | null {
  let text = content.replace(/^\s*\n/, "").replace(/\s+$/, "");
  const fence = /^[ \t]*(`{3,}|~{3,})[^\n]*\n([^]*?)\n?[ \t]*\1[ \t]*$/.exec(text);
  if (fence !== null) text = fence[2] ?? "";
  const data = /^\s*<!\[CDATA\[([^]*)\]\]>\s*$/.exec(text);
  text = dedent(data === null ? decode(text) : data[1] ?? "");
  const [, ticked] = /^`([^`\n]+)`$/.exec(text.trim()) ?? [];
  if (ticked !== undefined) {
    report(line, "the back-ticks around the command are left out");
    text = ticked;
  }
  return text.trim() === "" ? null : text.trim();
}

/** A block that was indented as a whole: Python in it depends on it. */
function dedent(text: string): string {
  const lines = text.split("\n");
  const indents = lines.filter((line) => line.trim() !== "").map((line) => /^[ \t]*/.exec(line)?.[0].length ?? 0);
  const least = Math.min(...indents, Number.MAX_SAFE_INTEGER);
  return indents.length < 2 ? text : lines.map((line) => line.slice(Math.min(least, line.length))).join("\n");
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };

/** Entities decoded, in one pass: `&amp;lt;` is `&lt;`. */
export function decode(text: string): string {
  return text.replaceAll(
    /&(?:(amp|lt|gt|quot|apos|nbsp)|#(\d{1,7})|#x([0-9a-f]{1,6}));/gi,
    (entity, name?: string, decimal?: string, hex?: string) => {
      if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? entity;
      const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : entity;
    },
  );
}

function proseOf(text: string, { fenced }: MarkdownLine): string {
  if (fenced) return /^\s*(`{3,}|~{3,})/.test(text) ? "" : text.trim();
  return text.replaceAll(TAG_REGEXP, " ").replace(/^\s*(?:[-*+]|\d+[.)])\s+(?:\[.\]\s+)?/, "").trim();
}
