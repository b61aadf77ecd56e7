import { ALL_TESTS, type Canary, seenIn } from "./canaries.ts";
import type { Evidence } from "./experiments.ts";
import type { Slower } from "./slower.ts";
import { type Disagreement, isEvidence } from "./old_judges.ts";

/** One finding, for the last lines. */
export interface Finding {
  readonly kind: "old-tests" | "cannot-fail" | "unsteady" | "not-tried";
  /** Files, or the experiments, that it is about. */
  readonly subject: string;
  readonly message: string;
}

/** The facts that a person is to know of the evidence. */
export interface Findings {
  /** Empty for good work. */
  readonly notices: readonly Finding[];
  /** The ones that fail the work. */
  readonly reasons: readonly string[];
}

/**
 * Which evidence fails the work, beside a check that cannot fail and could before: nothing else, tests and settings that
 * turn a check green without the work, or everything that is named.
 */
export type FailsOn = "cannot fail" | "alone" | "anything";

const UNSTEADY = "it passed, and fails on the same commit when it runs again";

/** The evidence in words. Nothing is accused that was not tried and repeated. Pure. */
export function findingsOf(evidence: Omit<Evidence, "cost">, failsOn: FailsOn): Findings {
  const { oldJudges, canaries, slower } = evidence;
  const found: (Finding & { readonly fails: boolean })[] = [];
  const isStrict = failsOn === "anything";
  if (oldJudges?.status === "disagree" && isEvidence(oldJudges)) {
    const { files, aloneTurnsGreen, mayBeWork } = oldJudges;
    const subject = files.map(({ path }) => path).join(", ");
    const fails = isStrict || (failsOn === "alone" && aloneTurnsGreen && !mayBeWork);
    found.push({ kind: "old-tests", subject, message: describeDisagreement(oldJudges), fails });
  }
  for (const canary of canaries?.files ?? []) {
    if (canary.status !== "blind" && canary.status !== "no longer read") continue;
    const { path: subject, before } = canary;
    found.push({ kind: "cannot-fail", subject, message: describeCanary(canary), fails: isStrict || before });
  }
  if (canaries?.unsteady !== undefined) {
    found.push({ kind: "unsteady", subject: canaries.unsteady, message: UNSTEADY, fails: isStrict });
  }
  if (slower !== null) {
    found.push({ kind: "not-tried", subject: "experiments", message: slowerText(slower), fails: false });
  }
  const reasons = found.filter(({ fails }) => fails).map(({ subject, message }) => `${subject}: ${message}`);
  return {
    notices: found.map(({ fails: _, ...finding }) => finding),
    reasons: isStrict ? [...reasons, ...openTexts(evidence)] : reasons,
  };
}

/** The experiments that the budget was too small for, wholly or in part; `null` if there are none. Pure. */
export function leftOutText({ left }: Pick<Evidence, "left">): string | null {
  return left.length === 0 ? null : `no time left for: ${left.join(", ")} (experiments.budget)`;
}

/** The slowdown in figures. Pure. */
function slowerText({ left, beforeMs, nowMs }: Slower): string {
  const [now, before] = [nowMs, beforeMs].map((ms) => `${(ms / 1000).toFixed(1)} s`);
  return `no time left for: ${left.join(", ")}; the checks take ${now}, and took ${before} before the work`;
}

/** The questions without an answer, for want of time or because the checks gave none. Pure. */
function openTexts({ oldJudges, canaries, left }: Omit<Evidence, "cost">): readonly string[] {
  const leftOut = leftOutText({ left });
  return [
    ...oldJudges?.status === "unknown" && !left.includes("old judges") ? [oldJudgesText(oldJudges)] : [],
    ...canaries?.isCutShort === true && !left.includes("canaries") ? ["a check gave no answer for a test file"] : [],
    ...leftOut === null ? [] : [leftOut],
  ];
}

/** Names the failure with the files as they were, and the words of the runner. Pure. */
function describeDisagreement(found: Disagreement): string {
  const { files, isCutShort, failure, aloneTurnsGreen, blindsCheck, leavesOut } = found;
  const list = files.map(({ path, how }) => `${path} (${how})`).join(", ");
  const which = isCutShort ? `one or more of ${list}` : list;
  const alone = aloneTurnsGreen ? ", and they turn it green without the work" : "";
  const blind = blindsCheck ? ", and with them it passes with the product destroyed" : "";
  const tests = leavesOut.length === 0 ? "" : ` by ${leavesOut.join(", ")}, which it no longer reads`;
  return `with ${which} as before the work, \`${failure.name}\` fails${tests}${alone}${blind}\n${failure.tail}`;
}

function describeCanary(canary: Extract<Canary, { readonly before: boolean }>): string {
  if (canary.status === "blind") return `the checks pass whatever it expects (${canary.flips.join(", ")})`;
  return canary.path === ALL_TESTS
    ? "the checks pass with every test destroyed"
    : "the checks no longer read it: destroying it changes nothing now, and did before the work";
}

/** The experiments and their ends, a line each, for the report. Pure. */
export function triedTexts(evidence: Evidence): readonly string[] {
  const { oldJudges, canaries, withoutWork, cost, left } = evidence;
  const { seen, of } = seenIn(canaries ?? { files: [] });
  const seconds = (cost.ms / 1000).toFixed(1);
  return [
    ...oldJudges === null || oldJudges.status === "unknown" ? [] : [oldJudgesText(oldJudges)],
    ...of === 0 ? [] : [`${seen} of ${of} test files that were tried fail if what they expect is changed`],
    ...withoutWork?.status === "red" ? ["the checks fail without the work"] : [],
    ...withoutWork?.status === "green" ? ["the checks pass without the work"] : [],
    ...withoutWork?.status === "unknown" && !left.includes("without the work")
      ? [`the checks without the work were not tried: ${withoutWork.reason}`]
      : [],
    ...openTexts(evidence),
    `experiments: the checks were run ${cost.runs} more times, ${seconds} s`,
  ];
}

function oldJudgesText(judges: NonNullable<Evidence["oldJudges"]>): string {
  switch (judges.status) {
    case "agree":
      return "the checks pass with every test and setting as it was before the work";
    case "disagree":
      return `the checks fail with ${judges.files.map(({ path }) => path).join(", ")} as before the work`;
    case "unknown":
      return `the tests as they were before the work were not tried: ${judges.reason}`;
  }
}
