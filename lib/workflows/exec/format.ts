import { RalphError } from "../../errors/ralph_error.ts";
import { parseJson } from "../../backlog/json_syntax.ts";
import type { Prd, Story } from "./types.ts";
import { validatePrd } from "./validate.ts";

/**
 * The PRD as it stands in the file: two spaces, fixed order of keys, a newline at the end.
 */
export function formatPrd(prd: Prd): string {
  return `${JSON.stringify({ branchName: prd.branchName, userStories: prd.userStories.map(orderStory) }, null, 2)}\n`;
}

/**
 * Reads a PRD and refuses whatever is not one.
 *
 * @param path named in the error
 * @throws {RalphError} state-invalid
 */
export function parsePrd(text: string, path: string): Prd {
  const data = parseJson(text, path);
  const errors = validatePrd(data);
  if (errors.length > 0) {
    throw new RalphError("state-invalid", { details: { path, problem: `Invalid PRD schema: ${errors.join("; ")}` } });
  }
  return data as Prd;
}

function orderStory(story: Story): Story {
  const { id, title, acceptanceCriteria, priority, passes, notes } = story;
  return { id, title, acceptanceCriteria, priority, passes, notes };
}
