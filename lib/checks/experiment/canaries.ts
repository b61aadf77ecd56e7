import { posix } from "node:path";
import { type Bench, repeats } from "./bench.ts";
import { describeFlip, type Flip, flipsOf, namesOf, NONSENSE, pickFlips, withFlips } from "./literals.ts";
import type { ListedEntry } from "../../git/tree_listing.ts";
import { isNamed, kindOf } from "./product.ts";
import type { Question } from "./commits.ts";

/** A test file, and whether the checks still notice what is wrong in it. */
export type Canary =
  | { readonly path: string; readonly status: "seen" }
  /** Every changed expectation stays green. `before`: the same ones were red before the work. */
  | { readonly path: string; readonly status: "blind"; readonly before: boolean; readonly flips: readonly string[] }
  /** The checks read it, or them, before the work, and do not now. */
  | { readonly path: string; readonly status: "no longer read"; readonly before: true }
  /** The checks do not read it, or its expectations could never fail. */
  | { readonly path: string; readonly status: "no evidence" };

/** The outcome of the canaries. */
export interface Canaries {
  /** Test files, and `all tests` if no check reads any of them any more. */
  readonly files: readonly Canary[];
  /** The checks gave no answer for one of them, so that the others were not tried. */
  readonly isCutShort: boolean;
  /** This check is red on the very commit that it was green on: its answer was kept, or it counts its runs. */
  readonly unsteady?: string;
}

/** The path of all tests together. */
export const ALL_TESTS = "all tests";
const MOST_FILES = 3;
/** How many files are looked at until so many are found that the checks read. */
const MOST_LOOKED_AT = 6;
const FIRST_FLIPS = 2;
const MOST_FLIPS = 4;
/** Files of which the text is read. */
const MOST_READ = 40;
const LONGEST_TEXT = 300_000;

interface TestPath extends ListedEntry {
  /** 0 is named by a check, 3 has nothing to do with the work. */
  readonly rank: number;
}

interface TestFile extends TestPath {
  readonly text: string;
  readonly flips: readonly Flip[];
}

/** Everything that one canary needs. */
interface Cage {
  readonly question: Question;
  readonly bench: Bench;
  /** A green commit: HEAD, with the old judges where they agree. */
  readonly place: string;
  /** The ones with something to change. */
  readonly flippable: readonly TestFile[];
}

/**
 * Changes expectations of tests, one file at a time, and looks whether a check turns red.
 *
 * @param isAsked tells which test files are looked at. @default each, and then all of them together
 */
export async function canaries(
  question: Question,
  bench: Bench,
  place: string,
  isAsked?: (path: string) => boolean,
): Promise<Canaries> {
  const tests = (await testsOf(question, place)).filter(({ path }) => isAsked?.(path) ?? true);
  const cage = { question, bench, place, flippable: await flippable(question, tests) };
  const files: Canary[] = [];
  for (const test of cage.flippable.slice(0, MOST_LOOKED_AT)) {
    if (files.filter(({ status }) => status !== "no evidence").length >= MOST_FILES) break;
    const canary = await canaryOf(cage, test);
    if (canary === null) return { files, isCutShort: true };
    files.push(canary);
    if (canary.status === "blind" || canary.status === "no longer read") break; // one is enough
  }
  const isSeen = files.some(({ status }) => status !== "no evidence");
  if (isAsked === undefined && !isSeen && await isNoLongerRead(cage, tests)) files.push(noLongerRead(ALL_TESTS));
  // a canary that is red proves nothing if what it was compared with is red as well
  const control = isSeen ? await bench.run(place, "control") : null;
  const isRed = control?.status === "red" && (await bench.run(place, "again")).status === "red";
  return { files, isCutShort: false, ...isRed ? { unsteady: control.failure.name } : {} };
}

/** How many test files were seen to fail, of those that there is an answer for. Pure. */
export function seenIn({ files }: Pick<Canaries, "files">): { readonly seen: number; readonly of: number } {
  const seen = files.filter(({ status }) => status === "seen").length;
  return { seen, of: seen + files.filter(({ status }) => status === "blind").length };
}

/** `null`: the checks could not be run often enough. */
async function canaryOf(cage: Cage, test: TestFile): Promise<Canary | null> {
  const { bench, place, question } = cage;
  const { path } = test;
  const flips = pickFlips(test.flips, MOST_FLIPS);
  const first = await anyRed(cage, place, test, flips.slice(0, FIRST_FLIPS).map((flip) => [flip]));
  const seen = { path, status: test.flips.some(({ kind }) => kind !== "name") ? "seen" : "no evidence" } as const;
  if (first !== false) return first === null ? null : seen;
  const unread = await bench.run(await laid(question, place, [test], NONSENSE));
  if (unread.status === "unknown") return null;
  if (unread.status === "green") {
    return await isNoLongerRead(cage, [test]) ? noLongerRead(path) : { path, status: "no evidence" };
  }
  const asserted = test.flips.filter(({ isAsserted }) => isAsserted);
  const more = await anyRed(cage, place, test, [asserted, ...flips.slice(FIRST_FLIPS).map((flip) => [flip])]);
  if (more !== false) return more === null ? null : seen;
  return await blind(cage, test, flips, asserted);
}

/**
 * Every flip is green. If the same test was green before the work, be it without the others, this is evidence only if the
 * same flips were red there; a suspicion is looked into over the budget too, since a test that skips itself is as green as
 * one that is blind.
 */
async function blind(
  { bench, place, question, flippable }: Cage,
  test: TestFile,
  flips: readonly Flip[],
  asserted: readonly Flip[],
): Promise<Canary | null> {
  const { path } = test;
  const changed = withFlips(test.text, asserted.length > 0 ? asserted : flips);
  if (!await repeats(bench, place, await laid(question, place, [test], changed), "green")) {
    return { path, status: "no evidence" };
  }
  // a base that fails, or runs out of time, clears nobody
  const others = flippable.filter((other) => other !== test && question.old.has(other.path));
  const alone = await question.commits.lay(question.base, new Map(others.map((other) => [other.path, null])));
  let before: "red" | "green" | "unknown" | null = null;
  for (const commit of wasThere(question, test) ? new Set([question.base, alone]) : []) {
    if (before !== null || (await bench.run(commit, "again")).status !== "green") continue;
    before = (await bench.run(await laid(question, commit, [test], changed), "again")).status;
  }
  if (before === "unknown") return null;
  if (before === "green") return { path, status: "no evidence" };
  return { path, status: "blind", before: before !== null, flips: flips.map(describeFlip) };
}

/** The checks read it before the work, and do not now. */
export function noLongerRead(path: string): Canary {
  return { path, status: "no longer read", before: true };
}

/**
 * Tests destroyed, and every check is still green: evidence only if the checks read them before the work. They did if
 * destroying them was red, or, where the checks were red, if what they print tells of a destroyed test.
 */
async function isNoLongerRead(
  { question, bench, place }: Pick<Cage, "question" | "bench" | "place">,
  tests: readonly TestPath[],
): Promise<boolean> {
  const before = tests.filter((test) => wasThere(question, test));
  if (before.length === 0) return false;
  const destroyed = await laid(question, place, tests, NONSENSE);
  if ((await bench.run(destroyed)).status !== "green") return false;
  const result = await bench.run(await laid(question, question.base, before, NONSENSE));
  if (result.status !== "red") return false;
  const words = [NONSENSE.trim(), ...before.map(({ path }) => path)];
  const wereRead = (await bench.run(question.base)).status === "green" ||
    words.some((word) => result.failure.tail.includes(word));
  return wereRead && await repeats(bench, place, destroyed, "green");
}

/** The same test was there before the work. */
function wasThere({ old }: Question, { path, hash }: TestPath): boolean {
  return old.get(path)?.hash === hash;
}

/** Tells whether one of these changes turns a check red; `null` if that could not be tried. */
async function anyRed(
  { question, bench }: Cage,
  commit: string,
  test: TestFile,
  changes: readonly (readonly Flip[])[],
): Promise<boolean | null> {
  for (const flips of changes.filter(({ length }) => length > 0)) {
    const { status } = await bench.run(await laid(question, commit, [test], withFlips(test.text, flips)));
    if (status === "unknown") return null;
    if (status === "red") return true;
  }
  return false;
}

/** A commit with these files replaced by a text. */
export async function laid(
  { commits }: Question,
  commit: string,
  tests: readonly Pick<TestPath, "mode" | "path">[],
  text: string,
): Promise<string> {
  const hash = commits.write(text, commit);
  return await commits.lay(commit, new Map(tests.map(({ path, mode }) => [path, { mode, hash }])));
}

/** The tests of a commit, those first that are likely to be about the work. */
export async function testsOf(question: Question, place: string): Promise<readonly TestPath[]> {
  const { commits, changed, files } = question;
  const stems = [...new Set(changed.filter(({ kind }) => kind === "product").flatMap(({ path }) => stemOf(path)))];
  const touched = new Set(changed.map(({ path }) => path));
  const tests = [...await commits.entries(place)].filter(([path, { mode }]) => {
    const kind = kindOf(path, files);
    return mode.startsWith("100") && (kind === "test" || (kind === "judge" && isNamed(path, files.commands)));
  });
  const mentions = new Set(tests.length === 0 ? [] : await commits.containing(place, stems));
  const rankOf = (path: string): number => {
    const name = posix.basename(path).toLowerCase();
    if (isNamed(path, files.commands)) return 0;
    if (touched.has(path) || stems.some((stem) => name.includes(stem.toLowerCase()))) return 1;
    return mentions.has(path) ? 2 : 3;
  };
  return tests.map(([path, entry]) => ({ path, ...entry, rank: rankOf(path) }))
    .sort((one, other) => one.rank - other.rank);
}

/** The best of them with something to change. */
async function flippable({ commits }: Question, tests: readonly TestPath[]): Promise<readonly TestFile[]> {
  const found: TestFile[] = [];
  for (const test of tests.slice(0, MOST_READ)) {
    const text = await commits.read(test.hash);
    if (text.length > LONGEST_TEXT || text.includes("\0")) continue;
    const literals = flipsOf(text);
    const flips = literals.length > 0 ? literals : namesOf(text);
    if (flips.length > 0) found.push({ ...test, text, flips });
  }
  return found.sort((one, other) => one.rank - other.rank || other.flips.length - one.flips.length);
}

/** `calc` of `src/calc.ts`; nothing for names that say nothing. */
function stemOf(path: string): readonly string[] {
  const stem = posix.basename(path).replace(/\..*$/, "");
  return stem.length < 2 || /^(?:index|main|mod|__init__|README)$/i.test(stem) ? [] : [stem];
}
