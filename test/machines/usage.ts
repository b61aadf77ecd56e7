/** The resources that processes use, as Linux has it in /proc. A process that has ended has used nothing. */
import { readdirSync, readFileSync } from "node:fs";

/** Ticks of a second, the same on every Linux that programs see. */
const TICKS = 100;

/** Seconds of CPU. */
export interface Cpu {
  readonly own: number;
  /** The usage of the children that it has waited for. */
  readonly children: number;
}

export function cpuOf(pid: number): Cpu {
  const [user = 0, system = 0, children = 0, childrenSystem = 0] = statOf(pid).slice(11, 15).map(Number);
  return { own: (user + system) / TICKS, children: (children + childrenSystem) / TICKS };
}

/** Its own, and that of all children: those that have ended and those that live. */
export function cpuOfTree(pid: number): number {
  const { own, children } = cpuOf(pid);
  return own + children + sum(childrenOf(pid).map((child) => cpuOf(child).own + cpuOf(child).children));
}

/** The most memory that it has had at once, in MiB. */
export function peakMiB(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0) / 1024;
}

/** The memory that no other process shares, in MiB. */
export function privateMiB(pid: number): number {
  const text = textOf(`/proc/${pid}/smaps_rollup`);
  return sum([...text.matchAll(/^Private_\w+:\s+(\d+)/gm)].map(([, kib]) => Number(kib))) / 1024;
}

export function childrenOf(pid: number): readonly number[] {
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number);
  return all.filter((one) => Number(statOf(one)[1]) === pid);
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function statOf(pid: number): readonly string[] {
  return textOf(`/proc/${pid}/stat`).replace(/^.*\) /s, "").split(" ");
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // it has ended
  }
}
