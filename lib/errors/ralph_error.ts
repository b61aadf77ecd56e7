/**
 * Errors that Ralph throws: bugs and broken environments. Expected ends of a step are values, not errors.
 *
 * @module
 */
import { ERROR_DEFINITIONS, type ErrorCode } from "./definitions.ts";

const MARKER: unique symbol = Symbol.for("ralph.error") as never;

/** The parts of an error beside its code. Every field is plain JSON but `cause`. */
export interface RalphErrorOptions {
  /** Fills the `{name}` places of the message and hint of the code's definition. */
  readonly details?: Readonly<Record<string, string | number>>;
  /** Replaces the definition's hint. */
  readonly hint?: string | undefined;
  readonly cause?: unknown;
}

/**
 * An error with a stable `code`, a `hint` that says what to do next, and the process's `exitCode`.
 *
 * @example Report what went wrong
 * ```ts
 * import { RalphError } from "ralph";
 *
 * const error = new RalphError("root-missing", { details: { root: "/nowhere" } });
 * console.log(error.code, error.exitCode); // root-missing 2
 * ```
 */
export class RalphError extends Error {
  override readonly name = "RalphError";
  readonly code: ErrorCode;
  readonly hint: string;
  readonly exitCode: number;
  readonly details: Readonly<Record<string, string | number>>;

  constructor(code: ErrorCode, options: RalphErrorOptions = {}) {
    const definition = ERROR_DEFINITIONS[code];
    const details = options.details ?? {};
    super(fill(definition.message, details), options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = details;
    this.hint = fill(options.hint ?? definition.hint, details);
    this.exitCode = definition.exitCode;
    Object.defineProperty(this, MARKER, { value: true });
  }

  /** True for an error of any copy of the SDK: the binary and a user's `node_modules` may both hold one. */
  static isInstance(value: unknown): value is RalphError {
    return typeof value === "object" && value !== null && MARKER in value;
  }
}

/** The error for a value that an option does not take. */
export function optionInvalid(option: string, expected: string, value: string, hint: string): RalphError {
  return new RalphError("option-invalid", { details: { option, expected, value }, hint });
}

/** The error for a state file that is not what it should be. @param hint replaces the code's own */
export function stateInvalid(path: string, problem: string, hint?: string): RalphError {
  return new RalphError("state-invalid", { details: { path, problem }, hint });
}

/** The error for a state file that does not exist. */
export function stateMissing(path: string, hint?: string): RalphError {
  return new RalphError("state-missing", { details: { path }, hint });
}

/** A recipe that cannot be loaded, and why. */
export function recipeInvalid(path: string, problem: string, hint: string, cause?: unknown): RalphError {
  return new RalphError("recipe-invalid", { details: { path, problem }, hint, cause });
}

/** A file of a sprint that cannot be carried out, and why. */
export function sprintInvalid(path: string, problem: string, hint?: string): RalphError {
  return new RalphError("sprint-invalid", { details: { path, problem }, hint });
}

/** Why items cannot be worked on at once. */
export function parallelImpossible(problem: string, hint: string): RalphError {
  return new RalphError("parallel-impossible", { details: { problem }, hint });
}

function fill(text: string, details: Readonly<Record<string, string | number>>): string {
  return text.replaceAll(/\{(\w+)\}/g, (place, name: string) => String(details[name] ?? place));
}

/** The error for an import that failed because a checkout lacks its generated files, or `null` for any other. */
export function notGenerated(error: unknown): RalphError | null {
  const message = error instanceof Error || error instanceof Object && "message" in error ? String(error.message) : "";
  const isMissing = /cannot find|not found/i.test(message) &&
    /generated[\\/]\w+\.ts/.test(message);
  return isMissing ? new RalphError("not-generated", { cause: error }) : null;
}

/** The exit codes of every command; shown by `ralph help exit-codes`. */
export const EXIT = { done: 0, failed: 1, usage: 2, blocked: 3, agent: 4, internal: 70, interrupted: 130 } as const;

/** The meaning of each exit code, in the order in which help shows them. */
export const EXIT_MEANINGS: readonly (readonly [code: number, meaning: string])[] = [
  [EXIT.done, "done, or a person said no"],
  [EXIT.failed, "ended not done: failed or a limit was reached"],
  [EXIT.usage, "wrong usage or configuration"],
  [EXIT.blocked, "blocked: a person is needed"],
  [EXIT.agent, "the agent is missing or unusable"],
  [EXIT.internal, "internal error"],
  [EXIT.interrupted, "interrupted"],
];

/** The nearest of `known` to a mistyped word, or `null` when none is near enough to be meant. */
export function nearest(word: string, known: Iterable<string>): string | null {
  let best: string | null = null;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    const distance = candidate.startsWith(word) && word.length >= 3 ? 1 : editDistance(word, candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Number of letters to insert, delete, replace or swap with their neighbour to get from one word to the other. */
export function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let cost = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (same ? 0 : 1));
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped) cost = Math.min(cost, beforeLast[column - 2]! + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length]!;
}

/** For `catch`: an error of Ralph's own as a value; any other is a bug, and thrown on. */
export function asRalphError(error: unknown): RalphError {
  if (RalphError.isInstance(error)) return error;
  throw error;
}
/** For `catch`: answers a RalphError whose code begins so; anything else is thrown again. */
export function ofCode<Value>(code: string, answer: (error: RalphError) => Value): (error: unknown) => Value {
  return (error) => {
    if (RalphError.isInstance(error) && error.code.startsWith(code)) return answer(error);
    throw error;
  };
}
