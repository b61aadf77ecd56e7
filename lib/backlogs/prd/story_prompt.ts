import type { PromptValues } from "../../prompts/render.ts";
import type { Story } from "./types.ts";

/** What the prompt of one iteration is filled with, beside the story. */
export interface StoryPromptOptions {
  readonly branchName: string;
  /** Commands and names of the checks that will run. */
  readonly checks: readonly string[];
  /** 1 for the first. */
  readonly attempt: number;
  /** Attempts that the story is given in all. */
  readonly maxRetries: number;
  /** What went wrong in the attempt before this, with the end of what failed; `null` on the first. */
  readonly failure: string | null;
}

/** The values of the prompt `exec_run`. */
export function storyPromptValues(story: Story, options: StoryPromptOptions): PromptValues {
  const { id, title, acceptanceCriteria, notes } = story;
  const { branchName, checks, attempt, maxRetries, failure } = options;
  const criteria = acceptanceCriteria.map((criterion) => `- ${criterion}`).join("\n");
  return {
    id,
    title,
    criteria,
    item: `**${id}: ${title}**\n\nAcceptance criteria:\n\n${criteria === "" ? "- (none were written down)" : criteria}`,
    branch: branchName,
    attempt: `${attempt} of ${maxRetries}`,
    checks: checks.length === 0
      ? "No command is named for this story: it cannot count as verified. Check your work against the criteria all the same."
      : checks.map((check) => `- ${inlineCode(check)}`).join("\n"),
    failure: failure ?? "This is the first attempt.",
    notes: notes.trim() === "" ? "None." : notes,
  };
}

/** Inline code that may hold back-ticks itself. */
function inlineCode(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map((run) => run[0].length));
  const marks = "`".repeat(longest + 1);
  return longest === 0 ? `\`${text}\`` : `${marks} ${text} ${marks}`;
}
