import { withFlags } from "./with_flags.ts";
import { afterParked, afterUnverified, afterWork } from "./next_step.ts";
import type { RalphContext } from "../context/context.ts";
import { exitCodeOf, isOutcome, type Outcome } from "../recipe/outcome.ts";
import { type Invocation, styleFor } from "./command.ts";
import { headlineOf, lackOf } from "../backlog/attempts.ts";
import { optional } from "./settings.ts";
import { formatDuration, linesText, oneLine, type Style, usageText } from "../ui/text.ts";
import type { UsageTotal } from "../backlog/usage.ts";
import { redactorFor } from "../events/redact.ts";
import type { EventNotice } from "../events/types.ts";
import type { BranchWork } from "../git/branch_work.ts";
import type { Progress } from "../loop/policy/progress.ts";

const NOTICE_LABELS: Readonly<Record<string, string>> = {
  "green-before": "checks passed before the work",
  "no-own-check": "no check of its own",
  "old-tests": "old tests fail",
  "not-reproducible": "not reproducible in a clean checkout",
  "not-checked-as-commit": "not checked as a commit",
  "workspace": "dependencies",
  "leftover": "left over",
};

/** The name of a kind of notice, for people. */
export function noticeLabel(kind: string): string {
  return NOTICE_LABELS[kind] ?? kind.replaceAll("-", " ");
}

/**
 * Says how it ended and gives the exit code. A recipe that returns no outcome gets a warning: it forgot a `return`.
 *
 * @param goOn the command that continues where a loop stopped; `null`: the same one
 * @param used what the whole session used: planning comes before a loop
 */
export function endWith(
  invocation: Invocation,
  { config }: Pick<RalphContext, "config">,
  outcome: unknown,
  goOn: string | null,
  used?: UsageTotal,
): number {
  const exitCode = exitCodeOf(outcome);
  const { flags } = invocation;
  const json = flags.has("json") || (flags.text("ui") ?? config.ui) === "json";
  if (!isOutcome(outcome)) {
    invocation.say("warning: the recipe returned no outcome, so that nothing says whether its work is done");
    invocation.say('hint: return what its last step returned, or `{ status: "passed" }`');
  } else if (!json) {
    const resume = goOn === null ? null : withFlags(invocation, goOn);
    const plan = invocation.command.name === "plan" ? withFlags(invocation, "ralph plan --resume") : null;
    const where = { resume, plan, now: invocation.host.clock.steady(), ...optional("used", used) };
    const redactor = redactorFor(invocation.host.environment.variables); // a command that goes on may hold one
    for (const line of outcomeLines(outcome, styleFor(invocation, "stderr"), where)) {
      invocation.say(redactor.text(line));
    }
  }
  return exitCode;
}

/** Parts of the outcomes of loops, plans and checks that the last lines show. */
interface Ended extends Outcome, Partial<Progress> {
  readonly reasons?: readonly string[];
  readonly limit?: string;
  readonly allowed?: boolean;
  readonly reason?: string;
  readonly message?: string;
  readonly summary?: string;
  readonly messages?: readonly string[];
  readonly parkedBefore?: number;
  readonly failures?: readonly { readonly name: string; readonly exitCode: number | null }[];
}

/** The last lines need this beside the outcome. */
export interface EndedWhere {
  /** The command that continues where a loop stopped; `null`: the same one. */
  readonly resume: string | null;
  /** The command that continues a plan; `null`: the same one. @default null */
  readonly plan?: string | null;
  /** Milliseconds since 1970. @default the time that it took is not shown */
  readonly now?: number;
  /** The usage of all turns, planning included. @default those of the loop */
  readonly used?: UsageTotal;
}

/** How a run ended, for a person: what is verified, what is not, on which branch it is, what it took, what to do next. */
export function outcomeLines(
  outcome: Outcome,
  style: Style,
  { resume, plan = null, now, used }: EndedWhere,
): readonly string[] {
  const ended: Ended = outcome;
  const { bold, dim, good, bad, warn, symbols } = style;
  const tone = toneOf(ended.status);
  const mark = { good: symbols.passed, bad: symbols.failed, warn: symbols.warning, dim: symbols.warning }[tone];
  const unverified = (ended.unverified ?? []).map(oneLine);
  const verified = (ended.passed ?? []).map(oneLine).filter((id) => !unverified.includes(id));
  const counts = ended.iterations === undefined ? "" : `: ${countsOf(ended, verified.length, unverified.length)}`;
  const reasons = [
    ...(ended.reasons ?? []),
    ...(ended.limit === undefined ? [] : [`limit reached: ${ended.limit}`]),
    ...(ended.message === undefined ? [] : [ended.message]),
    ...(ended.messages ?? []).slice(0, 1),
    ...(ended.failures ?? []).map(({ name, exitCode }) =>
      `${name}: ${exitCode === null ? "failed" : `exit ${exitCode}`}`
    ),
  ];
  return [
    "",
    `${style[tone](mark)} ${bold(ended.status)}${counts}`,
    ...(verified.length === 0 ? [] : [`  ${good("verified")}  ${verified.join(", ")}`]),
    ...unverifiedLines(unverified, ended.notices ?? [], { dim, warn }),
    ...(ended.failedBefore ?? []).map((command) =>
      `  ${warn("already failing before Ralph started")}  ${oneLine(command)}`
    ),
    ...noticeLines(ended.notices ?? [], warn),
    ...(ended.parked ?? []).map(({ id, reason }) => `  ${bad("parked")}  ${oneLine(id)}: ${headlineOf(reason)}`),
    ...reasons.filter((reason) => !(ended.parked ?? []).some(({ id }) => reason.startsWith(`${id}: `))).map((
      reason,
    ) => `  ${headlineOf(reason)}`),
    ...(ended.summary === undefined || ended.summary === "" ? [] : [`  ${oneLine(ended.summary)}`]),
    ...workLines(ended, dim, now, used),
    ...hintOf(ended, resume, plan).map((hint) => `hint: ${hint}`),
    ...nextOf(ended).map((next) => `next: ${next}`),
  ];
}

function toneOf(status: Outcome["status"]): "bad" | "dim" | "good" | "warn" {
  if (["passed", "approved", "skipped"].includes(status)) return "good";
  if (["declined", "handed-out"].includes(status)) return "dim";
  return status === "blocked" || status === "failed" ? "bad" : "warn";
}

/** Items that nothing has verified, by the reason. */
function unverifiedLines(
  ids: readonly string[],
  notices: NonNullable<Ended["notices"]>,
  { dim, warn }: Pick<Style, "dim" | "warn">,
): readonly string[] {
  const isOf = (wanted: string) => (id: string): boolean =>
    notices.some(({ kind, subject }) => kind === wanted && subject === id);
  const [isRed, isUnclaimed] = [isOf("challenge"), isOf("not-claimed")];
  const line = (some: readonly string[], why: string): readonly string[] =>
    some.length === 0 ? [] : [`  ${warn("unverified")}  ${some.join(", ")} ${dim(`(${why})`)}`];
  return [
    ...line(ids.filter((id) => !isRed(id) && !isUnclaimed(id)), "no check ran: only the agent says so"),
    ...line(ids.filter(isUnclaimed), "its checks pass: the agent does not say that it is done"),
    ...line(ids.filter((id) => isRed(id) && !isUnclaimed(id)), "a check that its author had not seen fails"),
  ];
}

/** Says which goal was set, in which place the work is, and how much it took. */
function workLines(
  { goal, work, usage, startedAt, iterations = 0 }: Ended,
  dim: (text: string) => string,
  now: number | undefined,
  all: UsageTotal | undefined,
): readonly string[] {
  const row = (name: string, text: string): string => `  ${dim(name.padEnd(8))}  ${text}`;
  const took = startedAt === undefined || now === undefined ? [] : [formatDuration(Math.max(0, now - startedAt))];
  const withPlan = all !== undefined && usage !== undefined && all.turns > usage.turns;
  const total = withPlan ? all : usage;
  const used = total === undefined || total.turns === 0
    ? []
    : [`${usedText(total)}${withPlan ? " with planning" : ""}`];
  return [
    ...(goal === undefined ? [] : [row("goal", oneLine(goal))]),
    ...(work === undefined || work.commits === 0 ? [] : [row("branch", workText(work))]),
    ...(iterations === 0 || took.length + used.length === 0 ? [] : [row("used", [...took, ...used].join(", "))]),
  ];
}

/** An unknown amount is called so; `or more`: some turns did not report it. */
function usedText(usage: UsageTotal): string {
  const { turns, turnsWithoutTokens, turnsWithoutCost } = usage;
  const isPart = (without: number): boolean => without > 0 && without < turns;
  const known = usageText(usage) || "tokens unknown";
  const cost = usage.costUsd === null ? ", cost unknown" : "";
  return `${known}${cost}${isPart(turnsWithoutTokens) || isPart(turnsWithoutCost) ? " or more" : ""}`;
}

/** `ralph/login from main: 3 commits, 5 files, +120 -4`. */
export function workText({ branch, base, from, commits, files, added, removed }: BranchWork): string {
  const count = (number: number, word: string): string => `${number} ${word}${number === 1 ? "" : "s"}`;
  const since = base === null ? `since ${from.slice(0, 7)}` : `from ${base}`;
  const name = branch === null ? "detached HEAD" : oneLine(branch);
  return `${name} ${since}: ${count(commits, "commit")}, ${count(files, "file")}, ${linesText({ added, removed })}`;
}

/** The steps after work that is done. */
function nextOf({ status, work, iterations, allowed }: Ended): readonly string[] {
  const isDone = status === "passed" || (status === "unverified" && allowed === true);
  if (!isDone || iterations === undefined || work === undefined) return [];
  return afterWork(work);
}

/** True of many good runs, and no evidence against one: for the report. */
const REPORTED_ONLY: ReadonlySet<string> = new Set(["green-before", "no-own-check"]);

/** Notices without a message of their own share a line, but for whole sentences. */
export function noticeLines(notices: readonly EventNotice[], warn: (text: string) => string): readonly string[] {
  const kinds = new Set(notices.map(({ kind }) => kind).filter((kind) => !REPORTED_ONLY.has(kind)));
  return [...kinds].flatMap((kind) => {
    const label = warn(noticeLabel(kind));
    const own = notices.filter((notice) => notice.kind === kind);
    const bare = own.filter(({ message }) => message === "").map(({ subject }) => oneLine(subject));
    const words = bare.filter((subject) => !subject.endsWith("."));
    return [
      ...(words.length === 0 ? [] : [`  ${label}  ${words.join(", ")}`]),
      ...bare.filter((subject) => subject.endsWith(".")).map((sentence) => `  ${label}  ${sentence}`),
      ...own.filter(({ message }) => message !== "").map(({ subject, message }) =>
        `  ${label}  ${oneLine(subject)}: ${headlineOf(message)}`
      ),
    ];
  });
}

function countsOf({ iterations = 0, parked = [], status }: Ended, verified: number, unverified: number): string {
  const took = `${iterations} iteration${iterations === 1 ? "" : "s"}`;
  // what a review accepted was verified before
  if (status === "passed" && iterations > 0 && verified + unverified + parked.length === 0) return took;
  const parts = [
    `${verified} verified`,
    ...(unverified === 0 ? [] : [`${unverified} unverified`]),
    ...(parked.length === 0 ? [] : [`${parked.length} parked`]),
  ];
  return `${parts.join(", ")} in ${took}`;
}

function hintOf(ended: Ended, resume: string | null, plan: string | null): readonly string[] {
  const { status, reason, parked = [], parkedBefore = 0, iterations, messages } = ended;
  const again = resume === null ? "the same command" : `\`${resume}\``;
  const retry = resume === null ? "the same command with `--retry-blocked`" : `\`${resume} --retry-blocked\``;
  const planAgain = plan === null ? "the same command" : `\`${plan}\``;
  const onward = messages === undefined ? again : planAgain; // only a plan has messages
  if (status === "failed" && reason === "trespassed") {
    return [`the files are as the agent left them: revert what you do not want; ${onward} continues`];
  }
  if (iterations === undefined) {
    if (status === "aborted") return [`${planAgain} continues where this one stopped`];
    return status === "failed" && messages !== undefined ? [`${onward} continues`] : [];
  }
  switch (status) {
    case "blocked":
      return parked.length + parkedBefore > 0
        ? afterParked(parked, { again, retry })
        : [`fix the cause, then ${again} continues`];
    case "exhausted":
    case "failed":
      return [`\`ralph status\` shows the progress, \`ralph report\` what was done; ${again} continues`];
    case "unverified": {
      const lack = lackOf(ended.unverified ?? [], ended.notices ?? []);
      return resume === null || (ended.allowed === true && lack === "claims") ? [] : [afterUnverified(lack, resume)];
    }
    case "declined":
    case "aborted":
    case "handed-out":
      return [`${again} continues where this one stopped`];
    default:
      return [];
  }
}
