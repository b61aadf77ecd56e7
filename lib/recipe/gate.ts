import type { RalphContext } from "../context/context.ts";
import { optionInvalid, RalphError } from "../errors/ralph_error.ts";
import type { AnswerSource } from "../events/types.ts";

/** How a gate ended. `approved` carries what the next step needs. */
export type GateOutcome<Value = unknown> =
  | ({ readonly status: "approved" } & Value)
  /** A person said no, or no one could be asked; these commands continue from here. */
  | { readonly status: "declined"; readonly next: readonly string[] }
  /** There was nothing to ask. */
  | { readonly status: "skipped"; readonly reason: string }
  | { readonly status: "aborted" };

/** A gate of your own. */
export interface GateOptions {
  /** The consent's name: `--approve NAME` answers it, and its question is `gate.NAME`. */
  readonly name: string;
  /** A question that yes or no answers. */
  readonly message: string;
  /** Lines shown above the question. */
  readonly reasons?: readonly string[];
  /** Commands by which a person can continue after a no, when they are shown. */
  readonly next?: readonly string[];
}

/** The decision, and who made it. */
export interface Consent {
  readonly yes: boolean;
  readonly source: AnswerSource;
}

/**
 * Asks a person for consent, once; the default is no. A gate decides and does nothing else.
 *
 * @example No one said yes
 * ```ts
 * import { gate } from "ralph";
 * import { testContext } from "ralph/testing";
 *
 * await using ralph = await testContext();
 * const decided = await gate(ralph, { name: "deploy", message: "Deploy now?" });
 * console.log(decided.status); // declined
 * ```
 */
export async function gate(ralph: RalphContext, options: GateOptions): Promise<GateOutcome> {
  const consent = await askConsent(ralph, options);
  if (consent === null) return { status: "aborted" };
  if (consent.yes) return { status: "approved" };
  const { next = [] } = options;
  if (next.length > 0) ralph.events.emit({ type: "text", title: "Next", lines: next });
  return { status: "declined", next };
}

/**
 * The answer at a gate; `null` after an interrupt. If no one can be asked, it is no.
 *
 * @param given the answer to a question that asked for several consents: it is noted as this gate's own
 */
export async function askConsent(ralph: RalphContext, options: GateOptions, given?: Consent): Promise<Consent | null> {
  if (given !== undefined) {
    const id = `gate.${options.name}`;
    ralph.events.emit({ type: "question", id, message: options.message });
    ralph.events.emit({ type: "answer", id, answer: given.yes ? "yes" : "no", source: given.source });
    return given;
  }
  try {
    const { value, source } = await ralph.prompter.ask({
      id: `gate.${options.name}`,
      kind: "confirm",
      message: options.message,
      details: options.reasons ?? [],
      initial: false,
      gate: options.name,
    });
    return { yes: value === "yes", source };
  } catch (error) {
    if (RalphError.isInstance(error) && error.code === "interrupted") return null;
    if (RalphError.isInstance(error) && error.code === "answer-missing") return { yes: false, source: "default" };
    throw error;
  }
}

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
      const expected = "`auto` or a whole number, 0 or more";
      throw optionInvalid(option, expected, String(asked), `leave ${option} out for \`auto\``);
    }
    return { cap: { maxIterations: asked }, count: asked, explained: `Takes up to ${turns(asked)} (${option})` };
  }
  const { count, counted, turnsEach } = found;
  if (count === null) return { cap: {}, count, explained: `No limit on iterations: ${counted}` };
  const retries = turnsEach === undefined ? "retries come on top" : `${count * turnsEach} with retries`;
  return { cap: { maxItems: count }, count, explained: `Takes up to ${turns(count)} (${retries}): ${counted}` };
}

function turns(count: number): string {
  return `${count} agent turn${count === 1 ? "" : "s"}`;
}
