import type { Attempt, Check } from "../../backlog/types.ts";
import { failureOf } from "../../backlog/attempts.ts";
import { failureIn, withoutFailure } from "../../backlog/notes.ts";
import { onOneLine, quoted } from "../../prompts/parts.ts";
import { renderPrompt } from "../../prompts/render.ts";
import type { Story } from "./types.ts";

/** The prompt of a story is made of these facts, beside the story. */
interface StoryPromptContext {
  readonly root: string;
  readonly branch: string;
  readonly attempt: number;
  readonly nonce: string;
  readonly previous: Attempt | null;
  readonly checks: readonly Check[];
}

/** The prompt for one attempt at one story. */
export async function storyPrompt(story: Story, context: StoryPromptContext): Promise<string> {
  const { root, branch, attempt, nonce, previous, checks } = context;
  const notes = withoutFailure(story.notes);
  const criteria = story.acceptanceCriteria.map((criterion) => `- ${criterion}`);
  return await renderPrompt("exec_run", {
    branch,
    id: story.id,
    title: onOneLine(story.title),
    item: quoted([`${story.id}: ${story.title}`, "", "Acceptance criteria:", ...criteria].join("\n")),
    attempt: String(attempt),
    nonce,
    checks: checks.length === 0
      ? "Nothing: no check is named for this story, so your word will be shown as unverified."
      : checks.map(({ name }) => `- \`${name}\``).join("\n"),
    failure: previous === null && failureIn(story.notes) === null ? "" : failureOf(previous, failureIn(story.notes)),
    notes: notes.trim() === "" ? "" : quoted(notes),
  }, { root });
}
