import { join } from "node:path";
import { readText } from "../host/files.ts";

/** Where HEAD points, read from the git directory without a process. */
export interface Head {
  /** Full name of the ref, such as `refs/heads/main`; `null` when HEAD is detached or cannot be read so. */
  readonly ref: string | null;
  /** The commit, when it is in a file of its own, as it does right after a commit. */
  readonly commit: string | null;
}

const COMMIT_REGEXP = /^[0-9a-f]{40,64}$/;

/** Reads HEAD of a worktree. */
export async function readHead(gitDirectory: string, commonDirectory: string): Promise<Head> {
  const text = (await readText(join(gitDirectory, "HEAD")))?.trim() ?? "";
  if (COMMIT_REGEXP.test(text)) return { ref: null, commit: text };
  const ref = /^ref: (refs\/.+)$/.exec(text)?.[1];
  if (ref === undefined || ref.includes("..")) return { ref: null, commit: null };
  const commit = (await readText(join(commonDirectory, ref)))?.trim() ?? "";
  return { ref, commit: COMMIT_REGEXP.test(commit) ? commit : null };
}
