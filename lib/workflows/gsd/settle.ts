import { note } from "../../context/context.ts";
import { join } from "node:path";
import {
  copyPath,
  ensureDirectory,
  pathExists,
  readLeftText,
  removeLinkOut,
  removePath,
  writeInside,
} from "../../host/files.ts";
import type { Attempt, Item, SettleCommit, Settlement } from "../../backlog/types.ts";
import { localDate } from "../../host/local_date.ts";
import type { GsdFindings } from "./claim.ts";
import { countsWithout, type GsdBacklogContext, type GsdItemData, isWithin, itemDataOf } from "./item_data.ts";
import { GSD_RUNS, type Planning, ROADMAP_FILE, STATE_FILE, type StatePosition } from "./types.ts";
import type { Position } from "./position.ts";
import type { ProgressChange } from "./progress_value.ts";
import { rewriteRoadmap, rewriteState } from "./rewrite.ts";
import { findSection, parseState } from "./state_file.ts";
import { summaryVerdict, withSkipped, writtenSummary } from "./summary_file.ts";
import { shortened } from "../../host/data.ts";
import { scanPlanning } from "./read_planning.ts";
import { isOver, reasonOf } from "../../backlog/attempts.ts";

/** STATE.md's Status, while a verified plan waits for its SUMMARY. */
function waitingStatus(id: string): string {
  return `In progress - plan ${id} is verified, its SUMMARY is missing`;
}

/** True where the status says that the plan only lacks its SUMMARY. */
export function waitsForSummary(state: StatePosition | null, id: string): boolean {
  return state?.status === waitingStatus(id);
}

/** The settler's options, beside the context. */
interface SettlerOptions {
  /** Checkpoints are left out. */
  readonly skip: boolean;
  /** The folder as it is now, as far as the run is about it. */
  readonly load: () => Promise<{ readonly planning: Planning; readonly position: Position }>;
}

/** Records what became of plans: SUMMARY, STATE.md, ROADMAP.md. The same call again writes the same. */
export class PlanSettler {
  readonly #ralph: GsdBacklogContext;
  readonly #options: SettlerOptions;
  readonly #skipped = new Map<string, number>();
  /** A plan has passed in this run. */
  hasPassed = false;

  constructor(ralph: GsdBacklogContext, options: SettlerOptions) {
    this.#ralph = ralph;
    this.#options = options;
  }

  /** The checkpoints that were left out in this run. */
  skippedLines(): readonly string[] {
    const total = [...this.#skipped.values()].reduce((sum, count) => sum + count, 0);
    if (total === 0) return [];
    const plans = [...this.#skipped].map(([id, count]) => `${id} (${count})`).join(", ");
    return [`${total} checkpoint${total === 1 ? "" : "s"} that no one saw: ${plans}`];
  }

  async settle(item: Item<GsdItemData>, attempt: Attempt<GsdFindings>): Promise<Settlement> {
    const { data } = item;
    const moved = await moveOthersAside(this.#ralph, data, attempt);
    switch (attempt.status) {
      case "verified":
      case "unverified":
        return withMoved(await this.#settleVerified(item, attempt), moved);
      case "failed":
      case "blocked":
      case "not-done":
        return withMoved(await this.#settleFailed(data, attempt), moved);
      default: {
        // A SUMMARY of a plan that was not verified would make it complete.
        const own = await moveAside(this.#ralph, data.summaryFile, attempt.id);
        return withMoved({ status: "open" }, [...moved, ...own]);
      }
    }
  }

  async #settleVerified(item: Item<GsdItemData>, attempt: Attempt<GsdFindings>): Promise<Settlement> {
    const { data } = item;
    const summary = await readLeftText(join(this.#ralph.root, data.summaryFile));
    const verdict = summary === null ? "empty" : summaryVerdict(summary);
    if (verdict === "failed") {
      const message = `${data.summaryFile} says itself that the plan was not carried out`;
      return await this.#settleFailed(data, { ...attempt, status: "blocked", message });
    }
    const asked = item.kind === "summary" || attempt.claim?.findings?.summaryOnly === true ||
      data.checkpointsOnly && this.#options.skip;
    // a request for the SUMMARY is remembered in STATE.md: without that, none is made
    if (verdict === "empty" && !asked && findSection(await this.#ralph.state.read(STATE_FILE) ?? "") !== null) {
      await this.#record(data, { status: waitingStatus(data.id), activity: `Plan ${data.id} verified`, done: false });
      const commit = { subject: `docs(${data.id}): verified, SUMMARY missing`, paths: [STATE_FILE], work: false };
      return { status: "open", reason: "verified, but there is no SUMMARY: it is asked for once more", commit };
    }
    await this.#completeSummary(data, attempt, verdict === "empty" ? null : summary);
    this.hasPassed = true;
    await this.#record(data, { status: "In progress", activity: completed(data.id), done: true });
    const title = oneLine(data.title, 60);
    const commit: SettleCommit = {
      subject: `feat(${data.id}): ${title}`,
      stateSubject: `docs(${data.id}): complete ${title}`,
      body: `ralph: ${data.id} ${attempt.status === "verified" ? "passed" : "unverified"}`,
      paths: [STATE_FILE, ROADMAP_FILE, data.summaryFile],
      work: true,
    };
    return { status: "passed", commit };
  }

  /** The SUMMARY with the checkpoints that were left out; one of Ralph's own where the agent wrote none. */
  async #completeSummary(data: GsdItemData, attempt: Attempt<GsdFindings>, summary: string | null): Promise<void> {
    const names = this.#options.skip ? data.tasks.filter(({ checkpoint }) => checkpoint).map(({ name }) => name) : [];
    const text = withSkipped(summary ?? await this.#ownSummary(data, attempt), names);
    if (text !== summary) {
      await removeLinkOut(this.#ralph.root, data.summaryFile);
      await writeInside(this.#ralph.root, data.summaryFile, text);
    }
    if (names.length === 0) return;
    this.#skipped.set(data.id, names.length);
    const count = `${names.length} checkpoint${names.length === 1 ? " was" : "s were"}`;
    note(this.#ralph, "warn", `${data.id}: ${count} left out, no one saw: ${names.join("; ")}`);
  }

  async #ownSummary(data: GsdItemData, attempt: Attempt<GsdFindings>): Promise<string> {
    const date = localDate(this.#ralph.host.clock.now());
    note(this.#ralph, "warn", `${data.summaryFile} was written by Ralph: the agent left none`);
    // commits whose subject names the plan, newest first: `feat(01-02): …`
    const mark = `(${data.id}):`;
    const arguments_ = ["log", "--max-count=50", "--format=%h %s", "--fixed-strings", `--grep=${mark}`];
    const log = await this.#ralph.repository?.git(arguments_);
    const lines = log?.exitCode === 0 ? log.stdout.split("\n") : [];
    return writtenSummary(data, attempt, { date, commits: lines.filter((line) => line.includes(mark)) });
  }

  /** Plans that had passed fail the final check: their boxes are unticked, their SUMMARY files moved to the run's folder. */
  async reopen(ids: readonly string[], reason: string): Promise<Settlement> {
    const paths: string[] = [STATE_FILE, ROADMAP_FILE];
    for (const id of ids) {
      const { planning, position } = await this.#options.load();
      const plan = planning.phases.flatMap(({ plans }) => plans).find((one) => one.id === id);
      if (plan === undefined) continue;
      paths.push(...await moveAside(this.#ralph, plan.summaryFile, "final"));
      const data = { ...itemDataOf(plan, planning, position), behind: false, wasTicked: false };
      const activity = `Plan ${id} sent back by the final check`;
      await this.#record(data, { status: "In progress", activity, done: false });
    }
    const subject = `docs(${ids.join(",")}): sent back by the final check`;
    return { status: "open", reason, commit: { subject, paths, work: false } };
  }

  async #settleFailed(data: GsdItemData, attempt: FailedPlan): Promise<Settlement> {
    const moved = await moveAside(this.#ralph, data.summaryFile, attempt.id);
    const { retry, as, reason } = policyOf(attempt);
    const status = retry ? "In progress" : `BLOCKED - ${data.id}: ${oneLine(reason, 160)}`;
    const activity = `Plan ${data.id}, attempt ${attempt.number} ${retry ? "failed" : "failed: stopped"}`;
    await this.#record(data, { status, activity, done: false });
    const subject = `docs(${data.id}): ${retry ? "attempt failed" : "blocked"}`;
    const commit = { subject, paths: [STATE_FILE, ROADMAP_FILE, ...moved], work: false };
    return retry ? { status: "open", reason, commit } : { status: "stop", as, reason: `${data.id}: ${reason}`, commit };
  }

  /**
   * Both files. Counted as the folder is now: plans that were worked on beside this one may have passed since it was
   * taken up. The last activity tells which plans `Progress:` counts already, so that the same call again changes
   * nothing.
   */
  async #record(
    data: GsdItemData,
    { status, activity, done }: { readonly status: string; readonly activity: string; readonly done: boolean },
  ): Promise<void> {
    const { phase, phaseName, number: plan, behind } = data;
    const { planning } = await this.#options.load();
    const counts = countsWithout(data, planning);
    const complete = counts.phaseComplete + (done ? 1 : 0);
    const ended = done && complete >= counts.phaseTotal;
    const now = this.#ralph.host.clock.now();
    const position = {
      phase,
      phaseName,
      lastPhase: planning.phases.at(-1)?.number ?? phase,
      plan: ended ? counts.phaseTotal : data.place,
      plans: counts.phaseTotal,
      behind,
    };
    await this.#ralph.state.update(STATE_FILE, (text) => {
      if (text === null) return null;
      const progress = progressOf(data, { ...counts, text, activity, done });
      return rewriteState(text, { ...position, status: ended ? "Phase complete" : status, activity, now, progress });
    });
    if (!done && data.wasTicked) return;
    const roadmap = { phase, plan, done, complete, total: counts.phaseTotal, now };
    await this.#ralph.state.update(ROADMAP_FILE, (text) => text === null ? null : rewriteRoadmap(text, roadmap));
  }
}

/** STATE.md's last activity, of a plan that passed. */
function completed(id: string): string {
  return `Completed ${id}-PLAN.md`;
}

/** From the item's snapshot, or where other plans have passed since, from what STATE.md says now. */
function progressOf(
  data: GsdItemData,
  { complete, total, text, activity, done }: Pick<GsdItemData, "complete" | "total"> & {
    readonly text: string;
    readonly activity: string;
    readonly done: boolean;
  },
): ProgressChange | null {
  const { progress, lastActivity } = parseState(text);
  if (data.progress === null || progress === null) return null;
  const after = complete + (done ? 1 : 0);
  if (complete === data.complete) {
    return { value: data.progress, before: complete + (data.wasDone ? 1 : 0), after, total };
  }
  const last = lastActivity ?? "";
  const counted = last.endsWith(completed(data.id)) || (last.endsWith(activity) ? done : data.wasDone);
  return { value: progress, before: complete + (counted ? 1 : 0), after, total };
}

function oneLine(text: string, length: number): string {
  return shortened(text.split("\n")[0]?.trim() ?? "", length);
}

/** The part of the context that moving a SUMMARY needs. */
type MoveContext = Pick<GsdBacklogContext, "events" | "root" | "run">;

/** Takes a SUMMARY that completes nothing out of the tree. @returns the paths that are gone */
export async function moveAside(ralph: MoveContext, path: string, attemptId: string): Promise<readonly string[]> {
  const file = join(ralph.root, path);
  if (!await pathExists(file)) return [];
  const folder = join(await ralph.run.folder(GSD_RUNS), "moved-aside");
  const name = `${attemptId.slice(attemptId.lastIndexOf(".") + 1)}-${path.split("/").at(-1) ?? "SUMMARY.md"}`;
  await ensureDirectory(folder);
  await copyPath(file, join(folder, name));
  await removePath(file);
  note(ralph, "warn", `${path} is of a plan that was not verified: moved to ${join(folder, name)}`);
  return [path];
}

/** Moves the SUMMARY files that a turn wrote for other plans: an agent cannot complete a plan by writing its SUMMARY. */
async function moveOthersAside(
  ralph: MoveContext,
  { id: ownId, summaryFile: own, unsummarized = [] }: Pick<GsdItemData, "id" | "summaryFile" | "unsummarized">,
  { id: attemptId, turn }: Pick<Attempt, "id" | "turn">,
): Promise<readonly string[]> {
  const changed = new Set(turn?.changedFiles.filter((path) => path !== own));
  if (![...changed].some((path) => /SUMMARY/i.test(path))) return [];
  const { phases } = await scanPlanning(ralph);
  const plans = phases.flatMap((phase) => phase.plans).filter((plan) =>
    plan.summarized && plan.id !== ownId && changed.has(plan.summaryFile) && isWithin(plan, unsummarized)
  );
  const moved: string[] = [];
  for (const { summaryFile } of plans) moved.push(...await moveAside(ralph, summaryFile, attemptId));
  return moved;
}

/** Records that files are gone. Pure. */
export function movedCommit(paths: readonly string[]): SettleCommit {
  return { subject: "docs: SUMMARY of an unverified plan moved aside", paths, work: false };
}

/** Moved files are part of the settlement's commit, or get one of their own. Pure. */
function withMoved(settlement: Settlement, paths: readonly string[]): Settlement {
  if (paths.length === 0) return settlement;
  const { commit } = settlement;
  const all = commit === undefined ? movedCommit(paths) : { ...commit, paths: [...commit.paths, ...paths] };
  return { ...settlement, commit: all };
}

/** An attempt that did not carry a plan out. */
type FailedPlan = Extract<Attempt<GsdFindings>, { status: "blocked" | "failed" | "not-done" }>;

/** The policy for a plan that did not pass. */
interface Policy {
  /** Attempts that it is given. */
  readonly attempts: number;
  /** The loop gives it another one. */
  readonly retry: boolean;
  /** The loop's end, if it is not tried again. */
  readonly as: "failed" | "blocked";
  readonly reason: string;
}

/** The attempts of a plan one of whose tasks fails. */
const ATTEMPTS = 2;

/** A task's failure is tried once more; the plan's own, a person's matter and a turn that did not end are not. */
export function policyOf(attempt: Attempt<GsdFindings>): Policy {
  const { attempts, as = "blocked", reason = reasonOf(attempt) } = ruleFor(attempt);
  return { attempts, as, reason, retry: attempts > 0 && !isOver(attempt) };
}

function ruleFor(
  attempt: Attempt<GsdFindings>,
): { readonly attempts: number; readonly as?: "failed"; readonly reason?: string } {
  if (attempt.status === "not-done") return { attempts: ATTEMPTS };
  if (attempt.status !== "failed") return { attempts: 0 };
  switch (attempt.reason) {
    case "checks-failed": {
      const failures = attempt.verification?.status === "failed" ? attempt.verification.failures : [];
      if (failures.some(({ scope }) => scope.startsWith("task:"))) return { attempts: ATTEMPTS };
      return { attempts: 0, as: "failed", reason: `the plan's verification failed: ${attempt.message}` };
    }
    case "agent-failed": {
      const kind = attempt.claim?.findings?.signal?.kind;
      if (kind === "PLAN_FAILED") return { attempts: 0, as: "failed" };
      return { attempts: kind === "TASK_FAILED" ? ATTEMPTS : 0 };
    }
    case "protected-file-changed":
    case "conflict":
    case "deleted-by-person":
    case "commit-refused":
      return { attempts: ATTEMPTS };
    default:
      return { attempts: 0 };
  }
}
