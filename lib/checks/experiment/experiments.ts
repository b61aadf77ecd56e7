/**
 * Finds out whether the checks that passed can be believed, by running them: would they agree with the old judges, can
 * they still fail, and do they notice if the work is missing?
 *
 * @module
 */
import type { Check } from "../../backlog/types.ts";
import type { RalphContext } from "../../context/context.ts";
import type { BringUp } from "../checkout/place.ts";
import { type Canaries, canaries } from "./canaries.ts";
import { type Bench, type BenchResult, createBench } from "./bench.ts";
import { isEvidence, type OldJudges, oldJudges } from "./old_judges.ts";
import { type Question, questionOf, type QuestionOptions } from "./commits.ts";
import { type Slower, slower } from "./slower.ts";
import { isBlind, weakened } from "./weakened.ts";

/** The findings of the experiments. */
export interface Evidence {
  readonly oldJudges: OldJudges | null;
  readonly canaries: Canaries | null;
  readonly withoutWork: WithoutWork | null;
  /** The tests that came with the work, where it is not there to see without them: `null` where they were not asked for. */
  readonly ownTests: Canaries | null;
  /** How often the checks were run, and for how many milliseconds in all. */
  readonly cost: { readonly runs: number; readonly ms: number };
  /** Experiments, or parts of them, that the budget was too small for. */
  readonly left: readonly Experiment[];
  /** The work slowed its checks down, so that there was no time. */
  readonly slower: Slower | null;
}

export interface ExperimentOptions extends QuestionOptions {
  readonly bringUp: BringUp;
  /** Commands that are green at HEAD in the clean checkout. */
  readonly checks: readonly Check[];
  /** Milliseconds that the checks took at HEAD. */
  readonly checkMs: number;
  /** How many times as long as the checks themselves the experiments may take, beside a minute. */
  readonly budget: number;
  /** Milliseconds of the budget that are spent. @default 0 */
  readonly spentMs?: number;
  /** @default all but the last one */
  readonly only?: readonly Experiment[];
  readonly signal: AbortSignal;
}

/** `own tests`: whether those that came with the work can fail, for work that is red without it. */
export type Experiment = "old judges" | "canaries" | "without the work" | "own tests";

const MINUTE = 60_000;
const NOTHING: Evidence = {
  oldJudges: null,
  canaries: null,
  withoutWork: null,
  ownTests: null,
  cost: { runs: 0, ms: 0 },
  left: [],
  slower: null,
};

/** Runs the experiments, the cheapest first, until the budget is spent. */
export async function experiments(ralph: RalphContext, options: ExperimentOptions): Promise<Evidence> {
  const { checks, checkMs, budget, bringUp, signal, only, spentMs = 0 } = options;
  if (budget === 0 || checks.length === 0) return NOTHING;
  const question = await questionOf(ralph, options);
  if (question === null || question.changed.length === 0) return NOTHING;
  const budgetMs = budget * (checkMs + MINUTE) - spentMs;
  const bench = createBench(ralph, { bringUp, checks, budgetMs, expectedMs: checkMs, signal });
  const left: Experiment[] = [];
  const tried = async <Found>(name: Experiment, experiment: () => Promise<Found>): Promise<Found | null> => {
    if (!(only?.includes(name) ?? name !== "own tests")) return null;
    const { refused } = bench.cost;
    const found = await experiment();
    if (bench.cost.refused > refused && !left.includes(name)) left.push(name);
    return found;
  };
  const judges = await tried("old judges", () => oldJudges(question, bench));
  const isProductChanged = question.changed.some(({ kind }) => kind === "product");
  const place = judges?.status === "agree" ? judges.commit : question.head;
  // one finding is enough; a check that is blind may fail the work by its tests
  const isFound = judges?.status === "disagree" && isEvidence(judges) && !judges.blindsCheck;
  const seen = isProductChanged && !isFound ? await tried("canaries", () => canaries(question, bench, place)) : null;
  const isAsked = judges?.status === "agree" && place !== question.head && seen?.files.some(isBlind) !== true;
  const weak = isAsked ? await tried("canaries", () => weakened(question, bench, place)) : null;
  const without = await tried("without the work", () => withoutWork(question, bench));
  const own = new Set(question.changed.filter(({ kind }) => kind === "test").map(({ path }) => path));
  const ownTests = without?.status === "red"
    ? await tried("own tests", () => canaries(question, bench, question.head, (path) => own.has(path)))
    : null;
  const both = weak === null ? seen : { ...seen, ...joined(seen, weak) };
  const slowed = await slower(question, bench, { canaries: both, left, checkMs, mostMs: budget * MINUTE });
  return { oldJudges: judges, canaries: both, withoutWork: without, ownTests, cost: bench.cost, left, slower: slowed };
}

/** Pure. */
function joined(one: Canaries | null, other: Canaries): Pick<Canaries, "files" | "isCutShort"> {
  const files = [...one?.files ?? [], ...other.files];
  return { files, isCutShort: other.isCutShort || one?.isCutShort === true };
}

/**
 * The verdict of the checks on an item's tests without its work. Red: they depend on it. Green: it is a refactoring, a
 * comment, or they prove nothing. It changed no product, or no tests: there is nothing to try.
 */
type WithoutWork = BenchResult | { readonly status: "nothing to try" };

/** Takes the product back to what it was under the tests as they are now, and runs the checks. */
async function withoutWork({ commits, head, old, changed }: Question, bench: Bench): Promise<WithoutWork> {
  const product = changed.filter(({ kind }) => kind === "product");
  const tests = changed.filter(({ kind, how }) => kind === "test" && how !== "deleted");
  if (product.length === 0 || tests.length === 0) return { status: "nothing to try" };
  const without = await commits.lay(head, new Map(product.map(({ path }) => [path, old.get(path) ?? null])));
  return await bench.run(without);
}
