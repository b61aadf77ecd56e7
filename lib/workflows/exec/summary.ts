import type { Prd, Story } from "./types.ts";
import { inOrder } from "../stories.ts";
import { storyCommands } from "../../backlog/verify_commands.ts";

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
