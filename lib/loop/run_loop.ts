import { headlineOf } from "../backlog/verdict.ts";
import { journalKeyOf } from "../backlog/attempts.ts";
import type { Backlog } from "../backlog/types.ts";
import { namedCheck } from "../checks/function.ts";
import type { RalphContext } from "../context/context.ts";
import { treesDirectory } from "../git/tree_paths.ts";
import { pathExists } from "../host/files.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { requireRepository } from "../git/require_repository.ts";
import { onBranch } from "./branch.ts";
import { Loop } from "./loop.ts";
import type { LoopOptions, LoopOutcome } from "./outcome.ts";
import { recover, repairAfterKill, reportTornIndex } from "./recover.ts";
import { createCommitter } from "./committer.ts";
export type { LoopOptions, LoopOutcome } from "./outcome.ts";
import type { JournalKey } from "../backlog/journal_types.ts";
import { createBrief, restoreBrief } from "../checks/brief/create_brief.ts";
import { acceptChanges } from "../checks/brief/since_last_run.ts";
import type { Brief } from "../checks/brief/types.ts";
import type { Notice } from "./progress.ts";

const RESTORED = "changed during the run; `ralph restore` brings back what was found";
const JOURNAL_FIXED: Notice = {
  kind: "restored",
  subject: ".git/ralph/journal.jsonl",
  message: "Ralph's own record was changed during the run",
};

/**
 * Takes items from a backlog, one fresh agent process each, until nothing is left, an item is blocked, or a limit is
 * reached. Nothing passes without its checks, and the run passes only when every check of everything that passed has
 * passed once more at the end. Killed at any moment, the same call resumes where it was.
 *
 * @throws {RalphError} not-a-repository, agent-missing, agent-not-found, sandbox-missing, run-locked, git-identity-missing,
 * git-operation-in-progress, git-detached-head, branch-invalid, branch-failed, branch-differs, state-missing, state-invalid,
 * brief-changed
 * @example A loop over a list in memory
 * ```ts
 * import { memoryBacklog, runLoop } from "ralph";
 * import { testContext } from "ralph/testing";
 *
 * await using ralph = await testContext({ agent: { turns: [{ write: { "a.txt": "a" }, say: "<ralph>DONE</ralph>" }] } });
 * const run = await runLoop(ralph, memoryBacklog([{ id: "a", title: "write a.txt", checks: ["test -f a.txt"] }]));
 * console.log(run.status, run.passed); // passed [ "a" ]
 * ```
 */
export async function runLoop<Data, Findings>(
  ralph: RalphContext,
  backlog: Backlog<Data, Findings>,
  options: LoopOptions = {},
): Promise<LoopOutcome> {
  const repository = requireRepository(ralph);
  const interrupted = ralph.journal.interrupted(backlog.name);
  if (interrupted.length === 0) await backlog.overview({ parked: [] }); // a missing or damaged store is reported before anything starts
  if (ralph.loop.elsewhere === undefined) await ralph.agent.ensureUsable();
  await ralph.host.sandbox?.ensureUsable();
  if (ralph.config.verify.challenge > 0) {
    const { challengerOf } = await import("../checks/challenge/challenger.ts");
    await challengerOf(ralph).ensureUsable();
  }
  for (const check of options.checks ?? []) await namedCheck(check)?.ensureUsable?.();
  await using _lock = await ralph.lock.acquire(options.purpose ?? "run");
  await ralph.journal.refresh();
  if (interrupted.length > 0) await repairAfterKill(ralph, backlog, interrupted);
  const torn = await repository.ensureReady();
  if (torn !== null) reportTornIndex(ralph, torn);
  await onBranch(ralph, backlog, options.branch ?? ralph.loop.branch);

  const key = await journalKeyOf(backlog);
  const committer = createCommitter(ralph, backlog);
  const workers = workersOf(ralph, backlog, options);
  await rescueLeftTrees(ralph, backlog, workers);
  const { brief, begin, end } = await fixBrief(ralph, backlog, key);
  const now = await repository.snapshot();
  const ownership = await recover(ralph, committer, backlog, key, now, options.checks ?? []);
  if (options.retryBlocked ?? ralph.loop.retryBlocked) await ralph.journal.unpark(key);
  await backlog.resume?.();
  await begin();
  const goal = await backlog.goal?.() ?? null;
  const ended = await new Loop({ ralph, backlog, options, key, committer, ownership, brief, workers }).run().finally(
    end,
  );
  const [head] = await repository.log(1);
  const isOver = ended.status !== "handed-out"; // attempts count until the run has ended
  if (isOver) await ralph.journal.runEnded(key, ended.status === "passed", head?.commit ?? null);
  const notices = [...ended.notices, ...restoredNotices(brief), ...ralph.journal.isFixed ? [JOURNAL_FIXED] : []];
  const outcome = { ...ended, notices };
  if (isOver) await remember(ralph, key, outcome);
  const reasons = "reasons" in outcome ? outcome.reasons : "limit" in outcome ? [outcome.limit] : [];
  const { status, iterations, usage } = outcome;
  for (const text of ralph.steering.unread()) {
    ralph.events.emit({ type: "note", level: "warn", message: `told, and in no prompt before the end: ${text}` });
  }
  const { branchWork } = await import("../git/branch_work.ts");
  const work = await branchWork(repository, { since: now.head });
  const more = work === null ? {} : { work };
  ralph.events.emit({ type: "run-end", status, reasons, iterations, usage, notices, ...more });
  return { ...outcome, ...more, ...goal === null ? {} : { goal } };
}

/** Items worked on at once. @throws {RalphError} parallel-impossible where more than one was asked for by name */
function workersOf<Data, Findings>(
  { loop, config, events }: Pick<RalphContext, "config" | "events" | "loop">,
  { name, concurrent, final, restore }: Backlog<Data, Findings>,
  options: LoopOptions,
): number {
  if (restore !== undefined && loop.elsewhere !== undefined) {
    throw new RalphError("parallel-impossible", {
      details: { problem: `what turns write beside Ralph's part of ${name}'s state files stays on the other machine` },
      hint: "leave `--queue` out; `--parallel` works on several items here",
    });
  }
  if (concurrent === true) return options.workers ?? loop.workers ?? config.parallel.workers;
  const named = loop.workers ?? (loop.elsewhere === undefined ? 1 : 2);
  const asked = options.workers ?? (final === false ? 1 : named);
  const problem = `items of the ${name} backlog follow each other`;
  if (asked > 1) {
    throw new RalphError("parallel-impossible", {
      details: { problem },
      hint: "leave `--parallel` and `--queue` out, or say `--parallel 1`",
    });
  }
  if (config.parallel.workers > 1 && final !== false) {
    events.emit({ type: "note", level: "info", message: `one item at a time: ${problem}` });
  }
  return 1;
}

/** What a killed run with workers left: work is kept, trees that are not needed are taken away. */
async function rescueLeftTrees<Data, Findings>(
  ralph: RalphContext,
  { stateFiles }: Backlog<Data, Findings>,
  workers: number,
): Promise<void> {
  if (!await pathExists(treesDirectory(ralph))) return;
  const { rescueTrees } = await import("./parallel/leftover_trees.ts");
  await rescueTrees(ralph, stateFiles, workers);
}

/** The brief of a run, from its start to its end. */
interface FixedBrief {
  readonly brief: Brief;
  /** The first turn may follow. */
  begin(): Promise<void>;
  /** Restores once more: also after an error or a signal. */
  end(): Promise<void>;
}

/** What the run's last lines say of files that were changed while it lasted. */
function restoredNotices({ restored, reported }: Brief): readonly Notice[] {
  return [
    ...restored.map((subject): Notice => ({ kind: "restored", subject, message: RESTORED })),
    ...reported.map((subject): Notice => ({ kind: "environment", subject, message: "changed during the run" })),
  ];
}

/** For `ralph status`, one line each. A run that found nothing to do says nothing of the work before it. */
async function remember({ journal }: RalphContext, key: JournalKey, { turns, notices }: LoopOutcome): Promise<void> {
  if (turns === 0 && notices.length === 0) return;
  await journal.noticed(key, notices.map((one) => ({ ...one, message: headlineOf(one.message) })));
}

/** Reads the brief of a run, and has what differs from the last one agreed to. @throws {RalphError} brief-changed */
async function fixBrief<Data, Findings>(
  ralph: RalphContext,
  backlog: Backlog<Data, Findings>,
  key: JournalKey,
): Promise<FixedBrief> {
  const { journal, state } = ralph;
  const brief = await createBrief(ralph, backlog);
  await acceptChanges(ralph, brief.record);
  return {
    brief,
    async begin() {
      await state.hold(backlog.stateFiles);
      await journal.briefRead(key, brief.record);
    },
    async end() {
      await restoreBrief(brief).finally(() => brief.release());
      state.release();
      await journal.briefRestored(key);
    },
  };
}
