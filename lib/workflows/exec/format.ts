import { RalphError } from "../../errors/ralph_error.ts";
import { parseJson } from "../../errors/json_syntax.ts";
import { hintForPrd } from "./import/find_external.ts";
import type { Prd, Story } from "./types.ts";
import { validatePrd } from "./validate.ts";

/**
 * The PRD as it is in the file: two spaces, fixed order of keys, a newline at the end.
 *
 * @example Write a PRD of your own
 * ```ts
 * import { formatPrd } from "ralph/exec";
 *
 * const prd = {
 *   branchName: "ralph/greeting",
 *   userStories: [{
 *     id: "US-001",
 *     title: "Say hello",
 *     acceptanceCriteria: ["Verify: `test -f hello.txt`"],
 *     priority: 1,
 *     passes: false,
 *     notes: "",
 *   }],
 * };
 * console.log(formatPrd(prd).split("\n")[1]); //   "branchName": "ralph/greeting",
 * ```
 */
export function formatPrd(prd: Prd): string {
  return `${JSON.stringify({ branchName: prd.branchName, userStories: prd.userStories.map(orderStory) }, null, 2)}\n`;
}

/**
 * Reads a PRD and refuses whatever is not one.
 *
 * @param path named in the error
 * @throws {RalphError} state-invalid
 *
 * @example Read a PRD
 * ```ts
 * import { parsePrd } from "ralph/exec";
 *
 * const text = `{ "branchName": "ralph/x", "userStories": [{ "id": "US-001", "title": "One", "priority": 1,
 *   "acceptanceCriteria": ["It works"], "passes": false, "notes": "" }] }`;
 * console.log(parsePrd(text, "prd.json").userStories.length); // 1
 * ```
 */
export function parsePrd(text: string, path: string): Prd {
  const data = parseJson(text, path);
  const errors = validatePrd(data);
  if (errors.length > 0) {
    const hint = hintForPrd(text, path);
    throw new RalphError("state-invalid", {
      details: { path, problem: `Invalid PRD schema: ${errors.join("; ")}` },
      ...(hint === null ? {} : { hint }),
    });
  }
  return data as Prd;
}

function orderStory(story: Story): Story {
  const { id, title, acceptanceCriteria, priority, passes, notes } = story;
  return { id, title, acceptanceCriteria, priority, passes, notes };
}
