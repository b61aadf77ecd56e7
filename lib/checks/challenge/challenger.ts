import { join, relative, sep } from "node:path";
import picomatch from "picomatch";
import { agentTurn, type ObservedTurn } from "../../agents/agent_turn.ts";
import type { CheckOutcome, CheckResult, CommandCheck, Item, TimeBudget, Turn } from "../../backlog/types.ts";
import { withoutCommands } from "../../backlog/verify_commands.ts";
import { type Agent, note, type RalphContext } from "../../context/context.ts";
import type { EventBus } from "../../events/types.ts";
import { ownTree } from "../../git/own_index.ts";
import { requireRepository, rootPaths, type TreeSnapshot, type WithIndex } from "../../git/repository.ts";
import { withLaid } from "../../git/laid.ts";
import { createGit, outputFrom, outputOfGit } from "../../git/run_git.ts";
import { markingEnvironment } from "../../git/turn_mark.ts";
import { removeOwn, writeAtomic } from "../../host/files.ts";
import { renderPrompt } from "../../prompts/render.ts";
import { restoreBrief } from "../brief/create_brief.ts";
import type { Brief } from "../brief/types.ts";
import type { Checkout, CheckoutPlace } from "../checkout/place.ts";
import { type Commits, createCommits, differing, filesOf } from "../experiment/commits.ts";
import { kindOf, namesPath } from "../experiment/product.ts";
import { reviewerOf, reviewItem } from "../reviewed_by.ts";
import { verifyQuietly } from "../verify.ts";

/** One challenge of the checks of an item. */
export interface Challenge {
  readonly ralph: RalphContext;
  readonly item: Item;
  readonly brief: Brief;
  readonly checkout: Checkout;
  /** Commit before the first attempt at the item. */
  readonly base: string;
  /** The work, as it would be committed. */
  readonly work: string;
  /** The item's commands. */
  readonly checks: readonly CommandCheck[];
  /** Absolute path of the run's folder. */
  readonly folder: string;
  /** The attempt, in the names of files. */
  readonly name: string;
  readonly signal: AbortSignal;
  readonly budget: TimeBudget | null;
  /** Runs a turn, and makes of the project's own tree what it was before it. */
  readonly guarded: (name: string, turn: (before: TreeSnapshot) => Promise<ObservedTurn>) => Promise<GuardedChallenger>;
}

/** A challenger's turn, and what became of the project's own tree. */
export interface GuardedChallenger {
  readonly turn: Turn;
  /** It rewrote history, which is as it was before. */
  readonly rewritten: boolean;
  /** Relative to the root: what it changed, and could not be restored. */
  readonly left: readonly string[];
}

/** The outcome of a challenger's turn. `ok` is false where the attempt cannot be settled after it. */
export interface ChallengerTurn {
  readonly turn: Turn;
  readonly result: CheckResult;
  /** Why the turn brought nothing; `null` where it ended in order. */
  readonly nothing: string | null;
}

/** The agent of `verify.challenger`, else the run's own. @throws {RalphError} agent-unknown, option-invalid */
export function challengerOf(ralph: RalphContext): Agent {
  const { challenger } = ralph.config.verify;
  return challenger === undefined ? ralph.agent : reviewerOf(ralph, challenger);
}

/** Brings the checkout up to a commit. @returns the place, or why it could not be made */
export async function broughtUp({ checkout }: Challenge, commit: string): Promise<CheckoutPlace | string> {
  const up = await checkout.bringUp(commit);
  return up.status === "ready" ? up.place : up.reason;
}

/** The folder for a challenger's turn: the item's base, with a history that says nothing of the work. */
export async function challengerFolder({ ralph, checkout }: Challenge, place: CheckoutPlace): Promise<string> {
  const folder = await place.directory();
  await removeOwn(join(checkout.tree, ".git"), checkout.tree);
  await outputOfGit(createGit(ralph.host, checkout.tree), ["init", "--quiet", "--template="]);
  return folder;
}

/** One turn of the challenger in a folder. The project's tree is as before it, and what it changed there is named. */
export async function challengerTurn(
  challenge: Challenge,
  { task, cwd, name, folder, events }: {
    readonly task: string;
    readonly cwd: string;
    readonly name: string;
    /** For the transcript. */
    readonly folder: string;
    readonly events: EventBus;
  },
): Promise<ChallengerTurn> {
  const { ralph, brief, signal, budget } = challenge;
  const agent = challengerOf(ralph);
  const { fallback = null, router = null } = agent === ralph.agent ? ralph : {};
  const text = await renderPrompt("challenge", { item: reviewItem(challenge.item), task }, { root: ralph.root });
  const mark = await markingEnvironment(requireRepository(ralph), ralph.host.environment.variables);
  const environment = { RALPH_ROOT: cwd, ...mark };
  const asked = { stage: "review", prompt: text, name, folder, cwd, signal, budget, environment } as const;
  const { turn, rewritten, left } = await challenge.guarded(
    name,
    (before) => agentTurn({ ...ralph, agent, fallback, router, events }, { ...asked, before }),
  );
  const restored = (await restoreBrief(brief)).map(({ path }) => path);
  const isLeft = (path: string): boolean => !restored.includes(path);
  const changed = [...rewritten ? ["its history"] : [], ...turn.changedFiles.filter(isLeft)];
  const outcome = outcomeOf(turn, changed, left.filter(isLeft));
  const { durationMs, usage } = turn;
  const result = { ...outcome, name: `challenge by ${agent.name}`, scope: "", durationMs, usage };
  return { turn, result, nothing: turn.end.reason === "completed" ? null : outcome.tail };
}

function outcomeOf({ end }: Turn, changed: readonly string[], left: readonly string[]): CheckOutcome {
  const message = "message" in end ? end.message : end.reason;
  if (end.reason === "agent-unusable" || end.reason === "rate-limited") {
    return { ok: false, exitCode: null, tail: message, halts: end.reason };
  }
  if (changed.length > 0) {
    const now = left.length === 0 ? "all as it was before" : `as it was before, but for ${left.join(", ")}`;
    const tail = `the challenger changed the working tree, which it must not: ${changed.join(", ")} (now ${now})`;
    return { ok: false, exitCode: null, tail };
  }
  return { ok: true, exitCode: null, tail: message };
}

/** So much of each earlier wrong implementation is shown. */
const DIFF_CHARACTERS = 4000;

/** Wrong implementations so far. */
export interface WrongOutcome {
  /** The challenger's turns; one that is not `ok` is the last. */
  readonly results: CheckResult[];
  readonly diffs: string[];
  /** Diffs of those that no check caught: files of the run's folder, relative to the root. */
  readonly survivors: string[];
  /** Why fewer than asked for were tried, a line each. */
  readonly missing: string[];
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
  const outcome: WrongOutcome = { results: [], diffs: [], survivors: [], missing: [] };
  const { results, missing } = outcome;
  const checks = await reproducible(challenge);
  if (typeof checks === "string") return { ...outcome, missing: [checks] };
  for (let number = 1; number <= count && !signal.aborted; number += 1) {
    if (budget !== null && ralph.host.clock.steady() >= budget.endsAt) {
      const left = count - number + 1;
      missing.push(`${left} of ${count} wrong implementations were not tried: ${budget.words} are up`);
      break;
    }
    const why = await wrongImplementation({ ...challenge, checks }, number, outcome);
    if (results.at(-1)?.ok === false) break;
    if (why !== null) missing.push(`wrong implementation ${number}: ${why}`);
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

/** Has one written and checked, and adds what came of it. @returns why it shows nothing; `null` where it does */
async function wrongImplementation(challenge: Challenge, number: number, { results, diffs, survivors }: WrongOutcome) {
  const { ralph, item, base, checks, folder, checkout, signal } = challenge;
  const repository = requireRepository(ralph);
  const clean = await broughtUp(challenge, base);
  if (typeof clean === "string") return clean;
  const cwd = await challengerFolder(challenge, clean);
  const name = `${challenge.name}-challenge-${number}`;
  const earlier = diffs.map((diff) => `\n~~~~diff\n${diff.slice(0, DIFF_CHARACTERS).trimEnd()}\n~~~~\n`);
  const words = earlier.length === 0 ? "" : `You wrote ${earlier.length} before. Be wrong in another way:\n`;
  const task = await renderPrompt("challenge_wrong", { earlier: words + earlier.join("") }, { root: ralph.root });
  const before = await treeOf(repository, checkout.tree, base);
  const { result, nothing } = await challengerTurn(challenge, { task, cwd, name, folder, events: ralph.events });
  const after = await treeOf(repository, checkout.tree, base);
  results.push(result);
  if (!result.ok || signal.aborted) return null;
  if (nothing !== null) return nothing;

  const commits = createCommits(ralph);
  const { judges, wrong } = await changedBy(challenge, commits, { before, after, copied: clean.copied });
  if (wrong.size === 0) return "it changes no product code";
  const right = await commits.lay(base, judges);
  const commit = await commits.lay(right, wrong);
  const asked = ["diff", "--no-color", "--no-ext-diff", "--no-textconv", right, commit];
  const diff = await withLaid(repository, commit, (environment) => outputFrom(repository, asked, { environment }));
  diffs.push(diff);
  const place = await broughtUp(challenge, commit);
  if (typeof place === "string") return place;
  const { status } = await verifyQuietly(ralph, checks, { item, place, signal });
  if (status !== "passed") return null;
  const file = join(folder, `${name}.diff`);
  await writeAtomic(file, diff);
  const survivor = relative(ralph.root, file).replaceAll(sep, "/");
  survivors.push(survivor);
  note(ralph, "warn", `a wrong implementation passes the checks: ${survivor}`);
  return null;
}

/**
 * Separates the judges among the work from the implementations among the challenger's changes: tests, scripts that the
 * checks run, and configuration judge.
 */
async function changedBy(
  { ralph, item, base, work, checks }: Challenge,
  commits: Commits,
  { before, after, copied }: { readonly before: string; readonly after: string; readonly copied: readonly string[] },
) {
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
 * The tree of a folder that a commit is checked out in. Nothing in the folder but its files is believed: index and objects
 * are the repository's.
 */
async function treeOf(repository: WithIndex, folder: string, commit: string): Promise<string> {
  return await ownTree(repository, "empty", async (index) => {
    const environment = { ...index, GIT_DIR: repository.gitDirectory, GIT_WORK_TREE: folder };
    await outputFrom(repository, ["read-tree", commit], { environment });
    await outputFrom(repository, ["add", "--all"], { environment });
  });
}
