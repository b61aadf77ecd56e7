import type { CheckResult } from "../../backlog/types.ts";
import type { ChangedFile, Layers, Question, TreeEntry } from "./commits.ts";
import { withOldTests, wordsOfInlineTests } from "./inline_tests.ts";
import { type Bench, repeats } from "./bench.ts";
import { oldManifest } from "./manifest.ts";
import { laid, testsOf } from "./canaries.ts";
import { NONSENSE } from "./literals.ts";
import { leftOutTests } from "./left_out.ts";
import { narrow } from "./narrow.ts";
import { isCode, isNamed, mayBeData } from "./product.ts";

/** The verdict of the checks with everything that judges as it was before the work. */
export type OldJudges =
  /** `commit` has them: HEAD itself, and nothing was run, if nothing but the product changed. */
  | { readonly status: "agree"; readonly commit: string }
  | { readonly status: "unknown"; readonly reason: string }
  | Disagreement;

/** Files without which the checks fail. */
export interface Disagreement {
  readonly status: "disagree";
  readonly files: readonly ChangedFile[];
  /** One or more of the files: there was no time to find out which. */
  readonly isCutShort: boolean;
  /** The changed files turn the check green by themselves, without the work. */
  readonly aloneTurnsGreen: boolean;
  /** All of them may be data of the product, and so the work itself: they are named, and fail nothing. */
  readonly mayBeWork: boolean;
  /**
   * One of them is a test, or named by a check: it judges, and no setting that the work may need. A new one does not, if
   * the check was red without it: that it is asked for may be all that makes the check fail.
   */
  readonly isJudge: boolean;
  /** With them the check passes with the product destroyed; before the work it failed so. */
  readonly blindsCheck: boolean;
  /** Tests that the check no longer reads with them, and fails by with the old ones. */
  readonly leavesOut: readonly string[];
  readonly failure: CheckResult;
}

/** Further runs that narrowing a set of `n` files may take, beside log2(n). */
const MORE_RUNS = 3;

/**
 * Lays every changed file that is not the product back to what it was, and runs the checks. A check that names a file
 * which came with the work has no old judge: the others are asked without that file and all that came with it.
 */
export async function oldJudges(question: Question, bench: Bench): Promise<OldJudges> {
  const { commits, head, changed, files: { commands } } = question;
  const layers = new Map(await oldLayers(question));
  for (const { path, kind, how } of changed) {
    const [was, is] = [question.old.get(path), question.now.get(path)];
    if (kind !== "product" || how !== "changed" || was === undefined || is === undefined) continue;
    if (await runsTests(question, bench, path)) layers.set(path, { mode: is.mode, hash: was.hash });
  }
  if (layers.size === 0) return { status: "agree", commit: head };
  const lay = (paths: readonly string[]): Promise<string> =>
    commits.lay(head, new Map(paths.map((path) => [path, layers.get(path) ?? null])));
  const pathsOf = (isOne: (path: string) => boolean): readonly string[] =>
    changed.map(({ path }) => path).filter(isOne);
  const paths = pathsOf((path) => layers.has(path));
  const commit = await lay(paths);
  const first = await bench.run(commit);
  if (first.status === "green") return { status: "agree", commit };
  if (first.status === "unknown") return first;
  const came = changed.filter(({ path, kind, how }) => how === "added" && kind !== "product" && !layers.has(path))
    .map(({ path }) => path);
  const isNew = (command: string): boolean => came.some((path) => isNamed(path, [command]));
  const older = commands.filter((command) => !isNew(command));
  if (older.length === commands.length) return await disagreement({ question, bench, lay, paths });
  const all = pathsOf((path) => layers.has(path) || came.includes(path));
  const found = await disagreement({ question, bench, lay, paths: all, only: older });
  if (found.status !== "agree") return found;
  const own = await disagreement({ question, bench, lay, paths, only: commands.filter(isNew) });
  return own.status === "disagree" && !own.aloneTurnsGreen ? found : own;
}

interface Suspicion {
  readonly question: Question;
  readonly bench: Bench;
  /** A commit with these files as they were. */
  lay(paths: readonly string[]): Promise<string>;
  readonly paths: readonly string[];
  /** The checks that are asked. @default all */
  readonly only?: readonly string[];
}

/** Finds out which of the files the checks fail without, and whether that is evidence. */
async function disagreement({ question, bench, lay, paths, only }: Suspicion): Promise<OldJudges> {
  const { changed, head } = question;
  const commit = await lay(paths);
  const first = await bench.run(commit, undefined, only);
  if (first.status === "green") return { status: "agree", commit: head };
  if (first.status === "unknown") return first;
  if (!await repeats(bench, head, commit, "red", only)) {
    return { status: "unknown", reason: `${first.failure.name} does not fail each time` };
  }
  // configuration decides for all tests at once: it comes first
  const isTest = (path: string): boolean => changed.find((one) => one.path === path)?.kind === "test";
  const ordered = [...paths].sort((one, other) => Number(isTest(one)) - Number(isTest(other)));
  const most = Math.ceil(Math.log2(Math.max(2, paths.length))) + MORE_RUNS;
  const failsWith = async (some: readonly string[]): Promise<boolean | null> => {
    const { status } = await bench.run(await lay(some), undefined, only);
    return status === "unknown" ? null : status === "red";
  };
  const narrowed = await narrow(ordered, failsWith, most);
  const files = changed.filter(({ path }) => narrowed.paths.includes(path));
  const wasRed = (await bench.run(question.base, "again", [first.failure.name])).status === "red";
  const aloneTurnsGreen = wasRed && await turnsGreenAlone(question, bench, files, first.failure.name);
  const isJudge = files.some(({ path, kind, how }) =>
    (kind === "test" || isNamed(path, question.files.commands)) && !(wasRed && how === "added")
  );
  const mayBeWork = files.every(({ path, kind }) => kind === "judge" && mayBeData(path));
  const { isCutShort } = narrowed;
  const blindsCheck = !wasRed && !isJudge && await isBlindNow(question, bench, first.failure.name);
  const { failure } = first;
  const isSetting = !aloneTurnsGreen && !isJudge && !blindsCheck;
  const leavesOut = isSetting ? await leftOutTests(question, bench, await lay(narrowed.paths), failure) : [];
  return {
    status: "disagree",
    files,
    isCutShort,
    aloneTurnsGreen,
    mayBeWork,
    isJudge,
    blindsCheck,
    leavesOut,
    failure,
  };
}

/** A check is this file alone, as `sh check.sh`, and fails with every test destroyed: the file is no product. */
async function runsTests(question: Question, bench: Bench, path: string): Promise<boolean> {
  const isAlone = (command: string): boolean => isNamed(path, [command]) && /^\s*(?:\w+ +)?\S+\s*$/.test(command);
  const checks = question.files.commands.filter(isAlone);
  const tests = checks.length === 0 ? [] : await testsOf(question, question.head);
  if (tests.length === 0) return false;
  const destroyed = await laid(question, question.head, tests, NONSENSE);
  for (const check of checks) if ((await bench.run(destroyed, "again", [check])).status === "red") return true;
  return false;
}

/**
 * The strong evidence: a check that was red before the work is green with these files of HEAD and no code of it. Files that are not code either, such as a template, come along: a judge may need it. Other checks may be about work that is not there.
 */
async function turnsGreenAlone(
  { commits, base, now, changed }: Question,
  bench: Bench,
  files: readonly ChangedFile[],
  check: string,
): Promise<boolean> {
  const beside = changed.filter(({ path, kind }) => kind === "product" && !isCode(path));
  const laid = new Map([...files, ...beside].map(({ path }) => [path, now.get(path) ?? null]));
  const alone = await commits.lay(base, laid);
  return (await bench.run(alone, "again", [check])).status === "green";
}

/** The check saw before the work if changed files of the product were destroyed, and sees it no longer. */
async function isBlindNow(question: Question, bench: Bench, check: string): Promise<boolean> {
  const product = question.changed.filter(({ kind, how }) => kind === "product" && how === "changed");
  const broken = async (commit: string, entries: Question["now"]): Promise<string> => {
    const files = product.flatMap(({ path }) => ({ path, mode: entries.get(path)?.mode ?? "" }));
    const { status } = await bench.run(await laid(question, commit, files, NONSENSE), "again", [check]);
    return status;
  };
  if (product.length === 0 || await broken(question.base, question.old) !== "red") return false;
  return await broken(question.head, question.now) === "green";
}

async function oldLayers({ commits, base, old, verified, now, changed, files }: Question): Promise<Layers> {
  const layers = new Map<string, TreeEntry | null>();
  const textOf = async (entry: TreeEntry | undefined): Promise<string | null> =>
    entry?.mode.startsWith("100") === true ? await commits.read(entry.hash) : null;
  const products = changed.filter(({ kind, how }) => kind === "product" && how === "changed").map(({ path }) => path);
  const withTests = new Set(await commits.containing(base, wordsOfInlineTests(products)));
  for (const { path, kind, how } of changed) {
    if (kind === "product" && !withTests.has(path)) continue;
    const [was, is] = [old.get(path) ?? verified.get(path), now.get(path)];
    if (kind === "lock") continue;
    if (kind === "product" || kind === "manifest") {
      const none = path.endsWith(".json") ? "{}" : ""; // a manifest that was not there said nothing of how to check
      const before = was === undefined && kind === "manifest" ? none : await textOf(was);
      const after = await textOf(is);
      if (is === undefined || before === null || after === null) continue;
      const laid = kind === "product" ? withOldTests(path, before, after) : await oldManifest(path, before, after);
      if (laid !== null && laid !== after) layers.set(path, { mode: is.mode, hash: commits.write(laid, is.hash) });
    } else if (how !== "added") layers.set(path, was ?? null);
    else if (!isNamed(path, files.commands)) layers.set(path, null);
  }
  return layers;
}

/**
 * Settings that the work needs are no evidence; a test is, and so are files that turn the check green alone, blind it, or
 * leave out a test that fails. Pure.
 */
export function isEvidence({ aloneTurnsGreen, isJudge, blindsCheck, leavesOut }: Disagreement): boolean {
  return aloneTurnsGreen || isJudge || blindsCheck || leavesOut.length > 0;
}
