import type { Check } from "../../backlog/types.ts";
import { onOneLine, quoted, renderPrompt } from "../../prompts/render.ts";
import { type AttemptFacts, attemptValues, listedChecks } from "../stories.ts";
import type { Story } from "./types.ts";

/** The prompt for one attempt at one story. */
export async function storyPrompt(
  { id, title, acceptanceCriteria, notes }: Story,
  { root, branch, checks, ...facts }: AttemptFacts & {
    readonly root: string;
    readonly branch: string;
    readonly checks: readonly Check[];
  },
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
