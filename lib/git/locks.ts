import { dirname, join } from "node:path";
import { RalphError } from "../errors/ralph_error.ts";
import { listDirectory, modifiedAt, removePath } from "../host/files.ts";
import { isRunningIn } from "../host/process_table.ts";
import type { Host } from "../host/types.ts";
import { readHead } from "./run_git.ts";
import { type DeadIntent, deadIntents } from "./intent.ts";
import type { GitFolders } from "./repository.ts";

/** Refs that Ralph's own git writes around a commit. */
const OWN_REFS: readonly string[] = ["refs/ralph/fold", "refs/ralph/work"];

const NEXT_INDEX_REGEXP = /^next-index-\d+\.lock$/;

const WAIT_MS = 5000;
const PAUSE_MS = 50;
/** A lock that was not touched for so long, with no git at work, has no holder. */
const SETTLED_MS = 500;
/** File systems keep times more coarsely than the clock. */
const COARSE_MS = 2000;

/**
 * Waits until no lock file is in the way of a commit. Ralph removes the lock of its own killed commit if no git works
 * under it any more; its git, if it still works, and another program's lock are waited for and never touched.
 *
 * @throws {RalphError} git-locked
 */
export async function clearLocks(host: Host, folders: GitFolders): Promise<void> {
  let waited = 0;
  const dead = await deadIntents(folders.ralphDirectory);
  for (let lock = await findLock(folders); lock !== null; lock = await findLock(folders)) {
    if (await isLeftOver(lock, dead)) {
      await removePath(lock.path);
      continue;
    }
    if (waited >= WAIT_MS) {
      throw new RalphError("git-locked", { details: { path: lock.path, owner: ownerOf(folders) } });
    }
    await host.clock.sleep(PAUSE_MS);
    waited += PAUSE_MS;
  }
  for (const beside of dead.length === 0 ? [] : await timed(await locksBeside(folders))) {
    if (await isLeftOver(beside, dead)) await removePath(beside.path);
  }
  for (const intent of dead) {
    // It may still move HEAD; and an intent that stays would lay claim to a later lock of another program.
    for (; waited < WAIT_MS && (await intent.isGitRunning()); waited += PAUSE_MS) await host.clock.sleep(PAUSE_MS);
    if (!(await intent.isGitRunning())) await intent.forget();
  }
}

/**
 * Takes away the locks that the git of an ended agent left: git that gets a signal leaves one where it was about to note
 * it. Only a lock that is not older than `since`, that stays as it is for a moment, and while no git works in this
 * working tree; where the system does not report that, none.
 */
export async function clearLeftLocks(host: Host, folders: GitFolders, topLevel: string, since: number): Promise<void> {
  const find = async (): Promise<Lock | null> => {
    const beside = await timed(await locksBeside(folders));
    return await findLock(folders) ?? beside.find(({ modifiedAt: at }) => at >= since - COARSE_MS) ?? null;
  };
  for (let lock = await find(); lock !== null; lock = await find()) {
    if (lock.modifiedAt < since - COARSE_MS) return;
    await host.clock.sleep(SETTLED_MS);
    const again = await find();
    if (again?.path !== lock.path || again.modifiedAt !== lock.modifiedAt) continue;
    if (isRunningIn("git", topLevel) !== false || isRunningIn("git", folders.commonDirectory) !== false) return;
    await removePath(lock.path);
  }
}

/** Only where the system says so: a lock without a git at work was left behind. */
function ownerOf({ commonDirectory, gitDirectory }: GitFolders): string {
  const places = new Set([dirname(commonDirectory), commonDirectory, gitDirectory]);
  return [...places].every((place) => isRunningIn("git", place) === false)
    ? "no git is at work here, so that it was left behind"
    : "another git process holds it";
}

interface Lock {
  readonly path: string;
  /** Milliseconds since 1970. */
  readonly modifiedAt: number;
}

async function findLock(folders: GitFolders): Promise<Lock | null> {
  const { ref } = await readHead(folders);
  const paths = ["index.lock", "HEAD.lock"].map((name) => join(folders.gitDirectory, name));
  if (ref !== null) paths.push(join(folders.commonDirectory, `${ref}.lock`));
  for (const folder of OWN_REFS) {
    const there = join(folders.commonDirectory, folder);
    const locks = (await listDirectory(there)).filter((name) => name.endsWith(".lock"));
    paths.push(...locks.map((name) => join(there, name)));
  }
  return (await timed(paths))[0] ?? null;
}

/**
 * Locks that are in the way of no commit: of `git commit --only`, each with the number of its process, and what all
 * refs share while git deletes one. Locks that a killed git left stay for ever, and the second kind stops the next
 * deletion.
 */
async function locksBeside({ gitDirectory, commonDirectory }: GitFolders): Promise<readonly string[]> {
  const names = (await listDirectory(gitDirectory)).filter((name) => NEXT_INDEX_REGEXP.test(name));
  return [...names.map((name) => join(gitDirectory, name)), join(commonDirectory, "packed-refs.lock")];
}

/** The locks that are there. */
async function timed(paths: readonly string[]): Promise<readonly Lock[]> {
  const found = await Promise.all(paths.map(async (path) => ({ path, modifiedAt: await modifiedAt(path) })));
  return found.filter((lock): lock is Lock => lock.modifiedAt !== null);
}

async function isLeftOver(lock: Lock, dead: readonly DeadIntent[]): Promise<boolean> {
  for (const intent of dead) {
    if (lock.modifiedAt >= intent.since - COARSE_MS && !(await intent.isGitRunning())) return true;
  }
  return false;
}
