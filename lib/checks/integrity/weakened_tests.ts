/**
 * Whether tests were weakened: what was there before a turn and is not there after it. Added tests are nobody's concern.
 *
 * @module
 */
import { NO_FACTS, type TestFacts, testFacts } from "./test_facts.ts";

/** A file before and after; `null`: it was, or is, not there. */
export interface FileChange {
  /** Relative to the root. */
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** One file under its name of today, and what it lost. */
interface Compared {
  readonly path: string;
  readonly was: string | null;
  readonly before: TestFacts;
  readonly isNew: boolean;
  readonly isGone: boolean;
  readonly isEmptied: boolean;
  readonly gone: TestFacts;
  readonly added: TestFacts;
}

const SNAPSHOT_REGEXP = /\.snap$|(?:^|\/)__snapshots__\/|\.approved\./;
const NAMES_SHOWN = 3;

/**
 * What was weakened, a line a file. A file or a case that was moved is still there; a title that was reworded is too.
 * Pure.
 */
export function weakenedTests(changes: readonly FileChange[]): readonly string[] {
  const isSnapshot = ({ path }: FileChange): boolean => SNAPSHOT_REGEXP.test(path);
  const files = pairRenamed(changes.filter((change) => !isSnapshot(change))).map(compare);
  const moved = poolOf(files.flatMap(({ added }) => added.cases));
  const movedAssertions = poolOf(files.flatMap(({ added }) => added.assertions));
  const lines = files.flatMap((file) => {
    const found = lostIn(file, moved, movedAssertions);
    const name = file.was === null ? file.path : `${file.path} (was ${file.was})`;
    return found.length === 0 ? [] : [`${name}: ${found.join(", ")}`];
  });
  const snapshots = changes.filter(isSnapshot).flatMap((change) => {
    const lost = rewritten(change);
    return lost === null ? [] : [`${change.path}: ${lost}`];
  });
  return [...lines, ...snapshots].toSorted();
}

function lostIn(
  { before, isNew, isGone, isEmptied, gone, added }: Compared,
  moved: Map<string, number>,
  movedAssertions: Map<string, number>,
): readonly string[] {
  if (isNew) return added.focuses.length === 0 ? [] : [focusWords(added.focuses)];
  const notMoved = gone.cases.filter((title) => !take(moved, title));
  const missing = withoutReworded(notMoved, added.cases);
  const total = before.cases.length;
  if (isGone || isEmptied) {
    if (total > 0 && missing.length === 0) return []; // all of it is elsewhere
    const what = isGone ? "deleted" : "emptied";
    return [total === 0 ? what : `${what} (${count(missing.length, "test case")})`];
  }
  const isMoved = notMoved.length < gone.cases.length; // assertions move with their cases
  const lost = gone.assertions.filter((line) => !isMoved || !take(movedAssertions, line));
  const lostAssertions = lost.length - added.assertions.length;
  const skips = added.skips.length > gone.skips.length ? added.skips : [];
  const focuses = added.focuses.length > gone.focuses.length ? added.focuses : [];
  return [
    ...(missing.length === 0 ? [] : [`${missing.length} of ${count(total, "test case")} gone (${shown(missing)})`]),
    ...(lostAssertions <= 0 ? [] : [`${lostAssertions} of ${count(before.assertions.length, "assertion")} gone`]),
    ...(skips.length === 0 ? [] : [`newly skipped (${shown(skips)})`]),
    ...(focuses.length === 0 ? [] : [focusWords(focuses)]),
  ];
}

function focusWords(lines: readonly string[]): string {
  return `newly focused, so that others do not run (${shown(lines)})`;
}

function compare({ path, was, before, after }: FileChange & { readonly was: string | null }): Compared {
  const old = before === null ? NO_FACTS : testFacts(before);
  const now = after === null ? NO_FACTS : testFacts(after);
  return {
    path,
    was,
    before: old,
    isNew: before === null,
    isGone: before !== null && after === null,
    isEmptied: before !== null && before.trim() !== "" && after !== null && after.trim() === "",
    gone: difference(old, now),
    added: difference(now, old),
  };
}

/** What the one has and the other has not. */
function difference(one: TestFacts, other: TestFacts): TestFacts {
  return {
    cases: without(one.cases, other.cases),
    skips: without(one.skips, other.skips),
    focuses: without(one.focuses, other.focuses),
    assertions: without(one.assertions, other.assertions),
  };
}

/** A file that is gone and a new one with much of its text are one file. */
function pairRenamed(
  changes: readonly FileChange[],
): readonly (FileChange & { readonly was: string | null })[] {
  const taken = new Map<FileChange, FileChange>();
  const fresh = changes.filter(({ before, after }) => before === null && after !== null);
  for (const old of changes.filter(({ before, after }) => before !== null && after === null)) {
    const [best] = fresh.filter((one) => !taken.has(one))
      .map((one) => ({ one, alike: likeness(old.before ?? "", one.after ?? "") }))
      .filter(({ alike }) => alike >= 0.5)
      .toSorted((one, other) => other.alike - one.alike);
    if (best !== undefined) taken.set(best.one, old);
  }
  const renamed = new Set(taken.values());
  return changes.filter((change) => !renamed.has(change)).map((change) => {
    const old = taken.get(change);
    return old === undefined ? { ...change, was: null } : { ...change, was: old.path, before: old.before };
  });
}

/** How much of a text's lines another has, from 0 to 1. */
function likeness(text: string, other: string): number {
  if (text === other) return 1;
  const lines = linesOf(text);
  return lines.length === 0 ? 0 : 1 - without(lines, linesOf(other)).length / lines.length;
}

/** The titles for which no added one has most of the same words. */
function withoutReworded(gone: readonly string[], added: readonly string[]): readonly string[] {
  const left = [...added];
  return gone.filter((title) => {
    const words = wordsOf(title);
    const index = left.findIndex((other) => {
      const others = wordsOf(other);
      const common = [...words].filter((word) => others.has(word)).length;
      return words.size > 0 && common / Math.max(words.size, others.size) > 0.5;
    });
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
}

function wordsOf(title: string): ReadonlySet<string> {
  const words = title.replaceAll(/([a-z])([A-Z])/g, "$1 $2").toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(words);
}

/** Lines of recorded output that are not there any more; more of it is no weakening. */
function rewritten({ before, after }: FileChange): string | null {
  if (before === null || before.trim() === "") return null;
  if (after === null) return "recorded output deleted";
  const lines = linesOf(before);
  const lost = without(lines, linesOf(after)).length;
  return lost === 0 ? null : `recorded output rewritten (${lost} of ${count(lines.length, "line")})`;
}

function linesOf(text: string): readonly string[] {
  return text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
}

function without(list: readonly string[], other: readonly string[]): readonly string[] {
  const pool = poolOf(other);
  return list.filter((entry) => !take(pool, entry));
}

function poolOf(entries: readonly string[]): Map<string, number> {
  const pool = new Map<string, number>();
  for (const entry of entries) pool.set(entry, (pool.get(entry) ?? 0) + 1);
  return pool;
}

function take(pool: Map<string, number>, entry: string): boolean {
  const left = pool.get(entry) ?? 0;
  if (left > 0) pool.set(entry, left - 1);
  return left > 0;
}

function shown(names: readonly string[]): string {
  const some = names.slice(0, NAMES_SHOWN).map((name) => `\`${name.length > 80 ? `${name.slice(0, 79)}…` : name}\``);
  const more = names.length - some.length;
  return more === 0 ? some.join(", ") : `${some.join(", ")} and ${more} more`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
