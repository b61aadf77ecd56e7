import type { Bench } from "./bench.ts";
import type { Canaries } from "./canaries.ts";
import type { Question } from "./commits.ts";

/** The checks take much longer with the work than before it, and experiments that judge them had no time left. */
export interface Slower {
  /** The experiments. */
  readonly left: readonly string[];
  /** Milliseconds of one run of all checks. */
  readonly beforeMs: number;
  readonly nowMs: number;
}

interface Tried {
  readonly canaries: Canaries | null;
  readonly left: readonly string[];
  /** Milliseconds that the checks took at HEAD. */
  readonly checkMs: number;
  /** The longest that the checks before the work are waited for: slower ones never left time for more. */
  readonly mostMs: number;
}

/** More than so many times as long is much longer, if it is more than a second too. */
const MUCH = 2;
const SECOND = 1000;

/**
 * Work that slows its checks down leaves no time to find out whether they can fail. A suite that was as slow before the
 * work is no reason to doubt it, nor is one of which a test was seen to fail.
 */
export async function slower(question: Question, bench: Bench, tried: Tried): Promise<Slower | null> {
  const { canaries, checkMs, mostMs } = tried;
  const isOpen = canaries?.files.every(({ status }) => status === "no evidence") ?? true;
  const left = tried.left.filter((name) => name === "old judges" || (name === "canaries" && isOpen));
  if (left.length === 0) return null;
  const { slowestMs: nowMs = checkMs } = bench.cost; // the first run of all may have filled caches
  const limitMs = Math.min(nowMs / MUCH, nowMs - SECOND, mostMs);
  const beforeMs = limitMs > 0 ? await bench.time(question.base, limitMs) : null;
  return beforeMs === null ? null : { left, beforeMs, nowMs };
}
