import type { Check, CheckResult } from "../backlog/types.ts";
import { namedCheck } from "../checks/function.ts";
import { missingTool } from "../checks/missing_tool.ts";
import type { CheckLike } from "../checks/types.ts";
import { verify } from "../checks/verify.ts";
import type { RalphContext } from "../context/context.ts";
import { requireRepository } from "../git/require_repository.ts";
import { rootPaths } from "../git/tree_paths.ts";
import type { CleanRun } from "./clean.ts";

/** Where the checks are logged, what ends them, and the checkout that has to make them at the end. */
export interface BaselineOptions {
  readonly logs: string;
  readonly signal: AbortSignal;
  readonly clean: CleanRun;
}

/** What the shared checks come to before the first turn. */
export type Baseline =
  | { readonly status: "known"; readonly failing: ReadonlySet<string> }
  | { readonly status: "aborted" }
  /** Nothing could ever pass. */
  | { readonly status: "blocked"; readonly reasons: readonly string[] };

/**
 * Runs the commands that hold for every item on the tree as it is, before the first turn is paid for: which fail
 * already is not the agent's doing, and which a clean checkout cannot make is known then. Nothing passes or fails by it.
 *
 * @param checks what the loop was given for every item, beside `verify.default`
 */
export async function baselineOf(
  ralph: RalphContext,
  checks: readonly CheckLike[],
  { logs, signal, clean }: BaselineOptions,
): Promise<Baseline> {
  const shared = sharedChecks(ralph.config.verify.default, checks);
  if (!ralph.config.verify.baseline || shared.length === 0) return { status: "known", failing: new Set() };
  const repository = requireRepository(ralph);
  ralph.events.emit({ type: "step-start", step: "baseline", title: "The checks before the first turn" });
  const before = await repository.snapshot();
  const found = await verify(ralph, shared, { logs, signal });
  if (found.status === "aborted") {
    ralph.events.emit({ type: "step-end", step: "baseline", status: "aborted" });
    return { status: "aborted" };
  }
  const red = found.results.filter(({ ok }) => !ok);
  const failing = red.map(({ name }) => name);
  const passed = found.results.filter(({ ok }) => ok);
  await clean.look([...red, ...passed], shared, signal);
  ralph.events.emit({ type: "step-end", step: "baseline", status: found.status, message: summaryOf(shared, red) });
  if (failing.length > 0) {
    const already = `already failing before the first turn: ${failing.join(", ")}`;
    ralph.events.emit({ type: "note", level: "warn", message: already });
  }
  const { paths } = await repository.changedSince(before);
  if (paths.length > 0) {
    const written = `the checks themselves changed the tree: ${rootPaths(ralph, paths).join(", ")}`;
    ralph.events.emit({ type: "note", level: "warn", message: written });
  }
  const slow = red.filter(({ timedOut }) => timedOut === true).map(({ name }) =>
    `${name} reached verify.timeout (${ralph.config.verify.timeout} s) before the first turn: raise it`
  );
  const absent = red.flatMap((result) => {
    const tool = missingTool(result);
    return tool === null ? [] : [`${result.name} cannot run: ${tool} was not found; install it, or name another check`];
  });
  const reasons = [...slow, ...absent];
  return reasons.length > 0 ? { status: "blocked", reasons } : { status: "known", failing: new Set(failing) };
}

function summaryOf(shared: readonly Check[], red: readonly CheckResult[]): string {
  const all = `${shared.length} check${shared.length === 1 ? "" : "s"}`;
  return red.length === 0
    ? `${all} passed before the first turn`
    : `${red.length} of ${all} failed before the first turn`;
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
