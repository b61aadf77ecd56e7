import { RalphError } from "../errors/ralph_error.ts";

/**
 * What a call of a backlog answered, where it is one of the unions on `status`: a recipe's own backlog may be JavaScript.
 *
 * @throws {RalphError} backlog-invalid
 */
export function answered<Answer extends { readonly status: string }>(
  backlog: { readonly name: string },
  call: string,
  answer: Answer,
): Answer {
  if (typeof answer === "object" && answer !== null && typeof answer.status === "string") return answer;
  const problem = `${call} answered ${
    answer === undefined ? "nothing" : JSON.stringify(answer)
  }, expected a \`status\``;
  throw new RalphError("backlog-invalid", { details: { backlog: backlog.name, problem } });
}
