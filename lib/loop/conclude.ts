import type { JournalKey } from "../backlog/journal_types.ts";
import type { Backlog, Check, CheckResult, LoopView, PassedItem } from "../backlog/types.ts";
import { describeFailures } from "../backlog/verdict.ts";
import type { CheckLike } from "../checks/types.ts";
import type { LimitsConfig } from "../config/schema.ts";
import type { RalphContext } from "../context/context.ts";
import { finalCheck, type FinalResult, type FinalWork, finalWork, sentBack } from "./final_check.ts";
import { timeReached, workingTime } from "./limits.ts";
import type { Ending, Stopped } from "./outcome.ts";
import { checkedAsOf, type CleanRun } from "./clean.ts";
import { lackingIn } from "./lacking.ts";
import type { Notice, Progress } from "./progress.ts";
import type { Committer } from "./committer.ts";

/** How often the final check may send an item back in one run. */
export const MOST_REOPENINGS = 2;

/** A run that takes up no item any more. */
export interface ToConclude<Data, Findings> {
  readonly backlog: Backlog<Data, Findings>;
  readonly key: JournalKey;
  readonly committer: Committer;
  readonly stopped: Stopped;
  readonly progress: Progress;
  readonly limits: LimitsConfig;
  readonly shared: readonly CheckLike[];
  readonly passedNow: readonly PassedItem[];
  readonly view: LoopView;
  readonly logs: string;
  readonly signal: AbortSignal;
  readonly clean: CleanRun;
  /** What a person had not committed, relative to the top level. */
  readonly userPaths: ReadonlySet<string>;
}

/** What the end of a run came to. */
export interface Concluded {
  /** `null`: items come again. */
  readonly ending: Ending | null;
  /** Ids of items that have not passed after all. */
  readonly sentBack: readonly string[];
  /** Ids of items that no check has seen; `null` where no final check ran. */
  readonly unverified: readonly string[] | null;
  readonly notices: readonly Notice[];
}

/** The final check, where the run ended so that it makes sense, and the verdict of the run. */
export async function conclude<Data, Findings>(
  ralph: RalphContext,
  run: ToConclude<Data, Findings>,
): Promise<Concluded> {
  const { backlog, stopped, progress } = run;
  const nothing = { sentBack: [], unverified: null, notices: [] } as const;
  if (backlog.final === false || ralph.config.verify.final === "off") {
    return { ...nothing, ending: stopped.status === "done" ? verdictOf(ralph, run, progress.unverified) : stopped };
  }
  if (!isChecked(stopped, run)) {
    return { ...nothing, ending: stopped.status === "done" ? verdictOf(ralph, run, progress.unverified) : stopped };
  }
  const overtime = timeReached(progress, run.limits, workingTime(ralph));
  if (overtime !== null && stopped.status !== "exhausted") {
    return { ...nothing, ending: { status: "exhausted", limit: `${overtime}: the final check did not run` } };
  }
  const { view, passedNow, shared, logs, signal } = run;
  const only = stopped.status === "done" ? null : new Set(progress.passed);
  const work = await finalWork(ralph, backlog, { view, passedNow, shared, only });
  const clean = checkedAsOf(ralph, backlog) === "commit" ? run.clean : null;
  const result = await finalCheck(ralph, work, { records: view.passed ?? [], logs, signal, clean });
  const concluded = await judged(ralph, run, result, work);
  const notices = clean === null || work.checks.length === 0 ? [] : [...result.inTree, ...clean.notices()];
  if (concluded.ending !== null && result.verification.status === "passed") {
    const { judgedByOldTests } = await import("./old_tests.ts");
    const bringUp = clean === null ? null : (commit: string) => clean.bringUp(commit);
    const checks = work.checks.filter(({ command }) =>
      command !== undefined && (clean?.whyInTree(command) ?? null) === null
    );
    const touched = async (): Promise<readonly string[]> => await clean?.touched() ?? [];
    const toJudge = { items: work.items, checks, key: run.key, bringUp, touched, logs, signal };
    notices.push(...await judgedByOldTests(ralph, toJudge));
  }
  return { ...concluded, notices: [...concluded.notices, ...notices] };
}

/** The final check runs whenever something may have passed; not after an error, an interrupt or the run's time. */
function isChecked<Data, Findings>(stopped: Stopped, { progress, limits }: ToConclude<Data, Findings>): boolean {
  switch (stopped.status) {
    case "done":
      return true;
    case "blocked":
    case "exhausted":
    case "declined":
      return progress.passed.length > 0 && !stoppedByTime(stopped, limits);
    case "failed":
    case "aborted":
    case "handed-out":
      return false;
  }
}

function stoppedByTime(stopped: Stopped, { minutes }: LimitsConfig): boolean {
  return stopped.status === "exhausted" && minutes !== null && stopped.limit.startsWith(`${minutes} minute`);
}

async function judged<Data, Findings>(
  ralph: RalphContext,
  run: ToConclude<Data, Findings>,
  { verification, unverified }: FinalResult,
  { items, checks }: FinalWork,
): Promise<Concluded> {
  const end = (status: string, message?: string): void =>
    ralph.events.emit({ type: "step-end", step: "final-check", status, ...(message === undefined ? {} : { message }) });
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
        return { ...concluded, ending: unverifiedEnding(ralph, run) };
      }
  }
  const { stopped } = run;
  if (stopped.status !== "done") return { ...concluded, ending: stopped };
  const recorded = await run.backlog.ended?.(unverified.length === 0 ? "verified" : "unverified");
  if (recorded !== undefined) await run.committer.commit({ ...recorded, work: false }, []);
  return { ...concluded, ending: verdictOf(ralph, run, unverified) };
}

function verdictOf<Data, Findings>(
  ralph: Pick<RalphContext, "config">,
  run: ToConclude<Data, Findings>,
  unverified: readonly string[],
): Ending {
  const summary = run.stopped.status === "done" && run.stopped.summary !== undefined
    ? { summary: run.stopped.summary }
    : {};
  if (unverified.length > 0) return unverifiedEnding(ralph, run);
  return { status: "passed", checkedAs: checkedAsOf(ralph, run.backlog), ...summary };
}

function unverifiedEnding<Data, Findings>(
  ralph: Pick<RalphContext, "config">,
  { backlog, stopped }: ToConclude<Data, Findings>,
): Ending {
  const allowed = backlog.unverified === "accept" || ralph.config.verify.allowUnverified;
  const summary = stopped.status === "done" && stopped.summary !== undefined ? { summary: stopped.summary } : {};
  return { status: "unverified", allowed, ...summary };
}

/** Items whose checks fail at the end come again, at most twice a run each. */
async function reopen<Data, Findings>(
  ralph: RalphContext,
  run: ToConclude<Data, Findings>,
  failures: readonly CheckResult[],
  checks: readonly Check[],
): Promise<{ readonly ending: Ending | null; readonly sentBack: readonly string[]; readonly unverified: null }> {
  const { backlog, key, committer, stopped, progress } = run;
  const halted = failures.find(({ halts }) => halts !== undefined);
  const lacking = await lackingIn(ralph, failures, { ...run, checks });
  if (lacking !== null) ralph.events.emit({ type: "note", level: "warn", message: lacking.message });
  const described = describeFailures({ status: "failed", results: failures, failures });
  const reason = lacking === null ? described : `${described}\n${lacking.message}`;
  const back = [...sentBack(failures, progress.passed.at(-1)).keys()];
  const failed = (why: string, ids: readonly string[]): {
    readonly ending: Ending;
    readonly sentBack: readonly string[];
    readonly unverified: null;
  } => ({
    ending: {
      status: "failed",
      reason: "final-check",
      reasons: [`${why}: ${described}`, ...lacking === null ? [] : [lacking.message]],
    },
    sentBack: ids,
    unverified: null,
  });
  if (halted?.halts === "agent-unusable") {
    const reasons = [`${halted.name}: ${halted.tail}`];
    return { ending: { status: "failed", reason: "agent-unusable", reasons }, sentBack: [], unverified: null };
  }
  if (lacking?.hopeless === "uncommitted") {
    return failed("HEAD fails the final check without your uncommitted changes", back);
  }
  if (lacking?.hopeless === "absent") return failed("HEAD fails the final check without what git does not have", back);
  if (backlog.reopen === undefined || back.length === 0) return failed("the final check fails", back);
  const settlement = await backlog.reopen(back, reason);
  if (settlement.commit !== undefined) await committer.commit({ ...settlement.commit, work: false }, []);
  const tooOften = back.filter((id) => (ralph.journal.reopened(key).get(id)?.times ?? 0) >= MOST_REOPENINGS);
  await ralph.journal.reopen(key, back, reason);
  ralph.events.emit({ type: "items-reopened", ids: back, reason });
  if (tooOften.length > 0) {
    return failed(
      `the final check has sent back ${tooOften.join(", ")} ${MOST_REOPENINGS} times and still fails`,
      back,
    );
  }
  if (settlement.status === "stop") {
    const ending: Ending = settlement.as === "failed"
      ? { status: "failed", reason: "stopped", reasons: [settlement.reason] }
      : { status: "blocked", reasons: [settlement.reason] };
    return { ending, sentBack: back, unverified: null };
  }
  return { ending: stopped.status === "done" ? null : stopped, sentBack: back, unverified: null };
}
