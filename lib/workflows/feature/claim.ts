import { plain, textsOf, tryJson } from "../plain.ts";
import { onOneLine } from "../../prompts/render.ts";
import type { ZodType } from "zod";
import { saysPassing, signalsOf } from "../../backlog/signals.ts";

/** An agent's signals say this beside done or not done. Plain JSON. */
export interface FeatureFindings {
  /** For the agents that come after. */
  readonly learnings: readonly string[];
  /** Ids of stories to be done again, as they were written. */
  readonly reset: readonly string[];
  /** Why, all reasons in one text; "" without one. */
  readonly reason: string;
}

/** All that the signal lines of a turn say. */
export interface FeatureSignals extends FeatureFindings {
  readonly done: boolean;
  readonly verified: boolean;
}

/** Loaded only where findings come from another machine. */
export async function featureFindings(): Promise<ZodType<FeatureFindings>> {
  const { z } = await import("zod");
  return z.object({ learnings: z.array(z.string()), reset: z.array(z.string()), reason: z.string() });
}

/**
 * Reads the signals of the feature workflow from lines that can be signals: LEARNING, RESET and REASON wherever they are,
 * DONE and VERIFIED with the attempt's nonce or as the last line.
 *
 * @example A review that sends two stories back
 * ```ts
 * import { featureSignals } from "ralph/feature";
 *
 * console.log(featureSignals(["<ralph>RESET:US-001, US-003</ralph>"]).reset); // [ "US-001", "US-003" ]
 * ```
 */
export function featureSignals(lines: readonly string[], nonce = ""): FeatureSignals {
  const found = signalsOf(lines, nonce).filter(({ form }) => form === "ralph");
  const valuesOf = (name: string): readonly string[] =>
    found.filter((signal) => signal.name === name && signal.value !== "").map(({ value }) => value);
  return {
    done: saysPassing(lines, nonce, "DONE"),
    verified: saysPassing(lines, nonce, "VERIFIED"),
    learnings: valuesOf("LEARNING"),
    reset: [...new Set(valuesOf("RESET").flatMap((value) => value.split(/[,\s]+/)).filter((id) => id !== ""))],
    reason: valuesOf("REASON").join("; "),
  };
}

/** The run's block with learnings that are new, whatever their case and white space; nothing where none is. Pure. */
export function learningsChange(
  before: readonly string[],
  more: readonly string[],
): { readonly learnings?: readonly string[] } {
  const byKey = new Map(before.map((text) => [onOneLine(text).toLowerCase(), text]));
  for (const text of more.map(onOneLine)) {
    if (text !== "" && !byKey.has(text.toLowerCase())) byKey.set(text.toLowerCase(), text);
  }
  const fresh = [...byKey.values()].filter((text) => !before.includes(text));
  return fresh.length === 0 ? {} : { learnings: [...before, ...fresh] };
}

/** Learnings that an agent wrote into prd.json manually: they count like a signal. */
export function learningsByHand(found: string | null, written: string): readonly string[] {
  const before = new Set(learningsOf(written));
  return found === null ? [] : learningsOf(found).filter((text) => !before.has(text));
}

/** A manual edit that broke the file is restored, and nothing in it counts. */
function learningsOf(text: string): readonly string[] {
  return textsOf(plain(plain(tryJson(text))["run"])["learnings"]);
}
