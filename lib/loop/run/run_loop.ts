import { note, type RalphContext } from "../../context/context.ts";
import { headlineOf, journalKeyOf, lackOf, onlyOneReason } from "../../backlog/attempts.ts";
import { refuseOldMembers } from "../../backlog/old_members.ts";
import type { Backlog } from "../../backlog/types.ts";
import { namedCheck } from "../../checks/function.ts";
import { addsNothing, type BranchWork, branchWork } from "../../git/branch_work.ts";
import { areAsCommitted } from "../../git/read_index.ts";
import { requireRepository, rootPaths, treesDirectory, type TreeSnapshot } from "../../git/repository.ts";
import { firstOf } from "../../host/data.ts";
import { pathExists } from "../../host/files.ts";
import { parallelImpossible, RalphError } from "../../errors/ralph_error.ts";
import { onBranch } from "./branch.ts";
import { noteVerdict } from "../finish/note_verdict.ts";
import { tooLarge } from "../finish/too_large.ts";
import type { CheckedAs, LoopOptions, LoopOutcome } from "./outcome.ts";
import { restoreKilled } from "../attempt/killed.ts";
import { letGo } from "../../git/history.ts";
import { layIn } from "../recover/lay_in.ts";
import { readyTree, recover } from "../recover/recover.ts";
import { type Committer, createCommitter, ownPaths } from "../settle/committer.ts";
import { BETWEEN, createRunLine, notHeld, type RunLine } from "../settle/run_line.ts";
export type { LoopOptions, LoopOutcome } from "./outcome.ts";
import type { JournalKey, Lack, NoticeRecord } from "../../backlog/journal_types.ts";
import { createBrief, restoreBrief } from "../../checks/brief/create_brief.ts";
import { acceptChanges } from "../../checks/brief/since_last_run.ts";
import type { Brief } from "../../checks/brief/types.ts";
import type { Notice } from "../policy/progress.ts";

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
 * brief-changed, backlog-invalid
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
  refuseOldMembers(backlog);
  const repository = requireRepository(ralph);
  const workers = await possibleWorkers(ralph, backlog, options);
  const interrupted = ralph.journal.interrupted(backlog.name);
  await layIn(ralph, backlog);
  if (interrupted.length === 0) await backlog.overview({ parked: [] }); // a missing or damaged store is reported before anything starts
  await ensureUsable(ralph, options);
  await using _lock = await ralph.lock.acquire(options.purpose ?? "run");
  await ralph.journal.refresh();
  const named = (await readyTree(ralph, backlog, interrupted)).map(restoredState);
  await onBranch(ralph, backlog, options.branch ?? ralph.loop.branch);

  const key = await journalKeyOf(backlog);
  const open = ralph.journal.open(key);
  await restoreKilled(ralph, open); // before the brief is read
  const line = await createRunLine(ralph, (notice) => void named.push(notice));
  const committer = createCommitter(ralph, backlog, line);
  await rescueLeftTrees(ralph, backlog, workers);
  const { brief, begin, end } = await fixBrief(ralph, backlog, key);
  const now = await repository.snapshot();
  const { restored, counted, ...recovered } = await recover(ralph, committer, backlog, key, now, options.checks ?? []);
  named.push(...restoredStates(restored, named), ...await countedWork(ralph, key, counted));
  if (options.retryBlocked ?? ralph.loop.retryBlocked) await ralph.journal.unpark(key);
  await backlog.record?.({ type: "run-began" });
  await begin();
  const goal = (await backlog.brief?.())?.goal ?? null;
  const { Loop } = await import("./loop.ts");
  const loop = new Loop({ ralph, backlog, options, key, committer, brief, workers, ...recovered });
  const ran = await loop.run().finally(end).finally(() => letGo(repository, ralph.run.root));
  const ended = await onItsBranch(line, loop.checked, ran);
  const isOver = ended.status !== "handed-out"; // attempts count until the run has ended
  const hasWorked = isOver && (ended.iterations > 0 || interrupted.length > 0);
  if (hasWorked) await commitState(ralph, committer, backlog, now, ended.status);
  const { head } = await repository.head();
  const large = isOver ? await tooLarge(ralph, key, ended.passed, { from: now.head, to: head }) : [];
  const isDoubted = !ralph.loop.acceptChanges && ended.notices.some(isDoubt);
  if (isOver) await ralph.journal.runEnded(key, ended.status === "passed", head, isDoubted);
  const fixed = ralph.journal.isFixed ? [JOURNAL_FIXED] : [];
  const work = await branchWork(repository, { since: now.head, isApart: stateIn(ralph, backlog) });
  const isInTree = ended.notices.some(({ kind }) => kind === "not-reproducible");
  const isChecked = ended.status === "passed" && ended.checkedAs === "commit" && !isInTree && work !== null;
  const checked = isChecked ? await checkedIn(ralph, backlog, { work, commit: loop.checked }) : null;
  const late = ended.status === "passed" ? notAsCommit(ralph, ended.checkedAs, { work, checked }) : [];
  const outcome = {
    ...ended,
    notices: [...ended.notices, ...named, ...large, ...restoredNotices(brief), ...fixed, ...late],
  };
  if (isOver) await remember(ralph, key, outcome);
  const isKnown = ralph.journal.passed(key).length > 0; // else another clone has seen the work, and what was to be said of it
  if (isChecked && isKnown && checked !== null) {
    const { from: base } = work;
    await noteVerdict(ralph, { ...outcome, commit: checked, base, checks: loop.results, brief: brief.record });
  }
  announceEnd(ralph, outcome, { work, checked });
  return { ...outcome, ...work === null ? {} : { work }, ...goal === null ? {} : { goal } };
}

/** Finds out that everything that the run starts is there. */
async function ensureUsable(ralph: RalphContext, options: LoopOptions): Promise<void> {
  if (ralph.loop.elsewhere === undefined) await ralph.agent.ensureUsable();
  await ralph.host.sandbox?.ensureUsable();
  if (ralph.config.verify.challenge > 0) {
    const { challengerOf } = await import("../../checks/challenge/challenger.ts");
    await challengerOf(ralph).ensureUsable();
  }
  for (const check of options.checks ?? []) await namedCheck(check)?.ensureUsable?.();
}

/** True for paths, relative to the top level, that hold state. */
function stateIn(ralph: RalphContext, backlog: Backlog): (path: string) => boolean {
  const own = new Set(ownPaths(ralph, backlog));
  return (path) => own.has(path) || ralph.loop.isState?.(rootPaths(ralph, [path])[0]!) === true;
}

/** The branch's newest commit, where it adds nothing but Ralph's own state to the commit that was checked; else that one. */
async function checkedIn(
  ralph: RalphContext,
  backlog: Backlog,
  { work, commit }: { readonly work: BranchWork; readonly commit: string | null },
): Promise<string | null> {
  if (commit === null) return null;
  const own = new Set(ownPaths(ralph, backlog));
  const isSame = await addsNothing(requireRepository(ralph), { from: commit, to: work.head }, (path) => own.has(path));
  return isSame ? work.head : commit;
}

/** Nothing has passed whose commit is not on the branch in the end. */
async function onItsBranch(line: RunLine, checked: string | null, ended: LoopOutcome): Promise<LoopOutcome> {
  await line.hold(BETWEEN);
  if (ended.status !== "passed" || checked === null || await line.holds(checked)) return ended;
  return { ...ended, status: "failed", reason: "final-check", reasons: [notHeld(line, checked)] };
}

/** No final check has seen the branch's newest commit: by the configuration, or because it came later. */
function notAsCommit(
  { config: { verify, commits } }: Pick<RalphContext, "config">,
  as: CheckedAs,
  { work, checked }: { readonly work: BranchWork | null; readonly checked: string | null },
): readonly Notice[] {
  const kind = "not-checked-as-commit";
  if (as === "tree") {
    const setting = commits.work ? `verify.final is "${verify.final}"` : "commits.work is false";
    return [{ kind, subject: setting, message: "" }];
  }
  if (checked === null || work === null || checked === work.head) return [];
  return [{ kind, subject: work.head.slice(0, 10), message: "was made after the final check" }];
}

function announceEnd(
  ralph: RalphContext,
  outcome: LoopOutcome,
  { work, checked }: { readonly work: BranchWork | null; readonly checked: string | null },
): void {
  for (const text of ralph.steering.unread()) {
    note(ralph, "warn", `told, and in no prompt before the end: ${text}`);
  }
  const { status, iterations, usage, notices } = outcome;
  const reasons = "reasons" in outcome ? outcome.reasons : "limit" in outcome ? [outcome.limit] : [];
  const more = { ...work === null ? {} : { work }, ...checked === null ? {} : { checked } };
  ralph.events.emit({ type: "run-end", status, reasons, iterations, usage, notices, ...more });
}

/** As {@link workersOf}; where they cannot work here, that is said before anything is changed. */
async function possibleWorkers(ralph: RalphContext, backlog: Backlog, options: LoopOptions): Promise<number> {
  const workers = workersOf(ralph, backlog, options);
  if (workers > 1 || ralph.loop.elsewhere !== undefined) {
    await (await import("../parallel/possible.ts")).refuseImpossible(ralph, backlog);
  }
  return workers;
}

/** Items worked on at once. @throws {RalphError} parallel-impossible where more than one was asked for by name */
function workersOf(
  { loop, config, events, state }: Pick<RalphContext, "config" | "events" | "loop" | "state">,
  { name, concurrent, policy, stateFiles }: Backlog,
  options: LoopOptions,
): number {
  if (loop.elsewhere !== undefined && stateFiles.some((path) => state.parts.has(path))) {
    const lost = `what turns write beside Ralph's part of ${name}'s state files stays on the other machine`;
    throw parallelImpossible(lost, "leave `--queue` out; `--parallel` works on several items here");
  }
  const problem = onlyOneReason({ name, concurrent });
  if (problem === null) return options.workers ?? loop.workers ?? config.parallel.workers;
  const named = loop.workers ?? (loop.elsewhere === undefined ? 1 : 2);
  const asked = options.workers ?? (policy?.final === false ? 1 : named);
  if (asked > 1) throw parallelImpossible(problem, "leave `--parallel` and `--queue` out, or say `--parallel 1`");
  if (config.parallel.workers > 1 && policy?.final !== false) {
    note({ events }, "info", `one item at a time: ${problem}`);
  }
  return 1;
}

/** Rescues the work of a killed run with workers: work is kept, trees that are not needed are taken away. */
async function rescueLeftTrees(ralph: RalphContext, { stateFiles }: Backlog, workers: number): Promise<void> {
  if (!await pathExists(treesDirectory(ralph))) return;
  const { rescueTrees } = await import("../parallel/leftover_trees.ts");
  await rescueTrees(ralph, stateFiles, workers);
}

/** The last lines of the run about files that were changed while it lasted. */
function restoredState(subject: string): Notice {
  const message = "changed since the run that was killed began; `ralph restore` brings back what was found";
  return { kind: "restored", subject, message };
}

function restoredStates(paths: readonly string[], named: readonly Notice[]): readonly Notice[] {
  return paths.filter((path) => named.every(({ subject }) => subject !== path)).map(restoredState);
}

const COUNTED = "not committed when this run began; taken for the work of the one that was killed";

/** The same of an earlier run that did not pass is said until one has; a kill of this one must not lose it. */
async function countedWork(
  { journal }: RalphContext,
  key: JournalKey,
  paths: readonly string[],
): Promise<readonly Notice[]> {
  const last = journal.named();
  const isOpen = last?.backlog === key.backlog && last.scope === key.scope && last.lack !== undefined;
  const earlier = isOpen ? last.notices.filter(({ message }) => message === COUNTED) : [];
  const subjects = new Set([
    ...paths.length === 0 ? [] : [firstOf(paths, 20)],
    ...earlier.map(({ subject }) => subject),
  ]);
  const notices = [...subjects].map((subject): Notice => ({ kind: "leftover", subject, message: COUNTED }));
  if (notices.length > 0) await journal.noticed(key, notices, "end");
  return notices;
}

function restoredNotices({ restored, reported }: Brief): readonly Notice[] {
  return [
    ...restored.map((subject): Notice => ({ kind: "restored", subject, message: RESTORED })),
    ...reported.map((subject): Notice => ({ kind: "environment", subject, message: "changed during the run" })),
  ];
}

/**
 * Commits the state that no item's commit took along: the branch is left, stashed and cloned with the state that the
 * run ended in. A run that checks nothing in the end prepares others: their state stays as the run has found it.
 */
async function commitState(
  ralph: RalphContext,
  committer: Committer,
  backlog: Backlog,
  found: TreeSnapshot,
  status: LoopOutcome["status"],
): Promise<void> {
  const repository = requireRepository(ralph);
  const own = new Set(ownPaths(ralph, backlog));
  try {
    if (await areAsCommitted(repository, [...own])) return;
    const changed = backlog.policy?.final === false
      ? (await repository.changedSince(found)).paths
      : (await repository.status()).changed.map(({ path }) => path);
    const paths = rootPaths(ralph, changed.filter((path) => own.has(path)));
    if (paths.length === 0) return;
    await committer.commit({ subject: `ralph: record the run (${status})`, paths, work: false }, []);
  } catch (error) {
    if (!RalphError.isInstance(error)) throw error;
    note(ralph, "warn", `the state is not committed: ${error.message}`);
  }
}

/** For `ralph status`, one line each. A run that found nothing to do says nothing of the work before it. */
async function remember({ journal }: RalphContext, key: JournalKey, outcome: LoopOutcome): Promise<void> {
  const { status, turns, notices } = outcome;
  const before = journal.named();
  const isSame = before?.backlog === key.backlog && before.scope === key.scope;
  const lack = lackIn(outcome);
  if (turns === 0 && notices.length === 0 && lack === undefined && !(isSame && before.lack !== undefined)) return;
  const known = new Set(notices.map(({ kind, subject }) => `${kind} ${subject}`));
  // Only a final check that passed has looked again.
  const kept = isSame && status !== "passed"
    ? before.notices.filter((one) => isDoubt(one) && !known.has(`${one.kind} ${one.subject}`))
    : [];
  await journal.noticed(key, [...notices.map((one) => ({ ...one, message: headlineOf(one.message) })), ...kept], lack);
}

function lackIn(outcome: LoopOutcome): Lack | undefined {
  if (outcome.status === "passed") return undefined;
  if (outcome.status !== "unverified") return "end";
  return outcome.allowed ? undefined : lackOf(outcome.unverified, outcome.notices);
}

/** Evidence that what judges the work was changed. */
const DOUBTS: ReadonlySet<string> = new Set(["tests-changed", "old-tests", "cannot-fail"]);

function isDoubt({ kind }: Pick<NoticeRecord, "kind">): boolean {
  return DOUBTS.has(kind);
}

/** Reads the brief of a run, and has what differs from the last one agreed to. @throws {RalphError} brief-changed */
async function fixBrief(ralph: RalphContext, backlog: Backlog, key: JournalKey) {
  const { journal, state } = ralph;
  const brief = await createBrief(ralph, backlog);
  await acceptChanges(ralph, brief.record);
  return {
    brief,
    /** The first turn may follow. */
    async begin(): Promise<void> {
      await state.hold(backlog.stateFiles);
      await journal.briefRead(key, brief.record);
    },
    /** Restores once more: also after an error or a signal. */
    async end(): Promise<void> {
      await restoreBrief(brief).finally(() => brief.release());
      state.release();
      await journal.briefRestored(key);
    },
  };
}
