import { note, type RalphContext } from "../../context/context.ts";
import { stoppedBy } from "../policy/ending.ts";
import { describeFailures, doubtOf } from "../../backlog/attempts.ts";
import type { Check, CheckResult, LoopView, PassedItem } from "../../backlog/types.ts";
import type { CheckLike } from "../../checks/function.ts";
import { verificationOf } from "../../checks/verify.ts";
import type { LimitsConfig } from "../../config/schema.ts";
import type { Findings } from "../../checks/experiment/findings.ts";
import { failedFor, finalCheck, type FinalResult, type FinalWork, finalWork, sentBack } from "./final_check.ts";
import { MOST_REOPENINGS, type Notice, type Progress, timeReached, workingTime } from "../policy/progress.ts";
import type { Ending, Stopped } from "../run/outcome.ts";
import { checkedAsOf, type CleanRun, lackingIn } from "./clean.ts";
import type { LoopParts } from "../iterations.ts";
import { BETWEEN, notHeld } from "../settle/run_line.ts";

/** A run that takes up no item any more. */
export interface ToConclude extends Pick<LoopParts, "backlog" | "committer" | "key" | "ownership"> {
  readonly stopped: Stopped;
  readonly progress: Progress;
  readonly limits: LimitsConfig;
  /** Checks that hold for every item, beside the configuration's. */
  readonly shared: readonly CheckLike[];
  /** The items that passed in this run, for a backlog that cannot list what passed. */
  readonly passedNow: readonly PassedItem[];
  readonly view: LoopView;
  readonly logs: string;
  readonly signal: AbortSignal;
  readonly clean: CleanRun;
  /** Work of items that have passed, which no commit holds; relative to the root. */
  readonly uncommitted: readonly string[];
}

/** The outcome of a run's end. */
export interface Concluded {
  /** `null`: items come again. */
  readonly ending: Ending | null;
  /** Ids of items that have not passed after all. */
  readonly sentBack: readonly string[];
  /** Ids of items that no check has seen, or no agent has claimed; `null` where no final check ran. */
  readonly unverified: readonly string[] | null;
  readonly notices: readonly Notice[];
  /** The results of the final check. */
  readonly results?: readonly CheckResult[];
  /** The commit that it saw; `null`: it saw the working tree. */
  readonly commit?: string | null;
}

const NOTHING = { sentBack: [], unverified: null, notices: [] } as const;

/** The final check, where the run ended so that it makes sense, and the verdict of the run. */
export async function conclude(ralph: RalphContext, run: ToConclude): Promise<Concluded> {
  const { backlog, stopped, progress } = run;
  if (backlog.policy?.final === false || ralph.config.verify.final === "off" || !isChecked(stopped, run)) {
    return { ...NOTHING, ending: stopped.status === "done" ? verdictOf(ralph, run, progress.unverified) : stopped };
  }
  const overtime = timeReached(progress, run.limits, workingTime(ralph));
  if (overtime !== null) {
    const limit = `${overtime}: the final check did not run`;
    return { ...NOTHING, ending: stopped.status === "exhausted" ? stopped : { status: "exhausted", limit } };
  }
  const { view, logs, signal } = run;
  const only = stopped.status === "done" ? null : new Set(progress.passed);
  const work = await finalWork(ralph, backlog, { ...run, only });
  const clean = checkedAsOf(ralph, backlog) === "commit" ? run.clean : null;
  const hold = (): Promise<boolean> => run.committer.line.hold(BETWEEN);
  const checked = await finalCheck(ralph, work, { records: view.passed ?? [], logs, signal, clean, hold });
  const found = checked.verification.status === "passed" ? await believed(ralph, run, work, clean, checked) : NO_DOUBT;
  const concluded = await judged(ralph, run, doubted(checked, found, work), work);
  const notices = clean === null || work.checks.length === 0 ? [] : clean.notices();
  const told = new Set(progress.notices.map(({ kind, subject }) => `${kind} ${subject}`));
  const isDoubt = ({ kind }: Notice): boolean => kind === "challenge" || kind === "not-claimed";
  const isNew = (notice: Notice): boolean => !isDoubt(notice) || !told.has(`${notice.kind} ${notice.subject}`);
  const all = [...concluded.notices, ...checked.notices, ...notices, ...found.notices].filter(isNew);
  return { ...concluded, notices: all, results: checked.verification.results, commit: checked.commit };
}

const NO_DOUBT: Findings = { notices: [], reasons: [] };

/** Finds out whether the checks that passed can be believed. */
async function believed(
  ralph: RalphContext,
  { backlog, key, signal, progress }: ToConclude,
  work: FinalWork,
  clean: CleanRun | null,
  checked: FinalResult,
): Promise<Findings> {
  const { evidenceAtEnd } = await import("../attempt/evidence.ts");
  const checks = work.checks.filter(({ command }) =>
    command !== undefined && (clean?.whyInTree(command) ?? null) === null
  );
  return await evidenceAtEnd(ralph, {
    key,
    passed: progress.passed,
    checks,
    checkMs: checked.verification.results.reduce((sum, { durationMs }) => sum + durationMs, 0),
    bringUp: clean === null ? null : (commit: string) => clean.bringUp(commit),
    stateFiles: backlog.stateFiles,
    signal,
  });
}

/** Checks that cannot be believed have not passed: the item that was settled last is sent back with the reason. Pure. */
function doubted(result: FinalResult, { reasons }: Findings, { items }: FinalWork): FinalResult {
  if (reasons.length === 0) return result;
  const failures = reasons.map((reason) => failedFor(items, "the checks can be believed", reason));
  return { ...result, verification: verificationOf([...result.verification.results, ...failures]) };
}

/** The final check runs whenever something may have passed, but not after an error or an interrupt. */
function isChecked(stopped: Stopped, { progress }: ToConclude): boolean {
  switch (stopped.status) {
    case "done":
      return true;
    case "blocked":
    case "exhausted":
    case "declined":
      return progress.passed.length > 0;
    case "failed":
    case "aborted":
    case "handed-out":
      return false;
  }
}

async function judged(
  ralph: RalphContext,
  run: ToConclude,
  { verification, unverified, commit }: FinalResult,
  { items, checks }: FinalWork,
): Promise<Concluded> {
  const end = (status: string, message?: string): void =>
    ralph.events.emit({ type: "step-end", step: "final-check", status, unverified, ...message && { message } });
  const concluded = { sentBack: [], unverified, notices: [] };
  switch (verification.status) {
    case "aborted":
      end("aborted");
      return { ...concluded, ending: { status: "aborted" } };
    case "passed":
      end("passed");
      break;
    case "failed":
      end("failed", `${verification.failures.length} of ${verification.results.length} checks failed`);
      return { ...concluded, ...await reopen(ralph, run, verification.failures, checks) };
    case "unverified":
      if (run.stopped.status === "done" && unverified.length === 0 && items.length === 0) {
        return { ...concluded, ending: unverifiedEnding(ralph, run, unverified) };
      }
  }
  const { stopped, committer: { line } } = run;
  await line.hold(BETWEEN);
  if (stopped.status !== "done") return { ...concluded, ending: stopped };
  if (commit !== null && !await line.holds(commit)) { // before the state says that all has passed
    return { ...concluded, ending: { status: "failed", reason: "final-check", reasons: [notHeld(line, commit)] } };
  }
  if (run.uncommitted.length > 0) return { ...concluded, ending: verdictOf(ralph, run, unverified) };
  const verdict = unverified.length === 0 ? "verified" : "unverified";
  const recorded = await run.backlog.record?.({ type: "run-passed", verdict });
  if (recorded !== undefined) await run.committer.commit({ ...recorded, work: false }, []);
  return { ...concluded, ending: verdictOf(ralph, run, unverified) };
}

function verdictOf(ralph: Pick<RalphContext, "config">, run: ToConclude, unverified: readonly string[]): Ending {
  if (run.uncommitted.length > 0) {
    const why = `changed by a turn or a person, and not committed: ${run.uncommitted.join(", ")}`;
    const reasons = [`${why}; commit them, then run the same command again`];
    return { status: "failed", reason: "final-check", reasons };
  }
  if (unverified.length > 0) return unverifiedEnding(ralph, run, unverified);
  return { status: "passed", checkedAs: checkedAsOf(ralph, run.backlog), ...summaryOf(run.stopped) };
}

function unverifiedEnding(
  ralph: Pick<RalphContext, "config">,
  { backlog, stopped, view }: ToConclude,
  unverified: readonly string[],
): Ending {
  const { provider, verify } = ralph.config;
  const isRed = view.passed?.some((record) => unverified.includes(record.id) && doubtOf(record, provider) !== null);
  const allowed = verify.allowUnverified || (backlog.unverified === "accept" && isRed !== true);
  return { status: "unverified", allowed, ...summaryOf(stopped) };
}

function summaryOf(stopped: Stopped): { readonly summary?: string } {
  return stopped.status === "done" && stopped.summary !== undefined ? { summary: stopped.summary } : {};
}

/** Items whose checks fail at the end come again, at most twice a run each. */
async function reopen(
  ralph: RalphContext,
  run: ToConclude,
  failures: readonly CheckResult[],
  checks: readonly Check[],
): Promise<Concluded> {
  const { backlog, key, committer, stopped, progress } = run;
  const halted = failures.find(({ halts }) => halts !== undefined);
  const lacking = await lackingIn(ralph, failures, checks, run);
  if (lacking !== null) note(ralph, "warn", lacking.message);
  const described = describeFailures({ status: "failed", results: failures, failures });
  const reason = lacking === null ? described : `${described}\n${lacking.message}`;
  const failuresOf = sentBack(failures, progress.passed.at(-1));
  const back = [...failuresOf.keys()];
  const failed = (why: string, ids: readonly string[]): Concluded => {
    const reasons = [`${why}: ${described}`, ...lacking === null ? [] : [lacking.message]];
    return { ...NOTHING, ending: { status: "failed", reason: "final-check", reasons }, sentBack: ids };
  };
  if (halted?.halts === "agent-unusable") {
    const reasons = [`${halted.name}: ${halted.tail}`];
    return { ...NOTHING, ending: { status: "failed", reason: "agent-unusable", reasons } };
  }
  if (lacking?.hopeless === "uncommitted") {
    const next = "commit them, then run the same command again";
    return failed(`HEAD fails the final check without your uncommitted changes: ${next}`, back);
  }
  if (lacking?.hopeless === "absent") return failed("HEAD fails the final check without what git does not have", back);
  if (backlog.reopen === undefined || back.length === 0) return failed("the final check fails", back);
  const settlement = await backlog.reopen(back, reason);
  if (settlement.commit !== undefined) await committer.commit({ ...settlement.commit, work: false }, []);
  const tooOften = back.filter((id) => (ralph.journal.reopened(key).get(id)?.times ?? 0) >= MOST_REOPENINGS);
  await ralph.journal.reopen(key, back, reason);
  ralph.events.emit({ type: "items-reopened", ids: back, reason });
  if (tooOften.length > 0) {
    const why = `the final check has sent back ${tooOften.join(", ")} ${MOST_REOPENINGS} times and still fails`;
    return failed(why, back);
  }
  const notices = [...failuresOf].map(([subject, own]): Notice => ({
    kind: "sent-back",
    subject,
    message: `the final check fails: ${describeFailures({ status: "failed", results: own, failures: own })}`,
  }));
  if (settlement.status === "stop") {
    return { ...NOTHING, ending: stoppedBy(settlement), sentBack: back, notices };
  }
  if (stopped.status === "done") return { ...NOTHING, ending: null, sentBack: back };
  return { ...NOTHING, ending: stopped, sentBack: back, notices };
}
