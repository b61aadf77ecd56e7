import { join } from "node:path";
import { removePath } from "../host/files.ts";
import { FROM_INPUT, outputFrom } from "./run_git.ts";
import { saveTree } from "./own_index.ts";
import type { HeadNow, Repository } from "./types.ts";

/** What a turn must leave in place. */
export interface HistoryLine {
  /** The branch before the turn; `null`: HEAD was detached, and may be. */
  readonly branch: string | null;
  /** HEAD before the turn; `null` before the first commit. */
  readonly head: string | null;
  /** The last commit that was made by Ralph or verified: HEAD must descend from it. */
  readonly floor: string | null;
}

/** The turn rewrote what it was given; the branch is as it was before. */
export interface HistoryRewritten {
  readonly status: "history-rewritten";
  readonly message: string;
}

type Guarded = Pick<Repository, "git" | "status" | "gitDirectory" | "topLevel">;

/**
 * History only grows: after a turn HEAD is on the same branch and descends from the last commit that was made by Ralph
 * or verified. Otherwise the branch goes back to where it was, and what the turn committed stays under
 * `refs/ralph/lost/<attempt>`.
 *
 * @param attempt names the refs of what is lost
 * @returns `null` where nothing was rewritten
 * @throws {RalphError} git-failed
 */
export async function guardHistory(
  repository: Guarded,
  line: HistoryLine,
  now: HeadNow,
  attempt: string,
): Promise<HistoryRewritten | null> {
  const strayed = line.branch !== null && now.branch !== line.branch;
  if (!strayed && (now.head === line.head || await descends(repository, line.floor, now.head))) return null;
  const lost = await keepLost(repository, now.head, attempt);
  await goBack(repository, line, now, attempt);
  const what = strayed
    ? `the turn ended on ${
      now.branch === null ? "a detached HEAD" : `the branch ${now.branch}`
    } instead of ${line.branch}`
    : `the turn rewrote history: ${(line.floor ?? "").slice(0, 10)} was no longer part of it`;
  const kept = lost === null ? "" : `; what it committed is kept as ${lost}`;
  const where = line.branch === null ? "HEAD" : `the branch ${line.branch}`;
  const message = `${what}${kept}. ${where} is as it was before the turn: only add commits to it`;
  return { status: "history-rewritten", message };
}

async function descends({ git }: Guarded, floor: string | null, head: string | null): Promise<boolean> {
  if (floor === null) return true;
  return head !== null && (await git(["merge-base", "--is-ancestor", floor, head])).exitCode === 0;
}

async function keepLost(repository: Guarded, commit: string | null, name: string): Promise<string | null> {
  if (commit === null) return null;
  const ref = `refs/ralph/lost/${name}`;
  await outputFrom(repository, ["update-ref", ref, commit]);
  return ref;
}

/** The tree goes along; local changes stay where they are not in the way, and are kept as a commit where they are. */
async function goBack(repository: Guarded, line: HistoryLine, now: HeadNow, attempt: string): Promise<void> {
  const branch = line.branch === null ? null : `refs/heads/${line.branch}`;
  const target = await targetOf(repository, line, now, attempt);
  if (target === null) {
    if (branch !== null) await outputFrom(repository, ["symbolic-ref", "HEAD", branch]);
    await outputFrom(repository, ["read-tree", "--empty"]);
    return;
  }
  await outputFrom(repository, ["update-ref", "--no-deref", "HEAD", now.head ?? target]);
  const keep = ["reset", "--quiet", "--keep", target];
  if (now.head === null || (await repository.git(keep)).exitCode !== 0) {
    await saveTree(repository, `refs/ralph/lost/${attempt}-tree`, now.head);
    await clearTheWay(repository, now.head, target);
    if ((await repository.git(keep)).exitCode !== 0) await outputFrom(repository, ["reset", "--quiet", target]);
  }
  if (branch === null) return;
  await outputFrom(repository, ["update-ref", "-m", "ralph: as before the turn", branch, target]);
  await outputFrom(repository, ["symbolic-ref", "HEAD", branch]);
}

/** A branch that the turn only left may have grown; one that it moved goes back. */
async function targetOf(
  repository: Guarded,
  line: HistoryLine,
  now: HeadNow,
  attempt: string,
): Promise<string | null> {
  if (line.branch === null || line.branch === now.branch) return line.head;
  const found = await repository.git(["rev-parse", "--verify", "--quiet", `refs/heads/${line.branch}^{commit}`]);
  const tip = found.exitCode === 0 ? found.stdout.trim() : null;
  if (tip !== null && await descends(repository, line.floor, tip)) return tip;
  if (tip !== now.head) await keepLost(repository, tip, `${attempt}-branch`);
  return line.head;
}

/** Takes away the local changes of what differs between both commits, once they are saved. */
async function clearTheWay(repository: Guarded, from: string | null, target: string): Promise<void> {
  if (from === null) return void await outputFrom(repository, ["reset", "--quiet", "--hard", target]);
  const names = await outputFrom(repository, ["diff-tree", "-r", "-z", "--name-only", "--no-renames", from, target]);
  const differing = new Set(names.split("\0"));
  const changed = (await repository.status()).changed.map(({ path }) => path).filter((path) => differing.has(path));
  if (changed.length === 0) return;
  const tree = await outputFrom(repository, ["ls-tree", "-r", "-z", "--name-only", "--full-tree", from]);
  const known = new Set(tree.split("\0"));
  await outputFrom(repository, ["reset", "--quiet", ...FROM_INPUT], { input: changed.join("\0") });
  const tracked = changed.filter((path) => known.has(path));
  if (tracked.length > 0) {
    await outputFrom(repository, ["checkout", "--quiet", ...FROM_INPUT], { input: tracked.join("\0") });
  }
  for (const path of changed) if (!known.has(path)) await removePath(join(repository.topLevel, path));
}
