import { signalsOf } from "../../backlog/signals.ts";

/** What the agent signalled last: a claim, never more. */
export interface Signal {
  readonly kind: "PLAN_COMPLETE" | "TASK_FAILED" | "PLAN_FAILED" | "BLOCKED";
  /** May hold `#` itself. */
  readonly payload: string;
}

const KINDS: readonly string[] = ["PLAN_COMPLETE", "TASK_FAILED", "PLAN_FAILED", "BLOCKED"];

/** The last signal among the lines of an agent's output; PLAN_COMPLETE needs the nonce, or the last line. Pure. */
export function lastSignal(lines: readonly string[], nonce: string): Signal | null {
  const found = signalsOf(lines, nonce).findLast(({ form, name, counts }) =>
    form === "hashes" && KINDS.includes(name) && (name !== "PLAN_COMPLETE" || counts)
  );
  return found === undefined ? null : { kind: found.name as Signal["kind"], payload: found.value };
}
