import type { ZodType } from "zod";
import { signalsOf } from "../../backlog/signals.ts";
import type { Claim, Turn } from "../../backlog/types.ts";

/** The agent's last signal: a claim, never more. */
export interface Signal {
  readonly kind: "PLAN_COMPLETE" | "TASK_FAILED" | "PLAN_FAILED" | "BLOCKED";
  /** May hold `#` itself. */
  readonly payload: string;
}

const KINDS = ["PLAN_COMPLETE", "TASK_FAILED", "PLAN_FAILED", "BLOCKED"] as const;

/** The last signal among the lines of an agent's output; PLAN_COMPLETE needs the nonce, or the last line. Pure. */
export function lastSignal(lines: readonly string[], nonce: string): Signal | null {
  const found = signalsOf(lines, nonce).findLast(({ form, name, counts }) =>
    form === "hashes" && KINDS.some((kind) => kind === name) && (name !== "PLAN_COMPLETE" || counts)
  );
  return found === undefined ? null : { kind: found.name as Signal["kind"], payload: found.value };
}

/** The agent's last signal, and whether only a SUMMARY had been asked for. */
export interface GsdFindings {
  readonly signal: Signal | null;
  readonly summaryOnly: boolean;
}

/** Loaded only where findings come from another machine. */
export async function gsdFindings(): Promise<ZodType<GsdFindings>> {
  const { z } = await import("zod");
  const signal = z.object({ kind: z.enum(KINDS), payload: z.string() });
  return z.object({ signal: signal.nullable(), summaryOnly: z.boolean() });
}

const NONE = "the agent gave no signal: no line `###PLAN_COMPLETE###`";
/** A signal that is there and does not count is not missing: an agent that reads that repeats its mistake. */
const UNCOUNTED =
  "the line `###PLAN_COMPLETE###` lacks its nonce and is not the last line: print it as the prompt shows it";

/** A turn claims its last signal. Only an interactive turn, or one that had to write a SUMMARY, needs none. Pure. */
export function claimOf(
  { lines }: Pick<Turn, "lines">,
  { nonce, ...asked }: { readonly nonce: string } & Readonly<Record<"interactive" | "summaryOnly", boolean>>,
): Claim<GsdFindings> {
  const signal = lastSignal(lines, nonce);
  const findings = { signal, summaryOnly: asked.summaryOnly };
  const hasUncounted = signalsOf(lines, nonce).some(({ form, name }) => form === "hashes" && name === "PLAN_COMPLETE");
  switch (signal?.kind) {
    case "PLAN_COMPLETE":
      return { status: "done", findings };
    case "TASK_FAILED":
    case "PLAN_FAILED": {
      const what = signal.kind === "TASK_FAILED" ? "a task" : "the plan's verification";
      return { status: "failed", reason: `the agent says that ${what} failed: ${signal.payload}`, findings };
    }
    case "BLOCKED":
      return { status: "blocked", reason: `the agent is blocked: ${signal.payload}`, findings };
    case undefined:
      // The output of a terminal session is not read; after a verified plan only its SUMMARY was asked for.
      if (asked.interactive || asked.summaryOnly) return { status: "done", findings };
      return { status: "not-done", reason: hasUncounted ? UNCOUNTED : NONE, findings };
  }
}
