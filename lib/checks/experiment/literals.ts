/**
 * Literals that a test compares with, and another value for each: a test that sees anything fails for one of them.
 * Pure, and without a parser of any language: tokens keep their quotes, so that the test still loads.
 *
 * @module
 */

/** One literal of a test, and the one that replaces it. */
export interface Flip {
  /** The position of the literal in the text. */
  readonly offset: number;
  readonly from: string;
  readonly to: string;
  /** Line number, from 1. */
  readonly line: number;
  readonly kind: "number" | "text" | "truth" | "nothing" | "name";
  /** On the line of an assertion, and not only near one. */
  readonly isAsserted: boolean;
  /** Flips of one group are alike: one kind at one place of a line. */
  readonly group: string;
  /** The higher, the more likely it is an expectation. */
  readonly score: number;
}

/** Text that no language reads. */
export const NONSENSE = "%%% )]}'\" no language reads this line\n";

const ASSERTS_REGEXP =
  /assert|expect|should|must|require\.|equal|same\b|\bis\(|\bok\(|want|\bgot\b|[!=]==?|(?<!for )\btest |\[ |raises|throws|toBe|toMatch|errorf?\(/i;
const LITERAL_REGEXP =
  /(?<![\w.$]|\b(?:exit|return)[ (])(?!0 (?:\?|else\b))(\d+)(?:(?=\.\d+(?![\w.]))|(?![\w.]))|((?<!["'])(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')(?!["'])|`(?:[^`\\\n$]|\\.)+`)|\b(true|false|True|False)\b|\b(null|undefined|None|nil)\b/g;
/** The kinds of its groups. */
const KINDS = ["number", "text", "truth", "nothing"] as const;
/** The name that an assertion reads of something, or calls; the end of a path is none. */
const NAME_REGEXP = /(?<=[\w)\]?]\.)[A-Za-z]\w*|\b[A-Za-z]\w*(?=\()/g;
/** Lines without expectations: comments, decorators, imports. */
const SKIPPED_REGEXP =
  /^\s*(?:@|#(?!\[)|\/\/|\*|\/\*|import\b|from\b.*\bimport\b|export\b|package\b|use\b|#include|\}\s*from\b)|\brequire\(/;
/** Imports of several lines. */
const IMPORTS_REGEXP = /^import \([^)]*\)/gm;
/** The beginning of a test or a function, with its name. */
const TITLE_REGEXP =
  /^\s*(?:(?:test|it|describe|suite|context)(?:\.\w+)*\s*\(\s*(?:"[^"]*"|'[^']*'|`[^`]*`)?|(?:func|def|class|async def)\b[^:{]*)/;
/** A name that the language itself gives, such as `__main__`: no test expects it. */
const DUNDER_REGEXP = /^__\w+__$/;
/** What a shell only prints; a text that goes through a pipe may be compared. */
const PRINTED_REGEXP = /(?:^|[;&|{(]|\b(?:then|do|else)) *(?:echo|printf) (?:>&\d|[^;&|]){0,300}(?=$|[;&}]|\|\|)/g;
/** Where it writes to, and the files that it looks for. */
const PLACES_REGEXP = /\d?>&\d|\d?> ?\/dev\/\w+|(?:\btest|\[)(?: !)? -[a-zA-Z] (?:"[^"]*"|'[^']*'|\S+)/g;
const SENTENCE_REGEXP = /\s\S+\s/;
/** An expectation may be on one of the next lines. */
const NEAR = 3;
const OTHER_TRUTH: Readonly<Record<string, string>> = { true: "false", false: "true", True: "False", False: "True" };

/**
 * Names that assertions use, each changed into one that nothing has: for a test without literals. Only green is evidence
 * then: a test that is red may not have been loaded. Pure.
 */
export function namesOf(text: string): readonly Flip[] {
  return text.split("\n").flatMap((line, index, lines) => {
    if (SKIPPED_REGEXP.test(line) || !ASSERTS_REGEXP.test(line)) return [];
    const start = lines.slice(0, index).reduce((sum, { length }) => sum + length + 1, 0);
    return [...line.matchAll(NAME_REGEXP)].filter(([name]) => !ASSERTS_REGEXP.test(name)).map((match): Flip => ({
      offset: start + match.index,
      from: match[0],
      to: otherValue("name", match[0]),
      line: index + 1,
      kind: "name",
      isAsserted: true,
      group: "name",
      score: 0,
    }));
  });
}

/** Every literal on the line of an assertion, or within three lines below one. Pure. */
export function flipsOf(text: string): readonly Flip[] {
  const names = new Set(text.replaceAll(LITERAL_REGEXP, " ").match(/[A-Za-z_]\w*/g));
  const found: Flip[] = [];
  let offset = 0;
  let asserted = -NEAR - 1;
  const code = text.replaceAll(IMPORTS_REGEXP, (imports) => imports.replaceAll(/[^\n]/g, " "));
  for (const [index, line] of code.split("\n").entries()) {
    const title = TITLE_REGEXP.exec(line)?.[0].length ?? 0;
    const isCode = !SKIPPED_REGEXP.test(line);
    const isAsserted = isCode && ASSERTS_REGEXP.test(line.slice(title));
    if (isAsserted) asserted = index;
    const isNear = isCode && (isAsserted || (title === 0 && index - asserted <= NEAR));
    const flips = isNear ? flipsIn(line, title, isAsserted, names) : [];
    for (const flip of flips) found.push({ ...flip, offset: offset + flip.offset, line: index + 1 });
    offset += line.length + 1;
  }
  return found;
}

/** @param title characters at the start of the line that name a test @returns offsets in the line */
function flipsIn(
  line: string,
  title: number,
  isAsserted: boolean,
  names: ReadonlySet<string>,
): readonly Omit<Flip, "line">[] {
  const isCode = new Uint8Array(line.length);
  for (const [from, to] of exitCodesIn(line)) isCode.fill(1, from + 1, to);
  const isTold = new Uint8Array(line.length);
  for (const regexp of [PRINTED_REGEXP, PLACES_REGEXP]) {
    for (const { 0: { length }, index } of line.matchAll(regexp)) isTold.fill(1, index, index + length);
  }
  const matches = [...line.matchAll(LITERAL_REGEXP)].filter(({ index: at, 1: number }) =>
    at >= title && isTold[at] === 0 && !(number !== undefined && isCode[at] === 1)
  );
  return matches.flatMap((match, place): readonly Omit<Flip, "line">[] => {
    const [from, , quoted] = match;
    // A quoted name that the code has as well is structure, such as a parameter: without it the test does not load.
    if (quoted?.slice(1, -1).split(/\s*,\s*/).every((word) => names.has(word) || DUNDER_REGEXP.test(word)) === true) {
      return [];
    }
    const isLast = place === matches.length - 1;
    const kind = KINDS[match.slice(1).findIndex((found) => found !== undefined)] ?? "nothing";
    const score = (isAsserted ? 4 : 0) + (kind === "number" || kind === "truth" ? 2 : 1) + (isLast ? 1 : 0) -
      (quoted !== undefined && SENTENCE_REGEXP.test(quoted) ? 3 : 0);
    const group = `${kind} ${isLast}`;
    return [{ from, to: otherValue(kind, from), kind, isAsserted, score, offset: match.index, group }];
  });
}

/** The parts of a line in which a statement chooses how its process ends: `? 0 : 1` of an exit or a return. */
function exitCodesIn(line: string): readonly (readonly [from: number, to: number])[] {
  let end = -1;
  return line.split(";").flatMap((statement) => {
    const start = end + 1;
    end = start + statement.length;
    const word = statement.search(/\b(?:exit|exitCode|return)\b/);
    const choice = word === -1 ? -1 : statement.slice(word).search(/\?|\belse\b/);
    return choice === -1 ? [] : [[start + word + choice, end] as const];
  });
}

function otherValue(kind: Flip["kind"], from: string): string {
  switch (kind) {
    case "number":
      return (BigInt(from) + 1n).toString();
    case "text":
      return `${from.slice(0, -1)}~${from.slice(-1)}`;
    case "truth":
      return OTHER_TRUTH[from] ?? from;
    case "nothing":
      return "0";
    case "name":
      return `${from}_`;
  }
}

/** The most telling flips, of different kinds and spread over the text. Pure. */
export function pickFlips(flips: readonly Flip[], most: number): readonly Flip[] {
  const groups = new Map<string, Flip[]>();
  for (const flip of flips) groups.set(flip.group, [...groups.get(flip.group) ?? [], flip]);
  const bestScore = (group: readonly Flip[]): number => Math.max(...group.map(({ score }) => score));
  const ranked = [...groups.values()].sort((one, other) => bestScore(other) - bestScore(one))
    .map((group) => group.filter(({ score }) => score >= bestScore(group) - 1));
  const kindOf = ([flip]: readonly Flip[]): Flip["kind"] | undefined => flip?.kind;
  const isFirst = (group: readonly Flip[]): boolean => ranked.find((one) => kindOf(one) === kindOf(group)) === group;
  const ordered = [...ranked.filter(isFirst), ...ranked.filter((group) => !isFirst(group))];
  const picked = new Set<Flip>();
  for (let round = 0; round < most; round += 1) {
    for (const group of ordered) {
      const flip = group[Math.floor(((round + 0.5) * group.length) / most)];
      if (flip !== undefined && picked.size < most) picked.add(flip);
    }
  }
  return [...picked];
}

/** A text with these literals replaced. Pure. */
export function withFlips(text: string, flips: readonly Flip[]): string {
  return [...flips].sort((one, other) => other.offset - one.offset)
    .reduce((kept, { offset, from, to }) => kept.slice(0, offset) + to + kept.slice(offset + from.length), text);
}

/** `7: 5 → 6`, for people. Pure. */
export function describeFlip({ line, from, to }: Flip): string {
  return `${line}: ${from} → ${to}`;
}
