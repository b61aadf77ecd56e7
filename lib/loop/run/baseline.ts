import { note, type RalphContext } from "../../context/context.ts";
import type { Check, CheckResult } from "../../backlog/types.ts";
import { isResultOf } from "../../backlog/verify_commands.ts";
import { type CheckLike, namedCheck } from "../../checks/function.ts";
import { missingTool } from "../../checks/missing_tool.ts";
import { verify } from "../../checks/verify.ts";
import { requireRepository, rootPaths, topLevelPaths, type TreeSnapshot } from "../../git/repository.ts";
import type { CleanRun } from "../finish/clean.ts";

/** The logs of the checks, what ends them, and the checkout that has to make them at the end. */
export interface BaselineOptions {
  readonly logs: string;
  readonly signal: AbortSignal;
  /** @default not known yet */
  readonly clean?: CleanRun;
  /** State that is written before the loop begins, relative to the root: no check depends on it. @default none */
  readonly state?: readonly string[];
  /** The tree as the run found it, where nothing but Ralph has written since, and the paths that are its own. @default not known */
  readonly found?: { readonly tree: TreeSnapshot; readonly own: readonly string[] };
}

/** The results of the shared checks before the first turn. */
export type Baseline =
  /** `tree`: after the checks, where they have just run. */
  | { readonly status: "known"; readonly failing: ReadonlySet<string>; readonly tree?: TreeSnapshot }
  | { readonly status: "aborted" }
  /** Nothing could ever pass. */
  | { readonly status: "blocked"; readonly reasons: readonly string[] };

/** The results of the checks, and the tree that they left. */
interface Tried {
  readonly commands: string;
  readonly results: readonly CheckResult[];
  readonly tree: TreeSnapshot;
  /** State, relative to the top level: what is written there changes nothing. */
  readonly state: readonly string[];
}

/** The checks of a run that has planned before are not run again on the same tree. */
const TRIED = new WeakMap<RalphContext["run"], Tried>();

/**
 * Runs the commands that hold for every item on the tree as it is, before the first turn is paid for: which fail
 * already is not the agent's doing, and which a clean checkout cannot make is known then. Nothing passes or fails by it.
 *
 * @param checks what the loop was given for every item, beside `verify.default`
 */
export async function baselineOf(
  ralph: RalphContext,
  checks: readonly CheckLike[],
  { logs, signal, clean, state = [], found: start }: BaselineOptions,
): Promise<Baseline> {
  const shared = sharedChecks(ralph.config.verify.default, checks);
  if (!ralph.config.verify.baseline || shared.length === 0) return { status: "known", failing: new Set() };
  const known = await triedOn(ralph, shared);
  if (known !== null) {
    await clean?.look(redFirst(known), shared, signal);
    return outcomeOf(ralph, shared, known);
  }
  const repository = requireRepository(ralph);
  ralph.events.emit({ type: "step-start", step: "baseline", title: "The checks before the first turn" });
  const isStart = start !== undefined && start.tree.head === (await repository.head()).head;
  const before = isStart ? start.tree : await repository.snapshot();
  const found = await verify(ralph, shared, { logs, signal });
  if (found.status === "aborted") {
    ralph.events.emit({ type: "step-end", step: "baseline", status: "aborted" });
    return { status: "aborted" };
  }
  const { results } = found;
  await clean?.look(redFirst(results), shared, signal);
  const failing = results.filter(({ ok }) => !ok).map(({ name }) => name);
  const message = summaryOf(shared.length, failing.length);
  ralph.events.emit({ type: "step-end", step: "baseline", status: found.status, message });
  if (failing.length > 0) {
    note(ralph, "warn", `already failing before the first turn: ${failing.join(", ")}`);
  }
  const { paths: all, now } = await repository.changedSince(before);
  const paths = isStart ? all.filter((path) => !start.own.includes(path)) : all;
  if (paths.length > 0) {
    note(ralph, "warn", `the checks themselves changed the tree: ${rootPaths(ralph, paths).join(", ")}`);
  }
  TRIED.set(ralph.run, { commands: commandsOf(shared), results, tree: now, state: topLevelPaths(ralph, state) });
  return outcomeOf(ralph, shared, results, now);
}

/** The results of the same commands on this very tree. */
async function triedOn(ralph: RalphContext, shared: readonly Check[]): Promise<readonly CheckResult[] | null> {
  const tried = TRIED.get(ralph.run);
  if (tried === undefined || tried.commands !== commandsOf(shared)) return null;
  const { paths } = await requireRepository(ralph).changedSince(tried.tree);
  return paths.every((path) => tried.state.includes(path)) ? tried.results : null;
}

function commandsOf(shared: readonly Check[]): string {
  return JSON.stringify(shared.map(({ command }) => command));
}

function redFirst(results: readonly CheckResult[]): readonly CheckResult[] {
  return [...results.filter(({ ok }) => !ok), ...results.filter(({ ok }) => ok)];
}

function outcomeOf(
  { config }: RalphContext,
  shared: readonly Check[],
  results: readonly CheckResult[],
  tree?: TreeSnapshot,
): Baseline {
  const red = results.filter(({ ok }) => !ok);
  const slow = red.filter(({ timedOut }) => timedOut === true).map(({ name }) =>
    `${name} reached verify.timeout (${config.verify.timeout} s) before the first turn: raise it`
  );
  const absent = red.flatMap((result) => {
    const tool = missingTool(result);
    return tool === null ? [] : [`${result.name} cannot run: ${tool} was not found; install it, or name another check`];
  });
  const reasons = [...slow, ...absent];
  if (reasons.length > 0) return { status: "blocked", reasons };
  const failing = shared.filter((check) => red.some((result) => isResultOf(result, check)));
  return { status: "known", failing: new Set(failing.map(({ name }) => name)), ...tree && { tree } };
}

function summaryOf(count: number, failing: number): string {
  const all = `${count} check${count === 1 ? "" : "s"}`;
  return failing === 0 ? `${all} passed before the first turn` : `${failing} of ${all} failed before the first turn`;
}

/** Commands, each once, by their own text. */
function sharedChecks(named: readonly string[], checks: readonly CheckLike[]): readonly Check[] {
  const given = new Map<string, Check>(
    named.map((command) => [command, { name: command, command, scope: "baseline" }]),
  );
  for (const check of checks.map(namedCheck)) {
    if (check?.command === undefined) continue;
    given.set(check.command, { ...check, name: check.command, scope: "baseline" });
  }
  return [...given.values()];
}
