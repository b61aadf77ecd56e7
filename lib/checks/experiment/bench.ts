import type { Check, CheckResult } from "../../backlog/types.ts";
import type { RalphContext } from "../../context/context.ts";
import type { BringUp, CheckoutPlace } from "../checkout/place.ts";
import { verifyQuietly } from "../verify.ts";

/** The verdict of the checks on a commit. `unknown` is never evidence. */
export type BenchResult =
  | { readonly status: "green" }
  | { readonly status: "red"; readonly failure: CheckResult }
  | { readonly status: "unknown"; readonly reason: string };

/** Runs the checks on commits that no branch has, in the clean checkout of a run. */
export interface Bench {
  /**
   * One answer for each commit, remembered. `again`: really once more, over the budget too, for a suspicion in hand;
   * `control`: once more, if there is time.
   *
   * @param only names or commands of the checks to run. @default all
   */
  run(commit: string, again?: "again" | "control", only?: readonly string[]): Promise<BenchResult>;
  /**
   * Milliseconds that all checks together take on a commit, whether they pass or not, over the budget too. `null`: they
   * take longer than the limit, or there is no answer.
   */
  time(commit: string, limitMs: number): Promise<number | null>;
  /**
   * How often the checks were run, for how many milliseconds in all, how often the budget was too small for it, and how
   * long the slowest run of all of them took that was green, without its checkout.
   */
  readonly cost: { readonly runs: number; readonly ms: number; readonly refused: number; readonly slowestMs?: number };
}

export interface BenchOptions {
  readonly bringUp: BringUp;
  /** Commands, in their order: one may need what another has built. */
  readonly checks: readonly Check[];
  /** Milliseconds that all runs together may take. */
  readonly budgetMs: number;
  /** Milliseconds that one run took until now. */
  readonly expectedMs: number;
  readonly signal: AbortSignal;
}

const UNKNOWN_TIME = { status: "unknown", reason: "there was no time left for it" } as const;

/** Opens a bench. A run that is longer than what is left of the budget does not begin. */
export function createBench(ralph: RalphContext, options: BenchOptions): Bench {
  const { clock } = ralph.host;
  const known = new Map<string, BenchResult>();
  let [runs, ms, refused, longest] = [0, 0, 0, options.expectedMs];
  let slowestMs: number | undefined;

  async function runNow(commit: string, isSuspected: boolean, only?: readonly string[]): Promise<BenchResult> {
    if (options.signal.aborted) return { status: "unknown", reason: "the run was ended" };
    if (!isSuspected && ms + longest > options.budgetMs) {
      refused += 1;
      return UNKNOWN_TIME;
    }
    const started = clock.steady();
    const up = await options.bringUp(commit);
    if (up.status !== "ready") return { status: "unknown", reason: up.reason };
    const began = clock.steady();
    const result = await inTurn(ralph, options, up.place, options.checks.filter((check) => isOneOf(check, only)));
    const took = spent(started);
    if (result.status !== "green") return result;
    longest = Math.max(longest, took);
    if (only === undefined) slowestMs = Math.max(slowestMs ?? 0, clock.steady() - began);
    return result;
  }

  /** A run that began then is over. */
  function spent(started: number): number {
    const took = Math.max(0, clock.steady() - started);
    runs += 1;
    ms += took;
    return took;
  }

  return {
    async run(commit, again, only) {
      const asked = [commit, ...only ?? []].join("\0");
      const earlier = again === undefined ? known.get(asked) : undefined;
      const result = earlier ?? await runNow(commit, again === "again", only);
      if (result.status !== "unknown") known.set(asked, result);
      return result;
    },
    async time(commit, limitMs) {
      const started = clock.steady();
      const found = await timed(ralph, options, commit, limitMs);
      spent(started);
      return found;
    },
    get cost() {
      return { runs, ms, refused, ...slowestMs === undefined ? {} : { slowestMs } };
    },
  };
}

/** Every check up to the first that fails: what follows could not change the answer. */
async function inTurn(
  ralph: RalphContext,
  { signal }: BenchOptions,
  given: CheckoutPlace,
  checks: readonly Check[],
): Promise<BenchResult> {
  const place = anew(given);
  for (const check of checks) {
    const done = await verifyQuietly(ralph, [check], { place, signal });
    if (done.status === "aborted") return { status: "unknown", reason: "the run was ended" };
    if (done.status !== "failed") continue;
    const [failure] = done.failures;
    if (failure === undefined) continue;
    if (failure.timedOut === true) return { status: "unknown", reason: `${failure.name}: it ran out of time` };
    return { status: "red", failure };
  }
  return { status: "green" };
}

/** Milliseconds of all checks together, whether they pass or not. */
async function timed(
  ralph: RalphContext,
  { bringUp, checks, signal }: BenchOptions,
  commit: string,
  limitMs: number,
): Promise<number | null> {
  const up = await bringUp(commit);
  if (up.status !== "ready") return null;
  const [late, over] = [new AbortController(), new AbortController()];
  void ralph.host.clock.sleep(limitMs, over.signal).then(() => late.abort());
  const ends = AbortSignal.any([signal, late.signal]);
  const done = await verifyQuietly(ralph, checks, { place: anew(up.place), signal: ends }).finally(() => over.abort());
  return done.status === "aborted" ? null : done.results.reduce((sum, { durationMs }) => sum + durationMs, 0);
}

/** The place without the answers that are known there. */
function anew(place: CheckoutPlace): CheckoutPlace {
  return { ...place, known: () => null, remember: () => {} };
}

function isOneOf({ name, command = name }: Check, only: readonly string[] | undefined): boolean {
  return only === undefined || only.includes(name) || only.includes(command);
}

/** Tells whether a result repeats: an accusation needs the control to be green and the same failure once more. */
export async function repeats(
  bench: Bench,
  control: string,
  accused: string,
  status: "green" | "red",
  only?: readonly string[],
): Promise<boolean> {
  return (await bench.run(control, "again", only)).status === "green" &&
    (await bench.run(accused, "again", only)).status === status;
}
