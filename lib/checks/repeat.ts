import type { Check, CheckResult, Verification } from "../backlog/types.ts";
import type { RalphContext } from "../context/context.ts";
import { type CheckLike, namedCheck } from "./function.ts";
import { verify, type VerifyOptions } from "./verify.ts";

/** A verification after its red commands have had a second run. */
export interface Repeated {
  readonly verification: Verification;
  /** Commands that failed, and passed when they ran once more on the same tree. */
  readonly unsteady: readonly string[];
}

/**
 * Runs each command that failed once more, after all others and at the same place, before anything is blamed for it.
 * One that passes then counts as green and is reported as unsteady. Commands that reached their time limit, functions and
 * reviews are not repeated.
 */
export async function repeatFailed(
  ralph: Parameters<typeof verify>[0] & Pick<RalphContext, "events">,
  checks: readonly CheckLike[],
  found: Verification,
  options: VerifyOptions,
): Promise<Repeated> {
  if (found.status !== "failed") return { verification: found, unsteady: [] };
  const isRed = (check: Check): boolean => found.failures.some((failure) => isOf(failure, check) && mayChange(failure));
  const again = checks.map(namedCheck).filter((check): check is Check => check !== null)
    .filter((check) => check.command !== undefined && check.review !== true && isRed(check));
  if (again.length === 0) return { verification: found, unsteady: [] };
  const names = again.map(({ name }) => name).join(", ");
  ralph.events.emit({ type: "note", level: "info", message: `failed, and run once more: ${names}` });
  const { place } = options;
  const logs = options.logs === undefined ? {} : { logs: `${options.logs}-again` };
  const fresh = place === undefined ? {} : { place: { ...place, known: () => null } };
  const second = await verify(ralph, again, { ...options, ...logs, ...fresh });
  if (second.status === "aborted") return { verification: { ...second, results: found.results }, unsteady: [] };
  const results = found.results.map((result) =>
    result.ok ? result : second.results.find((one) => one.ok && isOf(one, result)) ?? result
  );
  const failures = results.filter(({ ok }) => !ok);
  const verification: Verification = failures.length > 0
    ? { status: "failed", results, failures }
    : { status: "passed", results };
  return { verification, unsteady: [...new Set(second.results.filter(({ ok }) => ok).map(({ name }) => name))] };
}

function isOf({ name, scope }: CheckResult, check: { readonly name: string; readonly scope?: string }): boolean {
  return name === check.name && scope === (check.scope ?? "");
}

function mayChange({ timedOut, halts }: CheckResult): boolean {
  return timedOut !== true && halts === undefined;
}
