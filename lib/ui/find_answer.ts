import type { Question } from "../context/context.ts";

/** Answers given beforehand. They never answer a gate. */
export interface Answers {
  /** For the questions of the planner's agent: the first whose `match` occurs in the question, ignoring case. */
  readonly questions: readonly { readonly match: string; readonly answer: string }[];
  /** For every other question of the agent. */
  readonly otherwise?: string | undefined;
  /** For Ralph's own questions, by their id: `plan.change`, `run.checks` … */
  readonly prompts: Readonly<Record<string, string>>;
}

/** The answer to a question, or `null`. */
export function findAnswer(answers: Answers, question: Question): string | null {
  if (question.gate !== undefined) return null;
  if (question.fromAgent !== true) {
    return Object.hasOwn(answers.prompts, question.id) ? answers.prompts[question.id]! : null;
  }
  const asked = question.message.toLowerCase();
  const found = answers.questions.find(({ match }) => asked.includes(match.toLowerCase()));
  return found?.answer ?? answers.otherwise ?? null;
}
