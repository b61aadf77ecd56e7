import { onOneLine, quoted, renderPrompt } from "../../prompts/render.ts";
import { attemptValues, listedChecks, type PromptFacts } from "../stories.ts";
import type { Story } from "./types.ts";

/** The prompt for one attempt at one story. */
export async function storyPrompt(
  { id, title, acceptanceCriteria, notes }: Story,
  { root, branch, checks, ...facts }: PromptFacts & { readonly branch: string },
): Promise<string> {
  const criteria = acceptanceCriteria.map((criterion) => `- ${criterion}`);
  return await renderPrompt("exec_run", {
    ...attemptValues(notes, facts),
    branch,
    id,
    title: onOneLine(title),
    item: quoted([`${id}: ${title}`, "", "Acceptance criteria:", ...criteria].join("\n")),
    checks: listedChecks(
      checks,
      "Nothing: no check is named for this story, so your word will be shown as unverified.",
    ),
  }, { root });
}
