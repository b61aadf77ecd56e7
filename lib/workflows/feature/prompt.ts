import * as prompts from "../../prompts/render.ts";
import type { Check, Verification } from "../../backlog/types.ts";
import { describeFailures, failureOf } from "../../backlog/attempts.ts";
import { attemptValues, listedChecks, type PromptFacts } from "../stories.ts";
import type { FeaturePrd, FeatureStory } from "./types.ts";

/** The parts of a story's prompt. */
export interface StoryPromptOptions extends PromptFacts {
  readonly prd: FeaturePrd;
  /** The servers that run now, or why one does not. */
  readonly servers: readonly string[];
}

/** The prompt for one story. */
export async function featureStoryPrompt(
  { id, title, description, acceptanceCriteria, tags, notes }: FeatureStory,
  { root, prd, checks, servers, ...facts }: StoryPromptOptions,
): Promise<string> {
  const criteria = acceptanceCriteria.map((criterion) => `- ${criterion}`).join("\n");
  return await prompts.renderPrompt("feature_run", {
    ...attemptValues(notes, facts),
    storyId: id,
    storyTitle: prompts.onOneLine(title),
    storyDescription: prompts.quoted(description || title),
    acceptanceCriteria: prompts.quoted(criteria),
    tags: tags.join(", ") || "none",
    doneMarker: `<ralph ${facts.nonce}>DONE</ralph>`,
    servers: servers.map((line) => `- ${line}`).join("\n"),
    ...prdValues(prd, checks),
    // for a prompt of the user's own without placeholders
    item: prompts.quoted(`${id}: ${title}\n\n${description}\n\nAcceptance criteria:\n${criteria}`),
  }, { root });
}

/** The prompt of the final verification: what its checks came to is known only when it is asked for. */
export async function featureReviewPrompt(
  prd: FeaturePrd,
  { root, checks, nonce, previous }: Omit<PromptFacts, "attempt">,
): Promise<(first: Verification | null) => string> {
  const { text } = await prompts.findPrompt("feature_verify", { root });
  const stories = prompts.quoted(
    prompts.windowed(prd.userStories.map(summaryOf), { rest: "`prd.json`", separator: "\n\n" }),
  );
  const values: Omit<prompts.PromptValuesOf<"feature_verify">, "result"> = {
    nonce,
    ...prdValues(prd, checks),
    storySummaries: stories,
    failure: previous === null ? "" : failureOf(previous),
    item: stories,
  };
  return (first) => prompts.fillPrompt(text, { ...values, result: resultOf(first) });
}

function prdValues(prd: FeaturePrd, checks: readonly Check[]) {
  const commands = listedChecks(checks, "None is named: your word will be shown as unverified.");
  const { project, branchName: branch } = prd;
  return { project, branch, learnings: learningsOf(prd), checks: commands, verifyCommands: commands };
}

function resultOf(first: Verification | null): string {
  if (first?.status === "passed") return "All of them have passed just now.";
  if (first?.status !== "failed") return "None ran.";
  const counted = `${first.failures.length} of ${first.results.length} FAILED.`;
  const told = `${counted} \`VERIFIED\` is not accepted now: name the stories to be done again.`;
  return `${told}\n\n${prompts.quoted(describeFailures(first))}`;
}

function summaryOf({ id, title, description, acceptanceCriteria, lastResult }: FeatureStory): string {
  const where = lastResult === null || lastResult.commit === "" ? "" : ` in ${lastResult.commit}`;
  const result = lastResult === null ? "" : `\nDone${where}: ${lastResult.summary}`;
  return `### ${id}: ${title}\n\n${description}\n\n${acceptanceCriteria.map((one) => `- ${one}`).join("\n")}${result}`;
}

function learningsOf({ run }: FeaturePrd): string {
  if (run.learnings.length === 0) return "";
  const lines = run.learnings.map((text) => `- ${text}`);
  return prompts.quoted(prompts.windowed(lines, { at: lines.length - 1, rest: "`run.learnings` of `prd.json`" }));
}
