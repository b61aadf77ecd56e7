import type { Outcome } from "../steps/outcome.ts";
import type { Style } from "../ui/style.ts";

/** The part of a loop's outcome that its last lines tell. */
interface Told extends Outcome {
  readonly iterations?: number;
  readonly passed?: readonly string[];
  readonly unverified?: readonly string[];
  readonly parked?: readonly { readonly id: string; readonly reason: string }[];
  readonly reasons?: readonly string[];
  readonly limit?: string;
  readonly allowed?: boolean;
  readonly reason?: string;
  readonly message?: string;
}

/** The commands that go on, or show more. */
export interface NextCommands {
  readonly run: string;
  readonly status: string;
  /** What makes an unverified end a verified one. */
  readonly verify: string;
}

const EXEC: NextCommands = {
  run: "`ralph run`",
  status: "`ralph status`",
  verify: "`ralph verify` runs what checks there are",
};

/** How a run ended, for a person: what is verified, what is not, what to do next. */
export function outcomeLines(outcome: Outcome, style: Style, next: NextCommands = EXEC): readonly string[] {
  const told: Told = outcome;
  const { bold, dim, good, bad, warn, symbols } = style;
  const tone = {
    passed: good,
    approved: good,
    skipped: good,
    declined: dim,
    unverified: warn,
    exhausted: warn,
    aborted: warn,
    blocked: bad,
    failed: bad,
  };
  const mark = tone[told.status] === good
    ? symbols.passed
    : tone[told.status] === bad
    ? symbols.failed
    : symbols.warning;
  const unverified = told.unverified ?? [];
  const verified = (told.passed ?? []).filter((id) => !unverified.includes(id));
  const counts = told.iterations === undefined ? "" : `: ${countsOf(told, verified.length, unverified.length)}`;
  const reasons = [
    ...(told.reasons ?? []),
    ...(told.limit === undefined ? [] : [`limit reached: ${told.limit}`]),
    ...(told.message === undefined ? [] : [told.message]),
  ];
  return [
    "",
    `${tone[told.status](mark)} ${bold(told.status)}${counts}`,
    ...(verified.length === 0 ? [] : [`  ${good("verified")}  ${verified.join(", ")}`]),
    ...(unverified.length === 0
      ? []
      : [`  ${warn("unverified")}  ${unverified.join(", ")} ${dim("(no check ran: only the agent says so)")}`]),
    ...(told.parked ?? []).map(({ id, reason }) => `  ${bad("parked")}  ${id}: ${firstLine(reason)}`),
    ...reasons.filter((reason) => !(told.parked ?? []).some(({ id, reason: why }) => reason === `${id}: ${why}`)).map((
      reason,
    ) => `  ${firstLine(reason)}`),
    ...hintOf(told, next).map((hint) => `hint: ${hint}`),
  ];
}

function countsOf({ iterations = 0, parked = [] }: Told, verified: number, unverified: number): string {
  const parts = [
    `${verified} verified`,
    ...(unverified === 0 ? [] : [`${unverified} unverified`]),
    ...(parked.length === 0 ? [] : [`${parked.length} parked`]),
  ];
  return `${parts.join(", ")} in ${iterations} iteration${iterations === 1 ? "" : "s"}`;
}

function hintOf({ status, parked = [], iterations }: Told, next: NextCommands): readonly string[] {
  if (iterations === undefined) return [];
  switch (status) {
    case "blocked":
      return parked.length > 0
        ? [`mend what stands in the way, then ${next.run.replace(/`$/, " --retry-blocked`")}`]
        : [`${next.status} shows where it stands`];
    case "exhausted":
    case "failed":
      return [`${next.status} shows where it stands; ${next.run} goes on`];
    case "unverified":
      return [next.verify];
    case "declined":
    case "aborted":
      return [`${next.run} goes on where this one stopped`];
    default:
      return [];
  }
}

function firstLine(text: string): string {
  return text.split("\n")[0] ?? "";
}
