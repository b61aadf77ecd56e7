import { relative } from "node:path";
import type { Brief } from "../checks/brief/types.ts";
import { requireRepository } from "../git/require_repository.ts";
import type { RalphContext } from "../context/context.ts";
import { rootPaths } from "../git/tree_paths.ts";
import { applyPatch } from "../git/worktree.ts";
import { removePath } from "../host/files.ts";
import { keepPatch } from "./left.ts";

/** What a hook changed in a tree of its own. */
export interface HookChange {
  readonly hook: string;
  readonly iteration: number;
  /** Absolute path of the patch. */
  readonly file: string;
  /** Relative to the top level. */
  readonly paths: readonly string[];
}

/** The subject of a hook's commit. Pure. */
export function hookSubject(hook: string, iteration: number): string {
  return `hook: ${hook} (iteration ${iteration})`;
}

/** Brings a hook's changes into the working tree and commits them; where that cannot be, the patch is kept. */
export async function applyChange(
  ralph: RalphContext,
  brief: Pick<Brief, "covers">,
  { hook, iteration, file, paths }: HookChange,
): Promise<void> {
  const subject = hookSubject(hook, iteration);
  const guarded = rootPaths(ralph, paths).filter((path) => brief.covers(path));
  const applied = guarded.length > 0
    ? { status: "kept" as const, reason: `it changes protected files: ${guarded.join(", ")}` }
    : await applyPatch(ralph, requireRepository(ralph), { file, paths, subject });
  if (applied.status === "committed") ralph.events.emit({ type: "commit", commit: applied.commit, subject });
  if (applied.status !== "kept") return await removePath(file);
  const message = `${subject}: kept as ${relative(ralph.root, await keepPatch(file))}: ${applied.reason}`;
  ralph.events.emit({ type: "note", level: "warn", message });
}
