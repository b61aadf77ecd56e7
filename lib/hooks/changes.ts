import { basename, dirname, join, relative, sep } from "node:path";
import type { Brief } from "../checks/brief/types.ts";
import { requireRepository, rootPaths, topLevelPaths } from "../git/repository.ts";
import { note, type RalphContext } from "../context/context.ts";
import type { TreeChange } from "../git/merge_change.ts";
import { applyTreeChange } from "./hook_trees.ts";
import { listDirectory, removePath, renamePath } from "../host/files.ts";
import { restoreBrief } from "../checks/brief/create_brief.ts";

/** A patch whose file name ends so is not brought in yet. */
const PENDING = ".pending.patch";

const KEPT = ".patch";

/** A change that a hook made in a tree of its own. */
export interface HookChange extends TreeChange {
  readonly hook: string;
  readonly iteration: number;
  /** Absolute path of the patch. */
  readonly file: string;
}

/** The subject of a hook's commit. Pure. */
export function hookSubject(hook: string, iteration: number): string {
  return `hook: ${hook} (iteration ${iteration})`;
}

/**
 * Brings a hook's changes into the working tree and commits them; where that cannot be, the patch is kept.
 *
 * @returns the patch that was kept, relative to the root, or `null`
 */
export async function applyChange(
  ralph: RalphContext,
  brief: Pick<Brief, "covers">,
  change: HookChange,
): Promise<string | null> {
  const { hook, iteration, file, paths } = change;
  const subject = hookSubject(hook, iteration);
  const guarded = rootPaths(ralph, paths).filter((path) => brief.covers(path));
  const applied = guarded.length > 0
    ? { status: "kept" as const, reason: `it changes protected files: ${guarded.join(", ")}` }
    : await applyTreeChange(ralph, requireRepository(ralph), change, subject);
  if (applied.status === "committed") ralph.events.emit({ type: "commit", commit: applied.commit, subject, hook });
  if (applied.status !== "kept") {
    await removePath(file);
    return null;
  }
  const kept = relative(ralph.root, await keepPatch(file)).replaceAll(sep, "/");
  const message = `${subject}: kept as ${kept}: ${applied.reason}`;
  ralph.events.emit({ type: "note", level: "warn", message, hook });
  return kept;
}

/**
 * Lets a hook work in the tree itself, between two iterations, and commits what it left there: never a path that was
 * dirty before. It restores the files that judge the run.
 */
export async function commitTreeChanges(
  ralph: RalphContext,
  { stateFiles, brief }: { readonly stateFiles: readonly string[]; readonly brief: Brief },
  { hook, subject }: { readonly hook: string; readonly subject: string },
  work: () => Promise<void>,
): Promise<void> {
  const repository = requireRepository(ralph);
  const before = await repository.snapshot();
  await work();
  await restoreBrief(brief);
  const { paths, now } = await repository.changedSince(before);
  const state = new Set(topLevelPaths(ralph, stateFiles));
  const warn = (message: string): void =>
    ralph.events.emit({ type: "note", level: "warn", message: `${subject}: ${message}`, hook });
  const left = paths.filter((path) => now.contents.has(path) && !state.has(path));
  const mixed = left.filter((path) => before.contents.has(path));
  if (mixed.length > 0) warn(`not committed, since they had changes before: ${mixed.join(", ")}`);
  const own = left.filter((path) => !before.contents.has(path));
  if (own.length === 0 || !ralph.config.commits.work) return;
  const result = await repository.commit({ paths: own, subject, hooks: true, known: now });
  if (result.status === "committed") ralph.events.emit({ type: "commit", commit: result.commit, subject, hook });
  if (result.status === "refused") warn(`a hook of the repository refused the commit:\n${result.output}`);
}

/** The file that holds a hook's changes until they are brought in. Pure. */
export function pendingPatch(logs: string, iteration: number, hook: string): string {
  return join(logs, `hook-iter${iteration}-${hook}${PENDING}`);
}

/** Keeps a patch for a person. @returns its path */
async function keepPatch(file: string): Promise<string> {
  const kept = join(dirname(file), `${basename(file, PENDING)}${KEPT}`);
  await renamePath(file, kept);
  return kept;
}

/**
 * Reports which changes of hooks a killed run did not bring in. They are kept: the tree has changed since.
 *
 * @param shared the folder of logs that every run shares, or `null` where each run's folder has its own
 * @param folder absolute path of this run's folder
 */
export async function reportLeftPatches(ralph: RalphContext, shared: string | null, folder: string): Promise<void> {
  const runs = dirname(folder);
  const folders = shared === null ? (await listDirectory(runs)).map((name) => join(runs, name)) : [shared];
  for (const one of folders) {
    for (const name of (await listDirectory(one)).filter((entry) => entry.endsWith(PENDING))) {
      const kept = relative(ralph.root, await keepPatch(join(one, name)));
      note(ralph, "warn", `a killed run did not bring in what a hook changed: \`git apply ${kept}\` does`);
    }
  }
}
