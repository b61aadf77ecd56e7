import { dirname, join } from "node:path";
import { copyPath, ensureDirectory, pathExists, readText, removePath, writeAtomic } from "../../host/files.ts";
import type { Attempt, Item, SettleCommit, Settlement } from "../../backlog/types.ts";
import { localDate } from "../../host/local_date.ts";
import type { GsdBacklogContext, GsdFindings } from "./context.ts";
import type { GsdItemData } from "./item_data.ts";
import { GSD_RUNS, ROADMAP_FILE, STATE_FILE } from "./paths.ts";
import { scanPlanning } from "./read_planning.ts";
import { rewriteRoadmap } from "./rewrite_roadmap.ts";
import { rewriteState } from "./rewrite_state.ts";
import { findSection } from "./state_file.ts";
import { policyOf } from "./settle_policy.ts";
import { summaryVerdict } from "./summary_file.ts";
import { withSkipped, writtenSummary } from "./summary_text.ts";
import type { StatePosition } from "./types.ts";

/** Settles attempts at plans. */
export interface Settler {
  settle(item: Item<GsdItemData>, attempt: Attempt<GsdFindings>): Promise<Settlement>;
  /** The checkpoints that were left out in this run. */
  skippedLines(): readonly string[];
}

/** STATE.md's Status, while a verified plan waits for its SUMMARY. */
function waitingStatus(id: string): string {
  return `In progress - plan ${id} is verified, its SUMMARY is missing`;
}

/** True where the status says that the plan only lacks its SUMMARY. */
export function waitsForSummary(state: StatePosition | null, id: string): boolean {
  return state?.status === waitingStatus(id);
}

/** Writes down what became of plans: SUMMARY, STATE.md, ROADMAP.md. Computes from the item, never by counting in the store. */
export function createSettler(ralph: GsdBacklogContext, { skip }: { readonly skip: boolean }): Settler {
  const skipped = new Map<string, number>();
  const at = (path: string): string => join(ralph.root, path);
  const note = (message: string): void => ralph.events.emit({ type: "note", level: "warn", message });

  async function settle(item: Item<GsdItemData>, attempt: Attempt<GsdFindings>): Promise<Settlement> {
    const { data } = item;
    const external = await moveExternal(data, attempt);
    switch (attempt.status) {
      case "verified":
      case "unverified":
        return withPaths(await settleVerified(item, attempt), external);
      case "interrupted":
      case "agent-unusable":
      case "trespassed": {
        // A SUMMARY of a plan that was not verified would make it complete.
        const moved = await moveAside(data.summaryFile, attempt.id);
        return withPaths({ status: "open" }, [...external, ...moved]);
      }
      case "failed":
      case "blocked":
      case "not-done":
        return withPaths(await settleFailed(data, attempt), external);
    }
  }

  async function settleVerified(item: Item<GsdItemData>, attempt: Attempt<GsdFindings>): Promise<Settlement> {
    const { data } = item;
    const summary = await readText(at(data.summaryFile));
    const verdict = summary === null ? "empty" : summaryVerdict(summary);
    if (verdict === "failed") {
      return await settleFailed(data, {
        ...attempt,
        status: "blocked",
        message: `${data.summaryFile} says itself that the plan was not carried out`,
      });
    }
    const asked = item.kind === "summary" || attempt.claim?.findings?.summaryOnly === true ||
      data.checkpointsOnly && skip;
    if (verdict === "empty" && !asked && await canWait()) {
      await update(data, { status: waitingStatus(data.id), activity: `Plan ${data.id} verified`, done: false });
      const commit = { subject: `docs(${data.id}): verified, SUMMARY missing`, paths: [STATE_FILE], work: false };
      return { status: "open", reason: "verified, but there is no SUMMARY: it is asked for once more", commit };
    }
    const names = skip ? data.tasks.filter(({ checkpoint }) => checkpoint).map(({ name }) => name) : [];
    const text = withSkipped(verdict === "empty" ? await ownSummary(data, attempt) : summary ?? "", names);
    if (text !== summary) {
      await ensureDirectory(dirname(at(data.summaryFile)));
      await writeAtomic(at(data.summaryFile), text);
    }
    if (names.length > 0) {
      skipped.set(data.id, names.length);
      note(
        `${data.id}: ${names.length} checkpoint${names.length === 1 ? " was" : "s were"} left out, nobody saw: ${
          names.join("; ")
        }`,
      );
    }
    const complete = data.phaseComplete + 1 >= data.phaseTotal;
    await update(data, {
      status: complete ? "Phase complete" : "In progress",
      activity: `Completed ${data.id}-PLAN.md`,
      done: true,
    });
    const stateSubject = `docs(${data.id}): complete ${oneLine(data.title, 60)}`;
    const commit: SettleCommit = {
      subject: `feat(${data.id}): ${oneLine(data.title, 60)}`,
      stateSubject,
      body: `ralph: ${data.id} ${attempt.status === "verified" ? "passed" : "unverified"}`,
      paths: [STATE_FILE, ROADMAP_FILE, data.summaryFile],
      work: true,
    };
    return { status: "passed", commit };
  }

  /** A request for the SUMMARY is remembered in STATE.md: without that, none is made. */
  async function canWait(): Promise<boolean> {
    return findSection(await ralph.state.read(STATE_FILE) ?? "") !== null;
  }

  async function ownSummary(data: GsdItemData, attempt: Attempt<GsdFindings>): Promise<string> {
    const date = localDate(ralph.host.clock.now());
    note(`${data.summaryFile} was written by Ralph: the agent left none`);
    return writtenSummary(data, attempt, { date, commits: await commitsOf(data.id) });
  }

  /** Commits whose subject names the plan, newest first: `feat(01-02): …`. */
  async function commitsOf(id: string): Promise<readonly string[]> {
    const log = await ralph.repository?.git([
      "log",
      "--max-count=50",
      "--format=%h %s",
      "--fixed-strings",
      `--grep=(${id}):`,
    ]);
    return log?.exitCode === 0 ? log.stdout.split("\n").filter((line) => line.includes(`(${id}):`)) : [];
  }

  async function settleFailed(
    data: GsdItemData,
    attempt: Exclude<
      Attempt<GsdFindings>,
      { status: "verified" | "unverified" | "interrupted" | "trespassed" | "agent-unusable" }
    >,
  ): Promise<Settlement> {
    const moved = await moveAside(data.summaryFile, attempt.id);
    const { retry, as, reason } = policyOf(attempt);
    const status = retry ? "In progress" : `BLOCKED - ${data.id}: ${oneLine(reason, 160)}`;
    await update(data, {
      status,
      activity: `Plan ${data.id}, attempt ${attempt.number} ${retry ? "failed" : "failed: stopped"}`,
      done: false,
    });
    const commit = {
      subject: `docs(${data.id}): ${retry ? "attempt failed" : "blocked"}`,
      paths: [STATE_FILE, ROADMAP_FILE, ...moved],
      work: false,
    };
    return retry ? { status: "open", reason, commit } : { status: "stop", as, reason: `${data.id}: ${reason}`, commit };
  }

  /** Both files from the item's snapshot: the same call again writes the same. */
  async function update(
    data: GsdItemData,
    { status, activity, done }: { readonly status: string; readonly activity: string; readonly done: boolean },
  ): Promise<void> {
    const more = done ? 1 : 0;
    const now = ralph.host.clock.now();
    await ralph.state.update(STATE_FILE, (text) =>
      text === null ? null : rewriteState(text, {
        phase: data.phase,
        phaseName: data.phaseName,
        plan: data.place,
        plans: data.phaseTotal,
        status,
        activity,
        now,
        complete: data.complete + more,
        total: data.total,
        behind: data.behind,
      }));
    if (!done && data.wasTicked) return;
    await ralph.state.update(ROADMAP_FILE, (text) =>
      text === null ? null : rewriteRoadmap(text, {
        phase: data.phase,
        plan: data.number,
        done,
        complete: data.phaseComplete + more,
        total: data.phaseTotal,
        now,
      }));
  }

  /** SUMMARY files of plans that nobody has verified: an agent that writes one completes nothing with it. */
  async function moveExternal(data: GsdItemData, { id: attemptId, turn }: Attempt): Promise<readonly string[]> {
    const changed = new Set(turn?.changedFiles.filter((path) => path !== data.summaryFile));
    if (![...changed].some((path) => /SUMMARY/i.test(path))) return [];
    const { phases } = await scanPlanning(ralph);
    const plans = phases.flatMap((phase) => phase.plans).filter(({ id, summarized }) =>
      summarized && data.others.includes(id)
    );
    const moved: string[] = [];
    for (const { summaryFile } of plans) {
      if (changed.has(summaryFile)) moved.push(...await moveAside(summaryFile, attemptId));
    }
    return moved;
  }

  async function moveAside(path: string, attemptId: string): Promise<readonly string[]> {
    if (!await pathExists(at(path))) return [];
    const folder = join(await ralph.run.folder(GSD_RUNS), "moved-aside");
    const name = `${attemptId.slice(attemptId.lastIndexOf(".") + 1)}-${path.split("/").at(-1) ?? "SUMMARY.md"}`;
    await ensureDirectory(folder);
    await copyPath(at(path), join(folder, name));
    await removePath(at(path));
    note(`${path} is of a plan that was not verified: moved to ${join(folder, name)}`);
    return [path];
  }

  return {
    settle,
    skippedLines() {
      const total = [...skipped.values()].reduce((sum, count) => sum + count, 0);
      return total === 0
        ? []
        : [`${total} checkpoint${total === 1 ? "" : "s"} that nobody saw: ${
          [...skipped].map(([id, count]) => `${id} (${count})`).join(", ")
        }`];
    },
  };
}

/** Files that were taken away are part of the commit, where there is one, else one of their own. */
function withPaths(settlement: Settlement, paths: readonly string[]): Settlement {
  if (paths.length === 0) return settlement;
  const { commit } = settlement;
  const own: SettleCommit = { subject: "docs: SUMMARY of an unverified plan moved aside", paths, work: false };
  return { ...settlement, commit: commit === undefined ? own : { ...commit, paths: [...commit.paths, ...paths] } };
}

function oneLine(text: string, length: number): string {
  const line = text.split("\n")[0]?.trim() ?? "";
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}
