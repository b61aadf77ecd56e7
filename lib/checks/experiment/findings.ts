import type { Canary } from "./canaries.ts";
import type { Evidence } from "./experiments.ts";
import { type Disagreement, isEvidence } from "./old_judges.ts";

/** One finding, for the last lines. */
export interface Finding {
  readonly kind: "old-tests" | "cannot-fail";
  /** Files that it is about. */
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

/** The evidence in words. Nothing is named that was not tried and repeated. Pure. */
export function findingsOf(
  { oldJudges, canaries }: Pick<Evidence, "oldJudges" | "canaries">,
  failsOn: FailsOn,
): Findings {
  const found: (Finding & { readonly fails: boolean })[] = [];
  const isStrict = failsOn === "anything";
  if (oldJudges?.status === "disagree" && isEvidence(oldJudges)) {
    const { files, aloneTurnsGreen } = oldJudges;
    const subject = files.map(({ path }) => path).join(", ");
    const fails = isStrict || (failsOn === "alone" && aloneTurnsGreen);
    found.push({ kind: "old-tests", subject, message: describeDisagreement(oldJudges), fails });
  }
  for (const canary of canaries?.files ?? []) {
    if (canary.status !== "blind" && canary.status !== "no longer read") continue;
    const { path: subject, before } = canary;
    found.push({ kind: "cannot-fail", subject, message: describeCanary(canary), fails: isStrict || before });
  }
  if (canaries?.readsNoTest) {
    const message = "the checks pass with every test destroyed";
    found.push({ kind: "cannot-fail", subject: "all tests", message, fails: true });
  }
  const reasons = found.filter(({ fails }) => fails).map(({ subject, message }) => `${subject}: ${message}`);
  const left = [...oldJudges?.status === "unknown" ? [oldJudgesText(oldJudges)] : [], ...leftTexts(canaries)];
  return {
    notices: found.map(({ fails: _, ...finding }) => finding),
    reasons: isStrict ? [...reasons, ...left] : reasons,
  };
}

function leftTexts(canaries: Evidence["canaries"]): readonly string[] {
  const left = canaries?.left ?? null;
  return left === null ? [] : [`changed expectations were not tried: ${left}`];
}

/** Names the failure with the files as they were, and the words of the runner. Pure. */
function describeDisagreement({ files, isCutShort, failure, aloneTurnsGreen }: Disagreement): string {
  const list = files.map(({ path, how }) => `${path} (${how})`).join(", ");
  const which = isCutShort ? `one or more of ${list}` : list;
  const alone = aloneTurnsGreen ? ", and they turn it green without the work" : "";
  return `with ${which} as before the work, \`${failure.name}\` fails${alone}\n${failure.tail}`;
}

function describeCanary(canary: Extract<Canary, { readonly before: boolean }>): string {
  return canary.status === "blind"
    ? `the checks pass whatever it expects (${canary.flips.join(", ")})`
    : "the checks no longer read it: destroying it changes nothing now, and did before the work";
}

/** The experiments and their ends, a line each, for the report. Pure. */
export function triedTexts({ oldJudges, canaries, withoutWork, cost }: Evidence): readonly string[] {
  const seen = canaries?.files.filter(({ status }) => status === "seen").length ?? 0;
  const asked = canaries?.files.filter(({ status }) => status !== "no evidence").length ?? 0;
  const seconds = (cost.ms / 1000).toFixed(1);
  return [
    ...oldJudges === null ? [] : [oldJudgesText(oldJudges)],
    ...canaries === null || asked === 0 ? [] : [`${seen} of ${asked} test files fail if what they expect is changed`],
    ...leftTexts(canaries),
    ...withoutWork === null ? [] : withoutWorkTexts(withoutWork),
    `experiments: the checks were run ${cost.runs} more times, ${seconds} s`,
  ];
}

function oldJudgesText(judges: NonNullable<Evidence["oldJudges"]>): string {
  switch (judges.status) {
    case "unchanged":
      return "nothing that judges the work was changed";
    case "agree":
      return "the checks pass with every test and setting as it was before the work";
    case "disagree":
      return `the checks fail with ${judges.files.map(({ path }) => path).join(", ")} as before the work`;
    case "unknown":
      return `the tests as they were before the work were not tried: ${judges.reason}`;
  }
}

function withoutWorkTexts(result: NonNullable<Evidence["withoutWork"]>): readonly string[] {
  switch (result.status) {
    case "red":
      return ["the checks fail without the work"];
    case "green":
      return ["the checks pass without the work"];
    case "unknown":
      return [`the checks without the work were not tried: ${result.reason}`];
    case "nothing to try":
      return [];
  }
}
