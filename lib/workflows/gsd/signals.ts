/** What the agent signalled last: a claim, never more. */
export interface Signal {
  readonly kind: "PLAN_COMPLETE" | "TASK_FAILED" | "PLAN_FAILED" | "BLOCKED";
  /** May hold `#` itself. */
  readonly payload: string;
}

const SIGNAL_REGEXP = /^###\s*(PLAN_COMPLETE|TASK_FAILED|PLAN_FAILED|BLOCKED)(?:\s*:\s*(.*?))?\s*###$/s;

/** The last signal among the lines of an agent's words: what it says after a signal does not matter. Pure. */
export function lastSignal(lines: readonly string[]): Signal | null {
  for (const line of lines.toReversed()) {
    const [, kind, payload = ""] = SIGNAL_REGEXP.exec(line) ?? [];
    if (kind !== undefined) return { kind: kind as Signal["kind"], payload };
  }
  return null;
}
