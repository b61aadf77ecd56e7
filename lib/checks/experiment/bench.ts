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
  /** How often the checks were run, for how many milliseconds in all, and how often the budget was too small for it. */
  readonly cost: { readonly runs: number; readonly ms: number; readonly refused: number };
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

  async function runNow(commit: string, isSuspected: boolean, only?: readonly string[]): Promise<BenchResult> {
    if (options.signal.aborted) return { status: "unknown", reason: "the run was ended" };
    if (!isSuspected && ms + longest > options.budgetMs) {
      refused += 1;
      return UNKNOWN_TIME;
    }
    const started = clock.steady();
    const up = await options.bringUp(commit);
    if (up.status !== "ready") return { status: "unknown", reason: up.reason };
    const result = await inTurn(up.place, options.checks.filter((check) => isOneOf(check, only)));
    const took = Math.max(0, clock.steady() - started);
    runs += 1;
    ms += took;
    if (result.status === "green") longest = Math.max(longest, took);
    return result;
  }

  /** Every check up to the first that fails: what follows could not change the answer. */
  async function inTurn(given: CheckoutPlace, checks: readonly Check[]): Promise<BenchResult> {
    const place = { ...given, known: () => null, remember: () => {} };
    for (const check of checks) {
      const done = await verifyQuietly(ralph, [check], { place, signal: options.signal });
      if (done.status === "aborted") return { status: "unknown", reason: "the run was ended" };
      if (done.status !== "failed") continue;
      const [failure] = done.failures;
      if (failure === undefined) continue;
      if (failure.timedOut === true) return { status: "unknown", reason: `${failure.name}: it ran out of time` };
      return { status: "red", failure };
    }
    return { status: "green" };
  }

  return {
    async run(commit, again, only) {
      const asked = [commit, ...only ?? []].join("\0");
      const earlier = again === undefined ? known.get(asked) : undefined;
      const result = earlier ?? await runNow(commit, again === "again", only);
      if (result.status !== "unknown") known.set(asked, result);
      return result;
    },
    get cost() {
      return { runs, ms, refused };
    },
  };
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
