import { stateInvalid } from "../../errors/ralph_error.ts";
import { parseJson } from "../../errors/json_syntax.ts";
import { hintForPrd } from "./import/find_external.ts";
import { type Prd, type Story, validatePrd } from "./types.ts";
import { inOrder } from "../stories.ts";
import { storyCommands } from "../../backlog/verify_commands.ts";
import { plain, tryJson } from "../plain.ts";

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
    throw stateInvalid(path, `Invalid PRD schema: ${errors.join("; ")}`, hintForPrd(text, path) ?? undefined);
  }
  return data as Prd;
}

/** A problem for each id that more than one story has: by its id a story is settled. Pure. */
export function repeatedIds({ userStories }: Prd): readonly string[] {
  const seen = new Set<string>();
  const repeated = userStories.filter(({ id }) => seen.has(id) || seen.add(id) === undefined);
  return [...new Set(repeated.map(({ id }) => `${id}: this id is used more than once`))];
}

function orderStory(story: Story): Story {
  const { id, title, acceptanceCriteria, priority, passes, notes } = story;
  return { id, title, acceptanceCriteria, priority, passes, notes };
}

/** A criterion that says nothing else. */
const ONLY_COMMAND_REGEXP = /^\s*Verify:\s*`([^`]+)`\s*\.?\s*$/;

/**
 * The lines that a person reads before saying yes to a PRD: every criterion and every command that judges the work.
 *
 * @param shared the commands that every story must pass besides its own
 */
export function prdSummaryLines({ branchName, userStories }: Prd, shared: readonly string[] = []): readonly string[] {
  const passing = userStories.filter((story) => story.passes).length;
  return [
    `Branch: ${branchName}`,
    `Stories: ${userStories.length}${passing > 0 ? ` (${passing} passing)` : ""}`,
    ...shared.length === 0 ? [] : [`Every story must pass: ${shared.join(" · ")}`],
    ...inOrder(userStories).flatMap(storyLines),
  ];
}

/** The criteria in their words, then the exact commands; those that a criterion quotes within a sentence are in both. */
function storyLines(story: Story): readonly string[] {
  const { id, title, priority, passes, acceptanceCriteria } = story;
  const commands = storyCommands(story);
  const words = acceptanceCriteria.filter((criterion) =>
    !commands.includes(ONLY_COMMAND_REGEXP.exec(criterion)?.[1]?.trim() ?? "")
  );
  return [
    `${id} ${title} (priority ${priority}${passes ? ", passes" : ""})`,
    ...words.map((criterion) => `  - ${criterion.replaceAll("\n", "\n    ")}`),
    ...commands.map((command) => `  Verify: ${command.replaceAll("\n", "\n          ")}`),
    ...commands.length === 0 ? ["  no verification command of its own"] : [],
  ];
}

/** Reads plan_state.json for what is shown; `null` where it is missing or damaged: `ralph validate` says why. Pure. */
export function begunPlan(text: string | null): { readonly goal: string; readonly state: string } | null {
  const { goal, state = "collect_context" } = plain(tryJson(text ?? ""));
  return typeof goal === "string" && typeof state === "string" ? { goal, state } : null;
}
