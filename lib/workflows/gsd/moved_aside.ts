import { join } from "node:path";
import type { Attempt, SettleCommit, Settlement } from "../../backlog/types.ts";
import { copyPath, ensureDirectory, pathExists, removePath } from "../../host/files.ts";
import { type GsdBacklogContext, type GsdItemData, isWithin } from "./item_data.ts";
import { GSD_RUNS } from "./types.ts";
import { scanPlanning } from "./read_planning.ts";

/** The part of the context that moving a SUMMARY needs. */
export type MoveContext = Pick<GsdBacklogContext, "events" | "root" | "run">;

/** Takes a SUMMARY that completes nothing out of the tree. @returns the paths that are gone */
export async function moveAside(ralph: MoveContext, path: string, attemptId: string): Promise<readonly string[]> {
  const file = join(ralph.root, path);
  if (!await pathExists(file)) return [];
  const folder = join(await ralph.run.folder(GSD_RUNS), "moved-aside");
  const name = `${attemptId.slice(attemptId.lastIndexOf(".") + 1)}-${path.split("/").at(-1) ?? "SUMMARY.md"}`;
  await ensureDirectory(folder);
  await copyPath(file, join(folder, name));
  await removePath(file);
  const message = `${path} is of a plan that was not verified: moved to ${join(folder, name)}`;
  ralph.events.emit({ type: "note", level: "warn", message });
  return [path];
}

/** Moves the SUMMARY files that a turn wrote for other plans: an agent cannot complete a plan by writing its SUMMARY. */
export async function moveOthersAside(
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
export function withMoved(settlement: Settlement, paths: readonly string[]): Settlement {
  if (paths.length === 0) return settlement;
  const { commit } = settlement;
  const all = commit === undefined ? movedCommit(paths) : { ...commit, paths: [...commit.paths, ...paths] };
  return { ...settlement, commit: all };
}
