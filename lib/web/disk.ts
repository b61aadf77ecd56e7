import { join } from "node:path";
import { RalphError } from "../errors/ralph_error.ts";
import { createGit } from "../git/run_git.ts";
import { readEnd } from "../host/read_end.ts";
import { resolveInside } from "../host/files.ts";
import type { Host } from "../host/types.ts";

/** A transcript's end that is shown. */
const TRANSCRIPT_BYTES = 256 * 1024;
const DIFF_BYTES = 200 * 1024;
const DIFF_LINES = 800;
const KEPT = 200;
const HASH_REGEXP = /^[0-9a-f]{7,64}$/;

const commits = new Map<string, string | null>();

/** The changes of a commit, shortened; `null` where git does not have it. A commit never changes: it is read once. */
export async function readCommit(host: Host, root: string, commit: string): Promise<string | null> {
  if (!HASH_REGEXP.test(commit)) return null;
  const key = `${root}\0${commit}`;
  const known = commits.get(key);
  if (known !== undefined) return known;
  const show = ["show", "--format=", "--stat", "--patch", "--no-color", "--no-ext-diff", "--no-textconv", commit, "--"];
  const end = await createGit(host, root)(show, { maxBytes: DIFF_BYTES });
  const lines = end.stdout.trimStart().split("\n");
  const cut = lines.length > DIFF_LINES
    ? [...lines.slice(0, DIFF_LINES), `… ${lines.length - DIFF_LINES} more lines`]
    : lines;
  const diff = end.exitCode === 0 ? cut.join("\n") : null;
  if (commits.size >= KEPT) commits.delete(commits.keys().next().value as string);
  commits.set(key, diff);
  return diff;
}

/**
 * The end of a turn's transcript; `null` where there is none. The events name it, and they lie where agents can write: no
 * path leads out of the project or the run's folder.
 */
export async function readTranscript(
  root: string,
  folder: string,
  path: string,
): Promise<{ readonly text: string; readonly isWhole: boolean } | null> {
  try {
    const inside = await resolveInside(root, path);
    if (!inside.startsWith(join(folder, "/")) && !/\.(?:log|jsonl|txt)$/.test(inside)) return null;
    return readEnd(inside, TRANSCRIPT_BYTES);
  } catch (error) {
    if (RalphError.isInstance(error)) return null;
    throw error;
  }
}
