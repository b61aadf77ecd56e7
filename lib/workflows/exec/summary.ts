import type { Prd, Story } from "./types.ts";
import { storyCommands } from "../../backlog/verify_commands.ts";

/** One story in a summary. */
export interface StorySummary {
  readonly id: string;
  readonly title: string;
  readonly priority: number;
  readonly passes: boolean;
  /** How many acceptance criteria it has. */
  readonly criteria: number;
  /** The exact commands that its criteria name for verification. */
  readonly commands: readonly string[];
}

/** What a person reads before saying yes to a PRD. */
export interface PrdSummary {
  readonly branchName: string;
  readonly stories: readonly StorySummary[];
}

/** The parts of a PRD that a review shows, stories in the order in which they come up. */
function summarizePrd(prd: Prd): PrdSummary {
  return { branchName: prd.branchName, stories: inOrder(prd.userStories).map(summarizeStory) };
}

/** The summary as lines of text. */
export function prdSummaryLines(prd: Prd): readonly string[] {
  const { branchName, stories } = summarizePrd(prd);
  const passing = stories.filter((story) => story.passes).length;
  return [
    `Branch: ${branchName}`,
    `Stories: ${stories.length}${passing > 0 ? ` (${passing} passing)` : ""}`,
    ...stories.flatMap(storyLines),
  ];
}

/** Lowest priority first; the order of the file on a tie. */
export function inOrder(stories: readonly Story[]): readonly Story[] {
  return stories.toSorted((one, other) => one.priority - other.priority);
}

function summarizeStory(story: Story): StorySummary {
  const { id, title, priority, passes, acceptanceCriteria } = story;
  return { id, title, priority, passes, criteria: acceptanceCriteria.length, commands: storyCommands(story) };
}

function storyLines(story: StorySummary): readonly string[] {
  const criteria = `${story.criteria} acceptance ${story.criteria === 1 ? "criterion" : "criteria"}`;
  return [
    `${story.id} ${story.title} (priority ${story.priority}${story.passes ? ", passes" : ""})`,
    story.commands.length === 0 ? `  ${criteria}, no verification command` : `  ${criteria}`,
    ...story.commands.map((command) => `  Verify: ${command.replaceAll("\n", "\n          ")}`),
  ];
}
