import { join, relative, sep } from "node:path";
import type { CheckResult, CommandCheck, Item } from "../../backlog/types.ts";
import { outputFrom } from "../../git/run_git.ts";
import { requireRepository } from "../../git/require_repository.ts";
import { rootPaths } from "../../git/tree_paths.ts";
import { writeAtomic } from "../../host/files.ts";
import { verify } from "../verify.ts";
import { broughtUp, type Challenge, challengerFolder, challengerTurn } from "./challenger.ts";
import { wrongImplementationPrompt } from "./prompt.ts";
import { type Changes, changesOf, treesAround } from "./tree_changes.ts";
import picomatch from "picomatch";
import { withoutCommands } from "../../backlog/verify_commands.ts";
import type { Config } from "../../config/types.ts";
import { type Commits, createCommits, type Entries } from "../experiment/commits.ts";
import { kindOf, namesPath } from "../experiment/product.ts";
import { publishedFiles } from "../experiment/question.ts";

export interface WrongOutcome {
  /** The challenger's turns; one that is not `ok` is the last. */
  readonly results: readonly CheckResult[];
  /** Diffs of those that no check caught: files of the run's folder, relative to the root. */
  readonly survivors: readonly string[];
  /** Why fewer than asked for were tried, a line each. */
  readonly missing: readonly string[];
}

/**
 * Has the challenger write wrong implementations in a checkout of the item's base, one a turn, and runs the item's
 * checks on each. Tests, scripts and configuration are those of the work, whatever the challenger changed of them. A
 * check that is red on the work itself in a clean checkout catches nothing, and is left out.
 *
 * @throws {RalphError} git-failed
 */
export async function wrongImplementations(challenge: Challenge, count: number): Promise<WrongOutcome> {
  const { ralph, signal, budget } = challenge;
  const checks = await reproducible(challenge);
  if (typeof checks === "string") return { results: [], survivors: [], missing: [checks] };
  const reproduced = { ...challenge, checks };
  const outcome = { results: [] as CheckResult[], survivors: [] as string[], missing: [] as string[] };
  const diffs: string[] = [];
  for (let number = 1; number <= count && !signal.aborted; number += 1) {
    if (budget !== null && ralph.host.clock.steady() >= budget.endsAt) {
      outcome.missing.push(
        `${count - number + 1} of ${count} wrong implementations were not tried: ${budget.words} are up`,
      );
      break;
    }
    const one = await wrongImplementation(reproduced, number, diffs);
    if (one.result !== null) outcome.results.push(one.result);
    if (one.result?.ok === false) break;
    if (one.missing !== null) outcome.missing.push(`wrong implementation ${number}: ${one.missing}`);
    if (one.diff !== null) diffs.push(one.diff);
    if (one.survivor !== null) outcome.survivors.push(one.survivor);
  }
  return outcome;
}

/** The checks that are green on the work in a clean checkout, or why there are none. */
async function reproducible(challenge: Challenge): Promise<Challenge["checks"] | string> {
  const { ralph, checks, item, signal, work } = challenge;
  const place = await broughtUp(challenge, work);
  if (typeof place === "string") return place;
  const { results } = await verify(quiet(ralph), checks, { item, place, signal });
  const green = checks.filter((_, index) => results[index]?.ok === true);
  return green.length > 0 ? green : "no check of the item passes in a clean checkout of the work";
}

interface WrongImplementation {
  readonly result: CheckResult | null;
  readonly diff: string | null;
  readonly survivor: string | null;
  readonly missing: string | null;
}

const NONE: WrongImplementation = { result: null, diff: null, survivor: null, missing: null };

async function wrongImplementation(
  challenge: Challenge,
  number: number,
  earlier: readonly string[],
): Promise<WrongImplementation> {
  const { ralph, item, base, checks, folder, checkout, signal } = challenge;
  const repository = requireRepository(ralph);
  const clean = await broughtUp(challenge, base);
  if (typeof clean === "string") return { ...NONE, missing: clean };
  const cwd = await challengerFolder(challenge, clean);
  const name = `${challenge.name}-challenge-${number}`;
  const prompt = wrongImplementationPrompt(item, earlier);
  const { value: taken, ...trees } = await treesAround(
    repository,
    { folder: checkout.tree, commit: base },
    () => challengerTurn(challenge, { prompt, cwd, name, folder, events: ralph.events }),
  );
  const { result, nothing } = taken;
  if (!result.ok || signal.aborted) return { ...NONE, result };
  if (nothing !== null) return { ...NONE, result, missing: nothing };

  const commits = createCommits(ralph);
  const { judges, wrong } = await changedBy(challenge, commits, { ...trees, copied: clean.copied });
  if (wrong.size === 0) return { ...NONE, result, missing: "it changes no product code" };
  const right = await commits.lay(base, judges);
  const commit = await commits.lay(right, wrong);
  const diff = await outputFrom(repository, ["diff", "--no-color", "--no-ext-diff", "--no-textconv", right, commit]);
  const place = await broughtUp(challenge, commit);
  if (typeof place === "string") return { ...NONE, result, diff, missing: place };
  const { status } = await verify(quiet(ralph), checks, { item, place, signal });
  if (status !== "passed") return { ...NONE, result, diff };
  const file = join(folder, `${name}.diff`);
  await writeAtomic(file, diff);
  const survivor = relative(ralph.root, file).replaceAll(sep, "/");
  ralph.events.emit({ type: "note", level: "warn", message: `a wrong implementation passes the checks: ${survivor}` });
  return { ...NONE, result, diff, survivor };
}

/** Separates the judges among the work from the implementations among the challenger's changes. */
async function changedBy(
  { ralph, item, base, work, checks }: Challenge,
  commits: Commits,
  { before, after, copied }: { readonly before: string; readonly after: string; readonly copied: readonly string[] },
): Promise<{ readonly judges: Changes; readonly wrong: Changes }> {
  const worked = await commits.entries(work);
  const judges = await judgeMatcher({ config: ralph.config, commits, item, checks }, worked);
  const kept = rootPaths(ralph, copied);
  const isCopied = (path: string): boolean => kept.some((one) => path === one || path.startsWith(`${one}/`));
  return {
    judges: changesOf(await commits.entries(base), worked, judges),
    wrong: changesOf(
      await commits.entries(before),
      await commits.entries(after),
      (path) => !judges(path) && !isCopied(path),
    ),
  };
}

/** That a wrong implementation fails its checks is no failure of the run. */
function quiet(ralph: Challenge["ralph"]): Challenge["ralph"] {
  return { ...ralph, events: { emit: () => {}, attach: () => {} } };
}

/** The parts that judge an implementation. */
interface Judging {
  readonly config: Pick<Config, "tests" | "protect">;
  readonly commits: Commits;
  readonly item: Item;
  readonly checks: readonly CommandCheck[];
}

/**
 * Says of a path, relative to the root, whether it is a test, a script that the checks run, or configuration: part of
 * what judges an implementation, and not of the implementation.
 *
 * @param work the files as the checks have seen them
 */
async function judgeMatcher(
  { config, commits, item, checks }: Judging,
  work: Entries,
): Promise<(path: string) => boolean> {
  const own = picomatch(["ralph.config.json", ".gitignore", ...config.protect], { dot: true });
  const subject = withoutCommands([item.title, ...item.criteria ?? []].join("\n"));
  const files = {
    commands: checks.map(({ command }) => command),
    isTest: picomatch([...config.tests.globs], { dot: true }),
    published: new Set(await publishedFiles(commits, work)),
    isSubject: (path: string) => namesPath(subject, path),
  };
  return (path) => own(path) || kindOf(path, files) !== "product";
}
