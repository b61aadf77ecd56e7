import { RalphError } from "../errors/ralph_error.ts";

/** A gate hands this to its loop: `auto` counts items taken up, a number counts agent turns. */
export interface IterationCap {
  /** Items taken up; retries come on top. */
  readonly maxItems?: number;
  /** Agent turns. */
  readonly maxIterations?: number;
}

/** A cap with how it came about, for a person. */
export interface ComputedCap {
  readonly cap: IterationCap;
  /** `null`: no limit. */
  readonly count: number | null;
  readonly explained: string;
}

/**
 * The cap of a loop.
 *
 * @param asked `auto`, or agent turns
 * @param found what `auto` comes to, with the words for it; `null` when it is not known
 * @param option the option's name in an error and in the explanation
 * @throws {RalphError} option-invalid
 */
export function iterationCap(
  asked: "auto" | number,
  found: {
    readonly count: number | null;
    readonly counted: string;
    /** Turns that one item may take, retries and what a final check sends back included; absent: not known. */
    readonly turnsEach?: number;
  },
  option: string,
): ComputedCap {
  if (asked !== "auto") {
    if (!Number.isInteger(asked) || asked < 0) {
      const details = { option, expected: "`auto` or a whole number, 0 or more", value: String(asked) };
      throw new RalphError("option-invalid", { details, hint: `leave ${option} out for \`auto\`` });
    }
    return { cap: { maxIterations: asked }, count: asked, explained: `Up to ${iterations(asked)} (${option})` };
  }
  const { count, counted, turnsEach } = found;
  if (count === null) return { cap: {}, count, explained: `No limit on iterations: ${counted}` };
  const turns = turnsEach === undefined ? "retries come on top" : `at most ${count * turnsEach} turns with retries`;
  const explained = `Up to ${iterations(count)} (auto: ${counted}; ${turns})`;
  return { cap: { maxItems: count }, count, explained };
}

function iterations(count: number): string {
  return `${count} iteration${count === 1 ? "" : "s"}`;
}
