/**
 * Questions to a person, and who answers them.
 *
 * @module
 */
import type { AnswerSource } from "../events/types.ts";

/** One question. Its `id` is stable: answers files name it. */
export type Question =
  & {
    /** `plan.write-prd`, `gate.run`, `plan.change` … */
    readonly id: string;
    readonly message: string;
    /** Lines shown above the question. */
    readonly details?: readonly string[];
    /** The consent that answers it beforehand: `--approve prd`. A gate is never answered by an answers file. */
    readonly gate?: string;
    /** True for a question that the planner's agent asks: matched by its text in the answers file. */
    readonly fromAgent?: boolean;
  }
  & (
    | { readonly kind: "confirm"; readonly initial: boolean }
    | { readonly kind: "text"; readonly initial?: string; readonly placeholder?: string }
    | {
      readonly kind: "select";
      readonly initial?: string;
      readonly choices: readonly Choice[];
      /** One key answers: the first letter of a choice's value; Enter takes the default. @default false */
      readonly keys?: boolean;
    }
  );

/** One way to answer a `select`. */
export interface Choice {
  /** The answer. */
  readonly value: string;
  /** The text that a person reads. */
  readonly label: string;
  /** Beside the label. */
  readonly hint?: string;
}

/** An answer: `yes`/`no` for a confirm, a choice's value, or free text. */
export interface Answer {
  /** `yes` and `no` for a confirmation. */
  readonly value: string;
  /** The answer's source; transcripts mark every source but a person. */
  readonly source: AnswerSource;
}

/** Asks. */
export interface Prompter {
  /** A person can be asked: a terminal, or an explicit plain mode on standard input. */
  readonly interactive: boolean;
  /**
   * @param cancel ends the question: it was answered elsewhere
   * @throws {RalphError} answer-missing when no one can be asked and there is no default that may be taken
   * @throws {RalphError} interrupted when the person pressed Ctrl-C
   */
  ask(question: Question, cancel?: AbortSignal): Promise<Answer>;
}
