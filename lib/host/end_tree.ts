import { setTimeout as wait } from "node:timers/promises";
import { findProcess, listProcesses, outputOf, type ProcessEntry, processStart, readOrNull } from "./process_table.ts";
import { candidatePids, findCarriers, marksIn, signalProcess, type SweepSince, TREE_VARIABLE } from "./sweep.ts";
import process from "node:process";
import { loadLibC } from "./lib_c.ts";

/** Milliseconds between SIGTERM and SIGKILL. */
const GRACE_MS = 1000;

/** A child with all that came from it. */
export interface Tree {
  readonly pid: number;
  /** The child leads a group of its own. */
  readonly grouped: boolean;
  /** Its mark in the environment; `null` for a child that is not guarded. */
  readonly mark: string | null;
  readonly startedAt: number;
  /** When it began, as the process table has it; `null`: its orphans are not looked for. */
  readonly started: string | null;
  hasExited(): boolean;
}

/** How long what a finished child left behind may take to end by itself after a signal. */
const REST_GRACE_MS = 500;
const MAX_ROUNDS = 20;

/** Ends a child with every descendant, in sessions of their own too, and every carrier of its mark. */
export async function endTree(tree: Tree, graceMs: number): Promise<void> {
  if (process.platform === "win32") return void await outputOf("taskkill", ["/T", "/F", "/PID", String(tree.pid)]);
  await end(tree, descendantsOf(tree.pid, await listProcesses()), graceMs);
}

/** After the child's own end: what is left of its group, every carrier of its mark and every orphan is ended too. */
export async function endRest(tree: Tree): Promise<void> {
  if (process.platform === "win32" || tree.mark === null) return;
  const rest = [...await findCarriers(tree.mark, sinceOf(tree)), ...await orphansOf(tree)];
  if (await isAnyLeft(tree, rest)) await end(tree, rest, REST_GRACE_MS);
}

/** Ends every carrier of a mark. Returns how many were ended. */
export async function endCarriers(mark: string): Promise<number> {
  const found = await findCarriers(mark);
  const tree = { pid: 0, grouped: false, mark, startedAt: 0, started: null, hasExited: () => true };
  return Math.max(found.length, await end(tree, found, GRACE_MS));
}

/**
 * SIGTERM, so that a git among them takes its locks away, the grace, then SIGKILL to what is left and to all that came
 * meanwhile. Returns how many carriers and orphans the latter were.
 */
async function end(tree: Tree, noted: readonly ProcessEntry[], graceMs: number): Promise<number> {
  const apart = noted.filter(({ group }) => !tree.grouped || group !== tree.pid);
  signalAll(tree, apart, "SIGTERM");
  await until(async () => tree.hasExited() && !(await isAnyLeft(tree, apart)), graceMs);
  const now = await Promise.all(noted.map(({ pid }) => findProcess(pid)));
  signalAll(tree, noted.filter(({ started }, index) => now[index]?.started === started), "SIGKILL");
  const { mark } = tree;
  const ended = new Set<string>();
  for (let round = 0; mark !== null && round < MAX_ROUNDS; round++) {
    const left = [...await findCarriers(mark), ...await orphansOf(tree)];
    if (left.length === 0) break;
    for (const { pid } of left) signalProcess(pid, "SIGSTOP");
    for (const { pid, started } of left) if (signalProcess(pid, "SIGKILL")) ended.add(`${pid} ${started}`);
    await wait(1 << Math.min(round, 6));
  }
  return ended.size;
}

/** All stand still meanwhile: a shell whose command ends first would begin its next one. */
function signalAll(tree: Tree, noted: readonly ProcessEntry[], signal: NodeJS.Signals): void {
  for (const each of ["SIGSTOP", signal, "SIGCONT"] as const) {
    signalTree(tree, each);
    for (const { pid } of noted) signalProcess(pid, each);
  }
}

function signalTree({ pid, grouped, hasExited }: Tree, signal: NodeJS.Signals): void {
  if (grouped) signalProcess(-pid, signal);
  else if (!hasExited()) signalProcess(pid, signal);
}

async function orphansOf({ mark, started }: Tree): Promise<readonly ProcessEntry[]> {
  return mark === null || started === null ? [] : await orphansSince(started, mark);
}

function descendantsOf(pid: number, all: readonly ProcessEntry[]): readonly ProcessEntry[] {
  const found = all.filter(({ parent }) => parent === pid);
  for (const { pid } of found) found.push(...all.filter(({ parent }) => parent === pid)); // grows while it is walked
  return found;
}

/** A zombie that is never collected answers to a signal too, so the list is asked when the group answers. */
async function isAnyLeft(tree: Tree, noted: readonly ProcessEntry[]): Promise<boolean> {
  const answers = tree.grouped && signalProcess(-tree.pid, 0);
  for (const { pid, started } of noted) if ((await findProcess(pid))?.started === started) return true;
  return answers && (await listProcesses(candidatePids(sinceOf(tree)))).some(({ group }) => group === tree.pid);
}

/** Whatever is in a tree started after its child. */
function sinceOf({ pid, startedAt }: Tree): SweepSince {
  return { pid, ageMs: performance.now() - startedAt };
}

async function until(condition: () => Promise<boolean>, limitMs: number): Promise<void> {
  const deadline = performance.now() + limitMs;
  for (let pause = 2; !(await condition()) && performance.now() < deadline; pause = Math.min(pause * 2, 64)) {
    await wait(Math.min(pause, Math.max(1, deadline - performance.now())));
  }
}

/** A process that an earlier Ralph started and could not end. */
export interface LeftOver {
  readonly pid: number;
  /** The start that `processStart()` returned for it then: another process with the same pid is left alone. */
  readonly started: string;
}

/** Ends a process that was left over, with its group and its descendants. False when it runs no more. */
export async function endLeftOver({ pid, started }: LeftOver): Promise<boolean> {
  if (await processStart(pid) !== started) return false;
  const hasExited = (): boolean => !signalProcess(pid, 0);
  await endTree(
    { pid, grouped: process.platform !== "win32", mark: null, startedAt: performance.now(), started: null, hasExited },
    GRACE_MS,
  );
  return true;
}

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
async function orphansSince(started: string, mark: string): Promise<readonly ProcessEntry[]> {
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
  const all = found.length === 0 ? [] : await listProcesses();
  return found.flatMap((entry) => [entry, ...descendantsOf(entry.pid, all)]);
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
