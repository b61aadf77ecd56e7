import process from "node:process";
import { loadLibC } from "./lib_c.ts";
import { findProcess, listProcesses, type ProcessEntry, readOrNull } from "./process_table.ts";
import { marksIn, TREE_VARIABLE } from "./sweep.ts";

/** The functions of the C library that are called. */
interface LibC {
  prctl(option: number, value: number, third: number, fourth: number, fifth: number): number;
  waitpid(pid: number, status: null, options: number): number;
}

const SET_CHILD_SUBREAPER = 36;
const NO_HANG = 1;
const REAP_EVERY_MS = 10_000;
/** A runtime collects its own children sooner. */
const UNCOLLECTED_MS = 1000;

/** Pids of children that this program itself follows or must leave alone. */
const followed = new Set<number>();
const uncollected = new Map<string, number>();
let libC: LibC | null | undefined;

/**
 * Makes orphaned descendants children of this process, whatever they did to their session and their environment. Under
 * Bun on Linux only; elsewhere they become children of `init` and look like any other process.
 *
 * @returns whether it holds
 */
export function becomeSubreaper(): boolean {
  if (libC !== undefined) return libC !== null;
  libC = null;
  const loaded = loadLibC<LibC>({
    prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" },
    waitpid: { args: ["i32", "ptr", "i32"], returns: "i32" },
  });
  if (loaded === null || loaded.prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0) !== 0) return false;
  libC = loaded;
  const timer = setInterval(() => collect(unfollowed()), REAP_EVERY_MS);
  timer.unref();
  return true;
}

/** A child that is followed to its end, and is no orphan. */
export function follow(pid: number): Disposable {
  followed.add(pid);
  return { [Symbol.dispose]: () => void followed.delete(pid) };
}

/**
 * Orphans, with their descendants, that came since a child began and carry no other child's mark. A process that shares
 * this program's process group was started by a library, not orphaned.
 *
 * @param started when the child began, as the process table has it
 */
export async function orphansSince(started: string, mark: string): Promise<readonly ProcessEntry[]> {
  if (libC === undefined || libC === null) return [];
  const found: ProcessEntry[] = [];
  const pids = unfollowed();
  if (pids.length === 0) return found;
  collect(pids);
  const own = (await findProcess(process.pid))?.group;
  for (const pid of pids) {
    const entry = await findProcess(pid);
    if (entry === null || entry.group === own || Number(entry.started) < Number(started)) continue;
    if (!carriesOther(pid, mark)) found.push(entry);
  }
  if (found.length === 0) return found;
  const all = await listProcesses();
  for (const { pid } of found) found.push(...all.filter(({ parent }) => parent === pid)); // grows while it is walked
  return found;
}

/** Orphans that have ended stay in the process table until their end is collected. */
function collect(children: readonly number[]): void {
  const now = performance.now();
  const pids = new Set<string>();
  for (const pid of children) {
    const stat = readOrNull(`/proc/${pid}/stat`) ?? "";
    const [state, , , ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state !== "Z") continue;
    const key = `${pid} ${rest[16]}`;
    pids.add(key);
    const since = uncollected.get(key) ?? now;
    uncollected.set(key, since);
    if (now - since >= UNCOLLECTED_MS) libC?.waitpid(pid, null, NO_HANG);
  }
  for (const key of uncollected.keys()) if (!pids.has(key)) uncollected.delete(key);
}

/** Children that are not followed here. The kernel gives orphans to a program's first thread, and the runtime forks there. */
function unfollowed(): readonly number[] {
  const list = readOrNull(`/proc/self/task/${process.pid}/children`) ?? "";
  return list.split(" ").filter((pid) => pid !== "").map(Number).filter((pid) => !followed.has(pid));
}

function carriesOther(pid: number, mark: string): boolean {
  const token = mark.slice(0, mark.lastIndexOf("."));
  return marksIn(readOrNull(`/proc/${pid}/environ`), TREE_VARIABLE).some((one) =>
    one.startsWith(`${token}.`) && one !== mark
  );
}
