import { setTimeout as wait } from "node:timers/promises";
import { findProcess, listProcesses, outputOf, type ProcessEntry, processStart } from "./process_table.ts";
import { orphansSince } from "./subreaper.ts";
import { findCarriers, signalProcess } from "./sweep.ts";

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
  const since = { pid: tree.pid, ageMs: performance.now() - tree.startedAt };
  const rest = [...await findCarriers(tree.mark, since), ...await orphansOf(tree)];
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
  signalTree(tree, "SIGTERM");
  const apart = noted.filter(({ group }) => !tree.grouped || group !== tree.pid);
  for (const { pid } of apart) signalProcess(pid, "SIGTERM");
  await until(async () => tree.hasExited() && !(await isAnyLeft(tree, apart)), graceMs);
  signalTree(tree, "SIGKILL");
  for (const entry of noted) {
    if ((await findProcess(entry.pid))?.started === entry.started) signalProcess(entry.pid, "SIGKILL");
  }
  const { mark } = tree;
  const ended = new Set<string>();
  for (let round = 0; mark !== null && round < MAX_ROUNDS; round++) {
    const left = [...await findCarriers(mark), ...await orphansOf(tree)];
    if (left.length === 0) break;
    for (const { pid, started } of left) if (signalProcess(pid, "SIGKILL")) ended.add(`${pid} ${started}`);
    await wait(1 << Math.min(round, 6));
  }
  return ended.size;
}

function signalTree({ pid, grouped, hasExited }: Tree, signal: NodeJS.Signals): void {
  if (grouped) signalProcess(-pid, signal);
  else if (!hasExited()) signalProcess(pid, signal);
}

async function orphansOf({ mark, started }: Tree): Promise<readonly ProcessEntry[]> {
  return mark === null || started === null ? [] : await orphansSince(started, mark);
}

function descendantsOf(pid: number, all: readonly ProcessEntry[]): readonly ProcessEntry[] {
  const found: ProcessEntry[] = [];
  const parents = [pid];
  for (let parent = parents.pop(); parent !== undefined; parent = parents.pop()) {
    for (const entry of all) {
      if (entry.parent !== parent) continue;
      found.push(entry);
      parents.push(entry.pid);
    }
  }
  return found;
}

/** A zombie that is never collected answers to a signal too, so the list is asked when the group answers. */
async function isAnyLeft(tree: Tree, noted: readonly ProcessEntry[]): Promise<boolean> {
  const answers = tree.grouped && signalProcess(-tree.pid, 0);
  if (!answers && noted.length === 0) return false;
  const all = await listProcesses();
  return all.some((entry) => tree.grouped && entry.group === tree.pid) ||
    noted.some(({ pid, started }) => all.some((entry) => entry.pid === pid && entry.started === started));
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
