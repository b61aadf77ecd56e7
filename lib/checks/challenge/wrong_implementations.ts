import { note } from "../../context/context.ts";
import { join, relative, sep } from "node:path";
import type { CheckResult } from "../../backlog/types.ts";
import { lineFrom, outputFrom } from "../../git/run_git.ts";
import { type Repository, requireRepository, rootPaths } from "../../git/repository.ts";
import { writeAtomic } from "../../host/files.ts";
import { verifyQuietly } from "../verify.ts";
import { broughtUp, type Challenge, challengerFolder, challengerTurn } from "./challenger.ts";
import { wrongImplementationPrompt } from "./prompt.ts";
import picomatch from "picomatch";
import { withoutCommands } from "../../backlog/verify_commands.ts";
import { type Commits, createCommits, differing, filesOf, type Layers } from "../experiment/commits.ts";
import { withOwnIndex } from "../../git/own_index.ts";
import { kindOf, namesPath } from "../experiment/product.ts";

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
  const { results } = await verifyQuietly(ralph, checks, { item, place, signal });
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
  const { status } = await verifyQuietly(ralph, checks, { item, place, signal });
  if (status !== "passed") return { ...NONE, result, diff };
  const file = join(folder, `${name}.diff`);
  await writeAtomic(file, diff);
  const survivor = relative(ralph.root, file).replaceAll(sep, "/");
  note(ralph, "warn", `a wrong implementation passes the checks: ${survivor}`);
  return { ...NONE, result, diff, survivor };
}

/**
 * Separates the judges among the work from the implementations among the challenger's changes: tests, scripts that the
 * checks run, and configuration judge.
 */
async function changedBy(
  { ralph, item, base, work, checks }: Challenge,
  commits: Commits,
  { before, after, copied }: { readonly before: string; readonly after: string; readonly copied: readonly string[] },
): Promise<{ readonly judges: Layers; readonly wrong: Layers }> {
  const { config } = ralph;
  const worked = await commits.entries(work);
  const own = picomatch(["ralph.config.json", ".gitignore", ...config.protect], { dot: true });
  const subject = withoutCommands([item.title, ...item.criteria ?? []].join("\n"));
  const files = {
    ...await filesOf(config, commits, [worked]),
    commands: checks.map(({ command }) => command),
    isSubject: (path: string) => namesPath(subject, path),
  };
  const kept = rootPaths(ralph, copied);
  const isCopied = (path: string): boolean => kept.some((one) => path === one || path.startsWith(`${one}/`));
  const isJudge = (path: string): boolean => own(path) || kindOf(path, files) !== "product";
  const made = differing(await commits.entries(before), await commits.entries(after));
  return {
    judges: new Map([...differing(await commits.entries(base), worked)].filter(([path]) => isJudge(path))),
    wrong: new Map([...made].filter(([path]) => !isJudge(path) && !isCopied(path))),
  };
}

/**
 * Runs something in a folder that a commit is checked out in. Nothing in the folder but its files is believed: index and
 * objects are the repository's.
 *
 * @returns what it gave, and git's names of the trees before and after it
 * @throws {RalphError} git-failed
 */
async function treesAround<Value>(
  repository: Pick<Repository, "git" | "gitDirectory">,
  { folder, commit }: { readonly folder: string; readonly commit: string },
  run: () => Promise<Value>,
): Promise<{ readonly value: Value; readonly before: string; readonly after: string }> {
  return await withOwnIndex(repository, "empty", async (index) => {
    const environment = { ...index, GIT_DIR: repository.gitDirectory, GIT_WORK_TREE: folder };
    const treeNow = async (): Promise<string> => {
      await outputFrom(repository, ["add", "--all"], { environment });
      return await lineFrom(repository, ["write-tree"], { environment });
    };
    await outputFrom(repository, ["read-tree", commit], { environment });
    const before = await treeNow();
    const value = await run();
    return { value, before, after: await treeNow() };
  });
}
