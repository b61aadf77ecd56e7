import { fillPrompt, findPrompt, type PromptValuesOf, renderPrompt } from "../../prompts/render.ts";
import type { Attempt, Check, Verification } from "../../backlog/types.ts";
import { describeFailures } from "../../backlog/verdict.ts";
import { failureOf } from "../../backlog/attempts.ts";
import { failureIn, withoutFailure } from "../../backlog/notes.ts";
import { onOneLine, quoted, windowed } from "../../prompts/parts.ts";
import type { FeaturePrd, FeatureStory } from "./types.ts";

/** The parts of a story's prompt. */
export interface StoryPromptOptions {
  readonly root: string;
  readonly prd: FeaturePrd;
  readonly attempt: number;
  readonly nonce: string;
  readonly previous: Attempt | null;
  readonly checks: readonly Check[];
  /** The servers that run now, or why one does not. */
  readonly servers: readonly string[];
}

/** The prompt for one story. */
export async function featureStoryPrompt(story: FeatureStory, options: StoryPromptOptions): Promise<string> {
  const { root, prd, attempt, nonce, previous, checks, servers } = options;
  const notes = withoutFailure(story.notes);
  const criteria = story.acceptanceCriteria.map((criterion) => `- ${criterion}`).join("\n");
  return await renderPrompt("feature_run", {
    storyId: story.id,
    storyTitle: onOneLine(story.title),
    storyDescription: quoted(story.description || story.title),
    acceptanceCriteria: quoted(criteria),
    tags: story.tags.join(", ") || "none",
    project: prd.project,
    branch: prd.branchName,
    doneMarker: `<ralph ${nonce}>DONE</ralph>`,
    nonce,
    verifyCommands: listed(checks),
    servers: servers.length === 0 ? "" : servers.map((line) => `- ${line}`).join("\n"),
    learnings: learningsOf(prd),
    attempt: String(attempt),
    failure: previous === null && failureIn(story.notes) === null ? "" : failureOf(previous, failureIn(story.notes)),
    notes: notes.trim() === "" ? "" : quoted(notes),
    // for a prompt of the user's own without placeholders
    item: quoted(`${story.id}: ${story.title}\n\n${story.description}\n\nAcceptance criteria:\n${criteria}`),
    checks: listed(checks),
  }, { root });
}

/** The prompt of the final verification: what its checks came to is known only when it is asked for. */
export async function featureReviewPrompt(
  prd: FeaturePrd,
  { root, checks, nonce, previous }: {
    readonly root: string;
    readonly nonce: string;
    readonly checks: readonly Check[];
    readonly previous: Attempt | null;
  },
): Promise<(first: Verification | null) => string> {
  const { text } = await findPrompt("feature_verify", { root });
  const stories = quoted(windowed(prd.userStories.map(summaryOf), { rest: "`prd.json`", separator: "\n\n" }));
  const values: Omit<PromptValuesOf<"feature_verify">, "result"> = {
    nonce,
    project: prd.project,
    branch: prd.branchName,
    verifyCommands: listed(checks),
    storySummaries: stories,
    learnings: learningsOf(prd),
    failure: previous === null ? "" : failureOf(previous),
    item: stories,
    checks: listed(checks),
  };
  return (first) => fillPrompt(text, { ...values, result: resultOf(first) });
}

function resultOf(first: Verification | null): string {
  if (first?.status === "passed") return "All of them have passed just now.";
  if (first?.status !== "failed") return "None ran.";
  const counted = `${first.failures.length} of ${first.results.length} FAILED.`;
  return `${counted} \`VERIFIED\` is not accepted now: name the stories to be done again.\n\n${
    quoted(describeFailures(first))
  }`;
}

function summaryOf({ id, title, description, acceptanceCriteria, lastResult }: FeatureStory): string {
  const where = lastResult === null || lastResult.commit === "" ? "" : ` in ${lastResult.commit}`;
  const result = lastResult === null ? "" : `\nDone${where}: ${lastResult.summary}`;
  return `### ${id}: ${title}\n\n${description}\n\n${acceptanceCriteria.map((one) => `- ${one}`).join("\n")}${result}`;
}

function listed(checks: readonly Check[]): string {
  return checks.length === 0
    ? "None is named: your word will be shown as unverified."
    : checks.map(({ name, command, about }) =>
      command === undefined ? `- ${name}${about === undefined ? "" : `: ${about}`}` : `- \`${name}\``
    ).join("\n");
}

function learningsOf({ run }: FeaturePrd): string {
  if (run.learnings.length === 0) return "";
  const lines = run.learnings.map((text) => `- ${text}`);
  return quoted(windowed(lines, { at: lines.length - 1, rest: "`run.learnings` of `prd.json`" }));
}
