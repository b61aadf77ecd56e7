import { RalphError } from "../errors/ralph_error.ts";
import { defaultAnswer, expectedAnswer, normalizeAnswer } from "./normalize_answer.ts";
import type { Answer, Prompter, Question } from "../context/context.ts";

/** Looks a question up among the answers that were given beforehand. */
export type AnswerLookup = (question: Question) => string | null;

/** The gate that has no default: without it there is nothing to continue with. */
const PRD_GATE = "prd";

/**
 * Asks no one: answers given beforehand, then defaults. A gate is answered by its default alone, which is no; the gate
 * that writes the PRD, and a question without a default, are missing answers.
 */
export function createUnattendedPrompter(lookUp: AnswerLookup): Prompter {
  return {
    interactive: false,
    ask(question) {
      return Promise.resolve(question.gate === undefined ? answered(question, lookUp) : gate(question));
    },
  };
}

function answered(question: Question, lookUp: AnswerLookup): Answer {
  const found = lookUp(question);
  if (found !== null) {
    const value = normalizeAnswer(question, found);
    if (value !== null) return { value, source: "answers" };
    throw new RalphError("answers-invalid", {
      details: {
        path: "the answers file",
        problem: `the answer to ${question.id} must be ${expectedAnswer(question)} (got: ${found})`,
      },
    });
  }
  const value = question.fromAgent === true ? null : defaultAnswer(question);
  if (value === null) throw missing(question);
  return { value, source: "default" };
}

function gate(question: Question): Answer {
  const value = question.gate === PRD_GATE ? null : defaultAnswer(question);
  if (value !== null) return { value, source: "default" };
  throw new RalphError("answer-missing", {
    details: { id: question.id, question: question.message },
    hint: `a consent is given by \`--approve ${question.gate}\`, or in a terminal; what was worked out so far is kept`,
  });
}

/** No one could be asked and nothing may be assumed. */
export function missing(question: Question): RalphError {
  return new RalphError("answer-missing", {
    details: { id: question.id, question: question.message },
    hint: question.fromAgent === true
      ? "add it to the answers file (`questions: [{match, answer}]` or `otherwise: text`), or run in a terminal"
      : `add it to the answers file (\`prompts: {${question.id}: …}\`${
        question.kind === "select" ? `, one of ${expectedAnswer(question)}` : ""
      }), or run in a terminal`,
  });
}
