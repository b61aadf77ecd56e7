import type { RalphContext } from "../context/context.ts";
import type { Check } from "../backlog/types.ts";
import { namedCheck } from "../checks/named_check.ts";
import type { CheckLike } from "../checks/types.ts";
import { requireRepository } from "../git/require_repository.ts";
import { rootPaths } from "../git/tree_paths.ts";
import { verify } from "../checks/verify.ts";

/** Where the checks are logged, and what ends them. */
export interface BaselineOptions {
  readonly logs: string;
  readonly signal: AbortSignal;
}

/**
 * Runs the commands that hold for every item on the tree as it is, before the first turn is paid for, and says which
 * fail already: that is not the agent's doing. Nothing passes or fails by it.
 *
 * @param checks what the loop was given for every item, beside `verify.default`
 * @returns the commands that fail; `null` when it was interrupted
 */
export async function failingBefore(
  ralph: RalphContext,
  checks: readonly CheckLike[],
  { logs, signal }: BaselineOptions,
): Promise<ReadonlySet<string> | null> {
  const shared = sharedChecks(ralph.config.verify.default, checks);
  if (!ralph.config.verify.baseline || shared.length === 0) return new Set();
  const repository = requireRepository(ralph);
  ralph.events.emit({ type: "step-start", step: "baseline", title: "The checks before the first turn" });
  const before = await repository.snapshot();
  const found = await verify(ralph, shared, { logs, signal });
  if (found.status === "aborted") {
    ralph.events.emit({ type: "step-end", step: "baseline", status: "aborted" });
    return null;
  }
  const failing = found.results.filter(({ ok }) => !ok).map(({ name }) => name);
  const message = failing.length === 0
    ? `${count(shared.length)} passed before the first turn`
    : `${failing.length} of ${count(shared.length)} failed before the first turn`;
  ralph.events.emit({ type: "step-end", step: "baseline", status: found.status, message });
  if (failing.length > 0) {
    const already = `already failing before the first turn: ${failing.join(", ")}`;
    ralph.events.emit({ type: "note", level: "warn", message: already });
  }
  const { paths } = await repository.changedSince(before);
  if (paths.length > 0) {
    const written = `the checks themselves changed the tree: ${rootPaths(ralph, paths).join(", ")}`;
    ralph.events.emit({ type: "note", level: "warn", message: written });
  }
  return new Set(failing);
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

function count(number: number): string {
  return `${number} check${number === 1 ? "" : "s"}`;
}
