import type { Outcome } from "../steps/outcome.ts";
import { printable, printableLine } from "../ui/printable.ts";
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
  readonly messages?: readonly string[];
  readonly failures?: readonly { readonly name: string; readonly exitCode: number | null }[];
}

/** What a hint may name beside the command that goes on. */
export interface NextCommands {
  /** Shows where it stands. */
  readonly status: string;
  /** How an unverified end becomes a verified one. */
  readonly verify: string;
}

const USUAL: NextCommands = { status: "ralph status", verify: "`ralph verify` runs what checks there are" };

/**
 * How a run ended, for a person: what is verified, what is not, what to do next.
 *
 * @param goOn the command that goes on where a loop stopped
 */
export function outcomeLines(
  outcome: Outcome,
  style: Style,
  goOn: string,
  next: NextCommands = USUAL,
): readonly string[] {
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
  const unverified = (told.unverified ?? []).map(printableLine);
  const verified = (told.passed ?? []).map(printableLine).filter((id) => !unverified.includes(id));
  const counts = told.iterations === undefined ? "" : `: ${countsOf(told, verified.length, unverified.length)}`;
  const reasons = [
    ...(told.reasons ?? []),
    ...(told.limit === undefined ? [] : [`limit reached: ${told.limit}`]),
    ...(told.message === undefined ? [] : [told.message]),
    ...(told.messages ?? []).slice(0, 1),
    ...(told.failures ?? []).map(({ name, exitCode }) =>
      `${name}: ${exitCode === null ? "failed" : `exit ${exitCode}`}`
    ),
  ];
  return [
    "",
    `${tone[told.status](mark)} ${bold(told.status)}${counts}`,
    ...(verified.length === 0 ? [] : [`  ${good("verified")}  ${verified.join(", ")}`]),
    ...(unverified.length === 0
      ? []
      : [`  ${warn("unverified")}  ${unverified.join(", ")} ${dim("(no check ran: only the agent says so)")}`]),
    ...(told.parked ?? []).map(({ id, reason }) => `  ${bad("parked")}  ${printableLine(id)}: ${firstLine(reason)}`),
    ...reasons.filter((reason) => !(told.parked ?? []).some(({ id, reason: why }) => reason === `${id}: ${why}`)).map((
      reason,
    ) => `  ${firstLine(reason)}`),
    ...hintOf(told, goOn, next).map((hint) => `hint: ${hint}`),
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

function hintOf(
  { status, reason, parked = [], iterations, messages }: Told,
  goOn: string,
  next: NextCommands,
): readonly string[] {
  const again = messages === undefined ? goOn : "ralph plan --resume"; // only a plan has messages
  if (status === "failed" && reason === "trespassed") {
    return [`the files are as the agent left them: take back what you do not want; \`${again}\` goes on`];
  }
  if (iterations === undefined) return status === "failed" && messages !== undefined ? [`\`${again}\` goes on`] : [];
  switch (status) {
    case "blocked":
      return parked.length > 0
        ? [`mend what stands in the way, then \`${goOn} --retry-blocked\``]
        : [`\`${next.status}\` shows where it stands; \`${goOn} --retry-blocked\` takes up again what was parked`];
    case "exhausted":
    case "failed":
      return [`\`${next.status}\` shows where it stands; \`${goOn}\` goes on`];
    case "unverified":
      return [next.verify];
    case "declined":
    case "aborted":
      return [`\`${goOn}\` goes on where this one stopped`];
    default:
      return [];
  }
}

function firstLine(text: string): string {
  return printable(text.split("\n")[0] ?? "");
}
