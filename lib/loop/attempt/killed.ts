/**
 * A turn in which Ralph was killed: what a person had not committed before it.
 *
 * @module
 */
import { join } from "node:path";
import type { KeptRecord, OpenItem } from "../../backlog/journal_types.ts";
import { pathsOutside } from "../../checks/guards.ts";
import { note, type RalphContext } from "../../context/context.ts";
import { type Repository, requireRepository, rootPaths, type TreeSnapshot } from "../../git/repository.ts";
import { jsonIn } from "../../host/data.ts";
import { readText, writeOwn } from "../../host/files.ts";
import { isRecord, keyOf } from "../journal/journal_record.ts";
import { createUncommitted, hideAgain, keptRef, warnOfChanged, warnOfFlags } from "./uncommitted.ts";
import { keepGoneOfKilled } from "./watch.ts";

/** The tree before a planner's turn: a planner is at work for no item of the journal. */
export interface PlannerBefore extends KeptRecord {
  readonly contents: Readonly<Record<string, string | null>>;
  /** Globs, relative to the root, of what the planner may write. */
  readonly allow: readonly string[];
}

function fileOf({ ralphDirectory }: Pick<Repository, "ralphDirectory">): string {
  return join(ralphDirectory, "planner.json");
}

/** Records the tree before a planner's turn; `null`: the turn has ended. */
export async function recordPlanner(ralph: RalphContext, before: PlannerBefore | null): Promise<void> {
  const line = { type: "kept", v: 1, key: keyOf({ backlog: "planner", scope: "" }), itemId: ralph.run.id, ...before };
  await writeOwn(fileOf(requireRepository(ralph)), before === null ? "" : JSON.stringify(line));
}

/** The record in a file that a turn can write too; `null`: it is none. */
function plannerIn(value: unknown): (PlannerBefore & { readonly itemId: string }) | null {
  if (!isRecord(value) || value.type !== "kept") return null;
  const { contents, allow } = value as Partial<PlannerBefore>;
  const isWhole = typeof contents === "object" && contents !== null && Array.isArray(allow) &&
    allow.every((glob) => typeof glob === "string");
  return isWhole ? { ...value, contents, allow } : null;
}

/** Restores what a person had not committed when Ralph was killed in a turn, as after a turn that has ended. */
export async function restoreKilled(ralph: RalphContext, interrupted: readonly OpenItem[]): Promise<void> {
  const file = fileOf(requireRepository(ralph));
  const planner = plannerIn(jsonIn(await readText(file)));
  const open = interrupted.filter(({ attempt }) => attempt === null); // known: it was restored before that
  if (open.length > 0 || planner !== null) await keepGoneOfKilled(ralph);
  for (const { kept } of open) if (kept !== undefined) await restore(ralph, kept);
  if (planner === null) return;
  const { head, work, itemId, contents, allow } = planner;
  await restore(ralph, { head, work }, "the planner");
  const now = await requireRepository(ralph).snapshot();
  const isOther = (path: string): boolean => now.contents.has(path) && now.contents.get(path) !== work[path]!.content;
  const ref = keptRef({ run: { id: itemId } }, "the planner");
  warnOfChanged(ralph, Object.keys(work).filter(isOther), () => ({ content: null, ref }));
  await tellUnjudged(ralph, { head, contents, allow });
  await recordPlanner(ralph, null);
}

async function restore(ralph: RalphContext, { head, work }: KeptRecord, by?: string): Promise<void> {
  const known = new Map(Object.entries(work));
  const changed = [...known].flatMap(([path, { codes }]) =>
    codes.map((code) => ({ path, code, untracked: code === "??" }))
  );
  const contents = new Map([...known].map(([path, of]) => [path, of.content]));
  const before: TreeSnapshot = { head, branch: null, changed, contents };
  warnOfFlags(ralph, await hideAgain(requireRepository(ralph), changed));
  const uncommitted = createUncommitted(ralph, { userPaths: new Set(known.keys()), stateFiles: [], known });
  await uncommitted.restore(before, await requireRepository(ralph).snapshot(), false, by);
}

/**
 * Says what changed where a planner may not write, since a turn that a kill interrupted: it was never judged. Changes of
 * the agent and of a person since then look the same, so they are only reported.
 */
async function tellUnjudged(
  ralph: RalphContext,
  { head, contents, allow }: Pick<PlannerBefore, "allow" | "contents" | "head">,
): Promise<void> {
  const snapshot = { head, branch: null, changed: [], contents: new Map(Object.entries(contents)) };
  const { paths } = await requireRepository(ralph).changedSince(snapshot);
  const outside = pathsOutside(rootPaths(ralph, paths), allow);
  if (outside.length === 0) return;
  const what =
    "planning was interrupted in a turn, and these files have changed since it began, by the agent or by you";
  note(ralph, "warn", `${what}: ${outside.join(", ")}`);
}
